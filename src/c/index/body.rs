//! The numbers of one function's body, by what is done with them.

use std::collections::BTreeMap;

use super::constant::{Names, evaluate};
use super::definitions::{closing, constants, split_at_commas};
use crate::c::number::Number;
use crate::c::token::Token;

/// What a number is to the code, the most promising first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiteralKind {
    /// One side of a comparison, or a case of a switch.
    Compared,
    /// Part of an expression that is compared: `x - 0.5 < eps`.
    Near,
    /// An entry of an ascending table.
    BreakPoint,
    /// Anything else that does not look like a coefficient.
    Other,
}

const COMPARISONS: [&str; 6] = ["<", ">", "<=", ">=", "==", "!="];
/// What ends an operand of a comparison, besides brackets that it does not open.
const BOUNDS: [&str; 15] =
    ["&&", "||", ";", ",", "?", ":", "{", "}", "=", "+=", "-=", "*=", "/=", "!", "..."];

/// More significant digits than this are a coefficient's.
const MOST_DIGITS: usize = 8;
/// Most entries of a table that are worth trying.
const TABLE_ENTRIES: usize = 16;
/// Fewest entries of a table of break points.
const SHORTEST_TABLE: usize = 3;

/// Names as one body sees them: its own constants before those of the file.
struct BodyNames<'a> {
    own: BTreeMap<String, Vec<Token>>,
    outer: &'a dyn Names,
}

impl Names for BodyNames<'_> {
    fn tokens_of(&self, name: &str) -> Option<&[Token]> {
        self.own.get(name).map(Vec::as_slice).or_else(|| self.outer.tokens_of(name))
    }
}

/// The numbers of a body in their order.
pub fn numbers(body: &[Token], outer: &dyn Names) -> Vec<(LiteralKind, Number)> {
    let names = BodyNames { own: constants(body).into_iter().collect(), outer };
    let mut scan = BodyScan { body, names, taken: vec![false; body.len()], found: Vec::new() };
    scan.loops();
    scan.comparisons();
    scan.tables();
    scan.rest();
    scan.found.sort_by_key(|(at, ..)| *at);
    scan.found.into_iter().map(|(_, kind, number)| (kind, number)).collect()
}

struct BodyScan<'a> {
    body: &'a [Token],
    names: BodyNames<'a>,
    /// Tokens that are done with.
    taken: Vec<bool>,
    found: Vec<(usize, LiteralKind, Number)>,
}

impl BodyScan<'_> {
    /// Limits of counters say nothing about inputs.
    fn loops(&mut self) {
        for at in 0..self.body.len().saturating_sub(1) {
            if self.body[at].is_name("for") && self.body[at + 1].is("(") {
                let end = closing(self.body, at + 1);
                self.taken[at..end].fill(true);
            }
        }
    }

    fn comparisons(&mut self) {
        for at in 0..self.body.len() {
            if self.taken[at] {
                continue;
            }
            match &self.body[at] {
                Token::Mark(mark) if COMPARISONS.contains(mark) => {
                    self.operand(self.start_of(at), at);
                    self.operand(at + 1, self.end_of(at + 1));
                }
                Token::Name(word) if word == "case" => self.operand(at + 1, self.end_of(at + 1)),
                _ => {}
            }
        }
    }

    /// Where the operand that ends before `at` starts.
    fn start_of(&self, at: usize) -> usize {
        let mut depth = 0i32;
        for (i, token) in self.body[..at].iter().enumerate().rev() {
            match token {
                Token::Mark(")" | "]") => depth += 1,
                Token::Mark("(" | "[") if depth == 0 => return i + 1,
                Token::Mark("(" | "[") => depth -= 1,
                token if depth == 0 && bounds(token) => return i + 1,
                _ => {}
            }
        }
        0
    }

    /// Where the operand that starts at `at` ends.
    fn end_of(&self, at: usize) -> usize {
        let mut depth = 0i32;
        for (i, token) in self.body.iter().enumerate().skip(at) {
            match token {
                Token::Mark("(" | "[") => depth += 1,
                Token::Mark(")" | "]") if depth == 0 => return i,
                Token::Mark(")" | "]") => depth -= 1,
                token if depth == 0 && bounds(token) => return i,
                _ => {}
            }
        }
        self.body.len()
    }

    fn operand(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        if let Some(number) = evaluate(&self.body[from..to], &self.names) {
            self.found.push((from, LiteralKind::Compared, number));
            self.taken[from..to].fill(true);
            return;
        }
        for at in from..to {
            self.single(at, LiteralKind::Near);
        }
    }

    /// Entries of an ascending array inside the body.
    fn tables(&mut self) {
        for at in 1..self.body.len() {
            if self.body[at].is("{") && self.body[at - 1].is("=") {
                let end = closing(self.body, at);
                let entries = break_points(&self.body[at + 1..end], &self.names);
                self.found.extend(entries.into_iter().map(|n| (at, LiteralKind::BreakPoint, n)));
                self.taken[at..end].fill(true);
            }
        }
    }

    fn rest(&mut self) {
        for at in 0..self.body.len() {
            let is_index = at > 0 && self.body[at - 1].is("[");
            if !is_index {
                self.single(at, LiteralKind::Other);
            }
        }
    }

    /// A number or the name of one, with its sign, unless it looks like a coefficient.
    fn single(&mut self, at: usize, kind: LiteralKind) {
        // What is being set is no value yet.
        let is_set = self.body.get(at + 1).is_some_and(|t| t.is("="));
        let is_value = matches!(self.body[at], Token::Number(_) | Token::Name(_)) && !is_set;
        if !is_value || std::mem::replace(&mut self.taken[at], true) {
            return;
        }
        let Some(mut number) = evaluate(&self.body[at..=at], &self.names) else { return };
        if kind == LiteralKind::Other && number.digits > MOST_DIGITS {
            return;
        }
        if self.is_negated(at) {
            number.value = -number.value;
        }
        self.found.push((at, kind, number));
    }

    /// Whether a minus in front of it is a sign and not a subtraction.
    fn is_negated(&self, at: usize) -> bool {
        let before = |n: usize| at.checked_sub(n).map(|i| &self.body[i]);
        before(1).is_some_and(|t| t.is("-"))
            && match before(2) {
                None => true,
                Some(Token::Mark(mark)) => !matches!(*mark, ")" | "]"),
                Some(Token::Name(word)) => word == "return" || word == "case",
                Some(_) => false,
            }
    }
}

