//! The options of `gate` and `accept`.

use std::path::PathBuf;

use clap::Args;

use super::FunctionGlobs;
use super::options::MATRIX;
use super::search::{budget, number};
use crate::model::{Budget, SearchSettings, UnknownStrategy};

pub(super) const LOCK: &str = "bitrift.lock.json";

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Green means: nothing new, nothing worse than accepted, no new fault, no limit of the matrix exceeded. The
search is the one the lock was made with (strategy, seed, budget), so that the same code on the same compilers
gives the same verdict. Each finding names an input that shows it, evaluated at least twice. The run and its
verdict (gate.json) are stored like any run; `bitrift accept --loosen` then takes what was found.

Exit codes: 0 green, 1 a lock or matrix that cannot be used, 2 red, 3 a build or function of the lock is not
there (a missing compiler), 4 the baseline cannot be used, 130 interrupted.

Examples:
  bitrift gate                            ./matrix.toml against ./bitrift.lock.json
  bitrift gate --time 60                  replay, then search for the rest of a minute
  bitrift gate --tolerance 0 --strict     no bit more than accepted, and everything expected is there
  bitrift gate --json > verdict.json")]
pub struct GateArgs {
    /// The matrix file
    #[arg(default_value = MATRIX)]
    pub matrix: PathBuf,
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
    /// The run's folder itself [default: results/NNNN-<lab>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a run that is already in --out
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    /// Processes at work at once [default: the number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    /// Where compiled objects are kept for the next time [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
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
#[command(next_help_heading = "Search parameters (each overrides the lock or the matrix)")]
pub struct GateSearch {
    /// The one seed of every random choice [default: the lock's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The search algorithm [default: the lock's]
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
    /// Evaluations for each function and variant, or the paper's own budget [default: the lock's]
    #[arg(long, value_name = "N|paper", value_parser = budget)]
    pub budget: Option<Budget>,
    /// CPU milliseconds one call may take
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout_ms: Option<u64>,
    /// Faults of a function and build after which it is given up
    #[arg(long, value_name = "N")]
    pub max_faults: Option<u32>,
}

impl GateSearch {
    /// Puts what was given over the settings.
    pub fn apply(&self, settings: &mut SearchSettings) -> Result<(), UnknownStrategy> {
        let GateSearch { seed, strategy, budget, timeout_ms, max_faults } = self.clone();
        settings.seed = seed.unwrap_or(settings.seed);
        settings.budget = budget.unwrap_or(settings.budget);
        settings.timeout_ms = timeout_ms.unwrap_or(settings.timeout_ms);
        settings.max_faults = max_faults.unwrap_or(settings.max_faults);
        if let Some(strategy) = strategy {
            settings.strategy = strategy.parse()?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
Without a lock file, one is made that accepts everything the run found. A lock that is there is only ever
tightened: ranges that shrank or vanished, fewer bits, faults that are gone. What is new or worse is listed and
stays out, because the usual reason to accept is a green gate, and a red one should be looked at first;
--loosen takes it, which is what makes the gate green again after a red one.

Examples:
  bitrift run && bitrift accept           the first lock
  bitrift accept                          after a green gate: keep what got better
  bitrift accept --loosen                 after a red gate: accept what it found
  bitrift accept 7 --loosen --function 'kahan_*' --dry-run")]
pub struct AcceptArgs {
    /// A run's folder, its name under results/ or its number [default: the latest]
    pub run: Option<String>,
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
    let x = number(text)?;
    if x.is_finite() && x >= 0.0 { Ok(x) } else { Err("expected a finite number, 0 or more".into()) }
}
