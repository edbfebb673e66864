//! Parses the command line, runs the command, exits with its code.

use std::process::ExitCode;

use bitrift::cli::{Command, Exit, parse};
use bitrift::commands::dispatch;

fn main() -> ExitCode {
    match parse(std::env::args_os()) {
        Ok(Command::Worker(_)) => bitrift::pool::worker_main(),
        Ok(Command::Helper(_)) => bitrift::eval::helper_main(),
        Ok(command) => dispatch(command).into(),
        Err(error) => {
            // Nothing can be done when the terminal is gone.
            let _ = error.print();
            Exit::of_clap(&error).into()
        }
    }
}
