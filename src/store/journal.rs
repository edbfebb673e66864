//! `journal.jsonl`: what is finished of a run or bench that is under way, so that it can be resumed.
//!
//! The first line binds the journal to its experiment. Each further line is one finished search,
//! written and synced at once.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::shown;
use super::{Fingerprint, FunctionTiming, StoreError, atomic, read};
use crate::model::{BenchRow, FunctionRow, FunctionSamples, printable};

/// Something a journal holds a line of.
pub(super) trait Entry: Serialize + DeserializeOwned {
    /// Of the journal, so that one kind is never read as another.
    const SCHEMA: &'static str;
}

impl Entry for JournalEntry {
    const SCHEMA: &'static str = "bitrift.journal/1";
}

impl Entry for BenchRow {
    const SCHEMA: &'static str = "bitrift.bench-journal/1";
}

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

/// The open journal of a run or bench; holds a lock that keeps other processes out.
#[derive(Debug)]
pub struct Journal<E = JournalEntry> {
    file: File,
    path: PathBuf,
    entries: PhantomData<fn(&E)>,
}

#[expect(private_bounds, reason = "the two kinds of entries are this stage's own")]
impl<E: Entry> Journal<E> {
    /// Starts a journal for so many searches.
    pub(super) fn start(path: &Path, print: &Fingerprint, functions: usize) -> Result<Self, StoreError> {
        let header = Header {
            schema: E::SCHEMA.into(),
            fingerprint: print.hex(),
            parts: print.parts().clone(),
            functions,
        };
        atomic::write(path, line_of(path, &header)?.as_bytes())?;
        Journal::open(path)
    }

    /// Goes on with a journal of the same experiment; returns what it holds.
    pub(super) fn resume(path: &Path, print: &Fingerprint) -> Result<(Self, Vec<E>), StoreError> {
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

    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        read::check_regular(path)?;
        let file = OpenOptions::new().append(true).open(path).map_err(StoreError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Journal { file, path: path.into(), entries: PhantomData }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy { path: shown(path) }),
            Err(TryLockError::Error(source)) => {
                Err(StoreError::Io { what: "lock", path: path.into(), source })
            }
        }
    }

    /// Adds a finished search; on return it survives a kill and a power cut.
    pub fn append(&mut self, entry: &E) -> Result<(), StoreError> {
        let line = line_of(&self.path, entry)?;
        // One write per line, so that a kill cuts at most the last one.
        let done = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        done.map_err(StoreError::io("append to", &self.path))
    }
}

/// How many functions of how many a journal holds.
pub(super) fn progress(path: &Path) -> Result<(usize, usize), StoreError> {
    let content = Content::<JournalEntry>::read(path)?;
    Ok((content.entries.len(), content.header.functions))
}

/// Whether a file is a journal of bitrift, finished or not.
pub(super) fn is_journal(path: &Path) -> bool {
    Content::<JournalEntry>::read(path).is_ok()
}

struct Content<E> {
    header: Header,
    entries: Vec<E>,
    /// Bytes up to the end of the last whole line.
    whole: u64,
}

impl<E: Entry> Content<E> {
    fn read(path: &Path) -> Result<Self, StoreError> {
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
        read::check_schema(path, &header.schema, E::SCHEMA)?;
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
