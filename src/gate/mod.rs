//! Judging runs: what was accepted against what is found now, and two runs against each other. Pure: data
//! in, verdicts out.
//!
//! * `look` chooses the inputs that decide a gate, `point` judges one of them, `verdict` all of them, `coverage` what was not
//!   searched, `notes` says what is worth knowing besides;
//! * `accept` makes a lock from a run (`snapshot`) that searched enough (`floor`), or tightens one, comparison by comparison (`merge`), with what only a gate's
//!   replay showed (`carry`); what comes of it is an `update`, or an `error`;
//! * `held` looks at what no difference shows: the baseline's own results, and what the matrix asks for, `moved` at the baseline at accepted witnesses;
//! * `area` is the geometry: boxes of inputs and their slack, `accepted` what the lock holds of one comparison.

pub mod compare;

mod accept;
mod accepted;
mod area;
mod carry;
mod coverage;
mod error;
mod floor;
mod held;
mod look;
mod merge;
mod moved;
mod notes;
mod point;
mod snapshot;
#[cfg(test)]
mod tests;
mod update;
mod verdict;

pub use accept::{accept, accept_gated};
pub use carry::carry;
pub use error::AcceptError;
pub use held::Kept;
pub use look::{Look, Role, Seen, run_looks, witness_looks};
pub use update::{Action, LockChange, Update, Wish};
pub use verdict::{Policy, verdict};
