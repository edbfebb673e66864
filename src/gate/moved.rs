//! The baseline at accepted witnesses, then and now. A witness need not be among the inputs that a lock holds, so that a
//! baseline which moves there, and nowhere else that is looked at, shows here alone.

use std::collections::{BTreeMap, BTreeSet};

use super::look::Role;
use super::verdict::{Gone, Policy, Replayed, expected_gone};
use crate::fp::{Equality, NanPolicy};
use crate::model::{
    Answer, GateFinding, GateKind, GateNote, LockFunction, MovedWitness, NoteKind, Number, Outcome, Results,
    RunFile, Whole, WitnessRow,
};

/// An answer of the baseline that is not the one of old.
pub(super) struct Move {
    pub bits: f64,
    /// What was said then stands as `baseline`, what is said now as `variant`.
    pub witness: WitnessRow,
}

impl Move {
    /// None where nothing moved as far as it counts.
    pub fn between(
        equality: Equality,
        results: &Results,
        inputs: &[Number],
        then: &[Answer],
        now: &[Answer],
    ) -> Option<Move> {
        let (a, b) = (words(then), words(now));
        let difference = results.compare(equality.strictly(), a.returned(), b.returned());
        let is_fault = !a.is_value() || !b.is_value();
        if !difference.is_inconsistent() && !(is_fault && difference.change.is_some()) {
            return None;
        }
        let values: Vec<(Outcome, Outcome)> =
            (0..results.width()).map(|k| (a.returned().value(k), b.returned().value(k))).collect();
        let witness = WitnessRow::new(results, inputs.to_vec(), difference.worst, &values);
        Some(Move { bits: difference.bits, witness })
    }

    /// Whether both answers are values.
    pub fn is_of_values(&self) -> bool {
        let (then, now) = self.witness.answers();
        then.iter().chain(&now).all(|answer| answer.number().is_some())
    }
}

/// Answers as a build returns them; a fault stands for all.
pub(super) fn words(answers: &[Answer]) -> Whole {
    let word = |answer: &Answer| answer.number().map_or(0, |number| number.bits);
    let first = match answers.first() {
        Some(Answer::Fault(kind)) => Outcome::Fault(*kind),
        Some(Answer::Value(number)) => Outcome::Value(number.bits),
        None => Outcome::Value(0),
    };
    Whole { first, rest: answers.iter().skip(1).map(word).collect() }
}

/// What became of the baseline at the witnesses of a lock.
#[derive(Default)]
pub(super) struct AtWitnesses {
    /// One of each function, at the witness where it moved most.
    pub findings: Vec<GateFinding>,
    /// All of them.
    pub moved: Vec<MovedWitness>,
    pub notes: Vec<GateNote>,
}

/// Of one function.
#[derive(Default)]
struct Tally<'a> {
    /// Witnesses by input: two builds may share one. True where the baseline's answer is another one, counted or not.
    inputs: BTreeMap<&'a [Number], bool>,
    moves: Vec<Move>,
}

