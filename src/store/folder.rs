//! A run folder: making one, going on with one, finishing one.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::shown;
use super::files::OwnFile;
use super::{Fingerprint, Journal, JournalEntry, StoreError, Timing, atomic, journal, name, read, run_json};
use crate::model::{FunctionSamples, RunFile, SCHEMA};

/// What is found at the path of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderState {
    Absent,
    Empty,
    /// Holds something, but neither `run.json` nor a journal.
    Foreign,
    /// Has a journal and no `run.json`.
    Incomplete,
    Complete,
}

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the next numbered folder for a lab under `root`.
    pub fn create_next(root: &Path, lab: &str) -> Result<RunFolder, StoreError> {
        Ok(RunFolder { path: name::create_next(root, lab)? })
    }

    /// Makes `path` itself the run's folder. A run of bitrift that is there already is replaced
    /// only with `overwrite`; anything else that is there, never.
    pub fn create(path: &Path, overwrite: bool) -> Result<RunFolder, StoreError> {
        let folder = RunFolder { path: path.into() };
        let path_text = shown(path);
        match RunFolder::state(path)? {
            FolderState::Absent => {
                fs::create_dir_all(path).map_err(StoreError::io("create", path))?;
            }
            FolderState::Empty => {}
            FolderState::Foreign => return Err(StoreError::NotOurs { path: path_text }),
            FolderState::Incomplete if !overwrite => {
                return Err(StoreError::AlreadyBegun { path: path_text });
            }
            FolderState::Complete if !overwrite => {
                return Err(StoreError::AlreadyComplete { path: path_text });
            }
            FolderState::Incomplete | FolderState::Complete => folder.clear()?,
        }
        Ok(folder)
    }

    /// An existing run, complete or not.
    pub fn open(path: &Path) -> Result<RunFolder, StoreError> {
        match RunFolder::state(path)? {
            FolderState::Incomplete | FolderState::Complete => Ok(RunFolder { path: path.into() }),
            _ => Err(read::read_run(path).err().unwrap_or(StoreError::NotARun { path: shown(path) })),
        }
    }

    /// What is at a path; a file there is an error.
    pub fn state(path: &Path) -> Result<FolderState, StoreError> {
        let Some(meta) = read::metadata(path)? else { return Ok(FolderState::Absent) };
        if !meta.is_dir() {
            return Err(StoreError::NotAFolder { path: shown(path) });
        }
        if read::metadata(&OwnFile::Run.of(path))?.is_some() {
            return Ok(FolderState::Complete);
        }
        if read::metadata(&OwnFile::Journal.of(path))?.is_some() {
            return Ok(FolderState::Incomplete);
        }
        for entry in fs::read_dir(path).map_err(StoreError::io("list", path))? {
            let entry = entry.map_err(StoreError::io("list", path))?;
            if !atomic::is_leftover(&entry.path()) {
                return Ok(FolderState::Foreign);
            }
        }
        Ok(FolderState::Empty)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn run_path(folder: &Path) -> PathBuf {
        OwnFile::Run.of(folder)
    }

    pub(super) fn samples_path(folder: &Path) -> PathBuf {
        OwnFile::Samples.of(folder)
    }

    pub(super) fn journal_path(folder: &Path) -> PathBuf {
        OwnFile::Journal.of(folder)
    }

    /// Starts the journal of a run of so many functions.
    pub fn start_journal(&self, print: &Fingerprint, functions: usize) -> Result<Journal, StoreError> {
        let started = Journal::start(&OwnFile::Journal.of(&self.path), print, functions);
        if started.is_err() {
            // Refuses when the folder holds anything else.
            let _ = fs::remove_dir(&self.path);
        }
        started
    }

    /// Goes on with the journal of the same experiment; returns the functions it holds.
    pub fn resume_journal(&self, print: &Fingerprint) -> Result<(Journal, Vec<JournalEntry>), StoreError> {
        if RunFolder::state(&self.path)? == FolderState::Complete {
            return Err(StoreError::NothingLeft { path: shown(&self.path) });
        }
        Journal::resume(&OwnFile::Journal.of(&self.path), print)
    }

    /// Leaves nothing behind of a run that has nothing to keep. What cannot be removed stays as an
    /// incomplete run.
    pub fn abandon(&self, journal: Journal) {
        drop(journal);
        if self.clear_units().is_ok() && self.remove(OwnFile::Journal).is_ok() {
            // Refuses when the folder holds anything else.
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Removes a run that nobody should go on with, and nothing else that may be there.
    pub fn discard(&self) {
        if self.clear().is_ok() {
            // Refuses when the folder holds anything else.
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Writes the results and removes the journal. `run.json` comes last: with it the run is complete.
    pub fn finish(
        &self,
        journal: Journal,
        run: &RunFile,
        samples: &[FunctionSamples],
        timing: &Timing,
    ) -> Result<(), StoreError> {
        let json = |value: serde_json::Result<String>, path: &Path| {
            value.map_err(|e| StoreError::Io { what: "write", path: path.into(), source: e.into() })
        };
        let path = OwnFile::Samples.of(&self.path);
        let mut lines = String::new();
        for function in samples {
            lines.push_str(&json(serde_json::to_string(function), &path)?);
            lines.push('\n');
        }
        atomic::write(&path, lines.as_bytes())?;
        let path = OwnFile::Timing.of(&self.path);
        let text = json(serde_json::to_string_pretty(timing), &path)?;
        atomic::write(&path, format!("{text}\n").as_bytes())?;
        atomic::write(&OwnFile::Run.of(&self.path), run_json(run).as_bytes())?;
        drop(journal);
        self.remove(OwnFile::Journal)?;
        self.clear_units()?;
        atomic::sweep(&self.path)?;
        atomic::sync_folder(&self.path)
    }

    /// Removes the files of an earlier run, and only those.
    fn clear(&self) -> Result<(), StoreError> {
        if !self.is_ours() {
            return Err(StoreError::NotOurs { path: shown(&self.path) });
        }
        let journal = OwnFile::Journal.of(&self.path);
        if read::metadata(&journal)?.is_some() {
            // Refuses while another process is writing to it.
            drop(Journal::<JournalEntry>::open(&journal)?);
        }
        for file in OwnFile::ALL {
            self.remove(file)?;
        }
        self.clear_units()?;
        self.clear_truth()
    }

    /// Another program may keep a `run.json` too: look inside before removing it.
    fn is_ours(&self) -> bool {
        let run = OwnFile::Run.of(&self.path);
        if !run.exists() {
            return journal::is_journal(&OwnFile::Journal.of(&self.path));
        }
        let family = SCHEMA.split('/').next().unwrap_or(SCHEMA);
        read::read_bounded(&run).is_ok_and(|bytes| {
            serde_json::from_slice::<serde_json::Value>(&bytes)
                .is_ok_and(|v| v["schema"].as_str().is_some_and(|s| s.starts_with(family)))
        })
    }

    fn remove(&self, file: OwnFile) -> Result<(), StoreError> {
        let path = file.of(&self.path);
        match fs::remove_file(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(StoreError::io("remove", path)),
        }
    }
}
