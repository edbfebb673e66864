//! The values a function gives, and the one comparison of what two builds made of an input.

use serde::{Deserialize, Serialize};

use super::{Answer, ClassChange, Outcome, Returned};
use crate::fp::{Equality, NanPolicy, Scalar, inconsistency};

/// The most values a function may give.
pub const MAX_RESULTS: usize = 64;

/// One value that a function gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultValue {
    /// `return`, a field such as `x`, `re`, an out-parameter such as `*s`, an element such as `v[1]`.
    pub name: String,
    pub ty: Scalar,
}

/// The values of a function, in order; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results(Vec<ResultValue>);

/// How what a variant made of an input differs from what the baseline made of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Of the value that differs most.
    pub bits: f64,
    /// The change of class that says most, whichever value has it: a NaN beside an ulp is not lost.
    pub change: Option<ClassChange>,
    /// Whether that change is an inconsistency by itself.
    pub change_counts: bool,
    /// Which of the values differs most; the first where none differs.
    pub worst: u8,
    /// That value on both sides.
    pub baseline: Outcome,
    pub variant: Outcome,
}

impl Difference {
    fn none(baseline: Outcome, variant: Outcome) -> Difference {
        Difference { bits: 0.0, change: None, change_counts: false, worst: 0, baseline, variant }
    }

    fn of(scalar: Scalar, equality: Equality, baseline: Outcome, variant: Outcome) -> Difference {
        let nothing = Difference::none(baseline, variant);
        let bits = match (baseline, variant) {
            (Outcome::Value(a), Outcome::Value(b)) => inconsistency(scalar, a, b, equality.nan),
            _ => 0.0,
        };
        if let (Outcome::Value(a), Outcome::Value(b)) = (baseline, variant)
            && bits > 0.0
            && equality.tolerance.covers(scalar, a, b)
        {
            return Difference { change: Some(ClassChange::WithinTolerance), ..nothing };
        }
        let change = ClassChange::between(scalar, equality.nan, baseline, variant);
        let change_counts = change.is_some_and(|change| change.is_inconsistent(equality.zero));
        Difference { bits, change, change_counts, ..nothing }
    }

    /// Whether this is more of a difference: more bits, then a change of class that counts, then any change. The
    /// order in which witnesses are ranked too.
    fn exceeds(&self, other: &Difference) -> bool {
        self.bits.total_cmp(&other.bits).then_with(|| self.gravity().cmp(&other.gravity())).is_gt()
    }

    /// How much its change of class says.
    fn gravity(&self) -> u8 {
        u8::from(self.change.is_some()) + u8::from(self.change_counts)
    }

    pub fn is_inconsistent(&self) -> bool {
        self.bits > 0.0 || self.change_counts
    }

    /// The change of class, where it is an inconsistency by itself.
    pub fn telling_change(&self) -> Option<ClassChange> {
        self.change.filter(|_| self.change_counts)
    }
}

impl Results {
    /// None of no values or of too many.
    pub fn new(values: Vec<ResultValue>) -> Option<Results> {
        (1..=MAX_RESULTS).contains(&values.len()).then_some(Results(values))
    }

    /// Of a function that returns a scalar.
    pub fn one(ty: Scalar) -> Results {
        Results(vec![ResultValue { name: "return".into(), ty }])
    }

    pub fn values(&self) -> &[ResultValue] {
        &self.0
    }

    /// Words that a call gives.
    pub fn width(&self) -> usize {
        self.0.len()
    }

    pub fn is_wide(&self) -> bool {
        self.0.len() > 1
    }

    pub fn scalars(&self) -> Vec<Scalar> {
        self.0.iter().map(|value| value.ty).collect()
    }

    /// The type of a value.
    pub fn ty(&self, index: u8) -> Scalar {
        self.0.get(usize::from(index)).unwrap_or(&self.0[0]).ty
    }

    /// The name of a value where there are several.
    pub fn name(&self, index: u8) -> Option<&str> {
        if self.is_wide() { self.0.get(usize::from(index)).map(|value| value.name.as_str()) } else { None }
    }

    /// The comparison of what two builds made of an input; the worst value's.
    pub fn compare(&self, equality: Equality, baseline: Returned<'_>, variant: Returned<'_>) -> Difference {
        if baseline == variant {
            return Difference::none(baseline.first, variant.first);
        }
        let mut worst = Difference::of(self.0[0].ty, equality, baseline.first, variant.first);
        if baseline.first.value().is_none() || variant.first.value().is_none() {
            return worst;
        }
        let mut gravest = worst;
        for (k, (&a, &b)) in baseline.rest.iter().zip(variant.rest).enumerate() {
            // At most MAX_RESULTS.
            let worst_yet = k as u8 + 1;
            if a != b {
                let other =
                    Difference::of(self.ty(worst_yet), equality, Outcome::Value(a), Outcome::Value(b));
                if other.gravity() > gravest.gravity() {
                    gravest = other;
                }
                if other.exceeds(&worst) {
                    worst = Difference { worst: worst_yet, ..other };
                }
            }
        }
        let telling = if gravest.gravity() > worst.gravity() { gravest } else { worst };
        // A value within tolerance beside one that is not says nothing.
        let is_told = worst.bits == 0.0 || telling.change != Some(ClassChange::WithinTolerance);
        Difference {
            change: telling.change.filter(|_| is_told),
            change_counts: telling.change_counts,
            ..worst
        }
    }

