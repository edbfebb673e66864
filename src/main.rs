//! Dispatches the hidden subcommands of worker processes.

use std::process::ExitCode;

/// Code under test uses the C library's heap and may overrun it; what a worker knows lives in a
/// heap of its own, so that a stray write ends in a crash and not in a wrong number.
#[global_allocator]
static HEAP: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("__worker") => bitrift::pool::worker_main(),
        Some("__helper") => bitrift::eval::helper_main(),
        _ => ExitCode::FAILURE,
    }
}
