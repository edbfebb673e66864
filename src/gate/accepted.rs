//! What the lock accepts of one function on one build, ready to be asked about an input.

use std::collections::BTreeSet;

use super::area::{Area, place};
use crate::fp::Scalar;
use crate::model::{BuildId, ClassChange, FaultKind, LockFile, LockRange, Number};

/// Nothing is accepted of a function or a build that the lock does not have.
pub(super) struct Accepted {
    /// Each with its slack, and the bits that are accepted in it.
    areas: Vec<(Area, f64)>,
    class_changes: BTreeSet<ClassChange>,
}

impl Accepted {
    pub fn of(lock: &LockFile, function: &str, build: &BuildId, scalars: &[Scalar]) -> Accepted {
        let mut accepted = Accepted { areas: Vec::new(), class_changes: BTreeSet::new() };
        let known = lock.functions.get(function);
        // What was accepted of another signature says nothing about this one.
        let known = known.filter(|f| f.scalars() == scalars);
        if let Some(comparison) = known.and_then(|f| f.builds.get(build)) {
            let area =
                |range: &LockRange| (Area::new(&range.lo, &range.hi).eased(&range.edges), range.max_bits);
            accepted.areas = comparison.ranges.iter().map(area).collect();
            accepted.class_changes = comparison.class_changes.clone();
        }
        accepted
    }

    /// The bits that are accepted at an input; None where no difference is.
    pub fn bits_at(&self, inputs: &[Number]) -> Option<f64> {
        let place = place(inputs);
        let here = self.areas.iter().filter(|(area, _)| area.holds(&place)).map(|&(_, bits)| bits);
        here.max_by(f64::total_cmp)
    }

    pub fn has_change(&self, change: ClassChange) -> bool {
        self.class_changes.contains(&change)
    }
}

/// Whether a fault of a build is accepted.
pub(super) fn accepts_fault(lock: &LockFile, function: &str, build: &BuildId, kind: FaultKind) -> bool {
    let known = lock.functions.get(function).map(|f| f.faults.as_slice()).unwrap_or_default();
    known.iter().any(|fault| fault.build == *build && fault.kind == kind)
}
