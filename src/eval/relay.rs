//! Keeps the runner of one build fed: starts it, replaces it when it dies, hangs or answers noise, and
//! narrows such a loss down to the one input that caused it. A worker has its relays itself, so that a
//! batch wakes one process and no more; the coordinator, which must not be held up, has helpers for that.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;

use super::cautious::{Call, Strain};
use super::frame::{read_frame, write_frame};
use super::helper::{HelperReply, Run};
use super::runner::{Errand, Lost, Runner, Wire};
use super::settle::Settled;
use super::slab::{CAPACITY, Slab};
use super::states::decode_fault;
use super::token::Token;
use super::words::{Done, Mode};
use crate::model::{BuiltObject, FaultKind, MAX_COORDINATES, MAX_RESULTS, Outcomes, RunnerPlan};

/// Emulated code takes up to about twenty times as long as native code, and most calls are far from
/// the timeout.
const EMULATED: u32 = 8;

/// Silent runners of one request that are narrowed down: as many as lead to one input of a full batch, and a
/// few. Each costs seconds, so a runner that falls silent all the time takes the rest of its batch with it.
const MOST_SILENT: u32 = 16;

/// A runner, or the means to start one.
pub(super) struct Relay {
    plan: RunnerPlan,
    /// This process's copy of the program.
    program: PathBuf,
    memory_mb: u64,
    runner: Option<Runner>,
    /// Functions that have cost a runner: their calls are made in forks from then on.
    wary: BTreeSet<usize>,
}

/// What came of a batch.
struct Gathered {
    outcomes: Outcomes,
    /// Runners that fell silent.
    silent: u32,
    strain: Strain,
}

impl Relay {
    /// Copies the program to `program` and starts it.
    pub(super) fn start(
        object: &BuiltObject,
        plan: &RunnerPlan,
        program: PathBuf,
        memory_mb: u64,
        wire: &mut Wire<'_>,
    ) -> Result<Relay, Lost> {
        copy_program(object, &program).map_err(|e| Lost::Refused(e.to_string()))?;
        let mut relay = Relay { plan: plan.clone(), program, memory_mb, runner: None, wary: BTreeSet::new() };
        relay.restart(wire)?;
        Ok(relay)
    }

    fn restart(&mut self, wire: &mut Wire<'_>) -> Result<(), Lost> {
        self.runner = None;
        self.runner = Some(Runner::start(&self.program, &self.plan, self.memory_mb, wire)?);
        Ok(())
    }

    /// The runner's process.
    pub(super) fn pid(&self) -> Option<Pid> {
        self.runner.as_ref().map(Runner::pid)
    }

    /// Runs inputs and appends their outcomes. What is lost is an outcome, unless nobody waits for it any
    /// more or there is no runner to be had.
    pub(super) fn run(
        &mut self,
        call: Call,
        inputs: &[u64],
        out: &mut Outcomes,
        wire: &mut Wire<'_>,
    ) -> Result<Strain, Lost> {
        let Call { arity, width, .. } = call;
        if !(1..=MAX_COORDINATES).contains(&arity) || !(1..=MAX_RESULTS).contains(&width) {
            return Err(Lost::Refused(format!("a request of {arity} words in and {width} out")));
        }
        if call.fresh && self.runner.as_ref().is_some_and(|runner| runner.used) {
            self.restart(wire)?;
        }
        let strain = Strain::default();
        let mut gathered = Gathered { outcomes: Outcomes::new(width), silent: 0, strain };
        for chunk in inputs.chunks(CAPACITY * arity) {
            self.run_batch(call, chunk, &mut gathered, wire)?;
        }
        out.append(&mut gathered.outcomes);
        Ok(gathered.strain)
    }

    fn run_batch(
        &mut self,
        call: Call,
        inputs: &[u64],
        gathered: &mut Gathered,
        wire: &mut Wire<'_>,
    ) -> Result<(), Lost> {
        let all = 0..inputs.len() / call.arity;
        if !call.alone && !self.wary.contains(&call.function) {
            match self.attempt(call, Mode::Hot, inputs, all.clone(), gathered, wire) {
                Err(Lost::Died(_) | Lost::Hung | Lost::Garbled) => {
                    self.wary.insert(call.function);
                }
                done => return done,
            }
        }
        let mode = if call.alone { Mode::Alone } else { Mode::Fork };
        self.narrow(call, mode, inputs, all, gathered, wire)
    }

    /// Runs a stretch of inputs in forks, in ever smaller parts when that costs the runner itself.
    fn narrow(
        &mut self,
        call: Call,
        mode: Mode,
        inputs: &[u64],
        range: Range<usize>,
        gathered: &mut Gathered,
        wire: &mut Wire<'_>,
    ) -> Result<(), Lost> {
        let fault = match self.attempt(call, mode, inputs, range.clone(), gathered, wire) {
            Err(Lost::Died(kind)) => kind,
            Err(Lost::Hung) => FaultKind::Timeout,
            Err(Lost::Garbled) => FaultKind::Garbled,
            done => return done,
        };
        gathered.silent += u32::from(fault == FaultKind::Timeout);
        if range.len() <= 1 || gathered.silent > MOST_SILENT {
            range.for_each(|_| gathered.outcomes.push_fault(fault));
            return Ok(());
        }
        let middle = range.start + range.len() / 2;
        self.narrow(call, mode, inputs, range.start..middle, gathered, wire)?;
        self.narrow(call, mode, inputs, middle..range.end, gathered, wire)
    }

