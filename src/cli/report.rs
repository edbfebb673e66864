//! The options of `bitrift report`.

use std::path::PathBuf;

use clap::Args;

use super::FunctionGlobs;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift report --html                   the latest run as one file, results/.../report.html
  bitrift report 3 --html --out r.html")]
pub struct ReportArgs {
    /// A run's folder, its name under results/ or its number [default: the latest]
    pub run: Option<String>,
    /// One self-contained page for a browser; goes to report.html in the run's folder without --out
    #[arg(long, group = "format")]
    pub html: bool,
    /// Write to this file [default: standard output, but for --html]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub functions: FunctionGlobs,
}
