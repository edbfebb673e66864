//! What counts as equal: what of a NaN and of a zero is looked at, and how far apart two numbers may be.

use serde::{Deserialize, Serialize};

use super::{Class, Scalar};

/// What of a NaN counts, and where a variant's is placed on the number line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NanPolicy {
    /// All NaNs are one answer, at the infinity of the baseline's sign: signs of NaN differ between machines.
    #[default]
    Any,
    /// NaN counts as the infinity of its own sign (CIGEN's Table 1), and two of them agree when their signs do.
    Sign,
    /// As `Sign`, and two NaNs agree only when all their bits do.
    Payload,
}

impl NanPolicy {
    pub const ALL: [(&'static str, NanPolicy); 3] =
        [("any", NanPolicy::Any), ("sign", NanPolicy::Sign), ("payload", NanPolicy::Payload)];

    /// The spelling in files.
    pub fn as_str(self) -> &'static str {
        spelling(&NanPolicy::ALL, self)
    }

    /// The bits of a result as far as they count: equal for results that agree.
    pub fn essence(self, scalar: Scalar, bits: u64) -> u64 {
        match (self, scalar.infinity_bits()) {
            (NanPolicy::Any, Some(inf)) if scalar.is_nan(bits) => inf | 1,
            (NanPolicy::Sign, Some(inf)) if scalar.is_nan(bits) => inf | 1 | (bits & scalar.sign_bit()),
            _ => bits,
        }
    }
}

/// What of a zero counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ZeroPolicy {
    /// The two zeros are one number; inputs at which their signs differ are counted.
    #[default]
    Any,
    /// +0 against -0 is a difference of a kind of its own, without bits.
    Sign,
}

impl ZeroPolicy {
    pub const ALL: [(&'static str, ZeroPolicy); 2] = [("any", ZeroPolicy::Any), ("sign", ZeroPolicy::Sign)];

    /// The spelling in files.
    pub fn as_str(self) -> &'static str {
        spelling(&ZeroPolicy::ALL, self)
    }

    /// The bits of a result as far as they count.
    pub fn essence(self, scalar: Scalar, bits: u64) -> u64 {
        let is_lost = self == ZeroPolicy::Any && Class::of(scalar, bits) == Class::Zero;
        if is_lost { 0 } else { bits }
    }
}

fn spelling<P: Copy + PartialEq>(all: &[(&'static str, P)], policy: P) -> &'static str {
    all.iter().find(|(_, known)| *known == policy).map_or("", |(name, _)| name)
}

/// How far two finite numbers may be apart before that is a difference: `abs`, or `rel` of the larger magnitude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    pub abs: f64,
    pub rel: f64,
}

impl Tolerance {
    /// Whether nothing but equal numbers are within it.
    pub fn is_none(&self) -> bool {
        self.abs == 0.0 && self.rel == 0.0
    }

    /// Whether two results are finite and no further apart than this. The computation is in double precision, the same
    /// on every machine; a distance that overflows is too far.
    pub fn covers(&self, scalar: Scalar, a: u64, b: u64) -> bool {
        if self.is_none() {
            return false;
        }
        let [one, other] = [a, b].map(|bits| Class::of(scalar, bits));
        if [one, other].iter().any(|class| matches!(class, Class::Infinity | Class::Nan)) {
            return false;
        }
        let (x, y) = (scalar.to_f64(a), scalar.to_f64(b));
        let distance = if scalar.is_float() {
            (x - y).abs()
        } else {
            // Exact up to 2^53; the doubles of two large integers may be one.
            super::distance(scalar, a, b).map_or(f64::INFINITY, |steps| steps as f64)
        };
        distance <= self.abs || distance <= self.rel * x.abs().max(y.abs())
    }
}

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |name: &str, value: f64| (value != 0.0).then(|| format!("{name} {value:?}"));
        let parts: Vec<String> =
            [part("abs", self.abs), part("rel", self.rel)].into_iter().flatten().collect();
        if parts.is_empty() { f.write_str("none") } else { f.write_str(&parts.join(", ")) }
    }
}

/// Everything that decides whether two results are one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Equality {
    pub nan: NanPolicy,
    pub zero: ZeroPolicy,
    pub tolerance: Tolerance,
}