    /// Runs a stretch of inputs. A runner that is lost is gone, and nothing is gathered.
    fn attempt(
        &mut self,
        call: Call,
        mode: Mode,
        inputs: &[u64],
        range: Range<usize>,
        gathered: &mut Gathered,
        wire: &mut Wire<'_>,
    ) -> Result<(), Lost> {
        let factor = if self.plan.command.is_empty() { 1 } else { EMULATED };
        if self.runner.as_ref().is_none_or(|runner| mode != Mode::Hot && runner.used) {
            self.restart(wire)?;
        }
        let Some(runner) = &mut self.runner else { return Err(Lost::Garbled) };
        let inputs = &inputs[range.start * call.arity..range.end * call.arity];
        let Call { function, arity, width, timeout, .. } = call;
        let errand = Errand { function, arity, width, mode, inputs, timeout: timeout * factor };
        match runner.run(&errand, wire) {
            Ok(done) => {
                gathered.add(&done);
                Ok(())
            }
            Err(lost) => {
                self.runner = None;
                Err(lost)
            }
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // Each has a copy of its own, and a worker sees many.
        let _ = fs::remove_file(&self.program);
    }
}

impl Gathered {
    fn add(&mut self, done: &Done) {
        self.strain.near += done.near;
        self.strain.cpu += Duration::from_nanos(done.spent_ns);
        for (i, values) in done.values.chunks_exact(self.outcomes.width()).enumerate() {
            match done.statuses.get(i).and_then(|&word| decode_fault(word)) {
                None => self.outcomes.push_values(values.iter().copied()),
                Some(kind) => self.outcomes.push_fault(kind),
            }
        }
    }
}

fn copy_program(object: &BuiltObject, to: &PathBuf) -> io::Result<()> {
    let mut from = fs::File::open(&object.path)?;
    // Made as a program: in a sandbox it may not become one later.
    let mut copy = fs::File::options().write(true).create(true).truncate(true).mode(0o700).open(to)?;
    io::copy(&mut from, &mut copy).map(drop)
}

/// Why there is no runner.
pub(super) fn in_words(lost: Lost) -> String {
    match lost {
        Lost::Refused(reason) => reason,
        Lost::Died(kind) => format!("its runner ended with {kind} before it was ready"),
        Lost::Hung | Lost::Released => "its runner did not answer".into(),
        Lost::Garbled => "its runner answered something that is no message".into(),
    }
}

/// The helper of such a build: answers requests; None when the other side is gone.
pub(super) fn serve(
    settled: &mut Settled,
    token: Token,
    object: &BuiltObject,
    plan: &RunnerPlan,
) -> Option<()> {
    // No code under test runs in this process, and a runner that dies must not end it.
    // SAFETY: sets a disposition; this process has one thread.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let Settled { requests, replies, slab, leash, room, .. } = settled;
    let leash: BorrowedFd<'_> = leash.as_fd();
    let mut beat = || slab.beat();
    let mut wire = Wire { leash: Some(leash), beat: &mut beat };
    let mut relay = match Relay::start(object, plan, room.join("runner"), slab.memory_mb(), &mut wire) {
        Ok(relay) => relay,
        Err(Lost::Released) => return None,
        Err(lost) => {
            let reply: HelperReply = Err(in_words(lost));
            return write_frame(replies, &(token, reply)).ok();
        }
    };
    let ready: HelperReply = Ok(0);
    write_frame(replies, &(token, ready)).ok()?;
    while let Some((token, run)) = read_frame::<(Token, Run)>(requests).ok()? {
        let reply: HelperReply = match answer(&mut relay, run, slab, &mut wire) {
            Ok(ran) => Ok(ran),
            Err(Lost::Released) => return None,
            Err(lost) => Err(in_words(lost)),
        };
        write_frame(replies, &(token, reply)).ok()?;
    }
    None
}

/// Runs the inputs of a slab and puts their outcomes there; how many.
fn answer(relay: &mut Relay, run: Run, slab: &Slab, wire: &mut Wire<'_>) -> Result<usize, Lost> {
    let Run { function, arity, width, alone, fresh, count } = run;
    let inputs = slab.inputs(count.min(CAPACITY) * arity.min(MAX_COORDINATES));
    let call = Call { function, arity, width, alone, fresh, timeout: slab.timeout() };
    let mut outcomes = Outcomes::new(width);
    let strain = relay.run(call, &inputs, &mut outcomes, wire)?;
    slab.add_near(strain.near);
    slab.add_spent(strain.cpu);
    outcomes.iter().enumerate().for_each(|(index, returned)| slab.set_outcome(index, returned));
    Ok(outcomes.len())
}
