//! The options of `bitrift confirm`.

use clap::Args;

use super::LabOptions;

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
    #[command(flatten)]
    pub lab: LabOptions,
}
