//! The options of `bench`.

use std::path::PathBuf;

use clap::Args;

use super::{FunctionGlobs, MatrixChoice, MeansOptions, Tuning};

/// Most seeds of one bench: more are a typing error.
const MOST_SEEDS: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = "\
A bench is stored as OUT.json and OUT.md. Every finished search is kept at once: an interrupted
bench goes on with --resume, and a finished one takes in further strategies and seeds the same
way.

Examples:
  bitrift bench --seeds 1..3 --budget 20000
  bitrift bench gsl.toml --strategies cigen --seeds 1..10 --budget paper --reference others.toml
  bitrift bench gsl.toml --function 'gsl_sf_bessel_*' --seeds 1,2,5 --out /tmp/bessel
  bitrift bench results/bench-gsl.json    the stored bench again, without searching
  bitrift bench results/bench-gsl.json --against results/long-gsl.json")]
pub struct BenchArgs {
    // Or the .json of a stored bench to report it again.
    #[command(flatten)]
    pub matrix: MatrixChoice,
    /// Strategies to compare; the first is the one the others are rivals of [default: all but exhaustive]
    #[arg(long, value_name = "NAME,NAME,...", value_parser = strategies)]
    pub strategies: Option<Strategies>,
    /// Seeds, both ends included: 1..10, or a list: 1,2,5
    #[arg(long, value_name = "A..B|N,N,...", value_parser = seeds, default_value = "1..5")]
    pub seeds: Seeds,
    #[command(flatten)]
    pub functions: FunctionGlobs,
    /// The files' name without ending, or a folder for them.
    #[arg(long, value_name = "PATH")]
    #[arg(help = "The files' name without ending, or a folder for them [default: results/bench-<lab>]")]
    pub out: Option<PathBuf>,
    /// Go on with an interrupted bench, or add strategies and seeds to a finished one
    #[arg(long)]
    pub resume: bool,
    /// Replace a bench that is there already
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// What others measured (TOML or JSON), to stand beside it
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
    /// Another bench, such as a much longer one: which of its maxima are reached
    #[arg(long, value_name = "BENCH.json")]
    pub against: Option<PathBuf>,
    /// Truth files of an exhaustive run (its `truth` folder): how ranges and maxima compare with them
    #[arg(long, value_name = "DIR")]
    pub truth: Option<PathBuf>,
    /// List every function, not only those on which strategies differ by more than a bit
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub means: MeansOptions,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the bench as JSON on standard output instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print the report as Markdown on standard output
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    #[command(flatten)]
    pub tuning: Tuning,
}

/// A list in one word. (A plain `Vec` would make clap expect several words.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategies(pub Vec<String>);

/// In the order given, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Vec<u64>);

fn strategies(text: &str) -> Result<Strategies, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_string()).collect();
    if names.iter().any(String::is_empty) {
        return Err("expected names with commas between them, such as cigen,random".into());
    }
    match repeated(&names) {
        Some(name) => Err(format!("{name} is there twice")),
        None => Ok(Strategies(names)),
    }
}

fn seeds(text: &str) -> Result<Seeds, String> {
    let expected = || "expected seeds such as 1..10 (both ends included) or 1,2,5".to_string();
    let number = |word: &str| word.trim().parse::<u64>().map_err(|_| expected());
    let mut seeds = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => seeds.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
                if last < first {
                    return Err(expected());
                }
                // One more than allowed shows that there are too many.
                seeds.extend((first..=last).take(MOST_SEEDS + 1));
            }
        }
    }
    match repeated(&seeds) {
        _ if seeds.len() > MOST_SEEDS => Err(format!("at most {MOST_SEEDS} seeds")),
        Some(seed) => Err(format!("seed {seed} is there twice")),
        None => Ok(Seeds(seeds)),
    }
}

fn repeated<T: Ord>(list: &[T]) -> Option<&T> {
    let mut seen = std::collections::BTreeSet::new();
    list.iter().find(|item| !seen.insert(*item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_with_both_ends_or_a_list() {
        let list = |text: &str| seeds(text).unwrap().0;
        assert_eq!(list("1..4"), [1, 2, 3, 4]);
        assert_eq!(list("7"), [7]);
        assert_eq!(list("1,2,5"), [1, 2, 5]);
        assert_eq!(list("9,1..=3"), [9, 1, 2, 3]);
        for wrong in ["", "a", "3..1", "1,,2", "1..2..3", "-1", "1..3,2", "0..99999999999"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn strategies_are_names_each_once() {
        assert_eq!(strategies("cigen, random").unwrap().0, ["cigen", "random"]);
        for wrong in ["", "a,,b", "a,a"] {
            assert!(strategies(wrong).is_err(), "{wrong}");
        }
    }
}
