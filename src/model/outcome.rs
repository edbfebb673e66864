//! What a build did with an input, and how two outcomes differ in kind.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::FaultKind;
use crate::fp::{Class, NanPolicy, Scalar, ZeroPolicy};

/// What one build did with one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The bits of the result.
    Value(u64),
    Fault(FaultKind),
}

impl Outcome {
    pub fn value(self) -> Option<u64> {
        match self {
            Outcome::Value(bits) => Some(bits),
            Outcome::Fault(_) => None,
        }
    }

    pub fn fault(self) -> Option<FaultKind> {
        match self {
            Outcome::Value(_) => None,
            Outcome::Fault(kind) => Some(kind),
        }
    }

    /// Whether two outcomes are one answer; `nan` says what of a NaN counts.
    pub fn agrees(self, other: Outcome, scalar: Scalar, nan: NanPolicy) -> bool {
        match (self, other) {
            (Outcome::Value(a), Outcome::Value(b)) => nan.essence(scalar, a) == nan.essence(scalar, b),
            (a, b) => a == b,
        }
    }
}

/// A difference in kind between the baseline's outcome and a variant's, which bits would hide. In the order of
/// their spellings, which is the order that files have them in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassChange {
    /// Only one of the two crashed, exited or broke the fp environment, or they did so differently.
    Crash,
    FiniteToInfinity,
    FiniteToNan,
    /// +infinity against -infinity.
    InfinitySign,
    InfinityToFinite,
    InfinityToNan,
    /// NaNs of one sign with different payloads, where the policy counts those.
    NanPayload,
    /// NaNs of two signs, where the policy counts signs.
    NanSign,
    NanToFinite,
    NanToInfinity,
    /// Only one of the two ran into the timeout.
    Timeout,
    /// Numbers that differ, within what the matrix tolerates: counted, no inconsistency.
    WithinTolerance,
    /// +0 against -0: an inconsistency where the policy counts signs of zeros, else only counted.
    ZeroSign,
}

impl ClassChange {
    /// The change between two outcomes, if any; `nan` says what of a NaN counts.
    pub fn between(
        scalar: Scalar,
        nan: NanPolicy,
        baseline: Outcome,
        variant: Outcome,
    ) -> Option<ClassChange> {
        let (a, b) = match (baseline, variant) {
            (Outcome::Value(a), Outcome::Value(b)) => (a, b),
            (a, b) if a == b => return None,
            (a, b) => {
                let timeout = Outcome::Fault(FaultKind::Timeout);
                return Some(if a == timeout || b == timeout {
                    ClassChange::Timeout
                } else {
                    ClassChange::Crash
                });
            }
        };
        let sign_differs = scalar.is_negative(a) != scalar.is_negative(b);
        match (Class::of(scalar, a), Class::of(scalar, b)) {
            (Class::Zero, Class::Zero) if sign_differs => Some(ClassChange::ZeroSign),
            (Class::Infinity, Class::Infinity) if sign_differs => Some(ClassChange::InfinitySign),
            (Class::Zero | Class::Finite, Class::Infinity) => Some(ClassChange::FiniteToInfinity),
            (Class::Zero | Class::Finite, Class::Nan) => Some(ClassChange::FiniteToNan),
            (Class::Infinity, Class::Zero | Class::Finite) => Some(ClassChange::InfinityToFinite),
            (Class::Infinity, Class::Nan) => Some(ClassChange::InfinityToNan),
            (Class::Nan, Class::Zero | Class::Finite) => Some(ClassChange::NanToFinite),
            (Class::Nan, Class::Infinity) => Some(ClassChange::NanToInfinity),
            (Class::Nan, Class::Nan) if nan.essence(scalar, a) == nan.essence(scalar, b) => None,
            (Class::Nan, Class::Nan) if sign_differs => Some(ClassChange::NanSign),
            (Class::Nan, Class::Nan) => Some(ClassChange::NanPayload),
            _ => None,
        }
    }

