//! What kind of disagreement a range shows, so that an engineer knows which ranges to read first.
//! It names the symptom at the witness and in the range's samples, not the cause.

use crate::fp::{Class, Scalar, ZeroPolicy};
use crate::model::{Category, Outcome, RangeResult, Witness};

/// The category of a range of inputs (of types `params`) with results of type `result`.
pub fn category_of(params: &[Scalar], result: Scalar, range: &RangeResult) -> Category {
    let witness = &range.witness;
    let (Outcome::Value(baseline), Outcome::Value(variant)) = (witness.baseline, witness.variant) else {
        return Category::Fault;
    };
    if changes_class(range, witness) {
        Category::ClassChange
    } else if loses_sign_of_zero(result, baseline, variant) {
        Category::ZeroSign
    } else if is_flushed(result, baseline, variant) || has_subnormal_inputs(params, range) {
        Category::Flush
    } else if has_opposite_signs(result, baseline, variant) {
        Category::Sign
    } else {
        category_of_bits(result, witness.bits)
    }
}

/// The category by size alone. The thresholds are those of the paper's tables for a double;
/// other types have them in proportion to their significant bits (a float: 21, 14, 3).
fn category_of_bits(result: Scalar, bits: f64) -> Category {
    let significant = match result.is_float() {
        true => result.mantissa_bits() + 1,
        false => result.width().min(53),
    };
    let over = |of_double: u32| bits > f64::from(of_double * significant / 53);
    if over(48) {
        Category::Magnitude
    } else if over(32) {
        Category::Halved
    } else if over(8) {
        Category::Digits
    } else {
        Category::Rounding
    }
}

fn changes_class(range: &RangeResult, witness: &Witness) -> bool {
    let in_samples = range.class_changes.iter().filter(|&(_, &count)| count > 0).map(|(&change, _)| change);
    // The sign of a zero has a category of its own.
    in_samples.chain(witness.change).any(|change| change.is_inconsistent(ZeroPolicy::Any))
}

/// A range has such a witness only where the sign of a zero counts and nothing in it has bits.
fn loses_sign_of_zero(result: Scalar, a: u64, b: u64) -> bool {
    a != b && [a, b].iter().all(|&bits| Class::of(result, bits) == Class::Zero)
}

/// Nonzero, and smaller than every normal number of the type.
fn is_subnormal(scalar: Scalar, bits: u64) -> bool {
    scalar.ordinal(bits).is_some_and(|ordinal| {
        scalar.is_float() && ordinal != 0 && ordinal.unsigned_abs() < 1 << scalar.mantissa_bits()
    })
}

fn is_flushed(result: Scalar, a: u64, b: u64) -> bool {
    let is_zero = |bits| Class::of(result, bits) == Class::Zero;
    (is_zero(a) && is_subnormal(result, b)) || (is_zero(b) && is_subnormal(result, a))
}

/// Whether the box is subnormal (zero at most at one end) along some parameter.
fn has_subnormal_inputs(params: &[Scalar], range: &RangeResult) -> bool {
    let ends = range.lo.iter().zip(&range.hi);
    params.iter().zip(ends).any(|(&scalar, (&lo, &hi))| {
        let is_zero = |bits| Class::of(scalar, bits) == Class::Zero;
        let (low, high) = (is_subnormal(scalar, lo), is_subnormal(scalar, hi));
        (low && (high || is_zero(hi))) || (high && is_zero(lo))
    })
}

