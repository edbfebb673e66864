//! What a search algorithm is to its driver: a planner of units, phase by phase. Units are made when the driver asks
//! for them and answers are taken in one by one, so that a search takes no more room the larger its budget is.

use crate::eval::{EvalError, Evaluator};
use crate::model::{FunctionResult, StrategyName};
use crate::search::cigen::{Cigen, Course};
use crate::search::fringe::{Fringed, has_fringe};
use crate::search::rivals::Rival;
use crate::search::sweep::Exhaustive;
use crate::search::{Answer, Task, Unit, run_unit};

/// Plans a function's search. Lives beside the coordinator; its units run in workers.
pub trait Strategy: Send {
    /// Plans the next phase, of at least one unit. To be called at the start, and when all units of a phase are
    /// answered. False: the search is over.
    fn next_phase(&mut self) -> bool;

    /// The next unit of the phase; None when it has no more. Units of a phase are independent.
    fn next_unit(&mut self) -> Option<Unit>;

    /// Takes in the answer of a unit. Answers come in the order of their units.
    fn absorb(&mut self, answer: Answer);

    /// Everything found, after the last phase or when stopped early.
    fn finish(self: Box<Self>) -> FunctionResult;
}

/// The strategy a task asks for by name, after the special values that its domains name.
pub fn create(task: &Task) -> Box<dyn Strategy> {
    if has_fringe(task) { Box::new(Fringed::new(task, by_name)) } else { by_name(task) }
}

fn by_name(task: &Task) -> Box<dyn Strategy> {
    match task.settings.strategy {
        StrategyName::Auto => Box::new(Cigen::new(task.clone(), Course::Auto)),
        StrategyName::Cigen => Box::new(Cigen::new(task.clone(), Course::Cigen)),
        StrategyName::Exhaustive => Box::new(Exhaustive::new(task.clone())),
        StrategyName::Random
        | StrategyName::Bgrt
        | StrategyName::Mcmc
        | StrategyName::Ga
        | StrategyName::Lsga
        | StrategyName::Hsed => Box::new(Rival::new(task.clone())),
    }
}

/// Runs a whole search in this thread, unit after unit: for tests and benchmarks.
pub fn run_here(task: &Task, evaluator: &mut dyn Evaluator) -> Result<FunctionResult, EvalError> {
    let mut strategy = create(task);
    while strategy.next_phase() {
        while let Some(unit) = strategy.next_unit() {
            strategy.absorb(run_unit(task, &unit, evaluator)?);
        }
    }
    Ok(strategy.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Fake, FakeBuild};
    use crate::fp::Scalar;
    use crate::model::{Budget, BuildId, Callee, Coordinate, Domain, Function, Outcome, SearchSettings};

    const COORDINATES: usize = 16;

    fn sixteen_doubles(strategy: StrategyName, budget: Budget) -> Task {
        let param = |i: usize| Coordinate {
            name: format!("x{i}"),
            ty: Scalar::F64,
            domain: Domain::all(Scalar::F64),
            domain_text: String::new(),
        };
        Task {
            function: Function::of_scalars(
                "f",
                (0..COORDINATES).map(param).collect(),
                Scalar::F64,
                Callee::Call("f(x)".into()),
            ),
            builds: vec![BuildId("gcc/O0/native".into()), BuildId("gcc/O3/native".into())],
            settings: SearchSettings { strategy, budget, ..SearchSettings::default() },
            literals: Vec::new(),
            tolerances: Vec::new(),
        }
    }

    #[test]
    fn sixteen_coordinates_that_differ_everywhere_are_searched_in_bounded_memory() {
        for (strategy, budget) in [
            (StrategyName::Auto, Budget::Evaluations(12_000)),
            (StrategyName::Cigen, Budget::Evaluations(12_000)),
            (StrategyName::Random, Budget::Evaluations(12_000)),
            (StrategyName::Hsed, Budget::Evaluations(5_000)),
            (StrategyName::Mcmc, Budget::Evaluations(5_000)),
        ] {
            let task = sixteen_doubles(strategy, budget);
            let one: FakeBuild = Box::new(|_| Outcome::Value(1f64.to_bits()));
            let off: FakeBuild = Box::new(|_| Outcome::Value(1f64.to_bits() + 1));
            let mut fake = Fake::new(COORDINATES, vec![one, off]);
            let mut strategy = create(&task);
            while strategy.next_phase() {
                while let Some(unit) = strategy.next_unit() {
                    let answer = run_unit(&task, &unit, &mut fake).unwrap();
                    let size = postcard::to_allocvec(&answer).unwrap().len();
                    assert!(size < 8 << 20, "{}: {size} bytes", task.settings.strategy);
                    strategy.absorb(answer);
                }
            }
            let result = strategy.finish();
            let ranges = result.comparisons[0].ranges.len();
            // Of 65,536 orthants only as many have ranges as eight coordinates would have.
            assert!((1..=256).contains(&ranges), "{}: {ranges}", task.settings.strategy);
            assert!(result.comparisons[0].witness.is_some());
        }
    }
}
