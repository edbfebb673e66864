//! A process that the running program started from itself, to run code under test in.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::eval::helper_main;
use crate::pool::worker_main;
use crate::sandbox::expect_limits;

/// Whether `main` has asked what this process is for.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether processes that are started from this program do their work.
pub(super) fn serves() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Does the work of a worker or helper process when this process was started as one, and then ends it; returns at
/// once in any other process. The first call of every `main` that uses a lab, before any thread is started.
pub fn serve() {
    ASKED.store(true, Ordering::Relaxed);
    let served: ExitCode = match std::env::args_os().nth(1).as_deref().and_then(|word| word.to_str()) {
        Some("__worker") => worker_main(),
        Some("__helper") => helper_main(),
        _ => return expect_limits(),
    };
    let failed = served != ExitCode::SUCCESS;
    std::process::exit(i32::from(failed));
}
