//! What the coordinator and a worker say to each other. The first message is the list of objects.

use std::time::Duration;

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
        /// What is left of the time of its function: what the unit has not evaluated then is skipped.
        time: Option<Duration>,
    },
    /// All inputs on all builds, in batches.
    Evaluate { inputs: Vec<u64>, batch: usize },
    /// The same, timed and without outcomes.
    Time { inputs: Vec<u64>, batch: usize, repeats: u32 },
    /// Each build apart, in many rounds.
    Pace { inputs: Vec<u64>, batch: usize },
}

/// A reply with the calls that were made for it.
#[derive(Serialize, Deserialize)]
pub(super) struct Report {
    pub calls: u64,
    pub reply: Reply,
}

impl Report {
    /// Whether the reply is one to this work on so many builds, and its numbers can come from so many calls.
    pub(super) fn adds_up(&self, work: &Work, builds: usize, arity: usize) -> bool {
        match (&self.reply, work) {
            // The evaluation of a variant takes a call of its own beside those of the baseline.
            (Reply::Answer(answer), Work::Unit { .. }) => answer.evaluations() <= self.calls,
            (Reply::Outcomes(outcomes), Work::Evaluate { inputs, .. }) => {
                let count = inputs.len() / arity.max(1);
                outcomes.len() == builds && outcomes.iter().all(|of| of.len() == count)
            }
            (Reply::Nanoseconds(_), Work::Time { .. }) | (Reply::Failed(_), _) => true,
            (Reply::Paces(least), Work::Pace { .. }) => least.len() == builds,
            _ => false,
        }
    }
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
