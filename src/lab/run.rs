//! A run: every function searched, each journalled as it finishes, and stored as a whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use super::built::Built;
use super::error::{LabError, Progress};
use super::keeper::UnitKeeper;
use super::search::{Searched, Searches, host_row};
use super::sources::digests;
use super::{origin, usage};
use crate::model::{Event, EventSink, Experiment, FunctionRow, FunctionSamples, RunFile, SCHEMA};
use crate::store::{
    Beside, Claim, Fingerprint, FolderState, FunctionTiming, Journal, JournalEntry, RunFolder, StoreError,
    Timing, latest_incomplete, open_run, utc_date,
};

/// Where a run goes.
#[derive(Clone, Debug)]
pub struct Destination<'a> {
    /// The folder that numbered runs are in.
    pub root: &'a Path,
    /// The run's own folder; None: the next number under the root.
    pub out: Option<&'a Path>,
    /// Replace a run that is there.
    pub overwrite: bool,
    /// Go on with an interrupted run: the one that is there, or the latest.
    pub resume: bool,
    /// Whether its witnesses are to be confirmed when it is stored.
    pub confirm: bool,
}

/// A run's folder, which is this process's own, and what an interrupted run left in it.
pub struct Opened {
    pub folder: RunFolder,
    left: Left,
    fingerprint: Fingerprint,
    confirm: bool,
    claim: Claim,
}

/// What there is of a run that is opened.
enum Left {
    /// Its journal, and the functions that are done.
    Searches(Journal, Vec<JournalEntry>),
    /// All but the confirmation.
    Whole(Box<(RunFile, Beside)>),
}

/// A finished run. Its folder is this process's own as long as it lives.
pub struct Stored {
    pub run: RunFile,
    pub samples: Vec<FunctionSamples>,
    pub folder: RunFolder,
    pub beside: Beside,
    _claim: Claim,
}

impl Built<'_> {
    /// Searches every function and keeps nothing on disk.
    pub fn search(&self, sink: &dyn EventSink) -> Result<RunFile, LabError> {
        let rows = Mutex::new(BTreeMap::new());
        let keep = |index: usize, searched: Searched| {
            rows.lock().unwrap_or_else(PoisonError::into_inner).insert(index, searched.row);
        };
        let functions = self.lab.experiment.functions.len();
        sink.send(Event::SearchStarted { functions, resumed: 0 });
        let (searched, absent) = {
            let searches = Searches::new(self, 0..functions, None, &keep);
            (searches.run(sink), searches.absent())
        };
        sink.send(Event::SearchFinished);
        searched?;
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.extend(absent.into_iter().map(|(index, searched)| (index, searched.row)));
        Ok(self.run_file(rows.into_values().collect()))
    }

    /// Makes the folder of a run, or finds the one to go on with. The folder is claimed before anybody looks into it.
    pub fn open_run(&self, to: &Destination<'_>) -> Result<Opened, LabError> {
        let Experiment { name, search, functions, .. } = &self.lab.experiment;
        let fingerprint = Fingerprint::of(name, search, functions, &self.panel.artifacts);
        let latest = || latest_incomplete(to.root);
        let (claim, folder) = match (to.out, to.resume) {
            (Some(out), resume) => {
                let claim = Claim::take(out)?;
                if resume && !matches!(RunFolder::state(out)?, FolderState::Absent | FolderState::Empty) {
                    return self.reopen(to, claim, RunFolder::open(out)?, fingerprint);
                }
                (claim, RunFolder::create(out, to.overwrite)?)
            }
            (None, true) => {
                let path: PathBuf = latest()?;
                let claim = Claim::take(&path)?;
                return self.reopen(to, claim, RunFolder::open(&path)?, fingerprint);
            }
            (None, false) => {
                let folder = RunFolder::create_next(to.root, name)?;
                (Claim::take(folder.path())?, folder)
            }
        };
        let journal = folder.start_journal(&fingerprint, functions.len())?;
        let left = Left::Searches(journal, Vec::new());
        Ok(Opened { folder, left, fingerprint, confirm: to.confirm, claim })
    }

    /// Goes on with a run: with its searches, or with the confirmation when nothing else is missing.
    fn reopen(
        &self,
        to: &Destination<'_>,
        claim: Claim,
        folder: RunFolder,
        fingerprint: Fingerprint,
    ) -> Result<Opened, LabError> {
        let left = match folder.resume_journal(&fingerprint) {
            Ok((journal, done)) => Left::Searches(journal, done),
            Err(StoreError::NothingLeft { path }) => {
                let (run, beside) = open_run(folder.path())?;
                if !to.confirm || beside.confirm(&run)?.is_some() {
                    return Err(StoreError::NothingLeft { path }.into());
                }
                if let Some(origin) = beside.origin()? {
                    fingerprint.check(origin.fingerprint, folder.path())?;
                }
                Left::Whole(Box::new((run, beside)))
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Opened { folder, left, fingerprint, confirm: to.confirm, claim })
    }

    /// Searches every function that the journal does not hold yet, and stores the run. `start` is when the
    /// command began.
    pub fn run(&self, opened: Opened, start: Instant, sink: &dyn EventSink) -> Result<Stored, LabError> {
        let search_start = Instant::now();
        let Opened { folder, left, fingerprint, confirm, claim } = opened;
        let (journal, done) = match left {
            Left::Searches(journal, done) => (journal, done),
            Left::Whole(whole) => {
                let (run, beside) = *whole;
                return Ok(Stored { samples: beside.samples()?, run, folder, beside, _claim: claim });
            }
        };
        let resumed = done.len();
        let Journalled { journal, entries, restarts } = self.journalled(&folder, journal, done, sink)?;
        let run = self.run_file(entries.iter().map(|e| e.row.clone()).collect());
        let timing = Timing {
            date: utc_date(SystemTime::now()),
            jobs: self.lab.jobs,
            wall_s: start.elapsed().as_secs_f64(),
            cpu_s: usage::cpu_seconds(),
            compile_s: self.work.time.as_secs_f64(),
            search_s: search_start.elapsed().as_secs_f64(),
            compiled: self.work.compiled,
            cached: self.work.cached,
            resumed,
            worker_restarts: restarts,
            ..Timing::default()
        };
        let timing = timing.total(entries.iter().map(|e| e.timing.clone()).collect());
        let samples: Vec<FunctionSamples> = entries.into_iter().map(|e| e.samples).collect();
        let origin = origin::of(&self.lab.experiment, folder.path(), &fingerprint, confirm);
        folder.write_origin(&run, &origin)?;
        let beside = folder.finish(journal, &run, &samples, &timing)?;
        Ok(Stored { run, samples, folder, beside, _claim: claim })
    }

    fn journalled(
        &self,
        folder: &RunFolder,
        journal: Journal,
        done: Vec<JournalEntry>,
        sink: &dyn EventSink,
    ) -> Result<Journalled, LabError> {
        let functions = 0..self.lab.experiment.functions.len();
        if let Some(text) = journal.complaint() {
            sink.send(Event::Note { text });
        }
        sink.send(Event::SearchStarted { functions: functions.len(), resumed: done.len() });
        let place = |entry: JournalEntry| Some((self.lab.function(&entry.row.name)?.0, entry));
        let entries: BTreeMap<usize, JournalEntry> = done.into_iter().filter_map(place).collect();
        let open: Vec<usize> = functions.clone().filter(|index| !entries.contains_key(index)).collect();
        let keeper = UnitKeeper::new(folder, journal.fingerprint(), sink);
        let desk = Mutex::new(RunDesk { journal, entries, restarts: 0, error: None });
        let keep = |index: usize, searched: Searched| {
            let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = desk.keep(index, searched, folder, &keeper) {
                desk.error.get_or_insert(error);
                // What cannot be stored is not worth searching: this ends the other searches too.
                self.lab.cancel.store(true, Ordering::Relaxed);
            }
        };
        let (searched, absent) = {
            let searches = Searches::new(self, open, Some(&keeper), &keep);
            (searches.run(sink), searches.absent())
        };
        sink.send(Event::SearchFinished);
        let desk = desk.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = desk.error {
            return Err(error.into());
        }
        if let Err(error) = searched {
            return Err(stopped(error, desk, functions.len(), folder));
        }
        let RunDesk { journal, mut entries, restarts, .. } = desk;
        entries.extend(absent.into_iter().map(|(index, searched)| (index, entry(searched))));
        Ok(Journalled { journal, entries: entries.into_values().collect(), restarts })
    }

    /// All rows and what they were made with.
    fn run_file(&self, functions: Vec<FunctionRow>) -> RunFile {
        let Experiment { name, search, .. } = &self.lab.experiment;
        RunFile {
            schema: SCHEMA.into(),
            bitrift: env!("CARGO_PKG_VERSION").into(),
            name: name.clone(),
            seed: search.seed,
            strategy: search.strategy,
            budget: search.budget,
            nan: search.nan,
            zero: search.zero,
            host: host_row(),
            baseline: self.lab.plan.baseline_build().id.clone(),
            builds: self.build_rows(),
            sources: digests(&self.lab.experiment, &self.lab.plan.builds, &self.headers),
            functions,
        }
    }
}

