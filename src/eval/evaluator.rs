//! What a search sees of evaluation: inputs in, outcomes out.

use std::time::Duration;

use crate::model::Outcomes;

/// Why evaluation cannot go on. Faults of the code under test are outcomes, not errors.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The file's name, which is its content's: where it lies differs from run to run.
    #[error("failed to load the object {name}: {reason}")]
    Load { name: String, reason: String },
    #[error("the evaluation helper of build {build} broke: {reason}")]
    Helper { build: String, reason: String },
    /// The deadline passed or the user interrupted.
    #[error("stopped")]
    Stopped,
}

impl EvalError {
    /// Whether the reason is that no more files can be written.
    pub(super) fn is_full_disk(&self) -> bool {
        let (EvalError::Load { reason, .. } | EvalError::Helper { reason, .. }) = self else { return false };
        reason.contains("No space left on device")
    }
}

/// Runs inputs on the builds of one function. Build 0 is the baseline.
pub trait Evaluator {
    /// Words of an input.
    fn arity(&self) -> usize;

    /// Values that a call gives.
    fn width(&self) -> usize {
        1
    }

    /// Number of builds, the baseline included.
    fn builds(&self) -> usize;

    /// Evaluates `inputs` (each `arity` values of 64 bits, one after the other) on one build and
    /// appends what it made of each to `out`, which has this evaluator's width.
    fn evaluate(&mut self, build: usize, inputs: &[u64], out: &mut Outcomes) -> Result<(), EvalError>;

    /// How long evaluating has taken since the evaluator was made, as far as it takes time.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the time for all this is over, so that nothing more need be asked.
    fn is_late(&self) -> bool {
        false
    }
}
