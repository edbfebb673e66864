//! `journal.jsonl`: what is finished of a run or bench that is under way, so that it can be resumed.
//!
//! The first line binds the journal to its experiment. Each further line is one finished search, written and synced
//! at once. Every line ends with a check sum: a damaged line is no line, and its search is done again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::claim::is_at;
use super::error::shown;
use super::seal::{seal, unseal};
use super::{Fingerprint, FunctionTiming, StoreError, atomic, read};
use crate::model::{BenchRow, FunctionRow, FunctionSamples, printable};

/// Something a journal holds a line of.
pub(super) trait Entry: Serialize + DeserializeOwned {
    /// Of the journal, so that one kind is never read as another.
    const SCHEMA: &'static str;
}

impl Entry for JournalEntry {
    const SCHEMA: &'static str = "bitrift.journal/2";
}

impl Entry for BenchRow {
    const SCHEMA: &'static str = "bitrift.bench-journal/2";
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
    /// The experiment it is bound to, which is part of every line's check sum.
    fingerprint: String,
    /// Numbers of lines that were damaged when it was resumed.
    damaged: Vec<usize>,
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
        atomic::write(path, line_of(path, "", &header)?.as_bytes())?;
        Journal::open(path, &print.hex())
    }

    /// Goes on with a journal of the same experiment; returns what it holds.
    pub(super) fn resume(path: &Path, print: &Fingerprint) -> Result<(Self, Vec<E>), StoreError> {
        let mut journal = Journal::open(path, &print.hex())?;
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
        journal.damaged = content.damaged;
        Ok((journal, content.entries))
    }

    /// What to tell of lines that are not as they were written: the searches they were about are done again.
    pub fn complaint(&self) -> Option<String> {
        let numbers: Vec<String> = self.damaged.iter().map(usize::to_string).collect();
        let (lines, are) = if numbers.len() == 1 { ("line", "is") } else { ("lines", "are") };
        let list = numbers.join(", ");
        let path = shown(&self.path);
        (!numbers.is_empty()).then(|| {
            format!("{path}: {lines} {list} {are} damaged and not believed: what was there is searched again")
        })
    }

    /// Refuses while another process is writing to it.
    pub(super) fn check_idle(path: &Path) -> Result<(), StoreError> {
        Journal::<E>::open(path, "").map(drop)
    }

    fn open(path: &Path, fingerprint: &str) -> Result<Self, StoreError> {
        read::check_regular(path)?;
        let file = OpenOptions::new().append(true).open(path).map_err(StoreError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Journal {
                file,
                path: path.into(),
                fingerprint: fingerprint.into(),
                damaged: Vec::new(),
                entries: PhantomData,
            }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy { path: shown(path) }),
            Err(TryLockError::Error(source)) => {
                Err(StoreError::Io { what: "lock", path: path.into(), source })
            }
        }
    }

    /// The experiment it is bound to.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Adds a finished search; on return it survives a kill and a power cut.
    pub fn append(&mut self, entry: &E) -> Result<(), StoreError> {
        self.check_there()?;
        let line = line_of(&self.path, &self.fingerprint, entry)?;
        // One write per line, so that a kill cuts at most the last one.
        let done = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        done.map_err(StoreError::io("append to", &self.path))
    }

    /// That nobody removed it: the system would take what is written to it without a word.
    pub(super) fn check_there(&self) -> Result<(), StoreError> {
        match is_at(&self.file, &self.path) {
            true => Ok(()),
            false => Err(StoreError::Vanished { path: shown(&self.path) }),
        }
    }
}

/// How many functions of how many a journal holds.
pub(super) fn progress(path: &Path) -> Result<(usize, usize), StoreError> {
    let content = Content::<JournalEntry>::read(path)?;
    Ok((content.entries.len(), content.header.functions))
}

/// Whether a file is a journal of bitrift, of whichever version, finished or not.
pub(super) fn is_journal(path: &Path) -> bool {
    let Ok(bytes) = read::read_bounded(path) else { return false };
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    let family = JournalEntry::SCHEMA.split('/').next().unwrap_or_default();
    let schema = serde_json::from_slice::<serde_json::Value>(first).map(|header| header["schema"].clone());
    schema.is_ok_and(|schema| schema.as_str().is_some_and(|text| text.split('/').next() == Some(family)))
}

struct Content<E> {
    header: Header,
    entries: Vec<E>,
    /// Numbers of lines that are not as they were written.
    damaged: Vec<usize>,
    /// Bytes up to the end of the last whole line.
    whole: u64,
}

impl<E: Entry> Content<E> {
    fn read(path: &Path) -> Result<Self, StoreError> {
        let bytes = read::read_bounded(path)?;
        // What follows the last newline is a line cut short by a kill.
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let mut lines = bytes[..whole.saturating_sub(1)].split(|&b| b == b'\n');
        let header = header(path, lines.next().unwrap_or_default(), E::SCHEMA)?;
        let (mut entries, mut damaged) = (Vec::new(), Vec::new());
        for (index, line) in lines.enumerate() {
            let body = unseal(&header.fingerprint, line);
            match body.and_then(|body| serde_json::from_slice(&body).ok()) {
                Some(entry) => entries.push(entry),
                None => damaged.push(index + 2),
            }
        }
        Ok(Content { header, entries, damaged, whole: whole as u64 })
    }
}

/// The first line of a journal. Without it nobody knows what the others are about.
fn header(path: &Path, line: &[u8], schema: &str) -> Result<Header, StoreError> {
    let damaged = |message: String| StoreError::DamagedJournal { path: shown(path), line: 1, message };
    if line.is_empty() {
        return Err(damaged("the journal has no header".into()));
    }
    let header: Header = serde_json::from_slice(line)
        .map_err(|e| damaged(format!("not the header of a journal: {}", plain(&e))))?;
    // Before the check sum: an older version wrote none, and a newer one may make it otherwise.
    if header.schema == older(schema) {
        let (found, expected) = (header.schema, schema.into());
        return Err(StoreError::Older { path: shown(path), found, expected });
    }
    read::check_schema(path, &header.schema, schema)?;
    match unseal("", line) {
        Some(_) => Ok(header),
        None => Err(damaged("the header does not have its check sum".into())),
    }
}

/// The schema of journals whose lines had no check sums.
fn older(schema: &str) -> String {
    schema.replace("/2", "/1")
}

/// serde_json's words without its line, which is always 1 here.
fn plain(error: &serde_json::Error) -> String {
    printable(&error.to_string()).replace(" at line 1 column ", " at column ")
}

fn line_of(path: &Path, context: &str, value: &impl Serialize) -> Result<String, StoreError> {
    let body = serde_json::to_string(value).map_err(|e| StoreError::Io {
        what: "write",
        path: path.into(),
        source: e.into(),
    })?;
    Ok(seal(context, &body) + "\n")
}
