//! What a pool is asked for and what it says beside the results.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ask::{Question, Response};
use crate::eval::CallLimits;
use crate::model::FunctionResult;
use crate::search::{Answer, Task, Unit};

/// What a pool may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// CPU time of one call.
    pub timeout: Duration,
    /// Address space of one process.
    pub memory_mb: u64,
    /// Workers at a time.
    pub jobs: usize,
}

impl Limits {
    pub(super) fn of_calls(self) -> CallLimits {
        CallLimits { timeout: self.timeout, memory_mb: self.memory_mb }
    }
}

/// A function to search.
#[derive(Clone, Debug)]
pub struct FunctionJob {
    /// Which of the functions each object lists.
    pub function_index: usize,
    pub task: Task,
    /// Index of each of the task's builds in the pool's objects, in the same order.
    pub builds: Vec<usize>,
}

/// What the search of a function cost; depends on the machine, so it is kept apart from results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionTiming {
    /// From the first unit to the confirmed result.
    pub wall_s: f64,
    /// Summed over units, as wall time of their workers.
    pub units_s: f64,
    pub units: u64,
    /// Units whose answers an earlier process had kept.
    pub recalled: u64,
    /// Calls that took between half the timeout and twice the timeout: on a machine of another
    /// speed they may fall on the other side of it.
    pub near_timeouts: u64,
    /// Workers that died or were killed and were replaced.
    pub replaced: u64,
}

/// A function that was searched: its confirmed result, and what was asked about it.
#[derive(Debug)]
pub struct Finished {
    pub result: FunctionResult,
    pub timing: FunctionTiming,
    /// One for each of the client's questions.
    pub responses: Vec<Response>,
}

/// Who a search is made for. Shared by threads.
pub trait Client: Sync {
    /// The answer of a long unit that an earlier process kept, so that a search that was cut off goes on where
    /// it was. A unit is deterministic: the same unit of the same function on the same builds has the same answer.
    fn recall(&self, _function: &str, _unit: &Unit) -> Option<Answer> {
        None
    }

    fn keep(&self, _function: &str, _unit: &Unit, _answer: &Answer) {}

    /// What else is to be known about the confirmed result of a job: questions, each to an object of the pool.
    fn questions(&self, _job: usize, _result: &FunctionResult) -> Vec<(usize, Question)> {
        Vec::new()
    }

    /// Takes a finished job. A job that an interrupt cut off is never finished.
    fn finished(&self, job: usize, finished: Finished);
}

/// A client that wants results and nothing else.
impl<F: Fn(usize, FunctionResult, FunctionTiming) + Sync + ?Sized> Client for &F {
    fn finished(&self, job: usize, Finished { result, timing, .. }: Finished) {
        self(job, result, timing);
    }
}

/// What to time in a worker: every batch on every build, one after the other, `repeats` times.
#[derive(Clone, Debug)]
pub struct TimeRequest {
    pub function_index: usize,
    pub arity: usize,
    /// Values that a call gives.
    pub width: usize,
    pub builds: Vec<usize>,
    pub inputs: Vec<u64>,
    /// Inputs per batch.
    pub batch: usize,
    pub repeats: u32,
}

/// What to time build by build: all inputs in batches on one build, then on the next, in rounds.
#[derive(Clone, Debug)]
pub struct PaceRequest {
    pub function_index: usize,
    pub arity: usize,
    /// Values that a call gives.
    pub width: usize,
    pub builds: Vec<usize>,
    pub inputs: Vec<u64>,
    /// Inputs per batch.
    pub batch: usize,
}

/// Why a pool cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    #[error("failed to start a worker from {program}: {reason}")]
    Spawn { program: String, reason: String },
    #[error("the work failed: {0}")]
    Failed(String),
    #[error("interrupted")]
    Interrupted,
}