/// What the search of a run leaves, in the order of the matrix.
struct Journalled {
    journal: Journal,
    entries: Vec<JournalEntry>,
    /// Workers that were replaced.
    restarts: u64,
}

/// Where finished functions are put down.
struct RunDesk {
    journal: Journal,
    entries: BTreeMap<usize, JournalEntry>,
    restarts: u64,
    error: Option<StoreError>,
}

impl RunDesk {
    fn keep(
        &mut self,
        index: usize,
        searched: Searched,
        folder: &RunFolder,
        keeper: &UnitKeeper<'_>,
    ) -> Result<(), StoreError> {
        self.restarts += searched.timing.replaced;
        let kept = searched.truth.as_ref().map_or(Ok(()), |truth| folder.write_truth(truth));
        let entry = entry(searched);
        let name = entry.row.name.clone();
        let journalled = self.journal.append(&entry);
        self.entries.insert(index, entry);
        journalled?;
        kept?;
        // Last, so that a kill between any two of these costs no more than the last of them.
        keeper.forget(&name)
    }
}

/// A function as the journal has it.
fn entry(searched: Searched) -> JournalEntry {
    let Searched { result, row, samples, timing, .. } = searched;
    let (wall_s, units_s, near) = (timing.wall_s, timing.units_s, timing.near_timeouts);
    let mut cost = FunctionTiming::new(&row.name, wall_s, units_s, result.evaluations, near);
    cost.recalled = timing.recalled;
    JournalEntry { row, samples, timing: cost }
}

/// Why a search ended early. A folder that would hold nothing is not left behind.
fn stopped(error: LabError, desk: RunDesk, of: usize, folder: &RunFolder) -> LabError {
    let done = desk.entries.len();
    let nothing = done == 0 && !folder.has_units();
    if nothing {
        folder.abandon(desk.journal);
    }
    if !error.is_interrupt() {
        return error;
    }
    let folder = (!nothing).then(|| folder.path().to_path_buf());
    LabError::Interrupted(Progress::Searching { done, of, folder })
}
