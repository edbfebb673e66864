//! The stored form of a bench: `<out>.json`, schema `bitrift.bench/1`, and what others measured.
//!
//! Field names are a contract with every reader outside this program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::budget_text;
use super::{Budget, BuildId, BuildRow, HostRow, StopReason, StrategyName};

pub const BENCH_SCHEMA: &str = "bitrift.bench/1";

/// How a result compares with the exact truth of its function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruthScore {
    /// The most bits any input of the domain has.
    pub true_max_bits: f64,
    /// The share of all inconsistent inputs that lie inside the ranges.
    pub covered: f64,
    /// The share of the cells of 1/16 binade inside the ranges that hold an inconsistent input.
    pub filled: f64,
    /// How much denser in inconsistencies the ranges are than the domain.
    pub density: f64,
}

/// One function searched by one strategy with one seed. All but the seconds is the same every time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    pub strategy: StrategyName,
    pub seed: u64,
    pub function: String,
    /// The most over all variants.
    pub max_bits: f64,
    /// The variant that has them; None when nothing is inconsistent.
    pub build: Option<BuildId>,
    /// The input that has them, in hex, one text per parameter.
    pub witness: Vec<String>,
    /// Of all variants together.
    pub evaluations: u64,
    pub stop_reason: StopReason,
    /// Of all variants together.
    pub ranges: usize,
    pub faults: u64,
    /// From the first unit to the confirmed result, other functions at work at the same time.
    pub wall_s: f64,
    /// Seconds its units took, summed over workers.
    pub busy_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<TruthScore>,
}

/// The whole of a bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchFile {
    pub schema: String,
    /// The version that wrote it.
    pub bitrift: String,
    pub name: String,
    /// The command line that makes it again.
    pub command: String,
    /// A number of evaluations for each function and variant, or "paper".
    #[serde(with = "budget_text")]
    pub budget: Budget,
    pub strategies: Vec<StrategyName>,
    pub seeds: Vec<u64>,
    pub host: HostRow,
    /// Processes at work at once.
    pub jobs: usize,
    pub baseline: BuildId,
    pub builds: Vec<BuildRow>,
    /// Every other setting of the search.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// What decides the rows, for going on with them later.
    pub fingerprint: BTreeMap<String, String>,
    /// The functions searched, in the order of the matrix.
    pub functions: Vec<String>,
    /// Functions that the baseline or every variant lacks.
    pub missing: Vec<String>,
    /// By strategy, then seed, then function.
    pub rows: Vec<BenchRow>,
    /// What others measured, when it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

/// Measurements of others to stand beside a bench, with their sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<Timed>,
}

/// Published counts over a whole set of functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    pub source: String,
    /// How many functions the counts are of.
    pub functions: usize,
    pub rows: Vec<PublishedRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    pub name: String,
    /// Functions with more than 48, 32, 8 and 0 bits.
    pub over: [u64; 4],
    /// Mean of the functions' maxima.
    pub mean_bits: Option<f64>,
    pub seconds_per_function: Option<f64>,
}

/// Another implementation, timed function by function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    pub source: String,
    pub functions: Vec<TimedFunction>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimedFunction {
    pub name: String,
    pub seconds: f64,
    pub evaluations: u64,
    pub max_bits: Option<f64>,
}
