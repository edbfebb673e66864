//! Looking at the processes a test has started.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// One test at a time, because each looks at all processes of the program; and none may leave any,
/// nor a folder.
pub struct Quiet {
    _turn: MutexGuard<'static, ()>,
}

impl Quiet {
    pub fn begin() -> Quiet {
        static TURN: Mutex<()> = Mutex::new(());
        Quiet { _turn: TURN.lock().unwrap_or_else(|e| e.into_inner()) }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(ours(), Vec::<String>::new());
            assert_eq!(rooms(), Vec::<String>::new());
        }
    }
}

/// Folders that processes under test were given by this one.
fn rooms() -> Vec<String> {
    let prefix = format!("bitrift-{}-", std::process::id());
    let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&prefix)).collect()
}

/// Every process that runs the program under test, as its id and command line.
pub fn ours() -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_bitrift"));
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program))
        .map(|entry| {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            format!("{} {}", entry.file_name().display(), String::from_utf8_lossy(&line))
        })
        .collect()
}
