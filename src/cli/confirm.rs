//! The options of `bitrift confirm`.

use clap::Args;

use super::{LabOptions, RunChoice};

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift confirm                         the witnesses of the latest run
  bitrift confirm 3 --all --matrix other.toml")]
pub struct ConfirmArgs {
    #[command(flatten)]
    pub run: RunChoice,
    /// List the witnesses that are confirmed too
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub lab: LabOptions,
}
