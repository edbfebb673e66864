//! `timing.json`: everything about a run that differs when it is repeated.

use serde::{Deserialize, Serialize};

pub const TIMING_SCHEMA: &str = "bitrift.timing/1";

/// What one function cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionTiming {
    pub name: String,
    pub wall_s: f64,
    /// Seconds its units took, summed over workers.
    pub busy_s: f64,
    pub evaluations: u64,
    pub evaluations_per_s: f64,
    /// Evaluations within a factor of two of the timeout: where another machine may answer differently.
    pub near_timeouts: u64,
    /// Units whose answers were kept by an earlier part of the run: they are not in the times.
    #[serde(default)]
    pub recalled: u64,
}

impl FunctionTiming {
    pub fn new(name: &str, wall_s: f64, busy_s: f64, evaluations: u64, near_timeouts: u64) -> Self {
        let evaluations_per_s = rate(evaluations, wall_s);
        FunctionTiming {
            name: name.into(),
            wall_s,
            busy_s,
            evaluations,
            evaluations_per_s,
            near_timeouts,
            recalled: 0,
        }
    }
}

/// The whole of `timing.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    pub schema: String,
    /// When the run ended, UTC.
    pub date: String,
    pub jobs: usize,
    /// From start to end of this process; a resumed run counts its last part only.
    pub wall_s: f64,
    /// CPU seconds of this process and its workers.
    pub cpu_s: f64,
    pub compile_s: f64,
    pub search_s: f64,
    pub compiled: usize,
    pub cached: usize,
    /// Functions taken from the journal of an earlier part of the run.
    pub resumed: usize,
    pub worker_restarts: u64,
    pub evaluations: u64,
    pub evaluations_per_s: f64,
    pub near_timeouts: u64,
    pub functions: Vec<FunctionTiming>,
}

impl Timing {
    /// Sums the functions up; the fields that are not sums stay as they are.
    pub fn total(mut self, functions: Vec<FunctionTiming>) -> Timing {
        self.schema = TIMING_SCHEMA.into();
        self.evaluations = functions.iter().map(|f| f.evaluations).sum();
        self.near_timeouts = functions.iter().map(|f| f.near_timeouts).sum();
        self.evaluations_per_s = rate(self.evaluations, self.search_s);
        self.functions = functions;
        self
    }
}

fn rate(evaluations: u64, seconds: f64) -> f64 {
    // Counts stay far below 2^53.
    if seconds > 0.0 { evaluations as f64 / seconds } else { 0.0 }
}
