//! Domains as text: `[0, 1), {5, 7}, != 0.5`. Intervals and listed values are united (everything
//! if there are none), then every comparison narrows the result. `all` is every number, the infinities and NaN.

use std::ops::Range;

use super::comparison::{Comparison, SIGNS};
use super::intervals::Intervals;
use super::problem::Fault;
use crate::fp::{ParseNumberError, Scalar, parse_number};
use crate::model::Domain;

const FORMS: &str = "a domain is made of intervals `[0, 1)`, lists `{1, 2}`, comparisons `> 0`, `<= 5`, `!= 0`, \
                     numbers and `all`, joined with commas";

/// The most intervals, values and comparisons of one domain.
const MOST_PIECES: usize = 4096;

/// The type whose values a domain holds, with the name the user gave it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind<'a> {
    pub ty: Scalar,
    pub c_type: &'a str,
}

impl Kind<'_> {
    /// The ordinals of the smallest and largest finite value.
    fn finite(self) -> (i128, i128) {
        match (self.ty.infinity_bits(), self.ty.integer_limits()) {
            (Some(infinity), _) => (1 - i128::from(infinity), i128::from(infinity) - 1),
            (None, limits) => limits.unwrap_or((0, 0)),
        }
    }

    /// The ordinal of a number as written.
    fn ordinal(self, text: &str, range: Range<usize>) -> Result<i128, Fault> {
        let fail = |title: String| Fault::new(range.clone(), title);
        let word = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
        if word == "nan" {
            return Err(fail("NaN is neither the end of an interval nor compared with".into())
                .label("compares with nothing")
                .help("to try NaN beside numbers, list it: `[0, 1], {nan}`, or write `all`"));
        }
        let named_infinity = word == "inf" || word == "infinity";
        if !self.ty.is_float() && named_infinity {
            return Err(fail(format!("`{}` has no infinity", self.c_type))
                .label("not an integer")
                .help("for no upper end write a comparison such as `>= 0`"));
        }
        // The number parser is lenient about doubled signs.
        let digits = word.starts_with(|c: char| c.is_ascii_digit() || c == '.') || named_infinity;
        let single_sign = text.len() - word.len() <= 1;
        let bits = match parse_number(self.ty, text) {
            Ok(bits) if digits && single_sign => bits,
            Err(ParseNumberError::OutOfRange { min, max, .. }) => {
                return Err(fail(format!("{text} does not fit `{}`", self.c_type))
                    .label(format!("allowed are {min} to {max}")));
            }
            _ => return Err(self.not_a_number(text, &range)),
        };
        let Some(ordinal) = self.ty.ordinal(bits) else { return Err(self.not_a_number(text, &range)) };
        let (least, most) = self.finite();
        if self.ty.is_float() && !named_infinity && !(least..=most).contains(&ordinal) {
            return Err(fail(format!("{text} is too large for `{}`", self.c_type))
                .label("beyond the largest finite value")
                .help("write `inf` with an open end for everything up to the largest value"));
        }
        if self.ty.is_float() && ordinal == 0 && !is_zero(&word) {
            return Err(fail(format!("{text} is too small for `{}`", self.c_type))
                .label("rounds to zero")
                .help("write `0`, with an open end to leave zero out"));
        }
        Ok(ordinal)
    }

    fn not_a_number(self, text: &str, range: &Range<usize>) -> Fault {
        if self.ty.is_float() {
            Fault::new(range.clone(), format!("`{text}` is not a number"))
                .label("expected a number such as 1.5e-3, 0x1.8p-3 or inf")
        } else {
            Fault::new(range.clone(), format!("`{text}` is not an integer"))
                .label(format!("expected a value of `{}`", self.c_type))
        }
    }
}

/// The NaN that arithmetic gives.
fn quiet_nan(ty: Scalar) -> u64 {
    ty.infinity_bits().map_or(0, |infinity| infinity | 1 << (ty.mantissa_bits() - 1))
}

/// Whether a number's digits before the exponent are all 0.
fn is_zero(word: &str) -> bool {
    let (digits, exponent) = match word.strip_prefix("0x") {
        Some(hex) => (hex, 'p'),
        None => (word, 'e'),
    };
    let digits = digits.split(exponent).next().unwrap_or("");
    digits.chars().all(|c| c == '0' || c == '.')
}

