//! One input of a gate: what its outcomes say against what is accepted there.

use super::accepted::{Accepted, accepts_fault};
use super::look::{Role, Seen};
use crate::fp::Equality;
use crate::model::{
    BuildId, Difference, FaultKind, GateFinding, GateKind, GateSymptom, LockFile, Outcome, ResultValue,
    Results, WitnessRow,
};

/// What an input is judged by.
pub(super) struct PointRules<'a> {
    pub lock: &'a LockFile,
    pub tolerance: f64,
    /// What counts as equal on the build in question.
    pub equality: Equality,
}

/// What is true of an input.
#[derive(Debug, Default)]
pub(super) struct Point {
    /// Both gave a value and they differ, by so many bits.
    pub differs: Option<f64>,
    /// One of them is a number and the other is infinite or none.
    pub class_changed: bool,
    /// The input with what the builds say now, where they differ.
    pub witness: Option<WitnessRow>,
    /// A call that is too slow in one evaluation and not in the other, or a fault that did not repeat.
    pub unsteady: bool,
    /// Why the gate is red.
    pub finding: Option<GateFinding>,
}

impl PointRules<'_> {
    pub fn judge(&self, seen: &Seen, accepted: &Accepted, results: &Results) -> Point {
        let look = &seen.look;
        let difference = results.compare(self.equality, seen.first.0.returned(), seen.first.1.returned());
        let finding = |kind: GateKind, build: &BuildId| GateFinding {
            kind,
            function: look.function.clone(),
            build: build.clone(),
            lo: look.lo.clone(),
            hi: look.hi.clone(),
            bits: None,
            accepted: None,
            what: None,
            text: String::new(),
            witness: Some(witness(seen, results, &difference)),
        };
        if let Some((build, kind)) = self.fault(seen, results) {
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
        if !seen.first.0.is_value() || !seen.first.1.is_value() {
            return Point::default();
        }
        if let Role::Fault(_) = look.role {
            return Point { unsteady: true, ..Point::default() };
        }
        if !difference.is_inconsistent() {
            return Point::default();
        }
        let bits = difference.bits;
        let change = difference.telling_change();
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
        let found = found.or_else(|| {
            let lost = self.lost_value(seen, results)?;
            let witness = Some(witness(seen, results, &lost));
            let (bits, accepted) = (Some(lost.bits), Some(0.0));
            Some(GateFinding { bits, accepted, witness, ..finding(GateKind::Worse, &look.build) })
        });
        let witness = Some(witness(seen, results, &difference));
        Point {
            differs: Some(bits),
            class_changed: change.is_some(),
            witness,
            unsteady: false,
            finding: found,
        }
    }

    /// A value on which the builds agreed at a witness of the lock, and differ there now. What is accepted of a range
    /// are the bits of the value that differs most, which say nothing of the others.
    fn lost_value(&self, seen: &Seen, results: &Results) -> Option<Difference> {
        let Role::Witness(row) = &seen.look.role else { return None };
        let (baseline, variant) = (seen.first.0.returned(), seen.first.1.returned());
        let lost = |(worst, value): (u8, &ResultValue)| {
            let then = &row.results.get(usize::from(worst))?;
            let [a, b] = [baseline, variant].map(|all| all.value(worst.into()).into());
            let now = Difference { worst, ..Results::one(value.ty).compare(self.equality, a, b) };
            let differs = now.is_inconsistent() && (now.bits > self.tolerance || now.change.is_some());
            (differs && then.baseline.agrees(then.variant, self.equality.nan)).then_some(now)
        };
        (0u8..).zip(results.values()).find_map(lost)
    }

    /// The build that gave no value, or two, and its fault; None in its place when only the clock decided.
    fn fault<'s>(&'s self, seen: &'s Seen, results: &Results) -> Option<(&'s BuildId, Option<FaultKind>)> {
        let both = [
            (&self.lock.baseline, &seen.first.0, &seen.second.0),
            (&seen.look.build, &seen.first.1, &seen.second.1),
        ];
        both.into_iter().find_map(|(build, first, second)| {
            let timeout = Outcome::Fault(FaultKind::Timeout);
            match first.first {
                Outcome::Fault(kind) if first == second => Some((build, Some(kind))),
                _ if results.agree(self.equality.nan, first.returned(), second.returned()) => None,
                _ if first.first == timeout || second.first == timeout => Some((build, None)),
                _ => Some((build, Some(FaultKind::Nondeterministic))),
            }
        })
    }
}

/// The input with what the builds say now.
fn witness(seen: &Seen, results: &Results, difference: &Difference) -> WitnessRow {
    let (baseline, variant) = (seen.first.0.returned(), seen.first.1.returned());
    let values: Vec<_> = (0..results.width()).map(|k| (baseline.value(k), variant.value(k))).collect();
    WitnessRow::new(results, seen.look.inputs.clone(), difference.worst, &values)
}
