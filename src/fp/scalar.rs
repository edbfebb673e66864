//! The C scalar types a parameter or a result may have, and the ordinal of a value of each.
//!
//! Every value travels as 64 bits: a `double` as its own bits, a `float` in the low 32, an integer
//! sign- or zero-extended. Code that must look inside the bits asks the `Scalar`.

use serde::{Deserialize, Serialize};

/// A C scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scalar {
    F64,
    F32,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Scalar {
    pub const ALL: [Scalar; 10] = [
        Scalar::F64,
        Scalar::F32,
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
    ];

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F64 | Scalar::F32)
    }

    /// Whether the type has values on both sides of zero.
    pub fn is_signed(self) -> bool {
        !matches!(self, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)
    }

    /// Width in bits.
    pub fn width(self) -> u32 {
        match self {
            Scalar::I8 | Scalar::U8 => 8,
            Scalar::I16 | Scalar::U16 => 16,
            Scalar::F32 | Scalar::I32 | Scalar::U32 => 32,
            Scalar::F64 | Scalar::I64 | Scalar::U64 => 64,
        }
    }

    /// Stored mantissa bits of a float type; 0 for integers.
    pub fn mantissa_bits(self) -> u32 {
        match self {
            Scalar::F64 => 52,
            Scalar::F32 => 23,
            _ => 0,
        }
    }

    /// Bits of +infinity of a float type.
    pub fn infinity_bits(self) -> Option<u64> {
        match self {
            Scalar::F64 => Some(f64::INFINITY.to_bits()),
            Scalar::F32 => Some(u64::from(f32::INFINITY.to_bits())),
            _ => None,
        }
    }

    pub fn sign_bit(self) -> u64 {
        1 << (self.width() - 1)
    }

    /// Whether the sign bit is set (for floats also on -0 and NaN), or the integer is negative.
    pub fn is_negative(self, bits: u64) -> bool {
        self.is_signed() && bits & self.sign_bit() != 0
    }

    pub fn is_nan(self, bits: u64) -> bool {
        match self.infinity_bits() {
            Some(inf) => bits & !self.sign_bit() > inf,
            None => false,
        }
    }

    /// The monotone integer of a value: both zeros are 0, neighbours differ by 1. None for NaN.
    pub fn ordinal(self, bits: u64) -> Option<i128> {
        if self.is_nan(bits) {
            return None;
        }
        Some(match self {
            Scalar::F64 | Scalar::F32 => {
                let magnitude = i128::from(bits & !self.sign_bit());
                if self.is_negative(bits) { -magnitude } else { magnitude }
            }
            // Signed integers travel sign-extended, so reading 64 bits as i64 is exact.
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => i128::from(bits.cast_signed()),
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => i128::from(bits),
        })
    }

    /// The value of an ordinal (zero becomes +0); None when the type has no such value.
    pub fn from_ordinal(self, ordinal: i128) -> Option<u64> {
        match self.infinity_bits() {
            Some(inf) => {
                let magnitude = u64::try_from(ordinal.unsigned_abs()).ok()?;
                let sign = if ordinal < 0 { self.sign_bit() } else { 0 };
                (magnitude <= inf).then_some(magnitude | sign)
            }
            None => {
                let (min, max) = self.integer_limits()?;
                if ordinal < min || ordinal > max {
                    return None;
                }
                if self.is_signed() {
                    i64::try_from(ordinal).ok().map(i64::cast_unsigned)
                } else {
                    u64::try_from(ordinal).ok()
                }
            }
        }
    }

    /// Smallest and largest value of an integer type; None for floats.
    pub fn integer_limits(self) -> Option<(i128, i128)> {
        if self.is_float() {
            return None;
        }
        let width = self.width();
        Some(if self.is_signed() {
            (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
        } else {
            (0, (1i128 << width) - 1)
        })
    }

    /// The value as a `f64`: exact for floats and for integers below 2^53.
    pub fn to_f64(self, bits: u64) -> f64 {
        match self {
            Scalar::F64 => f64::from_bits(bits),
            // A float lives in the low 32 bits.
            Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
            // Nearest double: for display and plots only.
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => bits.cast_signed() as f64,
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => bits as f64,
        }
    }

    /// The spelling used in messages and in `run.json`.
    pub fn c_name(self) -> &'static str {
        match self {
            Scalar::F64 => "double",
            Scalar::F32 => "float",
            Scalar::I8 => "int8_t",
            Scalar::U8 => "uint8_t",
            Scalar::I16 => "int16_t",
            Scalar::U16 => "uint16_t",
            Scalar::I32 => "int32_t",
            Scalar::U32 => "uint32_t",
            Scalar::I64 => "int64_t",
            Scalar::U64 => "uint64_t",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_scalar() -> impl Strategy<Value = Scalar> {
        prop::sample::select(Scalar::ALL.to_vec())
    }

    /// Cuts random bits down to a value the type can hold, in the form it travels in.
    fn value_of(scalar: Scalar, raw: u64) -> u64 {
        let shift = 64 - scalar.width();
        if scalar.is_float() || !scalar.is_signed() {
            (raw << shift) >> shift
        } else {
            ((raw << shift).cast_signed() >> shift).cast_unsigned()
        }
    }

    proptest! {
        #[test]
        fn an_ordinal_leads_back_to_its_value(scalar in any_scalar(), raw: u64) {
            let bits = value_of(scalar, raw);
            if let Some(ordinal) = scalar.ordinal(bits) {
                let back = scalar.from_ordinal(ordinal).unwrap();
                prop_assert_eq!(scalar.ordinal(back), Some(ordinal));
                if ordinal != 0 {
                    prop_assert_eq!(back, bits);
                }
            } else {
                prop_assert!(scalar.is_nan(bits));
            }
        }

        #[test]
        fn ordinals_order_doubles_as_their_values(a: f64, b: f64) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            let (x, y) = (Scalar::F64.ordinal(a.to_bits()), Scalar::F64.ordinal(b.to_bits()));
            prop_assert_eq!(x.cmp(&y), a.partial_cmp(&b).unwrap());
        }

        #[test]
        fn neighbouring_floats_differ_by_one(a: f32) {
            prop_assume!(a.is_finite());
            let up = Scalar::F32.ordinal(u64::from(a.next_up().to_bits())).unwrap();
            let here = Scalar::F32.ordinal(u64::from(a.to_bits())).unwrap();
            // -0 and +0 share an ordinal, and next_up of both is the smallest subnormal.
            prop_assert_eq!(up - here, 1);
        }
    }

    #[test]
    fn both_zeros_share_ordinal_zero() {
        assert_eq!(Scalar::F64.ordinal((-0.0f64).to_bits()), Some(0));
        assert_eq!(Scalar::F32.ordinal(u64::from((-0.0f32).to_bits())), Some(0));
    }
}