impl AtWitnesses {
    /// `told` are functions of which it is known already that the baseline moved.
    pub fn of(
        policy: &Policy<'_>,
        run: &RunFile,
        replayed: &[Replayed<'_>],
        told: &BTreeSet<String>,
    ) -> AtWitnesses {
        let mut tallies: BTreeMap<&str, Tally<'_>> = BTreeMap::new();
        for (seen, _) in replayed {
            let look = &seen.look;
            let (Role::Witness(row), Some(function)) =
                (&look.role, policy.lock.functions.get(&look.function))
            else {
                continue;
            };
            let tally = tallies.entry(&look.function).or_default();
            if tally.inputs.contains_key(look.inputs.as_slice()) {
                continue;
            }
            let results = function.returns();
            let (then, now) = (row.answers().0, results.answers(seen.first.0.returned()));
            // A baseline that answers differently each time has a fault, which is told as such.
            let (first, second) = (seen.first.0.returned(), seen.second.0.returned());
            let is_steady = results.agree(policy.equality.nan, first, second);
            let found = Move::between(policy.equality, &results, &look.inputs, &then, &now);
            tally.moves.extend(found.filter(|found| found.is_of_values() && is_steady));
            let is_other = now.iter().zip(&then).any(|(now, then)| !now.agrees(*then, NanPolicy::Any));
            tally.inputs.insert(&look.inputs, is_other);
        }
        let mut all = AtWitnesses::default();
        for (name, tally) in tallies {
            all.add(name, tally, run, told.contains(name));
        }
        all
    }

    fn add(&mut self, name: &str, tally: Tally<'_>, run: &RunFile, is_told: bool) {
        let (count, of) = (tally.moves.len(), tally.inputs.len());
        let worst = tally.moves.iter().max_by(|a, b| a.bits.total_cmp(&b.bits));
        match worst {
            _ if is_told => {}
            Some(Move { bits, witness }) => {
                let gone = Gone { function: name.into(), build: run.baseline.clone() };
                self.findings.push(GateFinding {
                    kind: GateKind::BaselineMoved,
                    bits: Some(*bits),
                    witness: Some(witness.clone()),
                    text: format!("at {count} of {of} accepted witnesses"),
                    ..expected_gone(gone)
                });
            }
            None => {
                let other = tally.inputs.values().filter(|is_other| **is_other).count();
                let text = format!("{name}: the baseline answers differently at {other} of {of} witnesses");
                self.notes.extend((other > 0).then_some(GateNote { kind: NoteKind::BaselineMoved, text }));
            }
        }
        let moved = tally.moves.into_iter();
        self.moved.extend(moved.map(|m| MovedWitness { function: name.into(), witness: m.witness }));
    }
}

/// What the baseline says today, by input, as far as a run and its gate know.
pub(super) struct Today(BTreeMap<Vec<Number>, Vec<Answer>>);

impl Today {
    /// From the witnesses of a run, and those at which its gate saw the baseline move.
    pub fn of(name: &str, fresh: &LockFunction, moved: &[MovedWitness]) -> Today {
        let ranges = fresh.builds.values().flat_map(|comparison| &comparison.ranges);
        let own = ranges.map(|range| (range.witness.inputs.clone(), range.witness.answers().0));
        let moved = moved.iter().filter(|moved| moved.function == name);
        let seen = moved.map(|moved| (moved.witness.inputs.clone(), moved.witness.answers().1));
        Today(own.chain(seen).collect())
    }

    /// How many witnesses of a lock the baseline left, and how many there are.
    pub fn moved(&self, equality: Equality, lock: &LockFunction) -> (usize, usize) {
        let ranges = || lock.builds.values().flat_map(|comparison| &comparison.ranges);
        let all: BTreeSet<&[Number]> = ranges().map(|range| range.witness.inputs.as_slice()).collect();
        let moved: BTreeSet<&[Number]> = ranges()
            .filter(|range| self.differs(equality, &lock.returns(), &range.witness))
            .map(|range| range.witness.inputs.as_slice())
            .collect();
        (moved.len(), all.len())
    }

    fn differs(&self, equality: Equality, results: &Results, witness: &WitnessRow) -> bool {
        let Some(now) = self.0.get(&witness.inputs) else { return false };
        let found = Move::between(equality, results, &witness.inputs, &witness.answers().0, now);
        found.is_some_and(|found| found.is_of_values())
    }

    /// The same lock with what the baseline says today at its witnesses.
    pub fn refreshed(&self, lock: &LockFunction) -> LockFunction {
        let mut lock = lock.clone();
        let ranges = lock.builds.values_mut().flat_map(|comparison| &mut comparison.ranges);
        for witness in ranges.map(|range| &mut range.witness) {
            let Some(now) = self.0.get(&witness.inputs) else { continue };
            for (row, answer) in witness.results.iter_mut().zip(now) {
                row.baseline = *answer;
            }
            let worst = witness.results.iter().find(|row| Some(&row.name) == witness.worst.as_ref());
            let answer = worst.map(|row| row.baseline).or(now.first().copied());
            witness.baseline = answer.unwrap_or(witness.baseline);
        }
        lock
    }
}
