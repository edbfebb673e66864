//! What the lock accepts of one function on one build, ready to be asked about an input.

use std::collections::BTreeSet;

use super::area::{Area, place};
use crate::fp::Scalar;
use crate::model::{LockFile, ParamRow};

/// Nothing is accepted of a function or a build that the lock does not have.
pub(super) struct Accepted {
    scalars: Vec<Scalar>,
    /// Each with its slack, and the bits that are accepted in it.
    areas: Vec<(Area, f64)>,
    class_changes: BTreeSet<String>,
}

impl Accepted {
    pub fn of(lock: &LockFile, function: &str, build: &str, scalars: &[Scalar]) -> Accepted {
        let mut accepted =
            Accepted { scalars: scalars.into(), areas: Vec::new(), class_changes: BTreeSet::new() };
        let known = lock.functions.get(function);
        // What was accepted of another signature says nothing about this one.
        let known = known.filter(|f| f.scalars().is_some_and(|(params, _)| params == scalars));
        if let Some(comparison) = known.and_then(|f| f.builds.get(build)) {
            let area = |range: &crate::model::LockRange| {
                let area = Area::new(scalars, &range.lo, &range.hi)?;
                Some((area.eased(scalars, &range.edges), range.max_bits))
            };
            accepted.areas = comparison.ranges.iter().filter_map(area).collect();
            accepted.class_changes = comparison.class_changes.clone();
        }
        accepted
    }

    /// The bits that are accepted at an input; None where no difference is.
    pub fn bits_at(&self, inputs: &[u64]) -> Option<f64> {
        let place = place(&self.scalars, inputs)?;
        let here = self.areas.iter().filter(|(area, _)| area.holds(&place)).map(|&(_, bits)| bits);
        here.max_by(f64::total_cmp)
    }

    pub fn has_change(&self, change: &str) -> bool {
        self.class_changes.contains(change)
    }
}

/// Whether a fault of a build is accepted.
pub(super) fn accepts_fault(lock: &LockFile, function: &str, build: &str, kind: &str) -> bool {
    let known = lock.functions.get(function).map(|f| f.faults.as_slice()).unwrap_or_default();
    known.iter().any(|fault| fault.build == build && fault.kind == kind)
}

/// The types of a function as a run stores them; None when one is not known.
pub(super) fn types(params: &[ParamRow], result: &str) -> Option<(Vec<Scalar>, Scalar)> {
    let of = |name: &str| Scalar::ALL.into_iter().find(|s| s.c_name() == name);
    Some((params.iter().map(|p| of(&p.ty)).collect::<Option<_>>()?, of(result)?))
}
