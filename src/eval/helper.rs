//! The far end of cautious mode: a process that loads one object and forks for every batch.
//!
//! A fork that dies or is killed names one input; the next fork goes on behind it, from a process
//! that has never made a call.

use std::os::fd::AsRawFd;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::frame::{read_frame, write_frame};
use super::guard::{Batch, Shim};
use super::object::Object;
use super::process::{cpu_time, end_descendants};
use super::relay;
use super::settle::{Forked, Settled, fork, leave, settle, volunteer_for_oom};
use super::slab::{CAPACITY, End, Phase};
use super::watch::{Rules, watch};
use crate::model::{BuiltObject, ControlWords, FaultKind};

/// The inputs in the slab, to be run. The first message is the `BuiltObject` to load.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub function: usize,
    pub arity: usize,
    pub count: usize,
    /// Every input in a fork of its own.
    pub alone: bool,
}

/// The answer to a `Run`, and to loading: done, or why not.
pub(crate) type HelperReply = Result<(), String>;

/// Runs the helper until it is let go. The subcommand `__helper`.
pub fn helper_main() -> ExitCode {
    let Ok(mut settled) = settle() else { return ExitCode::FAILURE };
    volunteer_for_oom();
    serve(&mut settled);
    end_descendants();
    // Leaving skips destructors, and with them those of the object under test.
    let _ = std::fs::remove_dir_all(&settled.room);
    leave(0)
}

/// Answers requests; None when the other side is gone.
fn serve(settled: &mut Settled) -> Option<()> {
    let object: BuiltObject = read_frame(&mut settled.requests).ok()??;
    if let Some(plan) = &object.runner {
        return relay::serve(settled, &object, plan);
    }
    settled.slab.set_phase(Phase::Load(0));
    let loaded = Object::load(&object).map_err(|e| e.to_string());
    settled.slab.set_phase(Phase::Idle);
    let reply: HelperReply = loaded.as_ref().map(|_| ()).map_err(Clone::clone);
    answer(settled, &reply)?;
    let loaded = loaded.ok()?;
    while let Some(run) = read_frame::<Run>(&mut settled.requests).ok()? {
        let reply: HelperReply = match loaded.shim(run.function) {
            Ok(shim) => Batches { shim, control: object.control, run }.all(settled)?,
            Err(error) => Err(error.to_string()),
        };
        answer(settled, &reply)?;
    }
    None
}

/// Sends a reply; None when nobody is there to read it. SIGPIPE has its default action for the sake
/// of code under test, and would end this process before it has cleaned up.
fn answer(settled: &mut Settled, reply: &HelperReply) -> Option<()> {
    // SAFETY: sets a disposition; this process has one thread.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let sent = write_frame(&mut settled.replies, reply);
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    sent.ok()
}

/// One request, as far as it is done.
struct Batches {
    shim: Shim,
    control: ControlWords,
    run: Run,
}

impl Batches {
    /// Runs every input; None when nobody waits for the answer any more.
    fn all(&self, settled: &Settled) -> Option<HelperReply> {
        let count = self.run.count.min(CAPACITY);
        let rules = Rules::cautious(settled.slab.timeout(), settled.slab.near_limit());
        for index in 0..count {
            settled.slab.set_fault(index, None);
        }
        let mut begin = 0;
        while begin < count {
            let end = if self.run.alone { begin + 1 } else { count };
            // SAFETY: this process starts no threads.
            let pid = match unsafe { fork() } {
                Ok(Forked::Child) => self.child(settled, begin, end),
                Ok(Forked::Parent(pid)) => pid,
                Err(error) => return Some(Err(format!("fork: {error}"))),
            };
            let ending = watch(pid, &settled.slab, std::os::fd::AsFd::as_fd(&settled.leash), rules);
            end_descendants();
            begin = match self.judge(settled, ending, begin, end)? {
                None => end,
                Some((index, kind)) => {
                    settled.slab.set_fault(index, Some(kind));
                    index + 1
                }
            };
        }
        Some(Ok(()))
    }

    fn child(&self, settled: &Settled, begin: usize, end: usize) -> ! {
        settled.slab.set_phase(Phase::Busy);
        // Code under test that writes to whatever is open must not reach this helper's pipes.
        for fd in [settled.requests.as_raw_fd(), settled.replies.as_raw_fd(), settled.leash.as_raw_fd()] {
            // SAFETY: this fork uses none of them, and leaves without closing anything.
            unsafe { libc::close(fd) };
        }
        let batch = Batch {
            shim: self.shim,
            phase: Phase::Call(0),
            control: self.control,
            arity: self.run.arity,
            begin,
            end,
        };
        let begun = cpu_time();
        // SAFETY: the shim is of this arity by the request, and this fork is there to be ruined.
        unsafe { batch.run(&settled.slab) };
        settled.slab.add_spent(cpu_time().saturating_sub(begun));
        settled.slab.set_phase(Phase::Idle);
        leave(0)
    }

    /// The input a fork stopped at and why; None inside when it ran to its end.
    fn judge(
        &self,
        settled: &Settled,
        ending: End,
        begin: usize,
        end: usize,
    ) -> Option<Option<(usize, FaultKind)>> {
        if ending == End::Released {
            return None;
        }
        let phase = settled.slab.phase();
        settled.slab.set_phase(Phase::Idle);
        if phase == Phase::Idle {
            return Some(None);
        }
        // A page that was overwritten can name anything; the first input is then the best guess,
        // and going on behind it always comes to an end.
        let index = if (begin..end).contains(&settled.slab.index()) { settled.slab.index() } else { begin };
        Some(Some((index, ending.fault())))
    }
}
