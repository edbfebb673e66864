//! What a search algorithm is to its driver: a planner of units, phase by phase.

use crate::eval::{EvalError, Evaluator};
use crate::model::FunctionResult;
use crate::search::cigen::{Cigen, Course};
use crate::search::rivals::{Rival, walk_of};
use crate::search::sweep::Exhaustive;
use crate::search::{Answer, Task, Unit, run_unit};

/// Plans a function's search. Lives beside the coordinator; its units run in workers.
pub trait Strategy: Send {
    /// The next phase's units, given the previous phase's answers in the order of its units (none
    /// at the start). No units: the search is over.
    fn next(&mut self, answers: Vec<Answer>) -> Vec<Unit>;

    /// Everything found, after the last phase or when stopped early.
    fn finish(self: Box<Self>) -> FunctionResult;
}

/// The strategy a task asks for by name; None when there is no such strategy.
pub fn create(task: &Task) -> Option<Box<dyn Strategy>> {
    match task.settings.strategy.as_str() {
        "auto" => Some(Box::new(Cigen::new(task.clone(), Course::Auto))),
        "cigen" => Some(Box::new(Cigen::new(task.clone(), Course::Cigen))),
        "exhaustive" => Some(Box::new(Exhaustive::new(task.clone()))),
        name => walk_of(name).map(|_| Box::new(Rival::new(task.clone())) as Box<dyn Strategy>),
    }
}

/// Runs a whole search in this thread, unit after unit: for tests and benchmarks. None when the
/// task's strategy does not exist.
pub fn run_here(task: &Task, evaluator: &mut dyn Evaluator) -> Result<Option<FunctionResult>, EvalError> {
    let Some(mut strategy) = create(task) else { return Ok(None) };
    let mut units = strategy.next(Vec::new());
    while !units.is_empty() {
        let answers: Result<Vec<Answer>, EvalError> =
            units.iter().map(|unit| run_unit(task, unit, evaluator)).collect();
        units = strategy.next(answers?);
    }
    Ok(Some(strategy.finish()))
}
