//! The near end of cautious mode: hands batches to a helper process and reads outcomes back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::helper::{HelperReply, Run};
use super::process::{Gone, Process};
use super::quarters::Quarters;
use super::slab::{CAPACITY, Slab};
use super::states::{End, unconfined};
use super::watch::{LOAD_CPU, LOAD_WALL, blocked_limit};
use super::{EvalError, LoadPlan};
use crate::model::Outcomes;

/// How long loading may take, whatever the process that does it says of itself.
const LOAD_PATIENCE: Duration = Duration::from_secs(300);

/// The longest thing that a helper says: a few numbers, or why an object cannot be loaded.
const LONGEST_REPLY: usize = 1 << 20;

/// Called while waiting; false gives up.
pub(crate) type GoOn<'a> = &'a mut dyn FnMut() -> bool;

/// Which function to run on the inputs of a call, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub function: usize,
    pub arity: usize,
    /// Values that a call gives.
    pub width: usize,
    /// Every input in a fork of its own.
    pub alone: bool,
    /// Where nothing has run before: what follows from here has no other history.
    pub fresh: bool,
    /// CPU time one call may take.
    pub timeout: Duration,
}

/// What a call cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strain {
    /// Calls that came close to the timeout.
    pub near: u64,
    /// CPU time of batches that ran to their end.
    pub cpu: Duration,
}

/// A helper process with one build loaded.
pub(crate) struct Helper {
    process: Process,
    plan: LoadPlan,
    /// What it ran since it was last made tidy.
    used: Option<Run>,
}

impl Helper {
    pub(crate) fn start(quarters: &Quarters, plan: &LoadPlan, go_on: GoOn<'_>) -> Result<Helper, EvalError> {
        let process = Process::spawn(quarters, "__helper").map_err(|e| EvalError::Helper {
            build: plan.build.to_string(),
            reason: format!("failed to start {}: {e}", quarters.program.display()),
        })?;
        let mut helper = Helper { process, plan: plan.clone(), used: None };
        let loaded = helper.load(go_on);
        helper.tell(quarters);
        loaded.map(|()| helper)
    }

    /// Passes on what its code was refused.
    fn tell(&self, quarters: &Quarters) {
        quarters.hear(std::slice::from_ref(&self.plan), self.process.slab().refused());
    }

    fn load(&mut self, go_on: GoOn<'_>) -> Result<(), EvalError> {
        let name = self.plan.object.file_name();
        // A constructor that does not end is ended by the process that watches the helper, unless it pretends to be done.
        let sent = self.process.send(&self.plan.object);
        let (begun, mut late) = (Instant::now(), false);
        let mut wait = |_: &Slab| {
            late = begun.elapsed() > LOAD_PATIENCE;
            !late && go_on()
        };
        let reply = sent.and_then(|()| self.process.receive::<HelperReply>(LONGEST_REPLY, &mut wait));
        let reason = match reply {
            Ok(Ok(_)) => return Ok(()),
            // The helper's words are those of `EvalError::Load`, name included.
            Ok(Err(words)) => {
                words.strip_prefix(&format!("failed to load the object {name}: ")).unwrap_or(&words).into()
            }
            Err(Gone::Stopped) if late => {
                self.process.kill();
                format!("it did not finish within {} s", LOAD_PATIENCE.as_secs())
            }
            Err(Gone::Stopped) => return Err(EvalError::Stopped),
            Err(Gone::Garbled) => "its code wrote to the pipe of the process that loaded it".into(),
            Err(Gone::Died) => {
                self.process.end();
                match self.process.slab().end() {
                    Some(End::Timeout) => {
                        let [cpu, wall] = [LOAD_CPU, LOAD_WALL].map(|limit| limit.as_secs());
                        format!("it did not finish within {cpu} s of CPU time, or {wall} s asleep")
                    }
                    Some(End::Unconfined(number)) => unconfined(number),
                    _ => format!("the process that loaded it ended with {}", self.process.status()),
                }
            }
        };
        Err(EvalError::Load { name, reason })
    }

