//! One file per subcommand: each parses, calls the lab or the store, and renders.
//!
//! * `wanted` turns options into what a lab is opened with;
//! * `console` is what the terminal can show, `interrupt` what Ctrl-C sets, `failure` how a command ends badly.

mod accept;
mod bench;
mod cache;
mod compare;
mod confirm;
mod console;
mod doctor;
mod eval;
mod explain;
mod failure;
mod gate;
mod interrupt;
mod plan;
mod replay;
mod report;
mod repro;
mod run;
mod show;
mod speed;
mod wanted;

use crate::cli::{Command, Exit};
use console::Console;
use failure::Failure;

/// Where runs are kept, below the folder bitrift is started in.
const RESULTS: &str = "results";

/// Runs a command and prints its error.
pub fn dispatch(command: Command) -> Exit {
    let console = Console::detect();
    let done = match command {
        Command::Run(args) => run::run(&args, &console),
        Command::Bench(args) => bench::run(&args, &console),
        Command::Plan(args) => plan::run(&args, &console),
        Command::Doctor(args) => doctor::run(&args, &console),
        Command::Report(args) => report::run(&args, &console),
        Command::Compare(args) => compare::run(&args, &console),
        Command::Show(args) => show::run(&args, &console),
        Command::Eval(args) => eval::run(&args, &console),
        Command::Replay(args) => replay::run(&args, &console),
        Command::Confirm(args) => confirm::run(&args, &console),
        Command::Repro(args) => repro::run(&args, &console),
        Command::Explain(args) => explain::run(&args, &console),
        Command::Speed(args) => speed::run(&args, &console),
        Command::Gate(args) => gate::run(&args, &console),
        Command::Accept(args) => accept::run(&args, &console),
        Command::Cache(args) => cache::run(&args, &console),
        Command::Worker(_) | Command::Helper(_) => return Exit::Internal,
    };
    match done {
        Ok(exit) => exit,
        Err(Failure { exit, message }) => {
            if !message.is_empty() {
                console.complain(&message);
            }
            exit
        }
    }
}