fn bounds(token: &Token) -> bool {
    match token {
        Token::Mark(mark) => BOUNDS.contains(mark) || COMPARISONS.contains(mark),
        Token::Name(word) => word == "return" || word == "case",
        _ => false,
    }
}

/// Some of a table's entries if they ascend from zero or above, as break points do and the coefficients of
/// a series do not.
pub fn break_points(entries: &[Token], names: &dyn Names) -> Vec<Number> {
    let values: Option<Vec<Number>> = split_at_commas(entries)
        .into_iter()
        .filter(|entry| !entry.is_empty())
        .map(|entry| evaluate(entry, names))
        .collect();
    let values = values.unwrap_or_default();
    let ascends = values.first().is_some_and(|n| n.value >= 0.0)
        && values.windows(2).all(|pair| pair[0].value < pair[1].value);
    if values.len() < SHORTEST_TABLE || !ascends {
        return Vec::new();
    }
    let kept = values.len().min(TABLE_ENTRIES);
    // Evenly, with the first and the last.
    (0..kept).map(|i| values[i * (values.len() - 1) / (kept - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::index::Definitions;
    use crate::c::token::tokens;

    fn found(text: &str) -> Vec<(LiteralKind, f64)> {
        let file = Definitions::read(
            "#define LIMIT 700.0\n#define TWO_EPS (2.0 * DBL_EPSILON)\nstatic const double cut = 1.25;",
        );
        numbers(&tokens(text), &file).into_iter().map(|(kind, n)| (kind, n.value)).collect()
    }

    #[test]
    fn what_is_compared_is_told_from_what_is_only_computed_with() {
        assert_eq!(
            found("if (x < -5.0 || fabs(x - 0.5) > cut) return 3.0 * x; else return x >= LIMIT ? 1 : y;"),
            [
                (LiteralKind::Compared, -5.0),
                (LiteralKind::Near, 0.5),
                (LiteralKind::Compared, 1.25),
                (LiteralKind::Other, 3.0),
                (LiteralKind::Compared, 700.0),
                (LiteralKind::Other, 1.0),
            ]
        );
    }

    #[test]
    fn constant_expressions_cases_and_local_constants_are_compared() {
        assert_eq!(
            found(
                "const double top = 4.0; switch (n) { case -3: break; } if (TWO_EPS * 2 < x && 0.5*y == top) x = f(-2);"
            ),
            [
                (LiteralKind::Other, 4.0),
                (LiteralKind::Compared, -3.0),
                (LiteralKind::Compared, 4.0 * f64::EPSILON),
                (LiteralKind::Near, 0.5),
                (LiteralKind::Compared, 4.0),
                (LiteralKind::Other, -2.0),
            ]
        );
    }

    #[test]
    fn counters_and_coefficients_and_indices_are_left_out() {
        assert_eq!(
            found("for (i = 0; i < 77; i++) s += 0.166666666666 * a[13]; y = x - 9.0;"),
            [(LiteralKind::Other, 9.0)]
        );
    }

    #[test]
    fn ascending_tables_are_break_points_and_others_are_coefficients() {
        assert_eq!(
            found("static const double at[] = { 0.5, 1.5, 8, }; static const double c[] = { 3, -2, 1 };"),
            [(LiteralKind::BreakPoint, 0.5), (LiteralKind::BreakPoint, 1.5), (LiteralKind::BreakPoint, 8.0)]
        );
        let long: String = (0..100).map(|i| format!("{i}, ")).collect();
        let kept = break_points(&tokens(&long), &Definitions::default());
        let ends = (kept[0].value, kept[kept.len() - 1].value);
        assert_eq!((kept.len(), ends), (TABLE_ENTRIES, (0.0, 99.0)));
    }
}