fn has_opposite_signs(result: Scalar, a: u64, b: u64) -> bool {
    let finite = |bits| Class::of(result, bits) == Class::Finite;
    finite(a) && finite(b) && result.is_negative(a) != result.is_negative(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::{NanPolicy, inconsistency};
    use crate::model::{ClassChange, FaultKind};
    use std::collections::BTreeMap;

    /// A range around 1..2 whose witness has these results.
    fn range(baseline: f64, variant: f64) -> RangeResult {
        let (a, b) = (baseline.to_bits(), variant.to_bits());
        RangeResult {
            lo: vec![1f64.to_bits()],
            hi: vec![2f64.to_bits()],
            edges: Vec::new(),
            samples: 10,
            inconsistent: 5,
            mean_bits: 1.0,
            witness: Witness {
                inputs: vec![1.5f64.to_bits()],
                baseline: Outcome::Value(a),
                variant: Outcome::Value(b),
                bits: inconsistency(Scalar::F64, a, b, NanPolicy::Any),
                change: ClassChange::between(
                    Scalar::F64,
                    NanPolicy::Any,
                    Outcome::Value(a),
                    Outcome::Value(b),
                ),
                worst: 0,
                values: Vec::new(),
            },
            class_changes: BTreeMap::new(),
        }
    }

    fn category(range: &RangeResult) -> Category {
        category_of(&[Scalar::F64], Scalar::F64, range)
    }

    #[test]
    fn a_range_is_named_after_its_witness() {
        assert_eq!(category(&range(1.0, f64::NAN)), Category::ClassChange);
        assert_eq!(category(&range(f64::NAN, 1.0)), Category::ClassChange);
        assert_eq!(category(&range(5e-324, 0.0)), Category::Flush);
        assert_eq!(category(&range(-0.0, -1e-310)), Category::Flush);
        assert_eq!(category(&range(1.0, -1e-310)), Category::Sign);
        assert_eq!(category(&range(1.0, 0.0)), Category::Magnitude);
        assert_eq!(category(&range(1.0, 1.2)), Category::Magnitude);
        assert_eq!(category(&range(1.0, 1.0001)), Category::Halved);
        assert_eq!(category(&range(1.0, 1.0 + 1e-12)), Category::Digits);
        assert_eq!(category(&range(1.0, 1.0 + 1e-15)), Category::Rounding);
    }

    #[test]
    fn one_sample_of_another_class_names_the_whole_range() {
        let mut mixed = range(1.0, 1.5);
        mixed.class_changes.insert(ClassChange::FiniteToNan, 1);
        assert_eq!(category(&mixed), Category::ClassChange);
        let mut zeros = range(1.0, 1.5);
        zeros.class_changes.insert(ClassChange::ZeroSign, 9);
        zeros.class_changes.insert(ClassChange::FiniteToInfinity, 0);
        assert_eq!(category(&zeros), Category::Magnitude);
    }

    #[test]
    fn a_range_of_subnormal_inputs_is_a_matter_of_flushing() {
        let mut inputs = range(1.0, 2.0);
        inputs.lo = vec![0f64.to_bits()];
        inputs.hi = vec![1e-310f64.to_bits()];
        assert_eq!(category(&inputs), Category::Flush);
        inputs.hi = vec![1e-300f64.to_bits()];
        assert_eq!(category(&inputs), Category::Magnitude);
        inputs.lo = vec![(-1e-310f64).to_bits()];
        inputs.hi = vec![(-0f64).to_bits()];
        assert_eq!(category(&inputs), Category::Flush);
        inputs.lo = vec![0f64.to_bits()];
        assert_eq!(category(&inputs), Category::Magnitude, "zero alone is not subnormal");
    }

    #[test]
    fn a_lost_sign_of_zero_is_no_matter_of_flushing() {
        let mut zeros = range(0.0, -0.0);
        zeros.class_changes.insert(ClassChange::ZeroSign, 3);
        assert_eq!(category(&zeros), Category::ZeroSign);
        zeros.lo = vec![(-1e-310f64).to_bits()];
        zeros.hi = vec![(-0f64).to_bits()];
        assert_eq!(category(&zeros), Category::ZeroSign);
    }

    #[test]
    fn a_witness_without_a_value_is_a_fault() {
        let mut crash = range(1.0, 1.0);
        crash.witness.variant = Outcome::Fault(FaultKind::Signal(11));
        assert_eq!(category(&crash), Category::Fault);
    }

    #[test]
    fn a_float_has_the_thresholds_in_proportion() {
        assert_eq!(category_of_bits(Scalar::F32, 21.5), Category::Magnitude);
        assert_eq!(category_of_bits(Scalar::F32, 21.0), Category::Halved);
        assert_eq!(category_of_bits(Scalar::F32, 3.5), Category::Digits);
        assert_eq!(category_of_bits(Scalar::F32, 3.0), Category::Rounding);
        assert_eq!(category_of_bits(Scalar::I32, 30.0), Category::Magnitude);
    }
}
