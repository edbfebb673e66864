//! One finding under question: its input, what the baseline answers, and when another answer shows the same
//! difference.

use crate::fp::Equality;
use crate::model::{FindingId, Outcome, Results, Whole};

/// A difference must have this part of the finding's bits to count: code beside the cause often differs by an ulp
/// of its own.
const SAME_SHARE: f64 = 0.5;
/// More than this many bits are nobody's ulp: such a difference counts beside any other.
const LARGE: f64 = 8.0;

/// A witness of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub id: FindingId,
    /// Which function of the experiment.
    pub function: usize,
    pub inputs: Vec<u64>,
    pub results: Results,
    pub equality: Equality,
}

/// How far an answer is from the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    pub bits: f64,
    /// A change of class counts even where bits do not.
    pub class: bool,
}

impl Gap {
    pub fn is_there(self) -> bool {
        self.bits > 0.0 || self.class
    }
}

impl Case {
    /// None when one of them gave no value.
    pub fn gap(&self, baseline: &Whole, other: &Whole) -> Option<Gap> {
        if !baseline.is_value() || !other.is_value() {
            return None;
        }
        let difference = self.results.compare(self.equality, baseline.returned(), other.returned());
        Some(Gap { bits: difference.bits, class: difference.change_counts })
    }
}

/// What is measured against: the baseline's answer and how far the variant's is from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Yardstick {
    pub baseline: Whole,
    pub gap: Gap,
}

/// What a trial says about a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// As far from the baseline as the finding, or not much less.
    Shows,
    Agrees,
    /// It crashed, hung or left: nobody knows.
    Fault(String),
    /// It could not be compiled or linked, in the tool's words.
    Unmade(String),
}

impl Yardstick {
    pub fn judge(&self, case: &Case, answer: &Whole) -> Trial {
        match (case.gap(&self.baseline, answer), answer.first) {
            (_, Outcome::Fault(kind)) => Trial::Fault(kind.to_string()),
            (Some(gap), _) if self.is_same(gap) => Trial::Shows,
            _ => Trial::Agrees,
        }
    }

    fn is_same(&self, gap: Gap) -> bool {
        if self.gap.bits == 0.0 {
            return gap.is_there();
        }
        let least = (SAME_SHARE * self.gap.bits).min(LARGE);
        gap.is_there() && (gap.bits >= least || gap.class && self.gap.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::FaultKind;

    fn value(x: f64) -> Outcome {
        Outcome::Value(x.to_bits())
    }

    fn yardstick(variant: f64) -> (Case, Yardstick) {
        let case = Case {
            id: "f#b.1".parse().unwrap(),
            function: 0,
            inputs: vec![0],
            results: Results::one(Scalar::F64),
            equality: Equality::default(),
        };
        let gap = case.gap(&value(1.0).into(), &value(variant).into()).unwrap();
        (case, Yardstick { baseline: value(1.0).into(), gap })
    }

    #[test]
    fn half_the_bits_or_many_are_a_difference_and_an_ulp_beside_it_is_not() {
        let (case, yardstick) = yardstick(1.0 + f64::EPSILON * 1e6);
        assert_eq!(yardstick.judge(&case, &value(1.0 + f64::EPSILON * 300.0).into()), Trial::Shows);
        assert_eq!(yardstick.judge(&case, &value(1.0 + f64::EPSILON * 200.0).into()), Trial::Agrees);
        assert_eq!(yardstick.judge(&case, &value(1.0 - f64::EPSILON * 1e6).into()), Trial::Shows);
        assert_eq!(yardstick.judge(&case, &value(1.0 + f64::EPSILON).into()), Trial::Agrees);
        assert_eq!(yardstick.judge(&case, &value(1.0).into()), Trial::Agrees);
    }

    #[test]
    fn a_change_of_class_is_the_same_as_another_and_a_fault_is_neither() {
        let (case, yardstick) = yardstick(f64::NAN);
        assert_eq!(yardstick.judge(&case, &value(f64::INFINITY).into()), Trial::Shows);
        let crash = Outcome::Fault(FaultKind::Signal(11));
        assert_eq!(yardstick.judge(&case, &crash.into()), Trial::Fault("SIGSEGV".into()));
    }
}
