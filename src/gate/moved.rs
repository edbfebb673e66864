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
        // A fault on one side has no bits, and its change of class counts elsewhere.
        let is_fault = !a.is_value() || !b.is_value();
        let moved = difference.is_inconsistent() || (is_fault && difference.change.is_some());
        if !moved {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{LockComparison, LockRange, ResultValue};

    fn number(x: f64) -> Number {
        Number::new(Scalar::F64, x.to_bits())
    }

    fn answers(values: &[f64]) -> Vec<Answer> {
        values.iter().map(|&x| Answer::Value(number(x))).collect()
    }

    #[test]
    fn a_witness_that_is_refreshed_keeps_what_the_variant_said() {
        let value = |name: &str| ResultValue { name: name.into(), ty: Scalar::F64 };
        let two = Results::new(vec![value("*a"), value("*b")]).unwrap();
        let outcome = |x: f64| Outcome::Value(x.to_bits());
        let pairs = [(outcome(1.0), outcome(1.0)), (outcome(2.0), outcome(3.0))];
        let witness = WitnessRow::new(&two, vec![number(7.0)], 1, &pairs);
        let moved = Move::between(
            Equality::default(),
            &two,
            &witness.inputs,
            &witness.answers().0,
            &answers(&[1.0, 5.0]),
        );
        let moved = moved.unwrap();
        assert!(moved.bits > 0.0 && moved.is_of_values());
        let range = LockRange {
            lo: witness.inputs.clone(),
            hi: witness.inputs.clone(),
            edges: Vec::new(),
            max_bits: 52.0,
            category: crate::model::Category::Lone,
            witness,
        };
        let mut comparison = LockComparison::default();
        comparison.ranges.push(range);
        let lock = LockFunction {
            params: Vec::new(),
            result: Scalar::F64,
            results: crate::model::result_rows(&two),
            domains: Vec::new(),
            held: None,
            builds: [("variant".into(), comparison)].into(),
            clean: Default::default(),
            evaluations: Default::default(),
            tolerances: Default::default(),
            faults: Vec::new(),
        };
        let nothing = LockFunction { builds: Default::default(), ..lock.clone() };
        let all = [MovedWitness { function: "f".into(), witness: moved.witness }];
        let today = Today::of("f", &nothing, &all);
        assert_eq!(today.moved(Equality::default(), &lock), (1, 1));
        let fresh = today.refreshed(&lock);
        let row = &fresh.builds.values().next().unwrap().ranges[0].witness;
        assert_eq!(row.answers(), (answers(&[1.0, 5.0]), answers(&[1.0, 3.0])));
        assert_eq!((row.baseline, row.variant), (answers(&[5.0])[0], answers(&[3.0])[0]));
        assert_eq!(
            today.moved(Equality::default(), &fresh),
            (0, 1),
            "the answers of today are those of the lock"
        );
        assert_eq!(Today::of("g", &nothing, &all).moved(Equality::default(), &lock), (0, 1));
    }

    #[test]
    fn zeros_and_nans_move_as_far_as_they_count() {
        let one = Results::one(Scalar::F64);
        let between = |a: f64, b: f64| {
            Move::between(Equality::default(), &one, &[number(1.0)], &answers(&[a]), &answers(&[b])).is_some()
        };
        assert!(!between(0.0, -0.0) && !between(f64::NAN, -f64::NAN) && !between(1.5, 1.5));
        assert!(between(1.5, 1.5f64.next_up()) && between(1.0, f64::NAN) && between(0.0, 1.0));
    }
}
