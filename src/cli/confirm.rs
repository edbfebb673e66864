//! The options of `bitrift confirm`.

use std::path::PathBuf;

use clap::Args;

use super::options::MATRIX;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift confirm                         the witnesses of the latest run
  bitrift confirm 3 --all --matrix other.toml")]
pub struct ConfirmArgs {
    /// A run's folder, its name under results/ or its number [default: the latest]
    pub run: Option<String>,
    /// List the witnesses that are confirmed too
    #[arg(long)]
    pub all: bool,
    /// The matrix file
    #[arg(long, value_name = "FILE", default_value = MATRIX)]
    pub matrix: PathBuf,
    /// Where compiled objects are kept for the next time [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Processes at work at once [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}
