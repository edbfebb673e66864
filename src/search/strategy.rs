//! What a search algorithm is to its driver: a planner of units, phase by phase.

use super::cigen::{Cigen, Course};
use super::exhaustive::Exhaustive;
use super::rival::Rival;
use super::{Answer, Task, Unit, run_unit};
use crate::eval::{EvalError, Evaluator};
use crate::model::{FunctionResult, StrategyName};

/// Plans a function's search. Lives beside the coordinator; its units run in workers.
pub trait Strategy: Send {
    /// The next phase's units, given the previous phase's answers in the order of its units (none
    /// at the start). No units: the search is over.
    fn next(&mut self, answers: Vec<Answer>) -> Vec<Unit>;

    /// Everything found, after the last phase or when stopped early.
    fn finish(self: Box<Self>) -> FunctionResult;
}

/// The strategy a task asks for by name.
pub fn create(task: &Task) -> Box<dyn Strategy> {
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
    let mut units = strategy.next(Vec::new());
    while !units.is_empty() {
        let answers: Result<Vec<Answer>, EvalError> =
            units.iter().map(|unit| run_unit(task, unit, evaluator)).collect();
        units = strategy.next(answers?);
    }
    Ok(strategy.finish())
}
