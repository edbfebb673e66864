//! The command line: what a user may ask for, as plain structs, and the exit codes. Parsing only;
//! nothing here does any work.

mod bench;
mod compare;
mod exit;
mod globs;
mod options;
mod parse;
mod report;
mod search;

pub use bench::{BenchArgs, Seeds, Strategies};
pub use compare::{CompareArgs, FailOn};
pub use exit::Exit;
pub use globs::FunctionGlobs;
pub use options::{Command, DoctorArgs, EvalArgs, PlanArgs, RawArgs, ReplayArgs, RunArgs, ShowArgs};
pub use parse::parse;
pub use report::{Format, ReportArgs};
pub use search::{SearchOptions, Tuning};
