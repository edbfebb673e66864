//! What can be wrong with a matrix, as the user reads it.

use std::path::PathBuf;

/// A matrix that cannot be used. The text is complete: it opens with `error:` and needs no prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatrixError {
    /// The file, or one it names, cannot be read.
    #[error("{report}")]
    Unreadable { path: PathBuf, report: String },
    /// The file is no TOML.
    #[error("{report}")]
    Syntax { path: PathBuf, report: String },
    /// The file is TOML, but not a valid matrix.
    #[error("{report}")]
    Invalid { path: PathBuf, report: String, problems: usize },
}
