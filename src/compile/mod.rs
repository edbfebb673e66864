//! From builds to loadable objects: command lines, generated shims, a content-addressed cache, and
//! compiling in parallel. A build that fails is an artifact that says why; the others go on.

mod apart;
mod audit;
mod bench;
mod cache;
mod command;
mod compiled;
mod deps;
mod error;
mod folders;
mod fpenv;
mod harness;
mod inflight;
mod key;
mod link;
mod message;
mod mix;
mod object;
mod program;
mod relocate;
mod repro;
#[cfg(test)]
mod samples;
mod shim;

pub use apart::compile_all;
pub use cache::Cache;
pub use command::{CommandLine, command_lines};
pub use compiled::{BuildObjects, Compiled, Settings};
pub use error::CompileError;
pub use mix::{Mix, MixError, Mixed, Mixer, Part};
pub use relocate::Relocation;
pub use repro::{REPRO_FILE, ReproCall, repro_lines, repro_text, setting_words};
