//! What a search algorithm is to its driver: a planner of units, phase by phase.

use super::{Answer, Task, Unit};
use crate::model::FunctionResult;

/// Plans a function's search. Lives beside the coordinator; its units run in workers.
pub trait Strategy: Send {
    /// The next phase's units, given the previous phase's answers in the order of its units (none
    /// at the start). No units: the search is over.
    fn next(&mut self, answers: Vec<Answer>) -> Vec<Unit>;

    /// Everything found, after the last phase or when stopped early.
    fn finish(self: Box<Self>) -> FunctionResult;
}

/// The strategy a task asks for by name; None when there is no such strategy.
pub fn create(_task: &Task) -> Option<Box<dyn Strategy>> {
    None
}
