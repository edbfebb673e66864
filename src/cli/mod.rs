//! The command line: what a user may ask for, as plain structs, and the exit codes. Parsing only;
//! nothing here does any work.

mod bench;
mod cache;
mod choice;
mod compare;
mod confirm;
mod exit;
mod explain;
mod gate;
mod globs;
mod means;
mod options;
mod parse;
mod report;
mod repro;
mod search;
mod speed;

pub use bench::{BenchArgs, Seeds, Strategies};
pub use cache::CacheArgs;
pub use choice::{MatrixChoice, RunChoice, RunOption};
pub use compare::{CompareArgs, FailOn};
pub use confirm::ConfirmArgs;
pub use exit::Exit;
pub use explain::ExplainArgs;
pub use gate::{AcceptArgs, GateArgs, GateSearch};
pub use globs::FunctionGlobs;
pub use means::{LabOptions, MeansOptions};
pub use options::{Command, DoctorArgs, EvalArgs, PlanArgs, RawArgs, ReplayArgs, RunArgs, ShowArgs};
pub use parse::parse;
pub use report::{Format, ReportArgs};
pub use repro::ReproArgs;
pub use search::{SearchOptions, Tuning};
pub use speed::SpeedArgs;
