//! Which matrix and which run a command is about. They are given in the same way everywhere: by `--matrix` and
//! `--run`, or as a command's own word where it is about one of them.

use std::path::{Path, PathBuf};

use clap::Args;

pub(super) const MATRIX: &str = "matrix.toml";

/// The matrix of a command that is about one.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct MatrixChoice {
    /// The matrix file
    #[arg(value_name = "MATRIX", default_value = MATRIX)]
    matrix_word: PathBuf,
    /// The same by name, as the other commands have it
    #[arg(long = "matrix", value_name = "FILE", conflicts_with = "matrix_word")]
    matrix_option: Option<PathBuf>,
}

impl MatrixChoice {
    pub fn path(&self) -> &Path {
        self.matrix_option.as_deref().unwrap_or(&self.matrix_word)
    }
}

/// The run of a command that is about one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct RunChoice {
    /// A run's folder, its name under results/ or its number [default: the latest]
    #[arg(value_name = "RUN")]
    run_word: Option<String>,
    /// The same by name, as the other commands have it
    #[arg(long = "run", value_name = "RUN", conflicts_with = "run_word")]
    run_option: Option<String>,
}

impl RunChoice {
    /// As the user named it; None: the latest.
    pub fn name(&self) -> Option<&str> {
        self.run_word.as_deref().or(self.run_option.as_deref())
    }
}

/// The run of a command whose own words say something else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct RunOption {
    /// A run's folder, its name under results/ or its number
    #[arg(long = "run", value_name = "RUN")]
    pub run: Option<String>,
}
