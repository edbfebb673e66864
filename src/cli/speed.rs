//! The options of `bitrift speed`.

use clap::Args;

use super::{LabOptions, RunChoice};

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift speed                           the builds of the latest run
  bitrift speed 3 --json | jq '.builds[].functions'

Measured alone on an otherwise idle machine the times mean most.")]
pub struct SpeedArgs {
    #[command(flatten)]
    pub run: RunChoice,
    /// Print speed.json on standard output instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub lab: LabOptions,
}
