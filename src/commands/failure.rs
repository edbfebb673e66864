//! How a command ends badly: an exit code and the words for it.

use crate::cli::Exit;
use crate::compile::CompileError;
use crate::explain::ExplainError;
use crate::matrix::MatrixError;
use crate::plan::PlanError;
use crate::pool::PoolError;
use crate::presets::PresetError;
use crate::store::StoreError;

/// A message is complete: it opens with `error:` where it is one.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Failure {
        Failure { exit, message: format!("error: {message}") }
    }

    pub fn usage(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    pub fn interrupted(advice: &str) -> Failure {
        Failure { exit: Exit::Interrupted, message: format!("interrupted{advice}") }
    }
}

impl From<MatrixError> for Failure {
    fn from(error: MatrixError) -> Failure {
        // Its text is a whole report that already opens with `error:`.
        Failure { exit: Exit::Usage, message: error.to_string() }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Failure {
        Failure::usage(error)
    }
}

impl From<PresetError> for Failure {
    fn from(error: PresetError) -> Failure {
        Failure::usage(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::usage(error)
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Failure {
        Failure::usage(error)
    }
}

impl From<ExplainError> for Failure {
    fn from(error: ExplainError) -> Failure {
        match error {
            ExplainError::Interrupted => Failure::interrupted("; what is explained so far is stored"),
            ExplainError::Compile(error) => error.into(),
            ExplainError::Cache(_) | ExplainError::Unloadable(_) => Failure::usage(error),
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Failure {
        match error {
            PoolError::Interrupted => Failure::interrupted(""),
            PoolError::Spawn { .. } | PoolError::Failed(_) => Failure::new(Exit::Internal, error),
        }
    }
}
