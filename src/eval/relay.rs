//! The helper of a build that is a program of its own: keeps its runner fed, replaces it when it
//! dies, hangs or answers noise, and narrows such a loss down to the one input that caused it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::frame::{read_frame, write_frame};
use super::helper::{HelperReply, Run};
use super::runner::{Errand, Lost, Runner};
use super::settle::Settled;
use super::slab::{CAPACITY, decode_fault};
use super::words::{Done, Mode};
use crate::model::{BuiltObject, FaultKind, MAX_PARAMS, RunnerPlan};

/// Emulated code takes up to about twenty times as long as native code, and most calls are far from
/// the timeout.
const EMULATED: u32 = 8;

struct Relay<'a> {
    settled: &'a Settled,
    plan: &'a RunnerPlan,
    /// This process's copy of the program.
    program: PathBuf,
    runner: Option<Runner>,
    /// Functions that have cost a runner: their calls are made in forks from then on.
    wary: BTreeSet<usize>,
}

/// Answers requests about one build; None when the other side is gone.
pub(super) fn serve(settled: &mut Settled, object: &BuiltObject, plan: &RunnerPlan) -> Option<()> {
    // No code under test runs in this process, and a runner that dies must not end it.
    // SAFETY: sets a disposition; this process has one thread.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let program = settled.room.join("runner");
    let mut requests = settled.requests.try_clone().ok()?;
    let mut replies = settled.replies.try_clone().ok()?;
    let copied = copy_program(object, &program).map_err(|e| Lost::Refused(e.to_string()));
    let mut relay = Relay { settled, plan, program, runner: None, wary: BTreeSet::new() };
    let reply: HelperReply = match copied.and_then(|()| relay.start()) {
        Ok(()) => Ok(()),
        Err(Lost::Released) => return None,
        Err(lost) => Err(in_words(lost)),
    };
    write_frame(&mut replies, &reply).ok()?;
    reply.ok()?;
    while let Some(run) = read_frame::<Run>(&mut requests).ok()? {
        let reply = relay.answer(run)?;
        write_frame(&mut replies, &reply).ok()?;
    }
    None
}

/// Why there is no runner.
fn in_words(lost: Lost) -> String {
    match lost {
        Lost::Refused(reason) => reason,
        Lost::Died(kind) => format!("its runner ended with {kind} before it was ready"),
        Lost::Hung | Lost::Released => "its runner did not answer".into(),
        Lost::Garbled => "its runner answered something that is no message".into(),
    }
}

fn copy_program(object: &BuiltObject, to: &Path) -> io::Result<()> {
    fs::copy(&object.path, to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o700))
}

impl Relay<'_> {
    fn start(&mut self) -> Result<(), Lost> {
        let Settled { slab, leash, .. } = self.settled;
        self.runner = Some(Runner::start(&self.program, self.plan, slab.memory_mb(), leash.as_fd())?);
        Ok(())
    }

    fn timeout(&self) -> Duration {
        let factor = if self.plan.command.is_empty() { 1 } else { EMULATED };
        self.settled.slab.timeout() * factor
    }

    /// Runs a request; None when nobody waits for the answer any more.
    fn answer(&mut self, run: Run) -> Option<HelperReply> {
        let count = run.count.min(CAPACITY);
        if !(1..=MAX_PARAMS).contains(&run.arity) {
            return Some(Err(format!("a request of {} parameters", run.arity)));
        }
        let inputs = self.settled.slab.inputs(count * run.arity);
        (0..count).for_each(|index| self.settled.slab.set_fault(index, None));
        let hot = !run.alone && !self.wary.contains(&run.function);
        if hot {
            match self.attempt(&run, Mode::Hot, &inputs, 0..count) {
                Ok(()) => return Some(Ok(())),
                Err(Lost::Released) => return None,
                Err(Lost::Refused(reason)) => return Some(Err(reason)),
                Err(_) => {
                    self.wary.insert(run.function);
                }
            }
        }
        let mode = if run.alone { Mode::Alone } else { Mode::Fork };
        self.narrow(&run, mode, &inputs, 0..count)
    }

    /// Runs a stretch of inputs in forks, in ever smaller parts when that costs the runner itself.
    fn narrow(&mut self, run: &Run, mode: Mode, inputs: &[u64], range: Range<usize>) -> Option<HelperReply> {
        let lost = match self.attempt(run, mode, inputs, range.clone()) {
            Ok(()) => return Some(Ok(())),
            Err(Lost::Released) => return None,
            Err(Lost::Refused(reason)) => return Some(Err(reason)),
            Err(lost) => lost,
        };
        if range.len() <= 1 {
            let fault = match lost {
                Lost::Died(kind) => kind,
                Lost::Hung => FaultKind::Timeout,
                _ => FaultKind::Garbled,
            };
            range.for_each(|index| self.settled.slab.set_fault(index, Some(fault)));
            return Some(Ok(()));
        }
        let middle = range.start + range.len() / 2;
        match self.narrow(run, mode, inputs, range.start..middle)? {
            Ok(()) => self.narrow(run, mode, inputs, middle..range.end),
            error => Some(error),
        }
    }

    /// Runs a stretch of inputs and puts outcomes into the slab. A runner that is lost is gone.
    fn attempt(&mut self, run: &Run, mode: Mode, inputs: &[u64], range: Range<usize>) -> Result<(), Lost> {
        let timeout = self.timeout();
        if self.runner.as_ref().is_none_or(|runner| mode != Mode::Hot && runner.used) {
            self.runner = None;
            self.start()?;
        }
        let Some(runner) = &mut self.runner else { return Err(Lost::Garbled) };
        let inputs = &inputs[range.start * run.arity..range.end * run.arity];
        let errand = Errand { function: run.function, arity: run.arity, mode, inputs, timeout };
        let slab = &self.settled.slab;
        match runner.run(&errand, self.settled.leash.as_fd(), &mut || slab.beat()) {
            Ok(done) => {
                self.store(&done, range);
                Ok(())
            }
            Err(lost) => {
                self.runner = None;
                Err(lost)
            }
        }
    }

    fn store(&self, done: &Done, range: Range<usize>) {
        let slab = &self.settled.slab;
        slab.add_near(done.near);
        slab.add_spent(Duration::from_nanos(done.spent_ns));
        for (i, index) in range.enumerate() {
            slab.set_value(index, done.values[i]);
            slab.set_fault(index, done.statuses.get(i).and_then(|&word| decode_fault(word)));
        }
    }
}
