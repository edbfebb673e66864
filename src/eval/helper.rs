//! The far end of cautious mode: a process that loads one object and forks to run batches.
//!
//! A fork that dies or is killed names one input; the next fork goes on behind it, from a process
//! that has never made a call.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::frame::{read_frame, write_frame};
use super::guard::Shim;
use super::leftovers::Leftovers;
use super::object::Object;
use super::offspring::{Offspring, Ran, Stretch};
use super::process::end_descendants;
use super::relay;
use super::settle::{Settled, close, go_on_watched, leave, settle};
use super::slab::CAPACITY;
use super::states::Phase;
use super::token::Token;
use super::watch::Rules;
use crate::model::{BuiltObject, ControlWords};

/// The inputs in the slab, to be run. The first message is the `BuiltObject` to load.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub function: usize,
    pub arity: usize,
    pub width: usize,
    pub count: usize,
    /// Every input in a fork of its own.
    pub alone: bool,
    /// In a fork that has run nothing before.
    pub fresh: bool,
}

/// The answer to a `Run`, and to loading: how many inputs were run, or why none.
pub(crate) type HelperReply = Result<usize, String>;

/// Runs the helper until it is let go. The subcommand `__helper`.
pub fn helper_main() -> ExitCode {
    let settled = settle().and_then(|settled| go_on_watched(settled, Rules::loading()));
    let Ok(mut settled) = settled else { return ExitCode::FAILURE };
    serve(&mut settled);
    end_descendants();
    // Leaving skips destructors, and with them those of the object under test.
    leave(0)
}

/// Answers requests; None when the other side is gone.
fn serve(settled: &mut Settled) -> Option<()> {
    let (token, object): (Token, BuiltObject) = read_frame(&mut settled.requests).ok()??;
    let emulated = object.runner.as_ref().is_some_and(|plan| !plan.command.is_empty());
    if let Err(error) = close(settled, emulated) {
        let reply: HelperReply = Err(format!("it cannot be confined: {error}"));
        return answer(settled, token, &reply);
    }
    if let Some(plan) = &object.runner {
        return relay::serve(settled, token, &object, plan);
    }
    settled.slab.set_phase(Phase::Load(0));
    let mut leftovers = Leftovers::new(settled.sandbox.rooms(&settled.room));
    let load = || Object::load(&object, settled.copies()).map_err(|e| e.to_string());
    let loaded = leftovers.keep_of(load);
    settled.slab.set_phase(Phase::Idle);
    let reply: HelperReply = loaded.as_ref().map(|_| 0).map_err(Clone::clone);
    answer(settled, token, &reply)?;
    let loaded = loaded.ok()?;
    let mut nest = Nest::default();
    while let Some((token, run)) = read_frame::<(Token, Run)>(&mut settled.requests).ok()? {
        if run.fresh {
            leftovers.remove();
        }
        let reply: HelperReply = match loaded.shim(run.function) {
            Ok(shim) => nest.run(settled, shim, object.control, run)?,
            Err(error) => Err(error.to_string()),
        };
        answer(settled, token, &reply)?;
    }
    None
}

/// Sends a reply; None when nobody is there to read it. SIGPIPE has its default action for the sake
/// of code under test, and would end this process before it has cleaned up.
fn answer(settled: &mut Settled, token: Token, reply: &HelperReply) -> Option<()> {
    // SAFETY: sets a disposition; this process has one thread.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let sent = write_frame(&mut settled.replies, &(token, reply));
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    sent.ok()
}

/// The fork that runs batches, when there is one.
#[derive(Default)]
struct Nest {
    offspring: Option<Offspring>,
}

impl Nest {
    /// Runs every input of a request; None when nobody waits for the answer any more.
    fn run(&mut self, settled: &Settled, shim: Shim, control: ControlWords, run: Run) -> Option<HelperReply> {
        let count = run.count.min(CAPACITY);
        let rules = Rules::cautious(settled.slab.timeout(), settled.slab.near_limit());
        for index in 0..count {
            settled.slab.set_fault(index, None);
        }
        if run.fresh {
            self.clear();
        }
        let mut begin = 0;
        while begin < count {
            let end = if run.alone { begin + 1 } else { count };
            if run.alone {
                self.clear();
            }
            let offspring = match self.offspring.take() {
                Some(offspring) => offspring,
                None => match Offspring::fork(settled, control) {
                    Ok(offspring) => offspring,
                    Err(error) => return Some(Err(format!("fork: {error}"))),
                },
            };
            let used = offspring.used;
            match offspring.run(
                settled,
                Stretch { shim, arity: run.arity, width: run.width, begin, end },
                rules,
            ) {
                Ran::Released => return None,
                Ran::ToItsEnd(alive) => {
                    begin = end;
                    self.offspring = alive;
                }
                // It died between two batches: of what came before, which was answered.
                Ran::Broke { in_call: false, .. } if used => {}
                Ran::Broke { end: ending, .. } => {
                    // A page that was overwritten can name anything; the first input is then the best
                    // guess, and going on behind it always comes to an end.
                    let index = settled.slab.index();
                    let index = if (begin..end).contains(&index) { index } else { begin };
                    settled.slab.set_fault(index, Some(ending.fault()));
                    begin = index + 1;
                }
            }
        }
        Some(Ok(count))
    }

    fn clear(&mut self) {
        if let Some(offspring) = self.offspring.take() {
            offspring.end();
        }
    }
}
