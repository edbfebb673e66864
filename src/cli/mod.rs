//! The command line: what a user may ask for, as plain structs, and the exit codes. Parsing only;
//! nothing here does any work.

mod bench;
mod exit;
mod gate;
mod globs;
mod options;
mod parse;
mod report;
mod search;

pub use bench::{BenchArgs, Seeds, Strategies};
pub use exit::Exit;
pub use gate::{AcceptArgs, GateArgs, GateSearch};
pub use globs::FunctionGlobs;
pub use options::{Command, DoctorArgs, EvalArgs, PlanArgs, RawArgs, ReplayArgs, RunArgs, ShowArgs};
pub use parse::parse;
pub use report::ReportArgs;
pub use search::{SearchOptions, Tuning};
