//! What can be wrong with a run folder, in words that say how to mend it.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::printable;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no run at {path}; `bitrift run` makes one, `ls {root}` lists those there are")]
    NoSuchRun { path: String, root: String },
    #[error("there are no runs in {root} yet; `bitrift run` makes one")]
    NoRuns { root: String },
    #[error("{path} is a file; a run is a folder that holds run.json")]
    NotAFolder { path: String },
    #[error("{path} is not a run folder: it holds neither run.json nor journal.jsonl")]
    NotARun { path: String },
    #[error(
        "{path} is incomplete: {done} of {total} functions; finish it with `bitrift run --resume --out {path}`"
    )]
    Incomplete { path: String, done: usize, total: usize },
    #[error("{path} is a folder, expected a file; the run folder is damaged")]
    IsAFolder { path: String },
    #[error("{path} is not a regular file; the run folder is damaged")]
    NotAFile { path: String },
    #[error("{path} is larger than 1 GiB, which no run of bitrift writes; it is left unread")]
    Enormous { path: String },
    #[error("{path} is not UTF-8: byte {offset} is {byte:#04x}; bitrift writes UTF-8 only")]
    NotUtf8 { path: String, offset: usize, byte: u8 },
    #[error("{path} is cut off at line {line}, column {column}; restore the file or run again")]
    Truncated { path: String, line: usize, column: usize },
    #[error("{path} is not JSON: {message}")]
    Syntax { path: String, message: String },
    #[error("{path}, at `{at}`: {message}")]
    Shape { path: String, at: String, message: String },
    #[error(
        "{path} was begun by an older bitrift ({found}), which this one ({expected}) does not go on with; start again \
         with --overwrite, or in another folder"
    )]
    Older { path: String, found: String, expected: String },
    #[error(
        "{path} belongs to another run than the run.json beside it and is not used; delete it, and make it again \
         where it is wanted"
    )]
    OtherRun { path: String },
    #[error("{path} is not the run it was when this command began: another run has replaced it; start again")]
    Replaced { path: String },
    #[error(
        "{path} was removed or replaced while bitrift was writing there; what it held is lost, run again"
    )]
    Vanished { path: String },
    #[error("{path} was written by a newer bitrift ({found}); this one reads {expected}")]
    Newer { path: String, found: String, expected: String },
    #[error("{path} is not a run of bitrift: its schema is {found}, expected \"{expected}\"")]
    Foreign { path: String, found: String, expected: String },
    #[error("{path} already holds a complete run; choose another --out, or replace it with --overwrite")]
    AlreadyComplete { path: String },
    #[error(
        "{path} already holds an incomplete run; go on with it by --resume, or replace it with --overwrite"
    )]
    AlreadyBegun { path: String },
    #[error("{path} holds files that are not a run of bitrift; choose a new or empty folder for --out")]
    NotOurs { path: String },
    #[error("nothing to resume in {root}: it has no incomplete run; leave --resume out to start one")]
    NothingToResume { root: String },
    #[error("{path} is complete; there is nothing to resume, `bitrift show {path}` prints it")]
    NothingLeft { path: String },
    #[error(
        "{path} belongs to another experiment ({differences}); resume it with what it was started with, or leave --resume out"
    )]
    OtherExperiment { path: String, differences: String },
    #[error("{path}, line {line}: {message}; delete the folder and run again")]
    DamagedJournal { path: String, line: usize, message: String },
    #[error(
        "{path} already holds a bench; choose another --out, add to it with --resume, or replace it with --overwrite"
    )]
    BenchThere { path: String },
    #[error(
        "{path} already holds a bench that was interrupted; go on with it by --resume, or replace it with --overwrite"
    )]
    BenchBegun { path: String },
    #[error("{path} holds more than was asked for ({more}); ask for that too, or choose another --out")]
    BenchWider { path: String, more: String },
    #[error("{path} holds files and no script of `bitrift repro`; choose a new or empty folder for --out")]
    NotARepro { path: String },
    #[error("{path} is not a bench of bitrift and is not replaced; choose another --out")]
    NotABench { path: String },
    #[error("{path}, line {line}: {message}; restore the file or run again")]
    Line { path: String, line: usize, message: String },
    #[error("{path} is no list of reference measurements: {message}")]
    Reference { path: String, message: String },
    #[error("there is no lock file {path}; `bitrift accept` makes one from the latest run")]
    NoLock { path: String },
    #[error("{path} is not a lock file of bitrift: its schema is {found}, expected \"{expected}\"")]
    NotALock { path: String, found: String, expected: String },
    #[error(
        "{source}\nthe lock file cannot be used: restore it from version control, or delete it and make it anew with `bitrift accept`"
    )]
    Lock { source: Box<StoreError> },
    #[error("another bitrift is writing {path}; wait for it, or end it")]
    Busy { path: String },
    #[error("failed to {what} {}: {source}", shown(.path))]
    Io { what: &'static str, path: PathBuf, source: io::Error },
}

impl StoreError {
    /// A closure for `map_err` around one file operation.
    pub(super) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.into();
        move |source| StoreError::Io { what, path, source }
    }
}

/// A path as a message shows it.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}