/// Reads the text of a domain.
pub(super) fn parse(kind: Kind<'_>, text: &str) -> Result<Domain, Fault> {
    let mut parser =
        Parser { kind, text, at: 0, parts: Vec::new(), comparisons: Vec::new(), specials: Vec::new() };
    parser.pieces()?;
    let Parser { parts, comparisons, mut specials, .. } = parser;
    specials.retain(|&bits| comparisons.iter().all(|&(sign, ordinal)| sign.holds(kind.ty, bits, ordinal)));
    let is_open = parts.is_empty() && specials.is_empty();
    let mut set = Intervals::union(if is_open { vec![everything(kind, &comparisons)] } else { parts });
    for (comparison, ordinal) in comparisons {
        match comparison {
            Comparison::Less => set.clip(i128::MIN, ordinal - 1),
            Comparison::LessOrEqual => set.clip(i128::MIN, ordinal),
            Comparison::Greater => set.clip(ordinal + 1, i128::MAX),
            Comparison::GreaterOrEqual => set.clip(ordinal, i128::MAX),
            Comparison::Equal => set.clip(ordinal, ordinal),
            Comparison::NotEqual => set.remove(ordinal),
        }
    }
    if let Some(domain) = set.to_domain(kind.ty) {
        return Ok(Domain { specials, ..domain });
    }
    if !specials.is_empty() {
        return Err(Fault::new(0..text.len(), "the domain has no number").label("NaN alone cannot be searched").help(
            "name at least one number beside it, such as `{nan, inf, 0}`; `all` is every number, the infinities and NaN",
        ));
    }
    Err(Fault::new(0..text.len(), "the domain is empty")
        .label(format!("no `{}` satisfies all of this", kind.c_type))
        .help("intervals and lists are united, but every comparison narrows them; list values as `{1, 2}`"))
}

/// The domain of one number.
pub(super) fn of_number(kind: Kind<'_>, text: &str) -> Result<Domain, Fault> {
    let ordinal = kind.ordinal(text, 0..text.len())?;
    let empty = || Fault::new(0..text.len(), "the domain is empty").label("no value of the type");
    Intervals::union(vec![(ordinal, ordinal)]).to_domain(kind.ty).ok_or_else(empty)
}

fn too_many(range: Range<usize>) -> Fault {
    Fault::new(range, "the domain has too many parts").label(format!("at most {MOST_PIECES} are allowed"))
}

/// All finite values, and an infinity that a comparison names as a closed end.
fn everything(kind: Kind<'_>, comparisons: &[(Comparison, i128)]) -> (i128, i128) {
    let (mut least, mut most) = kind.finite();
    for &(comparison, ordinal) in comparisons {
        if kind.ty.is_float() && matches!(comparison, Comparison::LessOrEqual | Comparison::Equal) {
            most = most.max(ordinal);
        }
        if kind.ty.is_float() && matches!(comparison, Comparison::GreaterOrEqual | Comparison::Equal) {
            least = least.min(ordinal);
        }
    }
    (least, most)
}

