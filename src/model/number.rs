//! A number with its type, as results hold it, and the text that files have in its place.

use serde::{Deserialize, Serialize, Serializer};

use super::{FaultKind, Outcome};
use crate::fp::{NanPolicy, ParseNumberError, Scalar, format_dec, format_hex, parse_number};

/// A value of a type, as bits. Equal numbers have equal bits: -0 is not +0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    pub scalar: Scalar,
    pub bits: u64,
}

impl Number {
    pub fn new(scalar: Scalar, bits: u64) -> Number {
        Number { scalar, bits }
    }

    /// Inputs with the types of their parameters.
    pub fn list(scalars: &[Scalar], bits: &[u64]) -> Vec<Number> {
        scalars.iter().zip(bits).map(|(&scalar, &bits)| Number { scalar, bits }).collect()
    }

    /// The exact text.
    pub fn hex(self) -> String {
        format_hex(self.scalar, self.bits)
    }

    /// The shortest decimal that reads back as the same number.
    pub fn dec(self) -> String {
        format_dec(self.scalar, self.bits)
    }

    /// None for NaN.
    pub fn ordinal(self) -> Option<i128> {
        self.scalar.ordinal(self.bits)
    }

    pub fn is_nan(self) -> bool {
        self.scalar.is_nan(self.bits)
    }
}

/// What a build made of an input: a number, or a fault in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Value(Number),
    Fault(FaultKind),
}

impl Answer {
    /// An outcome of a function with results of this type.
    pub fn new(scalar: Scalar, outcome: Outcome) -> Answer {
        match outcome {
            Outcome::Value(bits) => Answer::Value(Number { scalar, bits }),
            Outcome::Fault(kind) => Answer::Fault(kind),
        }
    }

    pub fn number(self) -> Option<Number> {
        match self {
            Answer::Value(number) => Some(number),
            Answer::Fault(_) => None,
        }
    }

    /// Whether two answers are one; `nan` says what of a NaN counts.
    pub fn agrees(self, other: Answer, nan: NanPolicy) -> bool {
        match (self, other) {
            (Answer::Value(a), Answer::Value(b)) => {
                a.scalar == b.scalar && nan.essence(a.scalar, a.bits) == nan.essence(b.scalar, b.bits)
            }
            (a, b) => a == b,
        }
    }

    /// The exact text, or the fault's name.
    pub fn hex(self) -> String {
        match self {
            Answer::Value(number) => number.hex(),
            Answer::Fault(kind) => kind.to_string(),
        }
    }

    /// The readable text, or the fault's name.
    pub fn dec(self) -> String {
        match self {
            Answer::Value(number) => number.dec(),
            Answer::Fault(kind) => kind.to_string(),
        }
    }
}

/// A number or a fault as files have it: exact and readable text, which does not say its type. It becomes a
/// `Number` or an `Answer` with the types of its function, in `stored`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberText {
    pub hex: String,
    pub dec: String,
}

impl NumberText {
    /// The exact text decides.
    pub(super) fn number(&self, scalar: Scalar) -> Result<Number, ParseNumberError> {
        parse_number(scalar, &self.hex).map(|bits| Number { scalar, bits })
    }

    /// A number of a type or a fault. Of a text that is neither, the reason why it is no number.
    pub(super) fn answer(&self, scalar: Scalar) -> Result<Answer, ParseNumberError> {
        let fault = |error| self.hex.parse().map(Answer::Fault).map_err(|_| error);
        self.number(scalar).map(Answer::Value).or_else(fault)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NumberText { hex: self.hex(), dec: self.dec() }.serialize(serializer)
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NumberText { hex: self.hex(), dec: self.dec() }.serialize(serializer)
    }
}

/// A type as files have it: `double`, `int32_t`.
pub(super) mod c_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Scalar;

    pub fn serialize<S: Serializer>(scalar: &Scalar, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(scalar.c_name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Scalar::ALL.into_iter().find(|scalar| scalar.c_name() == name);
        known.ok_or_else(|| {
            let names = Scalar::ALL.map(Scalar::c_name).join(", ");
            D::Error::custom(format!(
                "`{name}` is a type that bitrift does not know; expected one of {names}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_stored_as_exact_and_readable_text_and_read_back_by_its_type() {
        for (number, hex, dec) in [
            (Number::new(Scalar::F64, 3f64.to_bits()), "0x1.8p+1", "3"),
            (Number::new(Scalar::F32, 0.1f32.to_bits().into()), "0x1.99999ap-4", "0.1"),
            (Number::new(Scalar::I32, (-7i64).cast_unsigned()), "-7", "-7"),
            (Number::new(Scalar::F64, f64::NAN.to_bits() | 1), "nan:0x7ff8000000000001", "nan"),
        ] {
            let text = NumberText { hex: hex.into(), dec: dec.into() };
            assert_eq!(serde_json::to_value(number).unwrap(), serde_json::to_value(&text).unwrap());
            assert_eq!(text.number(number.scalar), Ok(number));
            assert_eq!(text.answer(number.scalar), Ok(Answer::Value(number)));
        }
        let fault = NumberText { hex: "SIGSEGV".into(), dec: "SIGSEGV".into() };
        assert_eq!(fault.answer(Scalar::F64), Ok(Answer::Fault(FaultKind::Signal(11))));
        let odd = NumberText { hex: "0xz".into(), dec: "1".into() };
        assert!(odd.answer(Scalar::F64).unwrap_err().to_string().starts_with("`0xz` is not a number"));
    }
}
