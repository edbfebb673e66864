//! Dispatches the hidden subcommands of worker processes.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("__worker") => bitrift::pool::worker_main(),
        Some("__helper") => bitrift::eval::helper_main(),
        _ => ExitCode::FAILURE,
    }
}
