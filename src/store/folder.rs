//! A run folder: making one, going on with one, finishing one. A run that replaces another is written into a folder
//! inside until it is whole, so that the old one stays as long.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::beside::{Bound, pretty};
use super::error::shown;
use super::files::{self, OwnFile};
use super::{
    Beside, Fingerprint, Journal, JournalEntry, StoreError, Timing, atomic, journal, name, read, run_json,
};
use crate::model::{FunctionSamples, OriginFile, RunFile, SCHEMA};

/// Where a run grows that is to replace another.
const NEXT: &str = ".next";

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
    /// Where the run is written: the folder itself, or one inside while there is an old run to keep.
    work: PathBuf,
}

impl RunFolder {
    /// Makes the next numbered folder for a lab under `root`.
    pub fn create_next(root: &Path, lab: &str) -> Result<RunFolder, StoreError> {
        name::create_next(root, lab).map(RunFolder::at)
    }

    /// Makes `path` itself the run's folder. A run of bitrift that is there already is replaced
    /// only with `overwrite`, and stays until the new one is whole; anything else that is there, never.
    pub fn create(path: &Path, overwrite: bool) -> Result<RunFolder, StoreError> {
        let folder = RunFolder::at(path.into());
        let path_text = shown(path);
        match RunFolder::state(path)? {
            FolderState::Absent => {
                fs::create_dir_all(path).map_err(StoreError::io("create", path))?;
            }
            FolderState::Empty => folder.tidy()?,
            FolderState::Foreign => return Err(StoreError::NotOurs { path: path_text }),
            FolderState::Incomplete if !overwrite => {
                return Err(StoreError::AlreadyBegun { path: path_text });
            }
            FolderState::Complete if !overwrite => {
                return Err(StoreError::AlreadyComplete { path: path_text });
            }
            FolderState::Incomplete => folder.clear()?,
            FolderState::Complete => return folder.beginning_anew(),
        }
        Ok(folder)
    }

    /// An existing run, complete or not; one that was about to replace another comes before the other.
    pub fn open(path: &Path) -> Result<RunFolder, StoreError> {
        match RunFolder::state(path)? {
            FolderState::Incomplete | FolderState::Complete => {
                let folder = RunFolder::at(path.into());
                Ok(if is_begun(&folder.next()) {
                    RunFolder { work: folder.next(), ..folder }
                } else {
                    folder
                })
            }
            _ => Err(read::read_run(path).err().unwrap_or(StoreError::NotARun { path: shown(path) })),
        }
    }

    fn at(path: PathBuf) -> RunFolder {
        RunFolder { work: path.clone(), path }
    }

    fn next(&self) -> PathBuf {
        self.path.join(NEXT)
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
        let next = path.join(NEXT);
        if read::metadata(&OwnFile::Journal.of(path))?.is_some() || is_begun(&next) {
            return Ok(FolderState::Incomplete);
        }
        for entry in fs::read_dir(path).map_err(StoreError::io("list", path))? {
            let entry = entry.map_err(StoreError::io("list", path))?.path();
            if entry != next && !atomic::is_leftover(&entry) {
                return Ok(FolderState::Foreign);
            }
        }
        Ok(FolderState::Empty)
    }

