//! Bits of inconsistency between two results of one type (the metric of CIGEN, section 2.2).

use super::{Class, NanPolicy, Scalar};

/// Number of representable values between two results (0 when equal); None when either is NaN.
pub fn distance(scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let (a, b) = (scalar.ordinal(a)?, scalar.ordinal(b)?);
    // The whole line of every type is shorter than 2^64.
    u64::try_from((a - b).unsigned_abs()).ok()
}

/// log2(ulps + 1), the same on every machine.
pub fn bits_of_distance(ulps: u64) -> f64 {
    if ulps < (1 << 53) - 1 {
        // Exact as a double, so the pure-Rust logarithm is all that rounds.
        return libm::log2((ulps + 1) as f64);
    }
    // u64::MAX as f64 rounds to 2^64; no type's distance comes near it.
    libm::log2(ulps as f64)
}

/// Bits of inconsistency of a variant's result against the baseline's: 0 when the values are equal
/// or the baseline is itself infinite or NaN, else log2(ulps + 1).
pub fn inconsistency(scalar: Scalar, baseline: u64, variant: u64, nan: NanPolicy) -> f64 {
    if baseline == variant {
        return 0.0;
    }
    if matches!(Class::of(scalar, baseline), Class::Infinity | Class::Nan) {
        return 0.0;
    }
    let placed = match scalar.infinity_bits() {
        Some(inf) if scalar.is_nan(variant) => {
            let negative = match nan {
                NanPolicy::Any => scalar.is_negative(baseline),
                NanPolicy::Sign | NanPolicy::Payload => scalar.is_negative(variant),
            };
            if negative { inf | scalar.sign_bit() } else { inf }
        }
        _ => variant,
    };
    distance(scalar, baseline, placed).map_or(0.0, bits_of_distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use proptest::prelude::*;

    /// The position of a finite or infinite float on the line of all floats, from its decoded
    /// fields and in big integers: independent of the bit trick used by `ordinal`.
    fn position(scalar: Scalar, bits: u64) -> BigInt {
        let mantissa = scalar.mantissa_bits();
        let exponent_field = (bits & !scalar.sign_bit()) >> mantissa;
        let fraction = bits & ((1 << mantissa) - 1);
        // Values below a binade: one binade of subnormals, then 2^mantissa each.
        let below: BigInt = BigInt::from(exponent_field) * (BigInt::from(1) << mantissa);
        let magnitude = below + BigInt::from(fraction);
        if bits & scalar.sign_bit() != 0 { -magnitude } else { magnitude }
    }

    fn big_bits(scalar: Scalar, a: u64, b: u64) -> f64 {
        let ulps = (position(scalar, a) - position(scalar, b)).magnitude().clone();
        let text = (ulps + 1u32).to_string();
        text.parse::<f64>().unwrap().log2()
    }

    proptest! {
        #[test]
        fn the_f64_metric_is_its_big_integer_definition(a: u64, b: u64) {
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            prop_assume!(x.is_finite() && !y.is_nan());
            let got = inconsistency(Scalar::F64, a, b, NanPolicy::Any);
            prop_assert!((got - big_bits(Scalar::F64, a, b)).abs() < 1e-12);
            prop_assert!(got < 64.0);
        }

        #[test]
        fn the_f32_metric_is_its_big_integer_definition(a: u32, b: u32) {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            prop_assume!(x.is_finite() && !y.is_nan());
            let got = inconsistency(Scalar::F32, a.into(), b.into(), NanPolicy::Any);
            prop_assert!((got - big_bits(Scalar::F32, a.into(), b.into())).abs() < 1e-12);
        }

        #[test]
        fn nearby_doubles_are_as_far_apart_as_their_steps(a: f64, steps in 0u64..1000) {
            prop_assume!(a.is_finite() && a.abs() < 1e300);
            let mut b = a;
            for _ in 0..steps { b = b.next_up(); }
            prop_assert_eq!(distance(Scalar::F64, a.to_bits(), b.to_bits()), Some(steps));
        }
    }

    fn bits(baseline: f64, variant: f64, nan: NanPolicy) -> f64 {
        inconsistency(Scalar::F64, baseline.to_bits(), variant.to_bits(), nan)
    }

    #[test]
    fn special_values_score_as_in_cigens_table_1() {
        for nan in [NanPolicy::Any, NanPolicy::Sign] {
            for other in [0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                assert_eq!(bits(f64::INFINITY, other, nan), 0.0);
                assert_eq!(bits(f64::NEG_INFINITY, other, nan), 0.0);
                assert_eq!(bits(f64::NAN, other, nan), 0.0);
            }
            assert_eq!(bits(f64::MAX, f64::INFINITY, nan), 1.0);
            assert!(bits(1.0, f64::NEG_INFINITY, nan) > bits(1.0, f64::INFINITY, nan));
        }
        let (plus_nan, minus_nan) = (f64::NAN.abs(), -f64::NAN.abs());
        assert_eq!(bits(1.0, minus_nan, NanPolicy::Sign), bits(1.0, f64::NEG_INFINITY, NanPolicy::Sign));
        assert_eq!(bits(1.0, plus_nan, NanPolicy::Sign), bits(1.0, f64::INFINITY, NanPolicy::Sign));
        assert_eq!(bits(-1.0, plus_nan, NanPolicy::Any), bits(-1.0, f64::NEG_INFINITY, NanPolicy::Any));
        assert_eq!(bits(1.0, minus_nan, NanPolicy::Any), bits(1.0, f64::INFINITY, NanPolicy::Any));
    }

    #[test]
    fn the_zeros_are_equal_and_the_far_ends_score_under_64() {
        assert_eq!(bits(0.0, -0.0, NanPolicy::Any), 0.0);
        let most = bits(f64::MAX, f64::MIN, NanPolicy::Any);
        assert!(most > 63.99 && most < 64.0, "{most}");
        assert_eq!(bits(1.0, 1.0f64.next_up(), NanPolicy::Any), 1.0);
    }

    #[test]
    fn integers_score_by_their_difference() {
        let minus_one = (-1i64).cast_unsigned();
        assert_eq!(inconsistency(Scalar::I32, minus_one, 2, NanPolicy::Any), 2.0);
        assert_eq!(inconsistency(Scalar::U64, 0, u64::MAX, NanPolicy::Any), 64.0);
    }
}
