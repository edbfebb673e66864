//! What the coordinator and a worker say to each other. The first message is the list of objects.

use serde::{Deserialize, Serialize};

use crate::eval::Selection;
use crate::model::Outcomes;
use crate::search::{Answer, Task, Unit};

/// Exit codes of a worker: its pipes are gone, or it panicked beside hot builds.
pub(super) const PIPES_EXIT: i32 = 98;
pub(super) const PANIC_EXIT: i32 = 99;

#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    /// What units of this job will refer to; no reply.
    Task {
        job: usize,
        task: Box<Task>,
    },
    Work {
        selection: Box<Selection>,
        work: Work,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Work {
    Unit {
        job: usize,
        unit: Unit,
    },
    /// All inputs on all builds, in batches.
    Evaluate {
        inputs: Vec<u64>,
        batch: usize,
    },
    /// The same, timed and without outcomes.
    Time {
        inputs: Vec<u64>,
        batch: usize,
        repeats: u32,
    },
    /// Each build apart, in many rounds.
    Pace {
        inputs: Vec<u64>,
        batch: usize,
    },
}

#[derive(Serialize, Deserialize)]
pub(super) enum Reply {
    Answer(Box<Answer>),
    Outcomes(Vec<Outcomes>),
    Nanoseconds(u64),
    /// Of each build.
    Paces(Vec<u64>),
    /// The work cannot be done, in words.
    Failed(String),
}
