//! The options of `bitrift speed`.

use std::path::PathBuf;

use clap::Args;

use super::options::MATRIX;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift speed                           the builds of the latest run
  bitrift speed 3 --json | jq '.builds[].functions'

Measured alone on an otherwise idle machine the times mean most.")]
pub struct SpeedArgs {
    /// A run's folder, its name under results/ or its number [default: the latest]
    pub run: Option<String>,
    /// Print speed.json on standard output instead of a table
    #[arg(long)]
    pub json: bool,
    /// The matrix file
    #[arg(long, value_name = "FILE", default_value = MATRIX)]
    pub matrix: PathBuf,
    /// Where compiled objects are kept for the next time [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}
