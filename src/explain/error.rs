//! What ends an explanation as a whole. What goes wrong with one trial is data.

use crate::compile::{CompileError, MixError};

/// Why nothing more can be tried.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    #[error("interrupted")]
    Interrupted,
    #[error("failed to write the cache: {0}")]
    Cache(std::io::Error),
    #[error(transparent)]
    Compile(CompileError),
    /// An object that cannot be asked, in the loader's words.
    #[error("{0}")]
    Unloadable(String),
}

impl From<MixError> for ExplainError {
    fn from(error: MixError) -> ExplainError {
        match error {
            MixError::Tool(words) => ExplainError::Unloadable(words),
            MixError::Cancelled => ExplainError::Interrupted,
            MixError::Cache(error) => ExplainError::Cache(error),
        }
    }
}
