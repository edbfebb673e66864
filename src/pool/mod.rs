//! Worker processes: a search's units run in them, next to the loaded code.
//!
//! * `coordinator` is the pool itself, `run` one search of it: a thread for each worker, results collected;
//! * `schedule` decides which unit a thread takes next, `lane` runs it and replaces workers that
//!   died, `handle` is the near end of one worker, `worker` the far end, `protocol` what they say;
//! * `confirm` re-runs faults and witnesses in fresh processes before they are believed;
//! * `ask` is for everything that is not a search: inputs on an object, in fresh processes.
//!
//! A worker is two processes: one that loads and runs code under test, and its parent, which
//! watches it and ends everything it leaves behind, also when the coordinator is killed.

mod ask;
mod confirm;
mod coordinator;
mod handle;
mod job;
mod lane;
mod protocol;
mod run;
mod schedule;
mod worker;

pub use ask::{Mode, Question, Response, ask_once};
pub use coordinator::Pool;
pub use job::{Client, Finished, FunctionJob, FunctionTiming, Limits, PaceRequest, PoolError, TimeRequest};
pub use worker::worker_main;

pub use crate::eval::LoadPlan;
