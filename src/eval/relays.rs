//! The relays of a worker, by build: each is started when it is first needed, in the worker itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::cautious::{Call, Strain};
use super::relay::{Relay, in_words};
use super::runner::{Lost, Wire};
use super::{CallLimits, EvalError, LoadPlan};
use crate::model::{Outcomes, RunnerPlan};

pub(super) struct Relays {
    /// Where the copies of programs go.
    room: PathBuf,
    limits: CallLimits,
    running: BTreeMap<usize, Relay>,
    /// By build: the function that was asked last.
    last: BTreeMap<usize, usize>,
}

impl Relays {
    pub(super) fn new(room: &Path, limits: CallLimits) -> Relays {
        Relays { room: room.into(), limits, running: BTreeMap::new(), last: BTreeMap::new() }
    }

    /// The processes that are runners.
    pub(super) fn pids(&self) -> Vec<Pid> {
        self.running.values().filter_map(Relay::pid).collect()
    }

    /// Runs inputs on a build's runner and appends their outcomes.
    pub(super) fn run(
        &mut self,
        (build, plan, runner): (usize, &LoadPlan, &RunnerPlan),
        call: Call,
        inputs: &[u64],
        out: &mut Outcomes,
        beat: &mut dyn FnMut(),
    ) -> Result<Strain, EvalError> {
        // A runner that is gone must not take this process along. Code under test, which should meet the
        // default, does not run meanwhile.
        // SAFETY: sets a disposition; this process has one thread.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        let result = self.ask((build, plan, runner), call, inputs, out, &mut Wire { leash: None, beat });
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        result
    }

    fn ask(
        &mut self,
        (build, plan, runner): (usize, &LoadPlan, &RunnerPlan),
        call: Call,
        inputs: &[u64],
        out: &mut Outcomes,
        wire: &mut Wire<'_>,
    ) -> Result<Strain, EvalError> {
        let broken = |lost: Lost| EvalError::Helper { build: plan.build.to_string(), reason: in_words(lost) };
        // Starting a program, perhaps on an emulator, takes as long as many calls: once for each function is enough
        // that none meets what another left behind.
        let is_other = self.last.insert(build, call.function) != Some(call.function);
        let call = Call { fresh: call.fresh && is_other, ..call };
        let mut result = Err(EvalError::Stopped);
        // A relay that breaks is replaced once.
        for _ in 0..2 {
            if !self.running.contains_key(&build) {
                let program = self.room.join(format!("runner-{build}"));
                let relay = Relay::start(&plan.object, runner, program, self.limits.memory_mb, wire);
                let path = plan.object.path.display().to_string();
                let relay = relay.map_err(|lost| EvalError::Load { path, reason: in_words(lost) })?;
                self.running.insert(build, relay);
            }
            let Some(relay) = self.running.get_mut(&build) else { break };
            result = relay.run(call, inputs, out, wire).map_err(broken);
            if result.is_ok() {
                break;
            }
            self.running.remove(&build);
        }
        result
    }
}
