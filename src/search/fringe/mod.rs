//! Values that no axis has an orderly place for, where a domain names them: infinities, NaN and -0. They are tried before
//! everything else, whichever strategy searches the rest, and have ranges of their own.

mod inputs;
mod ranges;

use inputs::inputs;
use ranges::Fringe;

use crate::model::{Budget, FunctionResult};
use crate::search::Task;
use crate::search::agenda::{Agenda, Planned};
use crate::search::ledger::Ledger;
use crate::search::strategy::Strategy;
use crate::search::unit::{Answer, Harvest, Seen, Unit};

/// Inputs of one unit.
const UNIT_INPUTS: u64 = 8192;

/// Whether a function has such values.
pub fn has_fringe(task: &Task) -> bool {
    task.function.coordinates.iter().any(|coordinate| !coordinate.domain.specials.is_empty())
}

/// A strategy after the special values.
pub struct Fringed {
    inner: Box<dyn Strategy>,
    ledger: Ledger,
    /// What each unit saw of each variant.
    seen: Vec<Seen>,
    stage: Stage,
}

/// Whose units are asked for.
enum Stage {
    Before,
    Fringe(Agenda<()>),
    Rest,
}

impl Fringed {
    /// `create` makes the strategy that searches the rest, with what is left of the budget.
    pub fn new(task: &Task, create: impl FnOnce(&Task) -> Box<dyn Strategy>) -> Fringed {
        let mut rest = task.clone();
        if let Budget::Evaluations(total) = &mut rest.settings.budget {
            let spent = (inputs(task).len() / task.function.arity().max(1)) as u64;
            *total = total.saturating_sub(spent).max(1);
        }
        let ledger = Ledger::new(task.clone());
        Fringed { inner: create(&rest), ledger, seen: Vec::new(), stage: Stage::Before }
    }
}

impl Strategy for Fringed {
    fn next_phase(&mut self) -> bool {
        if let Stage::Before = self.stage {
            let members = self.ledger.open();
            let inputs = inputs(&self.ledger.task);
            if !members.is_empty() {
                let units = self.ledger.first_units(&members, inputs, UNIT_INPUTS);
                self.stage = Stage::Fringe(Agenda::new(units.map(|unit| Planned { unit, purpose: () })));
                return true;
            }
        }
        if let Stage::Before | Stage::Fringe(_) = self.stage {
            self.ledger.close_comparisons();
            self.stage = Stage::Rest;
        }
        self.inner.next_phase()
    }

    fn next_unit(&mut self) -> Option<Unit> {
        match &mut self.stage {
            Stage::Before => None,
            Stage::Fringe(agenda) => agenda.next_unit(),
            Stage::Rest => self.inner.next_unit(),
        }
    }

    fn absorb(&mut self, answer: Answer) {
        let Stage::Fringe(agenda) = &mut self.stage else { return self.inner.absorb(answer) };
        let Some(()) = agenda.answered() else { return };
        self.ledger.note(&answer.closing, |_| true);
        if let Harvest::Inputs { seen, .. } = answer.harvest {
            for seen in seen {
                self.seen.push(seen.clone());
                self.ledger.absorb(seen, false);
            }
        }
    }

    fn finish(mut self: Box<Self>) -> FunctionResult {
        self.ledger.close_comparisons();
        let Fringed { inner, ledger, seen, .. } = *self;
        Fringe::new(ledger, seen).join(inner.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Fake, FakeBuild};
    use crate::fp::Scalar;
    use crate::model::{BuildId, Callee, Coordinate, Domain, Function, Outcome, SearchSettings, StopReason};
    use crate::search::run_here;

    fn task(arity: usize) -> Task {
        let all = Domain::all(Scalar::F64);
        let specials = vec![f64::INFINITY.to_bits(), f64::NAN.to_bits(), (-0f64).to_bits()];
        let param = |k: usize| Coordinate {
            name: format!("x{k}"),
            ty: Scalar::F64,
            domain: Domain { specials: specials.clone(), ..all.clone() },
            domain_text: "all".into(),
        };
        let settings = SearchSettings { budget: Budget::Evaluations(4000), ..SearchSettings::default() };
        Task {
            function: Function::of_scalars(
                "f",
                (0..arity).map(param).collect(),
                Scalar::F64,
                Callee::Elsewhere,
            ),
            builds: vec![BuildId("gcc/O0/native".into()), BuildId("gcc/O3/native".into())],
            settings,
            literals: Vec::new(),
            tolerances: Vec::new(),
        }
    }

    /// Builds that differ where `differs` says so.
    fn search(arity: usize, differs: fn(&[f64]) -> bool) -> FunctionResult {
        let values = |input: &[u64]| input.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<f64>>();
        let one: FakeBuild = Box::new(|_| Outcome::Value(1f64.to_bits()));
        let other: FakeBuild = Box::new(move |input| {
            Outcome::Value(if differs(&values(input)) { 2f64 } else { 1f64 }.to_bits())
        });
        run_here(&task(arity), &mut Fake::new(arity, vec![one, other])).unwrap()
    }

    #[test]
    fn a_nan_an_infinity_and_a_negative_zero_that_were_named_are_tried() {
        for (differs, bits) in [
            ((|x: &[f64]| x[0].is_nan()) as fn(&[f64]) -> bool, f64::NAN.to_bits()),
            (|x| x[0] == f64::INFINITY, f64::INFINITY.to_bits()),
            (|x| x[0] == 0.0 && x[0].is_sign_negative(), (-0f64).to_bits()),
        ] {
            let result = search(1, differs);
            let comparison = &result.comparisons[0];
            assert_eq!(comparison.witness.as_ref().unwrap().inputs, [bits]);
            assert!(comparison.ranges.iter().any(|range| range.lo == [bits] && range.hi == [bits]));
            assert!(comparison.evaluations <= 4000 && comparison.stop != StopReason::Deadline);
        }
    }

    #[test]
    fn of_several_parameters_one_nan_among_numbers_is_one_range() {
        let result = search(3, |x| x[1].is_nan() && !x[0].is_nan() && !x[2].is_nan());
        let ranges = &result.comparisons[0].ranges;
        assert_eq!(ranges.len(), 1);
        assert!(ranges[0].samples >= 16 && ranges[0].inconsistent == ranges[0].samples);
        assert!(
            f64::from_bits(ranges[0].lo[1]).is_nan()
                && ranges[0].holds(&[Scalar::F64; 3], &ranges[0].witness.inputs)
        );
    }

    #[test]
    fn builds_that_agree_there_leave_the_rest_as_it_was() {
        let result = search(2, |_| false);
        assert!(result.comparisons[0].ranges.is_empty() && result.comparisons[0].witness.is_none());
        assert_eq!(result.constant.as_deref(), Some([1f64.to_bits()].as_slice()));
        let planted = search(1, |x| (1.0..2.0).contains(&x[0]));
        assert_eq!(planted.comparisons[0].ranges.len(), 1);
    }
}
