//! The options of `bitrift compare`.

use clap::{Args, ValueEnum};

use super::FunctionGlobs;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Examples:
  bitrift compare 3 4                     results/0003-... against results/0004-...
  bitrift compare old/run                 a run against the latest
  bitrift compare 3 4 --map gcc-12=gcc-13 --fail-on new,worse
  bitrift compare 3 4 --markdown >> \"$GITHUB_STEP_SUMMARY\"")]
pub struct CompareArgs {
    /// The earlier run: its folder, its name under results/ or its number
    pub a: String,
    /// The later run [default: the latest]
    pub b: Option<String>,
    /// Bits by which a range may move and still count as unchanged
    #[arg(long, value_name = "BITS", default_value_t = 0.5, value_parser = tolerance, allow_hyphen_values = true)]
    pub tolerance: f64,
    /// A build of the earlier run that has another name in the later: a whole id, or one part of it such as
    /// gcc-12=gcc-13 (may be given several times)
    #[arg(long, value_name = "A=B", value_parser = mapping)]
    pub map: Vec<(String, String)>,
    /// Fail with exit code 2 when a range is new, or worse
    #[arg(long, value_name = "CHANGE", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// Print the comparison as JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print it as Markdown, for a pull request
    #[arg(long)]
    pub markdown: bool,
    /// List what is unchanged too
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub functions: FunctionGlobs,
}

/// A change that a pipeline may refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    New,
    Worse,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let bits = text.parse::<f64>().ok().filter(|bits| (0.0..=64.0).contains(bits));
    bits.ok_or_else(|| "expected a number of bits between 0 and 64".into())
}

fn mapping(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((a, b)) if !a.is_empty() && !b.is_empty() => Ok((a.into(), b.into())),
        _ => Err("expected two names with a `=` between them, such as gcc-12=gcc-13".into()),
    }
}
