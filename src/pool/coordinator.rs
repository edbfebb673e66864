//! The coordinator: one thread for each worker, results as they are finished.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::job::{Client, FunctionJob, FunctionTiming, Limits, PaceRequest, PoolError, TimeRequest};
use super::lane::{Cost, Halt, Lane, Piece, Suspects};
use super::protocol::{Reply, Work};
use super::run::Run;
use crate::eval::{EvalError, LoadPlan, Quarters, THIS_PROGRAM};
use crate::model::{BuildId, EventSink, FunctionResult, Outcome};
use crate::sandbox::Sandbox;

/// Workers for a set of objects. Processes live only while one of its functions runs.
pub struct Pool {
    pub(super) objects: Vec<LoadPlan>,
    pub(super) limits: Limits,
    pub(super) cancel: Arc<AtomicBool>,
    pub(super) quarters: Quarters,
    pub(super) suspects: Suspects,
    /// Lanes opened so far.
    pub(super) lanes: AtomicUsize,
    loading: OnceLock<Vec<Option<String>>>,
    /// When the work should be over.
    pub(super) until: Option<Instant>,
}

impl Pool {
    /// A pool whose work stops soon after `cancel` becomes true.
    pub fn new(objects: Vec<LoadPlan>, limits: Limits, cancel: Arc<AtomicBool>) -> Pool {
        let timeout = limits.timeout.max(Duration::from_millis(1));
        let limits = Limits { jobs: limits.jobs.max(1), timeout, ..limits };
        let (suspects, lanes, loading) = (Suspects::default(), AtomicUsize::new(0), OnceLock::new());
        let sandbox = Sandbox::default().around(paths(&objects));
        let quarters = Quarters::new(THIS_PROGRAM.into(), limits.of_calls(), sandbox);
        Pool { objects, limits, cancel, quarters, suspects, lanes, loading, until: None }
    }

    /// The same with code under test confined in another way than by default.
    pub fn in_sandbox(mut self, sandbox: Sandbox) -> Pool {
        self.quarters.sandbox = Arc::new(sandbox.around(paths(&self.objects)));
        self
    }

    /// What the code of builds was refused so far, each build with the names of system calls.
    pub fn refusals(&self) -> Vec<String> {
        let line = |(build, calls): (&BuildId, &BTreeSet<&str>)| {
            let calls: Vec<&str> = calls.iter().copied().collect();
            format!("{build}: denied: {} (by the sandbox; see SECURITY.md)", calls.join(", "))
        };
        self.quarters.refused().iter().map(line).collect()
    }

    /// Starts workers from this program instead of the running one, which must know the hidden
    /// subcommands. For tests and benchmarks, whose own program does not.
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Pool {
        self.quarters.program = program.into();
        self
    }

    /// Searches share what is left of the time until then: each may take its part of what the ones before
    /// left over, so that every function is searched and a fast one leaves its time to the others.
    pub fn finish_by(&mut self, until: Instant) {
        self.until = Some(until);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.load(Relaxed)
    }

    /// Why each object cannot be loaded, in words; None for those that can. Loads each one once, in
    /// a process of its own.
    pub fn load_errors(&self) -> &[Option<String>] {
        self.loading.get_or_init(|| {
            let try_load = |plan: &LoadPlan| {
                let mut helpers = self.helpers();
                match helpers.start(0, plan, &mut || !self.is_cancelled()) {
                    Ok(()) | Err(EvalError::Stopped) => None,
                    Err(error) => Some(error.to_string()),
                }
            };
            let each = self.objects.len().div_ceil(self.limits.jobs).max(1);
            std::thread::scope(|scope| {
                let parts: Vec<_> = self
                    .objects
                    .chunks(each)
                    .map(|part| scope.spawn(move || part.iter().map(try_load).collect::<Vec<_>>()))
                    .collect();
                parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
            })
        })
    }

    /// Searches functions, several at a time. `on_done` gets each result, confirmed, as the position
    /// of its job; it may be called from any thread, in any order. Jobs cut off by `cancel` give
    /// `Interrupted`.
    pub fn search(
        &self,
        jobs: &[FunctionJob],
        sink: &dyn EventSink,
        on_done: &(dyn Fn(usize, FunctionResult, FunctionTiming) + Sync),
    ) -> Result<(), PoolError> {
        self.search_for(jobs, sink, &on_done)
    }

