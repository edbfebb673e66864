//! The program as a user meets it: one module per subcommand, real compilers, real processes.

#[path = "../common/mod.rs"]
mod common;

mod audit;
mod bench;
mod doctor;
mod eval;
mod exhaustive;
mod plan;
mod replay;
mod run;
mod run_failing;
mod run_folder;
mod show;
mod terminal;
mod usage;
