//! Parses the command line, runs the command, exits with its code.

use std::process::ExitCode;

use bitrift::cli::{Exit, parse};
use bitrift::commands::dispatch;
use bitrift::lab::serve;

/// Code under test uses the C library's heap and may overrun it; what a worker knows lives in a
/// heap of its own, so that a stray write ends in a crash and not in a wrong number.
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    serve();
    match parse(std::env::args_os()) {
        Ok(command) => dispatch(command).into(),
        Err(error) => {
            // Nothing can be done when the terminal is gone.
            let _ = error.print();
            Exit::of_clap(&error).into()
        }
    }
}