    /// The same for a client that keeps the answers of long units or has questions about results.
    pub fn search_for(
        &self,
        jobs: &[FunctionJob],
        sink: &dyn EventSink,
        client: &dyn Client,
    ) -> Result<(), PoolError> {
        Run::new(self, jobs, sink, client).finish()
    }

    /// Evaluates inputs of a function that gives one value as a search does: builds side by side in one worker, which is replaced when
    /// it dies. Outcomes per build, then reasons for replacements.
    pub fn evaluate_side_by_side(
        &self,
        function_index: usize,
        arity: usize,
        builds: &[usize],
        inputs: &[u64],
        batch: usize,
    ) -> Result<(Vec<Vec<Outcome>>, Vec<String>), PoolError> {
        let work = Work::Evaluate { inputs: inputs.to_vec(), batch };
        let piece = Piece {
            function: function_index,
            arity,
            width: 1,
            objects: builds,
            work: &work,
            task: None,
            until: None,
        };
        match self.once(piece)? {
            (Reply::Outcomes(outcomes), reasons) => {
                Ok((outcomes.iter().map(|of| of.firsts().to_vec()).collect(), reasons))
            }
            _ => Err(PoolError::Failed("the worker answered something else".into())),
        }
    }

    /// Nanoseconds a worker takes for calls side by side, as a search makes them.
    pub fn time(&self, request: &TimeRequest) -> Result<u64, PoolError> {
        let TimeRequest { function_index, arity, width, builds, inputs, batch, repeats } = request;
        let work = Work::Time { inputs: inputs.clone(), batch: *batch, repeats: *repeats };
        let (function, arity, width) = (*function_index, *arity, *width);
        let piece = Piece { function, arity, width, objects: builds, work: &work, task: None, until: None };
        match self.once(piece)?.0 {
            Reply::Nanoseconds(time) => Ok(time),
            _ => Err(PoolError::Failed("the worker answered something else".into())),
        }
    }

    /// Nanoseconds that all inputs take on each build, the least of many rounds. The rounds of the builds
    /// alternate, so that noise meets all of them alike.
    pub fn pace(&self, request: &PaceRequest) -> Result<Vec<u64>, PoolError> {
        let PaceRequest { function_index, arity, width, builds, inputs, batch } = request;
        let work = Work::Pace { inputs: inputs.clone(), batch: *batch };
        let (function, arity, width) = (*function_index, *arity, *width);
        let piece = Piece { function, arity, width, objects: builds, work: &work, task: None, until: None };
        match self.once(piece)?.0 {
            Reply::Paces(least) => Ok(least),
            _ => Err(PoolError::Failed("the worker answered something else".into())),
        }
    }

    fn once(&self, piece: Piece<'_>) -> Result<(Reply, Vec<String>), PoolError> {
        let reasons = std::sync::Mutex::new(Vec::new());
        let note = |reason| reasons.lock().unwrap_or_else(|e| e.into_inner()).push(reason);
        let reply = Lane::new(self).perform(piece, &mut Cost::default(), &note);
        let reasons = reasons.into_inner().unwrap_or_else(|e| e.into_inner());
        match reply {
            Ok(reply) => Ok((reply, reasons)),
            Err(Halt::Stopped) => Err(PoolError::Interrupted),
            Err(Halt::Failed(reason)) => Err(PoolError::Failed(reason)),
            Err(Halt::Pool(error)) => Err(error),
        }
    }
}

/// The files that processes of a pool read: the objects, and what the commands of their runners name by its whole path.
fn paths(objects: &[LoadPlan]) -> impl Iterator<Item = &Path> {
    let runners = objects.iter().filter_map(|plan| plan.object.runner.as_ref());
    let words = runners.flat_map(|runner| &runner.command);
    let named = words.map(Path::new).filter(|path| path.is_absolute());
    objects.iter().map(|plan| plan.object.path.as_path()).chain(named)
}
