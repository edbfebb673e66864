//! The options that commands which compile have in common.

use std::path::PathBuf;

use clap::Args;

/// What making builds may use.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct MeansOptions {
    /// Where compiled objects are kept for the next time [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Processes at work at once [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
}

/// The matrix of a command whose own words say something else, and how to make its builds.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct LabOptions {
    /// The matrix file [default: the run's own, else matrix.toml]
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
    #[command(flatten)]
    pub means: MeansOptions,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}