    /// Runs inputs and appends their outcomes. Returns how many calls came close to the timeout.
    pub(crate) fn run(
        &mut self,
        call: Call,
        inputs: &[u64],
        out: &mut Outcomes,
        go_on: GoOn<'_>,
    ) -> Result<Strain, EvalError> {
        let (near, spent) = (self.process.slab().near(), self.process.slab().spent());
        self.process.slab().set_timeout(call.timeout);
        let mut first = true;
        for chunk in inputs.chunks(CAPACITY * call.arity.max(1)) {
            let count = chunk.len() / call.arity.max(1);
            let slab = self.process.slab();
            slab.put_inputs(call.arity, chunk);
            let Call { function, arity, width, alone, .. } = call;
            let run = Run { function, arity, width, count, alone, fresh: call.fresh && first };
            first = false;
            self.used = Some(run);
            let patience = 25 * blocked_limit(call.timeout);
            match self.ask(run, patience, go_on) {
                Ok(Ok(ran)) if ran == count => {}
                Ok(Ok(ran)) => return Err(self.broken(format!("it ran {ran} of {count} inputs"))),
                Ok(Err(reason)) => return Err(self.broken(reason)),
                Err(Gone::Stopped) => return Err(EvalError::Stopped),
                Err(Gone::Garbled) => {
                    return Err(self.broken("code under test wrote to its reply pipe".into()));
                }
                Err(Gone::Died) => {
                    self.process.end();
                    let status = self.process.status();
                    return Err(self.broken(format!("it ended with {status}")));
                }
            }
            self.process.slab().read_outcomes(count, out);
        }
        let slab = self.process.slab();
        Ok(Strain { near: slab.near().saturating_sub(near), cpu: slab.spent().saturating_sub(spent) })
    }

    /// Removes what its code left in its folder; false when it does not answer.
    fn tidy(&mut self, go_on: GoOn<'_>) -> bool {
        let Some(run) = self.used.take() else { return true };
        let nothing = Run { count: 0, fresh: true, ..run };
        matches!(self.ask(nothing, LOAD_PATIENCE, go_on), Ok(Ok(0)))
    }

    fn ask(&mut self, run: Run, patience: Duration, go_on: GoOn<'_>) -> Result<HelperReply, Gone> {
        self.process.send(&run)?;
        let mut seen = (0, Instant::now());
        let mut stuck = false;
        let reply = self.process.receive(LONGEST_REPLY, &mut |slab: &Slab| {
            if slab.sequence() != seen.0 {
                seen = (slab.sequence(), Instant::now());
            }
            stuck = seen.1.elapsed() > patience;
            !stuck && go_on()
        });
        if stuck { Err(Gone::Died) } else { reply }
    }

    fn broken(&self, reason: String) -> EvalError {
        EvalError::Helper { build: self.plan.build.to_string(), reason }
    }
}

/// The helpers a process has started, by build; each is started when it is first needed.
pub(crate) struct Helpers {
    quarters: Quarters,
    running: BTreeMap<usize, Helper>,
}

impl Helpers {
    pub(crate) fn new(quarters: Quarters) -> Helpers {
        Helpers { quarters, running: BTreeMap::new() }
    }

    /// The processes that are helpers.
    pub(crate) fn pids(&self) -> Vec<Pid> {
        self.running.values().map(|helper| helper.process.pid()).collect()
    }

    /// Starts the helper of a build, unless it is there.
    pub(crate) fn start(&mut self, build: usize, plan: &LoadPlan, go_on: GoOn<'_>) -> Result<(), EvalError> {
        if !self.running.contains_key(&build) {
            self.running.insert(build, Helper::start(&self.quarters, plan, go_on)?);
        }
        Ok(())
    }

    /// Removes what code under test left in the folders of helpers; one that does not do so ends.
    pub(crate) fn tidy(&mut self, go_on: GoOn<'_>) {
        self.running.retain(|_, helper| helper.tidy(go_on));
    }

    /// As `Helper::run`; a helper that breaks is replaced once.
    pub(crate) fn run(
        &mut self,
        (build, plan): (usize, &LoadPlan),
        call: Call,
        inputs: &[u64],
        out: &mut Outcomes,
        go_on: GoOn<'_>,
    ) -> Result<Strain, EvalError> {
        let mut result = Err(EvalError::Stopped);
        for _ in 0..2 {
            self.start(build, plan, go_on)?;
            let Some(helper) = self.running.get_mut(&build) else { break };
            let before = out.len();
            result = helper.run(call, inputs, out, go_on);
            helper.tell(&self.quarters);
            if !matches!(result, Err(EvalError::Helper { .. })) {
                break;
            }
            out.truncate(before);
            self.running.remove(&build);
        }
        result
    }
}
