//! The program as a user meets it: one module per subcommand, real compilers, real processes.

#[path = "../common/mod.rs"]
mod common;

mod audit;
mod bench;
mod cache;
mod compare;
mod confirm;
mod doctor;
mod eval;
mod exhaustive;
mod faults;
mod plan;
mod replay;
mod run;
mod run_failing;
mod run_folder;
mod show;
mod speed;
mod terminal;
mod usage;
