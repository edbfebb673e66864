//! The pieces of work a search is cut into, and what comes back from each.

use serde::{Deserialize, Serialize};

use crate::eval::{EvalError, Evaluator};
use crate::model::{BuildId, Function, SearchSettings};

/// What every unit of one function's search needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub function: Function,
    /// The builds that have the function; the baseline first.
    pub builds: Vec<BuildId>,
    pub settings: SearchSettings,
}

/// An independent piece of a search phase. Deterministic: the same unit on the same builds gives
/// the same answer in any process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Unit {}

/// What a unit found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Evaluations spent (one input on the baseline and one variant).
    pub evaluations: u64,
}

/// Runs a unit next to the loaded code.
pub fn run_unit(_task: &Task, unit: &Unit, _evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    match *unit {}
}
