//! The options of `gate` and `accept`.

use std::path::PathBuf;

use clap::Args;

use super::search::{OptionKeys, Overrides, help_of};
use super::{FunctionGlobs, MatrixChoice, MeansOptions, RunChoice};
use crate::model::{SearchSettings, UnknownStrategy};

pub(super) const LOCK: &str = "bitrift.lock.json";

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Green means: nothing new, nothing worse than accepted, no new fault, no limit of the matrix
exceeded, and every function and build of the lock searched as far as the lock records. The search
is the one the lock was made with (strategy, seed, budget), so that the same code on the same
compilers gives the same verdict. Each finding names an input that shows it, evaluated at least
twice. The run and its verdict (gate.json) are stored like any run; `bitrift accept --loosen` then
takes what was found.

Exit codes: 0 green, 1 a lock or matrix that cannot be used, 2 red, 3 incomplete: nothing red, but
a build or function is not there (a missing compiler) or was not searched (cut by time, given up,
its worker lost), 4 the baseline cannot be used, 130 interrupted.

Examples:
  bitrift gate                            ./matrix.toml against ./bitrift.lock.json
  bitrift gate --time 60                  replay, then search for the rest of a minute
  bitrift gate --tolerance 0 --strict     no bit more, and all that is expected there
  bitrift gate --function 'kahan_*'       only these functions of the lock: a partial verdict
  bitrift gate --json > verdict.json")]
pub struct GateArgs {
    #[command(flatten)]
    pub matrix: MatrixChoice,
    /// What was accepted
    #[arg(long, value_name = "FILE", default_value = LOCK)]
    pub lock: PathBuf,
    /// Seconds for replaying and searching, compiling not counted [default: as long as the search takes]
    #[arg(long, value_name = "SECONDS", value_parser = not_negative, allow_negative_numbers = true)]
    pub time: Option<f64>,
    /// Bits by which a difference may be worse than accepted
    #[arg(long, value_name = "BITS", value_parser = not_negative, allow_negative_numbers = true, default_value = "1")]
    pub tolerance: f64,
    /// Fail when a difference that the matrix expects is not there any more
    #[arg(long)]
    pub strict: bool,
    /// The run's folder itself.
    #[arg(long, value_name = "DIR", help = "The run's folder itself [default: results/NNNN-<lab>]")]
    pub out: Option<PathBuf>,
    /// Replace a run that is already in --out
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    #[command(flatten)]
    pub functions: FunctionGlobs,
    #[command(flatten)]
    pub means: MeansOptions,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the verdict as JSON on standard output instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub search: GateSearch,
}

/// How to search otherwise than the lock says.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct GateSearch {
    // Any word: the command says which strategies there are.
    #[arg(long, value_name = "NAME", help = help_of("strategy"), help_heading = GateKeys::HEADING)]
    pub strategy: Option<String>,
    /// Ask for identical bits, as `run --bitwise` does: signs of zeros and all of a NaN count, no tolerance does
    #[arg(long, help_heading = GateKeys::HEADING)]
    pub bitwise: bool,
    #[command(flatten)]
    pub settings: Overrides<GateKeys>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GateKeys;

impl OptionKeys for GateKeys {
    const HEADING: &'static str = "Search parameters (each overrides the lock or the matrix)";

    fn has(name: &str) -> bool {
        ["seed", "budget", "timeout_ms", "max_faults"].contains(&name)
    }
}

impl GateSearch {
    /// Puts what was given over the settings.
    pub fn apply(&self, settings: &mut SearchSettings) -> Result<(), UnknownStrategy> {
        if let Some(strategy) = &self.strategy {
            settings.strategy = strategy.parse()?;
        }
        self.settings.apply(settings);
        if self.bitwise {
            settings.count_all_bits();
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Without a lock file, one is made that accepts everything the run found. A lock that is there is
only ever tightened: ranges that shrank or vanished, fewer bits, faults that are gone. What is new
or worse is listed and stays out, because the usual reason to accept is a green gate, and a red
one should be looked at first; --loosen takes it, which is what makes the gate green again after a
red one. A comparison of fewer than 1,000 evaluations (100 of a slow function) that did not come
to its own end stays out too, unless --loosen takes it; one that evaluated nothing always does,
and a run of nothing else is refused.

Examples:
  bitrift run && bitrift accept           the first lock
  bitrift accept                          after a green gate: keep what got better
  bitrift accept --loosen                 after a red gate: accept what it found
  bitrift accept 7 --loosen --function 'kahan_*' --dry-run")]
pub struct AcceptArgs {
    #[command(flatten)]
    pub run: RunChoice,
    /// The lock file to make or update
    #[arg(long, value_name = "FILE", default_value = LOCK)]
    pub lock: PathBuf,
    /// Accept what is new or worse too
    #[arg(long)]
    pub loosen: bool,
    /// Forget functions and builds that the run has not got
    #[arg(long, conflicts_with = "patterns")]
    pub prune: bool,
    /// Say what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub functions: FunctionGlobs,
}

fn not_negative(text: &str) -> Result<f64, String> {
    let x: f64 = text.trim().parse().map_err(|_| "expected a number".to_string())?;
    if x.is_finite() && x >= 0.0 { Ok(x) } else { Err("expected a finite number, 0 or more".into()) }
}
