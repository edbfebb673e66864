//! One input of a gate: what its outcomes say against what is accepted there.

use super::accepted::{Accepted, accepts_fault};
use super::look::{Role, Seen};
use crate::fp::{NanPolicy, Scalar, inconsistency};
use crate::model::{
    Answer, BuildId, ClassChange, FaultKind, GateFinding, GateKind, GateSymptom, LockFile, Outcome,
    WitnessRow,
};

/// What an input is judged by.
pub(super) struct PointRules<'a> {
    pub lock: &'a LockFile,
    pub tolerance: f64,
    pub nan: NanPolicy,
}

/// What is true of an input.
#[derive(Debug, Default)]
pub(super) struct Point {
    /// Both gave a value and they differ, by so many bits.
    pub differs: Option<f64>,
    /// The input with what the builds say now, where they differ.
    pub witness: Option<WitnessRow>,
    /// A call that is too slow in one evaluation and not in the other, or a fault that did not repeat.
    pub unsteady: bool,
    /// Why the gate is red.
    pub finding: Option<GateFinding>,
}

impl PointRules<'_> {
    pub fn judge(&self, seen: &Seen, accepted: &Accepted, result: Scalar) -> Point {
        let look = &seen.look;
        let finding = |kind: GateKind, build: &BuildId| GateFinding {
            kind,
            function: look.function.clone(),
            build: build.clone(),
            lo: look.lo.clone(),
            hi: look.hi.clone(),
            bits: None,
            accepted: None,
            what: None,
            witness: Some(witness(seen, result)),
        };
        if let Some((build, kind)) = self.fault(seen, result) {
            let Some(kind) = kind else { return Point { unsteady: true, ..Point::default() } };
            let known = accepts_fault(self.lock, &look.function, build, kind);
            // The end of a range is only asked whether it differs.
            if known || matches!(look.role, Role::End(_)) {
                return Point::default();
            }
            let found =
                GateFinding { what: Some(GateSymptom::Fault(kind)), ..finding(GateKind::Fault, build) };
            return Point { finding: Some(found), ..Point::default() };
        }
        let (Outcome::Value(baseline), Outcome::Value(variant)) = seen.first else { return Point::default() };
        if let Role::Fault(_) = look.role {
            return Point { unsteady: true, ..Point::default() };
        }
        let bits = inconsistency(result, baseline, variant, self.nan);
        let change = ClassChange::between(result, self.nan, seen.first.0, seen.first.1);
        let change = change.filter(|change| change.is_inconsistent());
        if bits == 0.0 && change.is_none() {
            return Point::default();
        }
        let here = accepted.bits_at(&look.inputs);
        let kind = match (here, change) {
            (None, _) => Some(GateKind::New),
            (_, Some(change)) if !accepted.has_change(change) => Some(GateKind::ClassChange),
            (Some(here), _) if bits > here + self.tolerance => Some(GateKind::Worse),
            _ => None,
        };
        let found = kind.map(|kind| GateFinding {
            bits: Some(bits),
            accepted: here,
            what: change.map(GateSymptom::Change),
            ..finding(kind, &look.build)
        });
        Point { differs: Some(bits), witness: Some(witness(seen, result)), unsteady: false, finding: found }
    }

    /// The build that gave no value, or two, and its fault; None in its place when only the clock decided.
    fn fault<'s>(&'s self, seen: &'s Seen, result: Scalar) -> Option<(&'s BuildId, Option<FaultKind>)> {
        let both = [
            (&self.lock.baseline, seen.first.0, seen.second.0),
            (&seen.look.build, seen.first.1, seen.second.1),
        ];
        both.into_iter().find_map(|(build, first, second)| {
            let timeout = Outcome::Fault(FaultKind::Timeout);
            match (first, second) {
                (Outcome::Fault(kind), _) if first == second => Some((build, Some(kind))),
                _ if first.agrees(second, result, self.nan) => None,
                _ if first == timeout || second == timeout => Some((build, None)),
                _ => Some((build, Some(FaultKind::Nondeterministic))),
            }
        })
    }
}

/// The input with what the builds say now.
fn witness(seen: &Seen, result: Scalar) -> WitnessRow {
    WitnessRow {
        inputs: seen.look.inputs.clone(),
        baseline: Answer::new(result, seen.first.0),
        variant: Answer::new(result, seen.first.1),
    }
}
