//! The options of `bitrift report`.

use std::path::PathBuf;

use clap::Args;

use super::{FunctionGlobs, RunChoice};

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift report                          the latest run at a glance
  bitrift report --html                   as one file, results/.../report.html
  bitrift report 3 --html --out r.html
  bitrift report --markdown >> \"$GITHUB_STEP_SUMMARY\"
  bitrift report --samples --out samples.csv
  bitrift report --sarif --source-root lab --out bitrift.sarif")]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunChoice,
    /// One self-contained page for a browser; goes to report.html in the run's folder without --out
    #[arg(long, group = "format")]
    pub html: bool,
    /// A short table for a pull request, the rest folded away
    #[arg(long, group = "format")]
    pub markdown: bool,
    /// JUnit XML: a test case for each function and build
    #[arg(long, group = "format")]
    pub junit: bool,
    /// SARIF 2.1.0: a result for each range, at the function's definition
    #[arg(long, group = "format")]
    pub sarif: bool,
    /// Annotations of GitHub Actions, at the definitions of the functions that differ most
    #[arg(long, group = "format")]
    pub github: bool,
    /// CSV of all stored samples: a row for each sample and build
    #[arg(long, group = "format")]
    pub samples: bool,
    /// The same samples as Apache Parquet (a bitrift built with the feature `parquet`); needs --out
    #[arg(long, group = "format", requires = "out")]
    pub parquet: bool,
    /// Write to this file [default: standard output, but for --html]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// For --sarif and --github: the matrix's folder in the repository [default: its top]
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true)]
    pub source_root: String,
    #[command(flatten)]
    pub functions: FunctionGlobs,
}

/// What a report is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A glance, for a terminal.
    Summary,
    Html,
    Markdown,
    Junit,
    Sarif,
    Github,
    Samples,
    Parquet,
}

impl ReportArgs {
    /// clap sees to it that at most one is asked for.
    pub fn format(&self) -> Format {
        let asked = [
            (self.html, Format::Html),
            (self.markdown, Format::Markdown),
            (self.junit, Format::Junit),
            (self.sarif, Format::Sarif),
            (self.github, Format::Github),
            (self.samples, Format::Samples),
            (self.parquet, Format::Parquet),
        ];
        asked.into_iter().find(|(is, _)| *is).map_or(Format::Summary, |(_, format)| format)
    }
}
