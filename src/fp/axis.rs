//! The axis a search moves on: a sign and a distance from zero.
//!
//! For floats the distance is logarithmic: equal steps inside a binade, the same number of steps in
//! every binade, subnormal binades included. It is computed in integers, so it is exact and equal
//! on every machine. For integers it is the plain absolute value.

use serde::{Deserialize, Serialize};

use super::Scalar;

/// Which way from zero. -0 is on the negative side, +0 and integer 0 on the positive one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Negative,
    Positive,
}

/// A place on an axis. `mag` 0 is zero itself; infinity is one step above the largest float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AxisPoint {
    pub side: Side,
    pub mag: u64,
}

impl Scalar {
    /// Steps of the axis in one binade (floats) or from one integer to the next.
    pub fn axis_unit(self) -> u64 {
        1 << self.mantissa_bits()
    }

    /// The largest finite magnitude on a side; None when the type has no values there.
    pub fn axis_max(self, side: Side) -> Option<u64> {
        match (self.infinity_bits(), self.integer_limits()) {
            (Some(inf), _) => Some(inf - 1 + self.subnormal_shift()),
            (None, Some((min, max))) => match side {
                Side::Positive => u64::try_from(max).ok(),
                Side::Negative if min < 0 => u64::try_from(min.unsigned_abs()).ok(),
                Side::Negative => None,
            },
            (None, None) => None,
        }
    }

    /// Added to the bits of a normal float to make room for the subnormal binades below it.
    fn subnormal_shift(self) -> u64 {
        u64::from(self.mantissa_bits()) << self.mantissa_bits()
    }

    /// Where a value lies; None for NaN.
    pub fn axis(self, bits: u64) -> Option<AxisPoint> {
        if self.is_nan(bits) {
            return None;
        }
        let side = if self.is_negative(bits) { Side::Negative } else { Side::Positive };
        if !self.is_float() {
            let mag = match side {
                Side::Negative => bits.cast_signed().unsigned_abs(),
                Side::Positive => bits,
            };
            return Some(AxisPoint { side, mag });
        }
        let mantissa = self.mantissa_bits();
        let magnitude = bits & !self.sign_bit();
        let mag = if magnitude == 0 {
            0
        } else if magnitude >> mantissa != 0 {
            magnitude + self.subnormal_shift()
        } else {
            // k * 2^-1074: binade floor(log2 k), the rest scaled to a full mantissa.
            let binade = magnitude.ilog2();
            let rest = magnitude ^ (1 << binade);
            (u64::from(binade + 1) << mantissa) + (rest << (mantissa - binade))
        };
        Some(AxisPoint { side, mag })
    }

    /// The value at a place, or the nearest one towards zero (only subnormals are sparser than
    /// their axis). A place beyond infinity is infinity, or the integer type's last value.
    pub fn at_axis(self, point: AxisPoint) -> u64 {
        if !self.is_float() {
            let mag = point.mag.min(self.axis_max(point.side).unwrap_or(0));
            return match point.side {
                Side::Positive => mag,
                Side::Negative => mag.wrapping_neg(),
            };
        }
        let mantissa = self.mantissa_bits();
        let top = self.infinity_bits().unwrap_or(0) + self.subnormal_shift();
        let mag = point.mag.min(top);
        let first_normal = (u64::from(mantissa) + 1) << mantissa;
        let magnitude = if mag >= first_normal {
            mag - self.subnormal_shift()
        } else if mag >> mantissa == 0 {
            0
        } else {
            let binade = (mag >> mantissa) - 1;
            let rest = mag & ((1 << mantissa) - 1);
            (1 << binade) + (rest >> (u64::from(mantissa) - binade))
        };
        match point.side {
            Side::Positive => magnitude,
            Side::Negative => magnitude | self.sign_bit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(x: f64) -> AxisPoint {
        Scalar::F64.axis(x.to_bits()).unwrap()
    }

    proptest! {
        #[test]
        fn every_double_comes_back_from_its_place(bits: u64) {
            prop_assume!(!f64::from_bits(bits).is_nan());
            let place = Scalar::F64.axis(bits).unwrap();
            prop_assert_eq!(Scalar::F64.at_axis(place), bits);
        }

        #[test]
        fn every_float_comes_back_from_its_place(bits: u32) {
            prop_assume!(!f32::from_bits(bits).is_nan());
            let place = Scalar::F32.axis(bits.into()).unwrap();
            prop_assert_eq!(Scalar::F32.at_axis(place), u64::from(bits));
        }

        #[test]
        fn every_subnormal_comes_back_from_its_place(bits in 0u64..1 << 52) {
            let place = Scalar::F64.axis(bits).unwrap();
            prop_assert_eq!(Scalar::F64.at_axis(place), bits);
        }

        #[test]
        fn places_are_ordered_as_magnitudes(a: f64, b: f64) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            let order = a.abs().partial_cmp(&b.abs()).unwrap();
            prop_assert_eq!(point(a).mag.cmp(&point(b).mag), order);
        }

        #[test]
        fn every_place_has_the_nearest_value_towards_zero(mag: u64) {
            let bits = Scalar::F64.at_axis(AxisPoint { side: Side::Positive, mag });
            let x = f64::from_bits(bits);
            prop_assert!(point(x).mag <= mag);
            if x.is_finite() {
                prop_assert!(point(x.next_up()).mag > mag);
            }
        }

        #[test]
        fn every_integer_comes_back_from_its_place(x: i64, y: u64) {
            let bits = x.cast_unsigned();
            prop_assert_eq!(Scalar::I64.at_axis(Scalar::I64.axis(bits).unwrap()), bits);
            prop_assert_eq!(Scalar::U64.at_axis(Scalar::U64.axis(y).unwrap()), y);
        }
    }

    #[test]
    fn a_binade_is_one_unit_long_also_among_subnormals() {
        let unit = Scalar::F64.axis_unit();
        assert_eq!(point(2.0).mag - point(1.0).mag, unit);
        assert_eq!(point(f64::MIN_POSITIVE).mag - point(f64::MIN_POSITIVE / 2.0).mag, unit);
        assert_eq!(point(1e-323).mag - point(5e-324).mag, unit);
        assert_eq!(point(5e-324).mag, unit);
        assert_eq!(point(f64::MAX).mag, Scalar::F64.axis_max(Side::Positive).unwrap());
        assert_eq!(point(f64::INFINITY).mag, point(f64::MAX).mag + 1);
    }
}
