//! The class of a value: what a metric in bits alone would hide when it changes.

use serde::{Deserialize, Serialize};

use super::Scalar;

/// What kind of number a value is. Integers are `Zero` or `Finite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    Zero,
    Finite,
    Infinity,
    Nan,
}

impl Class {
    pub fn of(scalar: Scalar, bits: u64) -> Class {
        if scalar.is_nan(bits) {
            return Class::Nan;
        }
        let magnitude = if scalar.is_float() { bits & !scalar.sign_bit() } else { bits };
        match scalar.infinity_bits() {
            Some(inf) if magnitude == inf => Class::Infinity,
            _ if magnitude == 0 => Class::Zero,
            _ => Class::Finite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_double_has_its_class() {
        let class = |x: f64| Class::of(Scalar::F64, x.to_bits());
        assert_eq!(class(-0.0), Class::Zero);
        assert_eq!(class(5e-324), Class::Finite);
        assert_eq!(class(f64::NEG_INFINITY), Class::Infinity);
        assert_eq!(class(-f64::NAN), Class::Nan);
        assert_eq!(Class::of(Scalar::I32, 0), Class::Zero);
        assert_eq!(Class::of(Scalar::I32, (-5i64).cast_unsigned()), Class::Finite);
    }
}
