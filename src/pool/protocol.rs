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

/// The longest answer of a unit: thousands of samples with up to sixteen coordinates each.
const LONGEST_ANSWER: usize = 64 << 20;
/// A word takes at most so many bytes.
const WORD: usize = 10;

impl Work {
    /// The longest reply that there can be.
    pub(super) fn longest_reply(&self, selection: &Selection) -> usize {
        match self {
            Work::Evaluate { inputs, .. } => {
                let outcomes = inputs.len() / selection.arity.max(1) * selection.builds.len();
                LONGEST_ANSWER + outcomes * (selection.width + 1) * WORD
            }
            Work::Unit { .. } | Work::Time { .. } | Work::Pace { .. } => LONGEST_ANSWER,
        }
    }
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
    /// Whether the reply is one to this work on these builds, and its numbers can come from so many calls.
    pub(super) fn adds_up(&self, work: &Work, task: Option<&Task>, selection: &Selection) -> bool {
        let builds = selection.builds.len();
        match (&self.reply, work) {
            // The evaluation of a variant takes a call of its own beside those of the baseline.
            (Reply::Answer(answer), Work::Unit { unit, .. }) => {
                task.is_some_and(|task| answer.fits(task, unit)) && answer.evaluations() <= self.calls
            }
            (Reply::Outcomes(outcomes), Work::Evaluate { inputs, .. }) => {
                let count = inputs.len() / selection.arity.max(1);
                let is_whole = |of: &Outcomes| of.len() == count && of.is_of(selection.width);
                outcomes.len() == builds && outcomes.iter().all(is_whole)
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