    /// Whether something is left to do: functions to search, a run to put in the place of another, or witnesses to
    /// confirm that were to be confirmed.
    pub(super) fn is_unfinished(path: &Path) -> Result<bool, StoreError> {
        Ok(match RunFolder::state(path)? {
            FolderState::Incomplete => true,
            FolderState::Complete => is_begun(&path.join(NEXT)) || awaits_confirmation(path),
            FolderState::Absent | FolderState::Empty | FolderState::Foreign => false,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where files of a run go that is not whole yet.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    pub(super) fn run_path(folder: &Path) -> PathBuf {
        OwnFile::Run.of(folder)
    }

    pub(super) fn samples_path(folder: &Path) -> PathBuf {
        OwnFile::Samples.of(folder)
    }

    /// How many functions of how many an incomplete run has.
    pub(super) fn progress(path: &Path) -> Result<(usize, usize), StoreError> {
        let folder = RunFolder::open(path)?;
        if read::metadata(&OwnFile::Run.of(&folder.work))?.is_some() {
            let functions = read::read_run(&folder.work)?.functions.len();
            return Ok((functions, functions));
        }
        journal::progress(&OwnFile::Journal.of(&folder.work))
    }

    /// Starts the journal of a run of so many functions.
    pub fn start_journal(&self, print: &Fingerprint, functions: usize) -> Result<Journal, StoreError> {
        let started = Journal::start(&OwnFile::Journal.of(&self.work), print, functions);
        if started.is_err() {
            // Both refuse when the folder holds anything else.
            let _ = fs::remove_dir(&self.work);
            let _ = fs::remove_dir(&self.path);
        }
        started
    }

    /// Goes on with the journal of the same experiment; returns the functions it holds. A whole run that was cut off
    /// on its way to the place of another gets there.
    pub fn resume_journal(&self, print: &Fingerprint) -> Result<(Journal, Vec<JournalEntry>), StoreError> {
        if read::metadata(&OwnFile::Run.of(&self.work))?.is_some() {
            self.promote()?;
            return Err(StoreError::NothingLeft { path: shown(&self.path) });
        }
        self.tidy()?;
        Journal::resume(&OwnFile::Journal.of(&self.work), print)
    }

    /// Leaves nothing behind of a run that has nothing to keep. What cannot be removed stays as an
    /// incomplete run.
    pub fn abandon(&self, journal: Journal) {
        drop(journal);
        if OwnFile::Units.remove(&self.work).is_ok() && OwnFile::Journal.remove(&self.work).is_ok() {
            // Both refuse when the folder holds anything else.
            let _ = fs::remove_dir(&self.work);
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Removes a run that nobody should go on with, and nothing else that may be there: neither the run that it was to
    /// replace nor files of the user.
    pub fn discard(&self) {
        let removed = match self.work != self.path && self.work.exists() {
            true => files::remove(&self.work),
            false => self.clear(),
        };
        if removed.is_ok() {
            // Refuses when the folder holds anything else.
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Stores where a run comes from. It goes before the run itself, which makes the folder complete.
    pub fn write_origin(&self, run: &RunFile, origin: &OriginFile) -> Result<(), StoreError> {
        let digest = read::digest_of(run_json(run).as_bytes());
        let text = pretty(&Bound { file: origin, run: &digest });
        atomic::write(&OwnFile::Origin.of(&self.work), text.as_bytes())
    }

    /// Writes the results, removes the journal, and takes the place of a run that was there. `run.json` comes last:
    /// with it the run is complete.
    pub fn finish(
        &self,
        journal: Journal,
        run: &RunFile,
        samples: &[FunctionSamples],
        timing: &Timing,
    ) -> Result<Beside, StoreError> {
        journal.check_there()?;
        let text = run_json(run);
        let digest = read::digest_of(text.as_bytes());
        let path = OwnFile::Samples.of(&self.work);
        let mut lines = String::new();
        for samples in samples {
            let line = serde_json::to_string(&Bound { file: samples, run: &digest });
            lines.push_str(&line.map_err(|e| StoreError::io("write", &path)(e.into()))?);
            lines.push('\n');
        }
        atomic::write(&path, lines.as_bytes())?;
        atomic::write(&OwnFile::Timing.of(&self.work), pretty(timing).as_bytes())?;
        atomic::write(&OwnFile::Run.of(&self.work), text.as_bytes())?;
        drop(journal);
        self.promote()?;
        Ok(Beside::new(&self.path, digest))
    }

    /// Puts a whole run where it belongs. Cut off in the middle, it is taken up again where it was: as long as the old
    /// `run.json` is there nothing of the new run is, and when it is gone so is everything of the old run.
    fn promote(&self) -> Result<(), StoreError> {
        OwnFile::Journal.remove(&self.work)?;
        OwnFile::Units.remove(&self.work)?;
        self.tidy()?;
        if self.work != self.path {
            let others = || OwnFile::ALL.iter().filter(|file| **file != OwnFile::Run);
            if read::metadata(&OwnFile::Run.of(&self.path))?.is_some() {
                others().try_for_each(|file| file.remove(&self.path))?;
                atomic::sync_folder(&self.path)?;
                OwnFile::Run.remove(&self.path)?;
            }
            atomic::sync_folder(&self.path)?;
            others().try_for_each(|file| file.promote(&self.work, &self.path))?;
            atomic::sync_folder(&self.path)?;
            OwnFile::Run.promote(&self.work, &self.path)?;
            files::remove(&self.work)?;
        }
        atomic::sync_folder(&self.path)
    }

    /// Removes temporary files of killed processes; only the process that owns the folder may.
    fn tidy(&self) -> Result<(), StoreError> {
        atomic::sweep(&self.path, Duration::ZERO)?;
        if self.work == self.path { Ok(()) } else { atomic::sweep(&self.work, Duration::ZERO) }
    }

    /// A folder inside for a run that is to replace the one that is there.
    fn beginning_anew(self) -> Result<RunFolder, StoreError> {
        if !self.is_ours() {
            return Err(StoreError::NotOurs { path: shown(&self.path) });
        }
        let work = self.next();
        check_idle(&work)?;
        files::remove(&work)?;
        self.tidy()?;
        fs::create_dir(&work).map_err(StoreError::io("create", &work))?;
        Ok(RunFolder { work, ..self })
    }

    /// Removes the files of an earlier run, and only those.
    fn clear(&self) -> Result<(), StoreError> {
        if !self.is_ours() {
            return Err(StoreError::NotOurs { path: shown(&self.path) });
        }
        check_idle(&self.path)?;
        check_idle(&self.next())?;
        OwnFile::ALL.iter().try_for_each(|file| file.remove(&self.path))?;
        files::remove(&self.next())?;
        self.tidy()
    }

    /// Another program may keep a `run.json` too: look inside before removing it.
    fn is_ours(&self) -> bool {
        let run = OwnFile::Run.of(&self.path);
        if !run.exists() {
            return journal::is_journal(&OwnFile::Journal.of(&self.path)) || is_begun(&self.next());
        }
        let family = SCHEMA.split('/').next().unwrap_or(SCHEMA);
        read::read_bounded(&run).is_ok_and(|bytes| {
            serde_json::from_slice::<serde_json::Value>(&bytes)
                .is_ok_and(|v| v["schema"].as_str().is_some_and(|s| s.starts_with(family)))
        })
    }
}

/// Whether a folder holds a run that has begun, or one that is whole.
fn is_begun(folder: &Path) -> bool {
    [OwnFile::Journal, OwnFile::Run].iter().any(|file| file.of(folder).exists())
}

/// Refuses while another process writes the journal of a folder.
fn check_idle(folder: &Path) -> Result<(), StoreError> {
    let journal = OwnFile::Journal.of(folder);
    if read::metadata(&journal)?.is_some() { Journal::<JournalEntry>::check_idle(&journal) } else { Ok(()) }
}

/// Whether the witnesses of a complete run were to be confirmed and are not.
fn awaits_confirmation(folder: &Path) -> bool {
    let wanted = || {
        let digest = read::run_digest(folder).ok()?;
        Beside::new(folder, digest).origin().ok()?
    };
    !OwnFile::Confirm.of(folder).exists() && wanted().is_some_and(|origin| origin.confirm)
}
