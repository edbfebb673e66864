//! The program's core: a matrix opened, its builds compiled and asked, its functions searched. What a command line
//! does beside it is to parse, to call one of these and to render what comes back.
//!
//! [`Lab::open`] reads a matrix and plans its builds; [`Lab::build_all`] compiles them and gives a [`Built`]. From there
//! * [`Built::search`] searches every function and gives a [`RunFile`](crate::model::RunFile): for each function and
//!   variant the ranges of inputs on which it differs from the baseline, with a witness for each. [`Built::run`] does
//!   the same and stores it, journalling each function, so that an interrupted run can go on;
//! * [`Panel::ask`] gives what a build makes of inputs: the one way to ask, which replaying, confirming and gates use too;
//! * [`Built::replay`], [`Lab::confirm`], [`Lab::explain`], [`Built::time`], [`Built::gate`] work on stored runs.
//!
//! What was compiled is kept in a [`CacheFolder`], for as long as there is room.
//!
//! Nothing here prints. Progress goes to an [`EventSink`](crate::model::EventSink); a failed compile, a crash and a
//! build that cannot be asked are data; whatever ends the work is a [`LabError`].
//!
//! Code under test runs in processes of its own, which are started from the running program. So a program that uses
//! this library begins with [`serve`]:
//!
//! ```no_run
//! use bitrift::lab::{Lab, Means, serve};
//! use bitrift::model::NoEvents;
//!
//! fn main() -> Result<(), bitrift::lab::LabError> {
//!     serve();
//!     let lab = Lab::open("matrix.toml".as_ref(), Means::default())?;
//!     let run = lab.build_all(&NoEvents)?.search(&NoEvents)?;
//!     println!("{} functions", run.functions.len());
//!     Ok(())
//! }
//! ```
//!
//! `examples/ranges.rs` is a whole program.

mod again;
mod bench;
mod built;
mod cache;
mod camps;
mod confirm;
mod declared;
mod doctor;
mod error;
mod evaluate;
mod explain;
mod finding;
mod flushing;
mod gate;
mod held;
mod keeper;
mod notes;
mod open;
mod origin;
mod panel;
mod programs;
mod reach;
mod replay;
mod repro;
mod run;
mod same_code;
mod search;
mod serve;
mod sources;
mod speed;
mod times;
mod usage;

pub use bench::{Bench, Benched, Truths, truths_of};
pub use built::{Built, Work};
pub use cache::CacheFolder;
pub use doctor::{Checkup, FailedCall, Health, Tool};
pub use error::{LabError, Progress};
pub use evaluate::{Comparison, Evaluated};
pub use explain::Wish;
pub use finding::Finding;
pub use gate::{Decided, Terms};
pub use open::{Lab, Means, check_search, judge_as, load, planned};
pub use origin::matrix_of;
pub use panel::{Panel, Replies, Unanswered};
pub use programs::Programs;
pub use reach::{opened, tool_reach};
pub use repro::{Kit, Repro, Repros, Side, family};
pub use run::{Destination, Opened, Stored};
pub use search::Searched;
pub use serve::serve;
pub use speed::Timed;

pub use crate::pool::Mode;
pub use crate::sandbox::Promise;
