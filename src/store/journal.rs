//! `journal.jsonl`: the finished functions of a run that is under way, so that it can be resumed.
//!
//! The first line binds the journal to its experiment. Each further line is one function, written
//! and synced when the function finishes.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::shown;
use super::{Fingerprint, FunctionSamples, FunctionTiming, StoreError, atomic, read};
use crate::model::{FunctionRow, printable};

const SCHEMA: &str = "bitrift.journal/1";

/// Everything kept of a finished function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub row: FunctionRow,
    pub samples: FunctionSamples,
    pub timing: FunctionTiming,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    schema: String,
    fingerprint: String,
    parts: BTreeMap<String, String>,
    functions: usize,
}

/// The open journal of a run; holds a lock that keeps other processes out.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Starts a journal for a run of so many functions.
    pub(super) fn start(path: &Path, print: &Fingerprint, functions: usize) -> Result<Journal, StoreError> {
        let header = Header {
            schema: SCHEMA.into(),
            fingerprint: print.hex(),
            parts: print.parts().clone(),
            functions,
        };
        atomic::write(path, line_of(path, &header)?.as_bytes())?;
        Journal::open(path)
    }

    /// Goes on with a journal of the same experiment; returns what it holds.
    pub(super) fn resume(
        path: &Path,
        print: &Fingerprint,
    ) -> Result<(Journal, Vec<JournalEntry>), StoreError> {
        let journal = Journal::open(path)?;
        let content = Content::read(path)?;
        if content.header.fingerprint != print.hex() {
            let there = Fingerprint::from_parts(content.header.parts);
            let mut differences = printable(&there.differences(print));
            if differences.is_empty() {
                differences = "its fingerprint differs".into();
            }
            return Err(StoreError::OtherExperiment { path: shown(path), differences });
        }
        // The next line must not be glued to half of one.
        journal.file.set_len(content.whole).map_err(StoreError::io("truncate", path))?;
        Ok((journal, content.entries))
    }

    pub(super) fn open(path: &Path) -> Result<Journal, StoreError> {
        read::check_regular(path)?;
        let file = OpenOptions::new().append(true).open(path).map_err(StoreError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Journal { file, path: path.into() }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy { path: shown(path) }),
            Err(TryLockError::Error(source)) => {
                Err(StoreError::Io { what: "lock", path: path.into(), source })
            }
        }
    }

    /// Adds a finished function; on return it survives a kill and a power cut.
    pub fn append(&mut self, entry: &JournalEntry) -> Result<(), StoreError> {
        let line = line_of(&self.path, entry)?;
        // One write per line, so that a kill cuts at most the last one.
        let done = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        done.map_err(StoreError::io("append to", &self.path))
    }
}

/// How many functions of how many a journal holds.
pub(super) fn progress(path: &Path) -> Result<(usize, usize), StoreError> {
    let content = Content::read(path)?;
    Ok((content.entries.len(), content.header.functions))
}

/// Whether a file is a journal of bitrift, finished or not.
pub(super) fn is_journal(path: &Path) -> bool {
    Content::read(path).is_ok()
}

struct Content {
    header: Header,
    entries: Vec<JournalEntry>,
    /// Bytes up to the end of the last whole line.
    whole: u64,
}

impl Content {
    fn read(path: &Path) -> Result<Content, StoreError> {
        let bytes = read::read_bounded(path)?;
        // What follows the last newline is a line cut short by a kill.
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let damaged =
            |line: usize, message: String| StoreError::DamagedJournal { path: shown(path), line, message };
        let mut lines = bytes[..whole.saturating_sub(1)].split(|&b| b == b'\n');
        let first = lines.next().unwrap_or_default();
        if first.is_empty() {
            return Err(damaged(1, "the journal has no header".into()));
        }
        let header: Header = serde_json::from_slice(first)
            .map_err(|e| damaged(1, format!("not the header of a journal: {}", plain(&e))))?;
        read::check_schema(path, &header.schema, SCHEMA)?;
        let mut entries = Vec::new();
        for (index, line) in lines.enumerate() {
            let entry = serde_json::from_slice(line);
            entries.push(entry.map_err(|e| damaged(index + 2, format!("not an entry: {}", plain(&e))))?);
        }
        Ok(Content { header, entries, whole: whole as u64 })
    }
}

/// serde_json's words without its line, which is always 1 here.
fn plain(error: &serde_json::Error) -> String {
    printable(&error.to_string()).replace(" at line 1 column ", " at column ")
}

fn line_of(path: &Path, value: &impl Serialize) -> Result<String, StoreError> {
    let mut line = serde_json::to_string(value).map_err(|e| StoreError::Io {
        what: "write",
        path: path.into(),
        source: e.into(),
    })?;
    line.push('\n');
    Ok(line)
}
