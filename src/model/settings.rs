//! Every parameter of a search, with the defaults bitrift ships.

use serde::{Deserialize, Serialize};

use super::StrategyName;
use crate::fp::{Equality, NanPolicy, Tolerance, ZeroPolicy};

const DEFAULT_BUDGET: u64 = 200_000;
const LEAST_SHARE_S: f64 = 1.0;

/// How many evaluations a function and variant may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Budget {
    /// What the paper's parameters ask for: about 5,000 for one parameter.
    Paper,
    Evaluations(u64),
}

/// Which implementation of single linkage groups the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterBackend {
    /// Sort in one dimension; in more, a grid refined where needed, and union-find. Near-linear.
    #[default]
    Grid,
    /// DBSCAN of linfa-clustering with two points, as a cross-check. Quadratic on dense data.
    Linfa,
}

impl ClusterBackend {
    /// By the name people write.
    pub const ALL: [(&'static str, ClusterBackend); 2] =
        [("grid", ClusterBackend::Grid), ("linfa", ClusterBackend::Linfa)];
}

/// The settings of a search: `[search]` in the matrix, or options of `run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchSettings {
    pub strategy: StrategyName,
    pub seed: u64,
    pub budget: Budget,
    /// CPU time one call may take.
    pub timeout_ms: u64,
    /// Faults of one function and build after which it is given up.
    pub max_faults: u32,
    /// Mean microseconds of an evaluation above which a function gets fewer evaluations.
    pub pace_us: f64,
    /// Wall time one function may take; results then depend on the machine's speed.
    pub deadline_s: Option<f64>,
    /// Address space of a worker.
    pub memory_mb: u64,
    /// Inputs evaluated between two switches of build.
    pub batch: u32,
    pub nan: NanPolicy,
    pub zero: ZeroPolicy,

    /// K1 = samples * 2^n: partitioned samples (section 3.1).
    pub samples: u32,
    /// K2 = dense * 2^n: samples in each candidate range (section 3.3).
    pub dense: u32,
    /// Exponents of the powers of two that bound the partitions of a double, on each side of zero.
    pub partitions_f64: Vec<i32>,
    /// The same for a float.
    pub partitions_f32: Vec<i32>,
    /// Sample every exponent of every parameter at least once.
    pub coverage: bool,
    /// Sample edge values: largest, smallest, domain ends.
    pub edges: bool,
    /// Sample numbers that stand in the sources: what the function compares with.
    pub literals: bool,
    /// Cut of the single linkage, of the orthant's normalised span, times sqrt(n).
    pub threshold: f64,
    pub clustering: ClusterBackend,
    /// Members of the population for each parameter.
    pub popsize: u32,
    pub generations: u32,
    pub crossover: f64,
    /// Mutation factor, drawn anew for each generation between these.
    pub dither: (f64, f64),
    /// Stop when the population's spread is below this part of its mean.
    pub tolerance: f64,
    /// Bisect the sides of each range and split it at clean gaps.
    pub tighten: bool,
    /// The narrowest clean gap, in binades, that splits a range.
    pub gap: f64,
}

impl SearchSettings {
    /// What counts as equal between builds that may be so far apart.
    pub fn equality(&self, tolerance: Tolerance) -> Equality {
        Equality { nan: self.nan, zero: self.zero, tolerance }
    }

    /// Signs of zeros and all of a NaN count.
    pub fn count_all_bits(&mut self) {
        (self.nan, self.zero) = (NanPolicy::Payload, ZeroPolicy::Sign);
    }

    /// Seconds a function may take for each variant: the budget at the slowest pace, and never so
    /// little that starting up would count.
    pub fn share_s(&self) -> f64 {
        let evaluations = match self.budget {
            Budget::Paper => DEFAULT_BUDGET,
            Budget::Evaluations(total) => total,
        };
        // Counts far below 2^53.
        (evaluations as f64 * self.pace_us * 1e-6).max(LEAST_SHARE_S)
    }
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings {
            strategy: StrategyName::Auto,
            seed: 1,
            budget: Budget::Evaluations(DEFAULT_BUDGET),
            timeout_ms: 50,
            max_faults: 32,
            pace_us: 10.0,
            deadline_s: None,
            memory_mb: 4096,
            batch: 1024,
            nan: NanPolicy::Any,
            zero: ZeroPolicy::Any,
            samples: 256,
            dense: 256,
            partitions_f64: vec![-1018, -333, -32, -3, 0, 3, 32, 333, 1020],
            partitions_f32: vec![-125, -33, -2, 0, 3, 33, 124, 126],
            coverage: true,
            edges: true,
            literals: true,
            threshold: 0.2,
            clustering: ClusterBackend::Grid,
            popsize: 20,
            generations: 50,
            crossover: 0.7,
            dither: (0.5, 1.0),
            tolerance: 0.01,
            tighten: true,
            gap: 1.0,
        }
    }
}