    /// The spelling in files.
    pub fn as_str(self) -> &'static str {
        match self {
            ClassChange::FiniteToInfinity => "finite-to-infinity",
            ClassChange::FiniteToNan => "finite-to-nan",
            ClassChange::InfinityToFinite => "infinity-to-finite",
            ClassChange::InfinityToNan => "infinity-to-nan",
            ClassChange::InfinitySign => "infinity-sign",
            ClassChange::NanToFinite => "nan-to-finite",
            ClassChange::NanToInfinity => "nan-to-infinity",
            ClassChange::NanSign => "nan-sign",
            ClassChange::NanPayload => "nan-payload",
            ClassChange::WithinTolerance => "within-tolerance",
            ClassChange::ZeroSign => "zero-sign",
            ClassChange::Timeout => "timeout",
            ClassChange::Crash => "crash",
        }
    }

    /// Whether the change alone makes a sample inconsistent. Faults have their own rows, and the
    /// sign of zero is below what most code can see.
    pub fn is_inconsistent(self, zero: ZeroPolicy) -> bool {
        match self {
            ClassChange::ZeroSign => zero == ZeroPolicy::Sign,
            ClassChange::WithinTolerance | ClassChange::Timeout | ClassChange::Crash => false,
            _ => true,
        }
    }
}

impl fmt::Display for ClassChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(a: f64, b: f64) -> Option<ClassChange> {
        let [a, b] = [a, b].map(|x| Outcome::Value(x.to_bits()));
        ClassChange::between(Scalar::F64, NanPolicy::Any, a, b)
    }

    #[test]
    fn nans_differ_as_far_as_the_policy_says() {
        let between = |nan: NanPolicy, a: u64, b: u64| {
            ClassChange::between(Scalar::F64, nan, Outcome::Value(a), Outcome::Value(b))
        };
        let (quiet, other) = (f64::NAN.to_bits(), f64::NAN.to_bits() | 7);
        let negative = quiet | 1 << 63;
        assert_eq!(between(NanPolicy::Sign, quiet, negative), Some(ClassChange::NanSign));
        assert_eq!(between(NanPolicy::Sign, quiet, other), None);
        assert_eq!(between(NanPolicy::Payload, quiet, other), Some(ClassChange::NanPayload));
        assert_eq!(between(NanPolicy::Payload, quiet, negative), Some(ClassChange::NanSign));
        assert_eq!(between(NanPolicy::Any, other, negative), None);
        assert!(ClassChange::NanPayload.is_inconsistent(ZeroPolicy::Any));
    }

    #[test]
    fn changes_of_class_are_named_and_plain_differences_are_not() {
        assert_eq!(change(1.0, 2.0), None);
        assert_eq!(change(0.0, 1.0), None);
        assert_eq!(change(f64::NAN, -f64::NAN), None);
        assert_eq!(change(0.0, -0.0), Some(ClassChange::ZeroSign));
        assert_eq!(change(f64::INFINITY, f64::NEG_INFINITY), Some(ClassChange::InfinitySign));
        assert_eq!(change(f64::NAN, 1.0), Some(ClassChange::NanToFinite));
        assert!(!ClassChange::ZeroSign.is_inconsistent(ZeroPolicy::Any));
        assert!(ClassChange::ZeroSign.is_inconsistent(ZeroPolicy::Sign));
        assert!(ClassChange::NanToFinite.is_inconsistent(ZeroPolicy::Any));
    }

    #[test]
    fn changes_are_ordered_as_their_spellings_which_are_the_stored_ones() {
        use ClassChange::*;
        let all = [
            Crash,
            FiniteToInfinity,
            FiniteToNan,
            InfinitySign,
            InfinityToFinite,
            InfinityToNan,
            NanPayload,
            NanSign,
            NanToFinite,
            NanToInfinity,
            Timeout,
            WithinTolerance,
            ZeroSign,
        ];
        assert!(all.is_sorted() && all.is_sorted_by_key(|change| change.as_str()));
        for change in all {
            assert_eq!(serde_json::to_value(change).unwrap(), change.as_str());
        }
    }

    #[test]
    fn a_fault_on_one_side_is_a_change() {
        let value = Outcome::Value(0);
        let (timeout, crash) = (Outcome::Fault(FaultKind::Timeout), Outcome::Fault(FaultKind::Signal(11)));
        assert_eq!(
            ClassChange::between(Scalar::F64, NanPolicy::Any, value, timeout),
            Some(ClassChange::Timeout)
        );
        assert_eq!(ClassChange::between(Scalar::F64, NanPolicy::Any, crash, value), Some(ClassChange::Crash));
        assert_eq!(ClassChange::between(Scalar::F64, NanPolicy::Any, crash, crash), None);
    }
}