    /// Whether two builds, or one build twice, gave one answer; `nan` says what of a NaN counts.
    pub fn agree(&self, nan: NanPolicy, first: Returned<'_>, second: Returned<'_>) -> bool {
        first == second
            || (first.first.agrees(second.first, self.0[0].ty, nan)
                && first.first.value().is_some()
                && first
                    .rest
                    .iter()
                    .zip(second.rest)
                    .zip(&self.0[1..])
                    .all(|((&a, &b), value)| Outcome::Value(a).agrees(Outcome::Value(b), value.ty, nan)))
    }

    /// Every value of an answer, with its type; a fault stands in the place of each.
    pub fn answers(&self, returned: Returned<'_>) -> Vec<Answer> {
        let value = |(k, value): (usize, &ResultValue)| Answer::new(value.ty, returned.value(k));
        self.0.iter().enumerate().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::{Tolerance, ZeroPolicy};
    use crate::model::FaultKind;

    fn results(types: &[Scalar]) -> Results {
        let value = |(k, ty): (usize, &Scalar)| ResultValue { name: format!("v[{k}]"), ty: *ty };
        Results::new(types.iter().enumerate().map(value).collect()).unwrap()
    }

    fn returned(words: &[u64]) -> Returned<'_> {
        Returned { first: Outcome::Value(words[0]), rest: &words[1..] }
    }

    #[test]
    fn the_worst_value_has_most_bits_then_a_change_of_class() {
        let three = results(&[Scalar::F64, Scalar::F32, Scalar::F64]);
        let words = |a: f64, b: f32, c: f64| [a.to_bits(), b.to_bits().into(), c.to_bits()];
        let compare =
            |a: [u64; 3], b: [u64; 3]| three.compare(Equality::default(), returned(&a), returned(&b));
        let base = words(1.0, 1.0, 1.0);
        let one_bit = f32::from_bits(1.0f32.to_bits() + 1);
        let both = compare(base, words(1.0, one_bit, 1.5));
        assert_eq!((both.worst, both.variant), (2, Outcome::Value(1.5f64.to_bits())));
        let single = compare(base, words(1.0, one_bit, 1.0));
        assert_eq!((single.worst, single.bits > 0.0, three.name(single.worst)), (1, true, Some("v[1]")));
        let changed = compare(words(0.0, f32::NAN, 0.0), words(-0.0, 1.0, 0.0));
        assert_eq!((changed.worst, changed.change), (1, Some(ClassChange::NanToFinite)));
        assert!(changed.is_inconsistent() && changed.bits == 0.0);
        let beside = compare(words(1.0, f32::NAN, 1.0), words(1.5, 1.0, 1.0));
        assert_eq!((beside.worst, beside.change), (0, Some(ClassChange::NanToFinite)), "a NaN beside bits");
        let equal = compare(base, base);
        assert_eq!((equal.worst, equal.bits, equal.change), (0, 0.0, None));
    }

    #[test]
    fn the_sign_of_a_zero_and_a_tolerance_are_part_of_the_comparison() {
        let one = results(&[Scalar::F64]);
        let compare = |equality, a: f64, b: f64| {
            one.compare(equality, returned(&[a.to_bits()]), returned(&[b.to_bits()]))
        };
        let lax = Equality { tolerance: Tolerance { abs: 1e-9, rel: 0.0 }, ..Equality::default() };
        let strict = Equality { zero: ZeroPolicy::Sign, ..lax };
        assert!(!compare(lax, 0.0, -0.0).is_inconsistent());
        let zeros = compare(strict, 0.0, -0.0);
        assert_eq!((zeros.bits, zeros.telling_change()), (0.0, Some(ClassChange::ZeroSign)));
        let near = compare(strict, 1e-17, -1e-17);
        assert_eq!((near.bits, near.change), (0.0, Some(ClassChange::WithinTolerance)));
        assert!(!near.is_inconsistent() && compare(strict, 1.0, 1.5).is_inconsistent());
        assert!(compare(strict, 1.0, f64::INFINITY).is_inconsistent());
    }

    #[test]
    fn a_value_within_tolerance_hides_none_beside_it() {
        let two = results(&[Scalar::F64, Scalar::F64]);
        let lax = Equality { tolerance: Tolerance { abs: 1e-9, rel: 0.0 }, ..Equality::default() };
        let words = |a: f64, b: f64| [a.to_bits(), b.to_bits()];
        let difference = two.compare(lax, returned(&words(1e-17, 1.0)), returned(&words(-1e-17, 1.5)));
        assert_eq!((difference.worst, difference.change, difference.is_inconsistent()), (1, None, true));
    }

    #[test]
    fn answers_agree_in_every_value_as_far_as_nans_count() {
        let two = results(&[Scalar::F32, Scalar::F64]);
        let (quiet, other) = (f64::NAN.to_bits(), f64::NAN.to_bits() | 1 << 63);
        let agree = |nan, a: &[u64], b: &[u64]| two.agree(nan, returned(a), returned(b));
        assert!(agree(NanPolicy::Any, &[1, quiet], &[1, other]));
        assert!(!agree(NanPolicy::Sign, &[1, quiet], &[1, other]));
        assert!(!agree(NanPolicy::Any, &[1, 2], &[1, 3]));
    }

    #[test]
    fn a_fault_stands_for_every_value() {
        let two = results(&[Scalar::F32, Scalar::F64]);
        let fault = Returned { first: Outcome::Fault(FaultKind::Timeout), rest: &[0] };
        let difference = two.compare(Equality::default(), returned(&[1, 2]), fault);
        assert_eq!((difference.bits, difference.change), (0.0, Some(ClassChange::Timeout)));
        assert_eq!(two.answers(fault), [Answer::Fault(FaultKind::Timeout); 2]);
        assert!(
            two.agree(NanPolicy::Any, fault, fault) && !two.agree(NanPolicy::Any, fault, returned(&[1, 0]))
        );
    }
}
