//! An option for every parameter of the search; each overrides the matrix.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::fp::NanPolicy;
use crate::model::{Budget, ClusterBackend, SearchSettings, UnknownStrategy};

/// What was given on the command line; the rest is the matrix's.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Search parameters (each overrides the matrix)")]
pub struct SearchOptions {
    /// The one seed of every random choice
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The search algorithm (`exhaustive`: every input, whatever the budget)
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
    #[command(flatten)]
    pub tuning: Tuning,
}

/// Every parameter but the seed and the strategy.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Search parameters (each overrides the matrix)")]
pub struct Tuning {
    /// Evaluations for each function and variant, or the paper's own budget
    #[arg(long, value_name = "N|paper", value_parser = budget)]
    pub budget: Option<Budget>,
    /// CPU milliseconds one call may take
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout_ms: Option<u64>,
    /// Faults of a function and build after which it is given up
    #[arg(long, value_name = "N")]
    pub max_faults: Option<u32>,
    /// Mean microseconds of an evaluation; a slower function gets fewer evaluations
    #[arg(long, value_name = "US", value_parser = positive, allow_negative_numbers = true)]
    pub pace_us: Option<f64>,
    /// Seconds one function may take; results then depend on the machine
    #[arg(long, value_name = "S", value_parser = positive, allow_negative_numbers = true)]
    pub deadline_s: Option<f64>,
    /// Address space of a worker in MiB
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory_mb: Option<u64>,
    /// Inputs evaluated between two switches of build
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: Option<u32>,
    /// What of a NaN counts: nothing (any), its sign, or all its bits (payload)
    #[arg(long, value_name = "any|sign|payload", value_parser = nan_policy())]
    pub nan: Option<NanPolicy>,
    /// Partitioned samples: N * 2^parameters
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: Option<u32>,
    /// Samples in each candidate range: N * 2^parameters
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub dense: Option<u32>,
    /// Powers of two that bound a double's partitions, ascending
    #[arg(long, value_name = "E,E,...", value_parser = |text: &str| exponents(text, 1024), allow_hyphen_values = true)]
    pub partitions_f64: Option<Exponents>,
    /// Powers of two that bound a float's partitions, ascending
    #[arg(long, value_name = "E,E,...", value_parser = |text: &str| exponents(text, 128), allow_hyphen_values = true)]
    pub partitions_f32: Option<Exponents>,
    /// Sample every exponent of every parameter
    #[arg(long, value_name = "true|false", hide_possible_values = true)]
    pub coverage: Option<bool>,
    /// Sample edge values: largest, smallest, ends of domains
    #[arg(long, value_name = "true|false", hide_possible_values = true)]
    pub edges: Option<bool>,
    /// Sample numbers of the sources: what the function and those it calls compare with
    #[arg(long, value_name = "true|false", hide_possible_values = true)]
    pub literals: Option<bool>,
    /// Distance that parts two clusters, of the normalised span, times sqrt(parameters)
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub threshold: Option<f64>,
    /// Implementation of single linkage
    #[arg(long, value_name = "grid|linfa", value_parser = backend())]
    pub clustering: Option<ClusterBackend>,
    /// Members of the population for each parameter
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub popsize: Option<u32>,
    /// Generations of the differential evolution
    #[arg(long, value_name = "N")]
    pub generations: Option<u32>,
    /// Probability that a parameter is taken from the mutant
    #[arg(long, value_name = "0..1", value_parser = |text: &str| within(text, 0.0, 1.0), allow_negative_numbers = true)]
    pub crossover: Option<f64>,
    /// Limits of the mutation factor, drawn anew for each generation
    #[arg(long, value_name = "LO,HI", value_parser = dither, allow_negative_numbers = true)]
    pub dither: Option<Dither>,
    /// Stop when the population's spread is below this part of its mean
    #[arg(long, value_name = "X", value_parser = |text: &str| within(text, 0.0, 1.0), allow_negative_numbers = true)]
    pub tolerance: Option<f64>,
    /// Bisect the sides of each range and split it at clean gaps
    #[arg(long, value_name = "true|false", hide_possible_values = true)]
    pub tighten: Option<bool>,
    /// The narrowest clean gap, in binades, that splits a range
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub gap: Option<f64>,
}

/// A list in one word. (A plain `Vec` would make clap expect several words.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exponents(pub Vec<i32>);

/// Two numbers in one word, lower first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dither(pub f64, pub f64);

impl SearchOptions {
    /// Puts what was given over the settings of the matrix.
    pub fn apply(&self, settings: &mut SearchSettings) -> Result<(), UnknownStrategy> {
        if let Some(name) = &self.strategy {
            settings.strategy = name.parse()?;
        }
        put(&mut settings.seed, self.seed);
        self.tuning.apply(settings);
        Ok(())
    }
}

