//! The near end of one worker.

use std::collections::BTreeSet;
use std::time::Duration;

use super::job::PoolError;
use super::protocol::{Reply, Report, Request, Work};
use crate::eval::{End, Gone, LoadPlan, Phase, Process, Quarters, Selection};
use crate::search::Task;

/// How a worker was lost.
#[derive(Debug)]
pub(super) enum Lost {
    /// Nobody waits for it any more.
    Stopped,
    /// What came is not its answer: code under test wrote to its pipe.
    Garbled,
    Died(Death),
}

/// What a worker was doing when it died.
#[derive(Debug)]
pub(super) struct Death {
    /// None when its watcher died too.
    pub end: Option<End>,
    /// The object whose code was running; None when it died outside code under test.
    pub object: Option<usize>,
    /// The input of the call.
    pub input: Option<Vec<u64>>,
}

/// A running worker.
pub(super) struct Worker {
    process: Process,
    /// Jobs whose task it knows.
    tasks: BTreeSet<usize>,
    /// Functions and objects that it has called side by side with others.
    ran_hot: BTreeSet<(usize, usize)>,
}

impl Worker {
    /// Starts the worker of a lane.
    pub(super) fn start(quarters: &Quarters, lane: usize, plans: &[LoadPlan]) -> Result<Worker, PoolError> {
        let program = || quarters.program.display().to_string();
        let failed = |reason: String| PoolError::Spawn { program: program(), reason };
        let mut process = Process::spawn(quarters, "__worker").map_err(|e| failed(e.to_string()))?;
        if process.send(&(lane, plans)).is_err() {
            process.end();
            return Err(failed(format!("it ended with {}", process.status())));
        }
        Ok(Worker { process, tasks: BTreeSet::new(), ran_hot: BTreeSet::new() })
    }

    /// Whether one of these functions and objects ran in it without a process of its own: what
    /// turned out faulty may have left a lock, a heap or a descriptor broken.
    pub(super) fn is_tainted(&self, faulty: &BTreeSet<(usize, usize)>) -> bool {
        !self.ran_hot.is_disjoint(faulty)
    }

    /// What code was refused so far, with the place of its object.
    pub(super) fn refused(&self) -> Vec<(usize, &'static str)> {
        self.process.slab().refused()
    }

    /// Calls that came close to the timeout so far.
    pub(super) fn near(&self) -> u64 {
        self.process.slab().near()
    }

    /// Does a piece of work, as long as `go_on` says so; `task` goes along when the worker has not seen it.
    pub(super) fn ask(
        &mut self,
        selection: &Selection,
        work: &Work,
        task: Option<&Task>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Reply, Lost> {
        let hot = selection.builds.iter().zip(&selection.cautious).filter(|(_, cautious)| !**cautious);
        self.ran_hot.extend(hot.map(|(&object, _)| (selection.function, object)));
        self.exchange(selection, work, task, go_on).map_err(|gone| match gone {
            Gone::Stopped => Lost::Stopped,
            Gone::Garbled => Lost::Garbled,
            Gone::Died => Lost::Died(self.death()),
        })
    }

    fn exchange(
        &mut self,
        selection: &Selection,
        work: &Work,
        task: Option<&Task>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Reply, Gone> {
        if let (Work::Unit { job, .. }, Some(task)) = (work, task)
            && self.tasks.insert(*job)
        {
            self.process.send(&Request::Task { job: *job, task: Box::new(task.clone()) })?;
        }
        self.process.send(&Request::Work { selection: Box::new(selection.clone()), work: work.clone() })?;
        let report: Report = self.process.receive(work.longest_reply(selection), &mut |_| go_on())?;
        match report.adds_up(work, task, selection) {
            true => Ok(report.reply),
            false => Err(Gone::Garbled),
        }
    }

    /// Waits for the watcher's word and reads what the worker was doing.
    fn death(&mut self) -> Death {
        // Its pipes close a little before its watcher has seen it end.
        self.process.await_end(Duration::from_secs(1));
        self.process.end();
        let slab = self.process.slab();
        let end = slab.end();
        match (end, slab.phase()) {
            (Some(_), Phase::Call(object)) => Death { end, object: Some(object), input: slab.input() },
            (Some(_), Phase::Load(object)) => Death { end, object: Some(object), input: None },
            _ => Death { end, object: None, input: None },
        }
    }
}