impl Equality {
    /// What a build's own results are held to: a tolerance is about two builds.
    pub fn strictly(self) -> Equality {
        Equality { tolerance: Tolerance::default(), ..self }
    }

    /// The bits of a result as far as they count.
    pub fn essence(self, scalar: Scalar, bits: u64) -> u64 {
        self.zero.essence(scalar, self.nan.essence(scalar, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_of_a_nan_is_nothing_its_sign_or_all_its_bits() {
        let (quiet, other) = (f64::NAN.to_bits(), f64::NAN.to_bits() | 7);
        let negative = quiet | 1 << 63;
        let agree = |nan: NanPolicy, a, b| nan.essence(Scalar::F64, a) == nan.essence(Scalar::F64, b);
        for (nan, signs, payloads) in
            [(NanPolicy::Any, true, true), (NanPolicy::Sign, false, true), (NanPolicy::Payload, false, false)]
        {
            assert_eq!(agree(nan, quiet, negative), signs, "{nan:?}");
            assert_eq!(agree(nan, quiet, other), payloads, "{nan:?}");
            assert!(!agree(nan, quiet, f64::INFINITY.to_bits()), "{nan:?}");
            assert_eq!(nan.essence(Scalar::F64, 1.5f64.to_bits()), 1.5f64.to_bits());
            // An integer has no NaN, whatever its bits.
            assert_eq!(nan.essence(Scalar::I64, quiet), quiet);
        }
    }

    #[test]
    fn the_sign_of_a_zero_counts_where_it_is_asked_for() {
        let minus = (-0f64).to_bits();
        assert_eq!(ZeroPolicy::Any.essence(Scalar::F64, minus), 0);
        assert_eq!(ZeroPolicy::Sign.essence(Scalar::F64, minus), minus);
        // The least of 64-bit integers has the bits of -0.
        assert_eq!(ZeroPolicy::Any.essence(Scalar::I64, minus), minus);
        assert_eq!(ZeroPolicy::Sign.as_str(), "sign");
    }

    #[test]
    fn numbers_within_either_tolerance_are_one_and_other_classes_never() {
        let covers =
            |abs, rel, a: f64, b: f64| Tolerance { abs, rel }.covers(Scalar::F64, a.to_bits(), b.to_bits());
        assert!(covers(1e-16, 0.0, 1e-17, -1e-17), "a change of sign beside zero");
        assert!(!covers(1e-18, 0.0, 1e-17, -1e-17));
        assert!(covers(0.0, 1e-12, 1e300, 1e300 * (1.0 + 1e-13)));
        assert!(!covers(0.0, 1e-12, 1.0, 1.0 + 1e-11));
        assert!(covers(0.5, 0.0, 1.0, 1.5), "the end is inside");
        assert!(!covers(f64::MAX, 1.0, f64::MAX, f64::INFINITY));
        assert!(!covers(f64::MAX, 1.0, f64::NAN, 1.0));
        assert!(!covers(f64::MAX, 0.0, f64::MAX, f64::MIN), "a distance that overflows");
        assert!(!covers(0.0, 0.0, 0.0, -0.0), "no tolerance covers nothing");
        let integers = Tolerance { abs: 1.0, rel: 0.0 };
        assert!(integers.covers(Scalar::I32, (-1i64).cast_unsigned(), 0));
        assert!(!integers.covers(Scalar::U8, 3, 5));
        let floats = Tolerance { abs: 0.0, rel: 1e-6 };
        assert!(floats.covers(Scalar::F32, 1f32.to_bits().into(), 1f32.next_up().to_bits().into()));
    }

    #[test]
    fn a_tolerance_is_shown_by_its_parts() {
        assert_eq!(Tolerance { abs: 1e-9, rel: 0.5 }.to_string(), "abs 1e-9, rel 0.5");
        assert_eq!(Tolerance::default().to_string(), "none");
    }
}