impl Tuning {
    /// Puts what was given over the settings of the matrix.
    pub fn apply(&self, settings: &mut SearchSettings) {
        // Destructured, so that a parameter added there cannot be forgotten here.
        let SearchSettings {
            strategy: _,
            seed: _,
            budget,
            timeout_ms,
            max_faults,
            pace_us,
            deadline_s,
            memory_mb,
            batch,
            nan,
            samples,
            dense,
            partitions_f64,
            partitions_f32,
            coverage,
            edges,
            literals,
            threshold,
            clustering,
            popsize,
            generations,
            crossover,
            dither,
            tolerance,
            tighten,
            gap,
        } = settings;
        put(budget, self.budget);
        put(timeout_ms, self.timeout_ms);
        put(max_faults, self.max_faults);
        put(pace_us, self.pace_us);
        put(deadline_s, self.deadline_s.map(Some));
        put(memory_mb, self.memory_mb);
        put(batch, self.batch);
        put(nan, self.nan);
        put(samples, self.samples);
        put(dense, self.dense);
        put(partitions_f64, self.partitions_f64.clone().map(|e| e.0));
        put(partitions_f32, self.partitions_f32.clone().map(|e| e.0));
        put(coverage, self.coverage);
        put(edges, self.edges);
        put(literals, self.literals);
        put(threshold, self.threshold);
        put(clustering, self.clustering);
        put(popsize, self.popsize);
        put(generations, self.generations);
        put(crossover, self.crossover);
        put(dither, self.dither.map(|d| (d.0, d.1)));
        put(tolerance, self.tolerance);
        put(tighten, self.tighten);
        put(gap, self.gap);
    }
}

fn put<T>(setting: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *setting = value;
    }
}

fn nan_policy() -> impl TypedValueParser<Value = NanPolicy> {
    let names = NanPolicy::ALL.map(|(name, _)| name);
    PossibleValuesParser::new(names).map(|given| {
        NanPolicy::ALL.iter().find(|(name, _)| *name == given).map_or(NanPolicy::Any, |(_, p)| *p)
    })
}

fn backend() -> impl TypedValueParser<Value = ClusterBackend> {
    PossibleValuesParser::new(["grid", "linfa"]).map(|name| match name.as_str() {
        "linfa" => ClusterBackend::Linfa,
        _ => ClusterBackend::Grid,
    })
}

pub(super) fn budget(text: &str) -> Result<Budget, String> {
    if text == "paper" {
        return Ok(Budget::Paper);
    }
    let expected = || "expected a number of evaluations such as 100000 or 2e6, or `paper`".to_string();
    let plain = text.replace('_', "");
    let evaluations = plain.parse::<u64>().ok().or_else(|| {
        let x = plain.parse::<f64>().ok()?;
        // A whole number below 2^53: the conversion is exact.
        (x.fract() == 0.0 && (1.0..9e15).contains(&x)).then_some(x as u64)
    });
    evaluations.filter(|&n| n > 0).map(Budget::Evaluations).ok_or_else(expected)
}

pub(super) fn number(text: &str) -> Result<f64, String> {
    text.trim().parse::<f64>().map_err(|_| "expected a number".to_string())
}

fn positive(text: &str) -> Result<f64, String> {
    let x = number(text)?;
    if x.is_finite() && x > 0.0 { Ok(x) } else { Err("expected a finite number above 0".into()) }
}

fn within(text: &str, lo: f64, hi: f64) -> Result<f64, String> {
    let x = number(text)?;
    if (lo..=hi).contains(&x) { Ok(x) } else { Err(format!("expected a number from {lo} to {hi}")) }
}

fn exponents(text: &str, limit: i32) -> Result<Exponents, String> {
    let expected = || format!("expected ascending integers between -{limit} and {limit}, such as -32,0,32");
    let list: Result<Vec<i32>, _> = text.split(',').map(|word| word.trim().parse::<i32>()).collect();
    let list = list.map_err(|_| expected())?;
    let ascending = list.is_sorted_by(|a, b| a < b);
    let inside = list.iter().all(|e| (-limit..=limit).contains(e));
    if ascending && inside { Ok(Exponents(list)) } else { Err(expected()) }
}

fn dither(text: &str) -> Result<Dither, String> {
    let expected = || "expected two numbers from 0 to 2, lower first, such as 0.5,1".to_string();
    let (lo, hi) = text.split_once(',').ok_or_else(expected)?;
    let (lo, hi) = (within(lo, 0.0, 2.0)?, within(hi, 0.0, 2.0)?);
    if lo <= hi { Ok(Dither(lo, hi)) } else { Err(expected()) }
}
