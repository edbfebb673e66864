//! The options of `bitrift repro`.

use std::path::PathBuf;

use clap::Args;

use super::{LabOptions, RunOption};

#[derive(Clone, Debug, PartialEq, Args)]
#[command(
    override_usage = "bitrift repro [OPTIONS] [RUN] FINDING\n       bitrift repro [OPTIONS] [RUN] --all"
)]
#[command(after_help = "\
Examples:
  bitrift repro 'kahan_sum#gcc/O3-fast/native.1'       of the latest run, into repro/...
  bitrift repro 3 'kahan_sum#gcc/O3-fast/native.max' --out /tmp/report
  bitrift repro --all --out /tmp/all && sh /tmp/all/*/run.sh

A finding is a range by its id in run.json, `function#build.number`, or `function#build.max`, the
worst input of a build.")]
pub struct ReproArgs {
    /// A run's folder, its name under results/ or its number [default: the latest], then the finding's id
    #[arg(value_name = "RUN] [FINDING", num_args = 0..=2)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub run: RunOption,
    /// A folder for each finding of the run
    #[arg(long)]
    pub all: bool,
    /// The folder itself; with --all where the folders go [default: repro/..., repro]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub lab: LabOptions,
}
