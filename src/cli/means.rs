//! The options that commands which compile have in common.

use std::path::PathBuf;

use clap::Args;

use crate::model::CacheLimit;

/// What making builds may use.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct MeansOptions {
    /// Where compiled objects are kept for the next time [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// How large that may become, such as 500M, 2G or `unlimited`: what was used longest ago goes first [default: 5G]
    #[arg(long, value_name = "SIZE")]
    pub cache_size: Option<CacheLimit>,
    /// Processes at work at once [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    /// Code under test and compilers run with all of your rights
    #[arg(long)]
    pub no_sandbox: bool,
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
