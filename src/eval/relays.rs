//! The relays of a worker: each is started when it is first needed, in the worker itself, and asked about one function
//! of one build, so that no function meets what another left behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::cautious::{Call, Strain};
use super::relay::{Relay, in_words};
use super::runner::{Lost, Wire};
use super::{CallLimits, EvalError, LoadPlan};
use crate::model::{Outcomes, RunnerPlan};

/// Functions of a build whose runners are kept: units of several functions take turns in a worker, and starting a
/// program, perhaps on an emulator, takes as long as many calls.
const MOST_FUNCTIONS: usize = 4;

pub(super) struct Relays {
    /// Where the copies of programs go.
    room: PathBuf,
    limits: CallLimits,
    /// By build and function.
    running: BTreeMap<(usize, usize), Relay>,
    /// Those that run, the one that was asked last at the end.
    recent: Vec<(usize, usize)>,
}

impl Relays {
    pub(super) fn new(room: &Path, limits: CallLimits) -> Relays {
        Relays { room: room.into(), limits, running: BTreeMap::new(), recent: Vec::new() }
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
        let place = (build, call.function);
        self.leave_oldest(place);
        // Nothing but this function has run there.
        let call = Call { fresh: false, ..call };
        let mut result = Err(EvalError::Stopped);
        // A relay that breaks is replaced once.
        for _ in 0..2 {
            if !self.running.contains_key(&place) {
                let program = self.room.join(format!("runner-{build}-{}", call.function));
                let relay = Relay::start(&plan.object, runner, program, self.limits.memory_mb, wire);
                let name = plan.object.file_name();
                let relay = relay.map_err(|lost| EvalError::Load { name, reason: in_words(lost) })?;
                self.running.insert(place, relay);
            }
            let Some(relay) = self.running.get_mut(&place) else { break };
            result = relay.run(call, inputs, out, wire).map_err(broken);
            if result.is_ok() {
                break;
            }
            self.running.remove(&place);
        }
        result
    }

    /// Makes a function the last one asked, and lets the oldest of the build go when there are too many.
    fn leave_oldest(&mut self, place: (usize, usize)) {
        self.recent.retain(|known| *known != place);
        self.recent.push(place);
        let of_build = self.recent.iter().filter(|known| known.0 == place.0);
        if of_build.clone().count() > MOST_FUNCTIONS
            && let Some(&oldest) = of_build.clone().next()
        {
            self.running.remove(&oldest);
            self.recent.retain(|known| *known != oldest);
        }
    }
}
