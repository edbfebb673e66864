//! Constant expressions of a source: literals and names of literals under + - * / and parentheses.

use crate::c::number::Number;
use crate::c::token::Token;

/// Names whose headers belong to the compiler and are not read.
const STANDARD: [(&str, f64); 14] = [
    ("DBL_EPSILON", f64::EPSILON),
    ("DBL_MAX", f64::MAX),
    ("DBL_MIN", f64::MIN_POSITIVE),
    ("FLT_EPSILON", f32::EPSILON as f64),
    ("FLT_MAX", f32::MAX as f64),
    ("FLT_MIN", f32::MIN_POSITIVE as f64),
    ("INT_MAX", i32::MAX as f64),
    ("M_E", std::f64::consts::E),
    ("M_LN2", std::f64::consts::LN_2),
    ("M_PI", std::f64::consts::PI),
    ("M_PI_2", std::f64::consts::FRAC_PI_2),
    ("M_PI_4", std::f64::consts::FRAC_PI_4),
    ("M_SQRT1_2", std::f64::consts::FRAC_1_SQRT_2),
    ("M_SQRT2", std::f64::consts::SQRT_2),
];

/// Words of a cast, which changes no value worth trying.
const TYPES: [&str; 12] = [
    "double", "float", "long", "int", "unsigned", "signed", "short", "char", "float_t", "double_t",
    "uint32_t", "int32_t",
];

/// Deepest chain of names; a macro may name itself.
const DEPTH: usize = 8;
/// Longest expression; a longer one is no threshold.
const LONGEST: usize = 64;

/// What names stand for where an expression stands.
pub trait Names {
    fn tokens_of(&self, name: &str) -> Option<&[Token]>;
}

/// The value of a whole expression; None when it is not constant.
pub fn evaluate(tokens: &[Token], names: &dyn Names) -> Option<Number> {
    evaluate_within(tokens, names, DEPTH)
}

fn evaluate_within(tokens: &[Token], names: &dyn Names, depth: usize) -> Option<Number> {
    if tokens.len() > LONGEST {
        return None;
    }
    let mut evaluation = Evaluation { tokens, at: 0, names, depth: depth.checked_sub(1)? };
    let value = evaluation.sum()?;
    (evaluation.at == tokens.len() && value.value.is_finite()).then_some(value)
}

struct Evaluation<'a> {
    tokens: &'a [Token],
    at: usize,
    names: &'a dyn Names,
    depth: usize,
}

impl Evaluation<'_> {
    fn take(&mut self, mark: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.is(mark));
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Option<Number> {
        let mut left = self.product()?;
        loop {
            if self.take("+") {
                left = combine(left, self.product()?, |a, b| a + b);
            } else if self.take("-") {
                left = combine(left, self.product()?, |a, b| a - b);
            } else {
                return Some(left);
            }
        }
    }

    fn product(&mut self) -> Option<Number> {
        let mut left = self.factor()?;
        loop {
            if self.take("*") {
                left = combine(left, self.factor()?, |a, b| a * b);
            } else if self.take("/") {
                let right = self.factor()?;
                let whole = left.integer.is_some() && right.integer.is_some();
                left = combine(left, right, |a, b| if whole { (a / b).trunc() } else { a / b });
            } else {
                return Some(left);
            }
        }
    }

    fn factor(&mut self) -> Option<Number> {
        if self.take("-") {
            let number = self.factor()?;
            return Some(Number { value: -number.value, is_pattern: false, ..number });
        }
        if self.take("+") {
            return self.factor();
        }
        if self.take("(") {
            if self.skip_cast() {
                return self.factor();
            }
            let value = self.sum()?;
            return self.take(")").then_some(value);
        }
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match token {
            Token::Number(number) => Some(*number),
            Token::Name(name) => match self.names.tokens_of(name) {
                Some(tokens) => evaluate_within(tokens, self.names, self.depth),
                None => standard(name),
            },
            Token::Text | Token::Mark(_) => None,
        }
    }

    /// Whether a cast follows the parenthesis just read; it is read if so.
    fn skip_cast(&mut self) -> bool {
        let rest = &self.tokens[self.at..];
        let words = rest.iter().take_while(|t| t.name().is_some_and(|n| TYPES.contains(&n))).count();
        let is_cast = words > 0 && rest.get(words).is_some_and(|t| t.is(")"));
        self.at += if is_cast { words + 1 } else { 0 };
        is_cast
    }
}

fn combine(a: Number, b: Number, with: impl Fn(f64, f64) -> f64) -> Number {
    let value = with(a.value, b.value);
    // A sum of integers stays one for the next division; its digits no longer matter.
    let integer = a.integer.and(b.integer);
    Number { value, integer, is_pattern: false, digits: a.digits.max(b.digits) }
}

fn standard(name: &str) -> Option<Number> {
    let (_, value) = STANDARD.into_iter().find(|(known, _)| *known == name)?;
    Some(Number { value, integer: None, is_pattern: false, digits: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::token::tokens;

    struct FixedNames(Vec<(&'static str, Vec<Token>)>);

    impl Names for FixedNames {
        fn tokens_of(&self, name: &str) -> Option<&[Token]> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, tokens)| tokens.as_slice())
        }
    }

    fn value(text: &str) -> Option<f64> {
        let names = FixedNames(vec![
            ("LIMIT", tokens("(2.0 * EPS)")),
            ("EPS", tokens("0.25")),
            ("LOOP", tokens("LOOP + 1")),
        ]);
        evaluate(&tokens(text), &names).map(|n| n.value)
    }

    #[test]
    fn constants_are_followed_through_names_and_arithmetic() {
        for (text, wanted) in [
            ("-5.0", -5.0),
            ("1.0 + 2.0 * -3", -5.0),
            ("(1 - 3) / 4.0", -0.5),
            ("7 / 2", 3.0),
            ("LIMIT / 2", 0.25),
            ("-(double)LIMIT", -0.5),
            ("M_PI_2", std::f64::consts::FRAC_PI_2),
        ] {
            assert_eq!(value(text), Some(wanted), "{text}");
        }
        for text in ["x", "1 +", "sqrt(2.0)", "LOOP", "1.0 / 0.0", "", "(1", "1 2"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