struct Parser<'a> {
    kind: Kind<'a>,
    text: &'a str,
    at: usize,
    /// Closed intervals of ordinals.
    parts: Vec<(i128, i128)>,
    comparisons: Vec<(Comparison, i128)>,
    /// Infinities, NaN and -0, as they were named.
    specials: Vec<u64>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// The next character after spaces.
    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    /// The next character, or the end of the text, to point at.
    fn here(&self) -> Range<usize> {
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        // At the end point at the last character, so that there is something to see.
        let last = self.text.chars().next_back().map_or(0, char::len_utf8);
        if width == 0 { self.text.len() - last..self.text.len() } else { self.at..self.at + width }
    }

    /// Notes an interval or a value.
    fn add(&mut self, least: i128, most: i128) -> Result<(), Fault> {
        self.parts.push((least, most));
        self.check_count()
    }

    fn check_count(&self) -> Result<(), Fault> {
        if self.parts.len() + self.comparisons.len() > MOST_PIECES {
            Err(too_many(0..self.text.len()))
        } else {
            Ok(())
        }
    }

    fn pieces(&mut self) -> Result<(), Fault> {
        if self.peek().is_none() {
            return Err(Fault::new(0..self.text.len(), "the domain is empty")
                .label("nothing is written here")
                .help("leave the parameter out of `domain` to search all its values"));
        }
        loop {
            self.piece()?;
            match self.peek() {
                None => return Ok(()),
                Some(',') => self.at += 1,
                Some(found) => {
                    return Err(Fault::new(self.here(), format!("unexpected `{found}` in a domain"))
                        .label("expected `,` or the end")
                        .help(if "<>".contains(found) {
                            "write both ends as an interval such as `(0, 1)`"
                        } else {
                            FORMS
                        }));
                }
            }
        }
    }

    fn piece(&mut self) -> Result<(), Fault> {
        for (sign, comparison) in SIGNS {
            if self.accept(sign) {
                let number = self.number()?;
                self.comparisons.push((comparison, number));
                return self.check_count();
            }
        }
        match self.peek() {
            Some('[' | '(') => self.interval(),
            Some('{') => self.list(),
            Some('=') => Err(Fault::new(self.here(), "a single `=` is no comparison").label("write `==`")),
            Some(c) if c.is_ascii_digit() || "+-.".contains(c) => self.value(),
            Some(c) if c.is_alphabetic() || c == '_' => self.word(),
            Some(c) => Err(Fault::new(self.here(), format!("unexpected `{c}` in a domain"))
                .label("expected an interval, a list, a comparison or a number")
                .help(FORMS)),
            None => Err(Fault::new(self.here(), "the domain ends too early")
                .label("expected another interval, list, comparison or number after this")
                .help(FORMS)),
        }
    }

    fn value(&mut self) -> Result<(), Fault> {
        let range = self.lexeme();
        let word = self.text[range.clone()].to_ascii_lowercase();
        let (negative, name) = match word.strip_prefix(['+', '-']) {
            Some(name) => (word.starts_with('-'), name),
            None => (false, word.as_str()),
        };
        let ty = self.kind.ty;
        let sign = if negative { ty.sign_bit() } else { 0 };
        let infinity = ty.infinity_bits().unwrap_or(0);
        match name {
            "nan" if ty.is_float() => {
                self.at = range.end;
                self.name_special(quiet_nan(ty) | sign);
                // Beside a NaN there may be no number; with one, its parts are there already.
                return Ok(());
            }
            "inf" | "infinity" if ty.is_float() => self.name_special(infinity | sign),
            zero if ty.is_float() && negative && is_zero(zero) => self.name_special(sign),
            _ => {}
        }
        let number = self.number()?;
        self.add(number, number)
    }

    fn name_special(&mut self, bits: u64) {
        if !self.specials.contains(&bits) {
            self.specials.push(bits);
        }
    }

    /// Every number, and what is none.
    fn all(&mut self) -> Result<(), Fault> {
        let ty = self.kind.ty;
        if let Some(infinity) = ty.infinity_bits() {
            for bits in [infinity, infinity | ty.sign_bit(), quiet_nan(ty), ty.sign_bit()] {
                self.name_special(bits);
            }
        }
        let (least, most) = self.kind.finite();
        self.add(least, most)
    }

    /// A word is a number only as `inf` or `nan`, and `all` of them; else it is often the parameter's name.
    fn word(&mut self) -> Result<(), Fault> {
        let range = self.lexeme();
        let word = &self.text[range.clone()];
        if word == "all" {
            self.at = range.end;
            return self.all();
        }
        if ["inf", "infinity", "nan"].contains(&word.to_ascii_lowercase().as_str()) {
            return self.value();
        }
        Err(Fault::new(range, format!("unexpected `{word}` in a domain")).label("not a number").help(
            "write a comparison without the parameter's name, such as `> 0`, and both ends as `[0, 1]`",
        ))
    }

    fn interval(&mut self) -> Result<(), Fault> {
        self.skip_space();
        let start = self.at;
        let low_open = self.rest().starts_with('(');
        self.at += 1;
        let low = self.number()?;
        if !self.accept(",") {
            return Err(Fault::new(self.here(), "an interval needs two ends")
                .label("expected `,` and the upper end")
                .help("write `[0, 1]`; for a list of values write `{0, 1, 2}`"));
        }
        let high = self.number()?;
        let high_open = self.accept(")");
        if !high_open && !self.accept("]") {
            let fault = Fault::new(self.here(), "the interval is not closed").label("expected `]` or `)`");
            return Err(fault.help("an interval has two ends; for a list of values write `{0, 1, 2}`"));
        }
        let range = start..self.at;
        if low > high {
            return Err(
                Fault::new(range, "the interval's ends are reversed").label("the lower end comes first")
            );
        }
        let (least, most) = (low + i128::from(low_open), high - i128::from(high_open));
        if least > most {
            return Err(
                Fault::new(range, "the interval is empty").label("no value lies between these open ends")
            );
        }
        self.add(least, most)
    }

    fn list(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        if self.accept("}") {
            return Err(Fault::new(start..self.at, "the list is empty").label("expected numbers"));
        }
        loop {
            self.value()?;
            if self.accept("}") {
                return Ok(());
            }
            if !self.accept(",") {
                return Err(Fault::new(self.here(), "the list is not closed").label("expected `,` or `}`"));
            }
        }
    }

    /// The characters of a number: digits, letters, a dot, a sign at the start and in an exponent.
    fn lexeme(&mut self) -> Range<usize> {
        self.skip_space();
        let start = self.at;
        let hex = self.rest().trim_start_matches(['+', '-']).starts_with("0x");
        let exponent = if hex { ['p', 'P'] } else { ['e', 'E'] };
        let mut before = None;
        let length = self.rest().find(|c: char| {
            let sign = "+-".contains(c) && before.is_none_or(|b| exponent.contains(&b));
            before = Some(c);
            !(sign || c.is_alphanumeric() || "._".contains(c))
        });
        start..start + length.unwrap_or(self.rest().len())
    }

    fn number(&mut self) -> Result<i128, Fault> {
        let range = self.lexeme();
        if range.is_empty() {
            let fault = Fault::new(self.here(), "a number is missing in a domain").label("expected a number");
            return Err(fault.help(FORMS));
        }
        self.at = range.end;
        self.kind.ordinal(&self.text[range.clone()], range)
    }
}

#[cfg(test)]
#[path = "domain_tests.rs"]
mod tests;
