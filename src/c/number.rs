//! A number as C spells it: decimal, octal, binary, hexadecimal, hex float, with suffixes.

use crate::fp::{Scalar, parse_number};

/// A number of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    /// Its digits as an integer, if it is one.
    pub integer: Option<u64>,
    /// An integer in hexadecimal: perhaps the bits of a float.
    pub is_pattern: bool,
    /// Significant digits as written. Coefficients have many, thresholds few.
    pub digits: usize,
}

impl Number {
    /// None for what is no number, such as `1.2.3`.
    pub fn parse(text: &str) -> Option<Number> {
        let lower = text.to_ascii_lowercase();
        let is_hex = lower.starts_with("0x");
        let is_float = if is_hex { lower.contains('p') } else { lower.contains(['.', 'e']) };
        if is_float { Number::float(&lower, is_hex) } else { Number::integer(&lower) }
    }

    fn float(lower: &str, is_hex: bool) -> Option<Number> {
        let body = lower.trim_end_matches(['f', 'l']);
        // `2.f` is written by people; the reader wants a digit after the point only in hex floats.
        let single = lower.ends_with('f');
        let ty = if single { Scalar::F32 } else { Scalar::F64 };
        let value = ty.to_f64(parse_number(ty, body).ok()?);
        let mantissa = match is_hex {
            true => body[2..].split('p').next().unwrap_or_default(),
            false => body.split('e').next().unwrap_or_default(),
        };
        let digits: String = mantissa.chars().filter(|&c| c != '.').collect();
        let digits = digits.trim_matches('0').len();
        value.is_finite().then_some(Number { value, integer: None, is_pattern: false, digits })
    }

    fn integer(lower: &str) -> Option<Number> {
        let body = lower.trim_end_matches(['u', 'l', 'z']);
        let (digits, radix) = match body.as_bytes() {
            [b'0', b'x', ..] => (&body[2..], 16),
            [b'0', b'b', ..] => (&body[2..], 2),
            [b'0', _, ..] => (&body[1..], 8),
            _ => (body, 10),
        };
        let integer = u64::from_str_radix(digits, radix).ok()?;
        let significant = digits.trim_matches('0').len();
        // The nearest double is what a comparison with a double sees.
        let value = integer as f64;
        Some(Number { value, integer: Some(integer), is_pattern: radix == 16, digits: significant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_number_has_its_value() {
        for (text, value) in [
            ("10", 10.0),
            ("10UL", 10.0),
            ("010", 8.0),
            ("0", 0.0),
            ("0b101", 5.0),
            ("0xFFu", 255.0),
            ("1.5", 1.5),
            (".5", 0.5),
            ("2.", 2.0),
            ("2.f", 2.0),
            ("1e-3", 1e-3),
            ("1E+3L", 1e3),
            ("0.1f", f64::from(0.1f32)),
            ("0x1p-149f", 2f64.powi(-149)),
            ("0x1.8p+1", 3.0),
            ("0X1.FP3", 15.5),
        ] {
            assert_eq!(Number::parse(text).map(|n| n.value), Some(value), "{text}");
        }
        for text in ["1.2.3", "0x", "08", "1e999", "12abc", "0xg"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn significant_digits_are_counted_as_written() {
        for (text, digits) in [("0.69314718056", 11), ("100.0", 1), ("1.5e-10", 2), ("88.72", 4)] {
            assert_eq!(Number::parse(text).unwrap().digits, digits, "{text}");
        }
        assert!(Number::parse("0x42b17218").unwrap().is_pattern);
    }
}
