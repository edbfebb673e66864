//! Ctrl-C and SIGTERM: the first asks the stages to stop, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::failure::Failure;
use crate::cli::Exit;

/// The flag that the first signal sets.
pub fn flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let code = i32::from(Exit::Interrupted.code());
        // In this order the first signal finds the flag unset and only sets it.
        signal_hook::flag::register_conditional_shutdown(signal, code, flag.clone())
            .and_then(|_| signal_hook::flag::register(signal, flag.clone()))
            .map_err(|e| Failure::new(Exit::Internal, format!("failed to watch for signal {signal}: {e}")))?;
    }
    Ok(flag)
}
