//! Builds loaded side by side in this process: the hot path, and cautious builds through helpers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions};
use serde::{Deserialize, Serialize};

use super::cautious::{Call, Helpers};
use super::guard::{Batch, Shim};
use super::leftovers::Leftovers;
use super::object::Object;
use super::process::{children, cpu_time};
use super::quarters::Quarters;
use super::relays::Relays;
use super::settle::leave;
use super::slab::{CAPACITY, Slab};
use super::states::Phase;
use super::{CallLimits, EvalError, Evaluator, LoadPlan};
use crate::model::{MAX_COORDINATES, MAX_RESULTS, Outcomes};
use crate::sandbox::Sandbox;

/// The program that a process in a hidden role starts others from: itself, even when the file it
/// came from has been replaced since.
pub(crate) const THIS_PROGRAM: &str = "/proc/self/exe";

/// The exit code of a worker in which code under test left processes behind.
pub(crate) const STRAYS_EXIT: i32 = 97;

/// Looking costs a system call.
const CALLS_UNCHECKED: usize = 512;

/// The objects of a run as far as this process has loaded them. For a worker process only: hot
/// builds may end it at any call.
pub(crate) struct Host {
    plans: Vec<LoadPlan>,
    timeout: Duration,
    slab: Slab,
    /// Where copies of objects go, if not into memory.
    copies: Option<PathBuf>,
    loaded: Vec<Option<Object>>,
    helpers: Helpers,
    relays: Relays,
    leftovers: Leftovers,
    /// Calls made since the last look for processes that code under test left behind.
    unchecked: usize,
}

impl Host {
    /// A host in a process that has settled in a room, and is closed.
    pub(crate) fn new(plans: Vec<LoadPlan>, slab: Slab, room: &Path, sandbox: &Sandbox) -> Host {
        let copies = sandbox.has_scratch().then(|| room.to_path_buf());
        let limits = CallLimits { timeout: slab.timeout(), memory_mb: slab.memory_mb() };
        let quarters = Quarters::new(THIS_PROGRAM.into(), limits, sandbox.inner());
        Host {
            loaded: plans.iter().map(|_| None).collect(),
            helpers: Helpers::new(quarters),
            relays: Relays::new(room, limits),
            leftovers: Leftovers::new(sandbox.rooms(room)),
            copies,
            timeout: limits.timeout,
            unchecked: 0,
            plans,
            slab,
        }
    }

    pub(crate) fn slab(&self) -> &Slab {
        &self.slab
    }

    /// Whether code under test has left a process behind. One that every call leaves must not become
    /// thousands, so a host looks now and then, and a worker after every piece of work.
    pub(crate) fn has_strays(&mut self) -> bool {
        self.unchecked = 0;
        let known = self.known();
        if !known.is_empty() {
            return children().iter().any(|pid| !known.contains(pid));
        }
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(None) => return true,
                Ok(Some(_)) => {}
                Err(_) => return false,
            }
        }
    }

    /// The processes that this one has started itself.
    fn known(&self) -> Vec<Pid> {
        [self.helpers.pids(), self.relays.pids()].concat()
    }

    /// Leaves this process when code under test has left others behind; its watcher ends them.
    fn refuse_strays(&mut self, calls: usize) {
        self.unchecked += calls;
        if self.unchecked >= CALLS_UNCHECKED && self.known().is_empty() && self.has_strays() {
            leave(STRAYS_EXIT);
        }
    }

    /// Removes what code under test left in the folders of this process and of its helpers.
    fn tidy(&mut self) {
        self.leftovers.remove();
        let slab = &self.slab;
        self.helpers.tidy(&mut || {
            slab.beat();
            true
        });
    }

    fn load(&mut self, plan: usize) -> Result<Object, EvalError> {
        self.slab.set_phase(Phase::Load(plan));
        let (plans, copies) = (&self.plans, self.copies.as_deref());
        let object = self.leftovers.keep_of(|| Object::load(&plans[plan].object, copies));
        self.slab.set_phase(Phase::Busy);
        object
    }

    fn shim(&mut self, plan: usize, function: usize) -> Result<Shim, EvalError> {
        self.slab.set_asked(plan);
        if self.loaded[plan].is_none() {
            let object = match self.load(plan) {
                // Code that runs before may have filled the scratch folder.
                Err(error) if error.is_full_disk() => {
                    self.tidy();
                    self.load(plan)?
                }
                loaded => loaded?,
            };
            self.loaded[plan] = Some(object);
        }
        match &self.loaded[plan] {
            Some(object) => object.shim(function),
            None => Err(EvalError::Stopped),
        }
    }
}

/// Which function to evaluate, on which objects, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Selection {
    pub function: usize,
    pub arity: usize,
    /// Values that a call gives.
    pub width: usize,
    /// Index of each build's object in the plans of the host; the baseline first.
    pub builds: Vec<usize>,
    /// Which of them run in a helper.
    pub cautious: Vec<bool>,
}

/// Evaluates one function on the objects of a host.
pub(crate) struct Native<'h> {
    host: &'h mut Host,
    selection: Selection,
    /// Entry points of hot builds, as far as they were needed.
    shims: Vec<Option<Shim>>,
    /// Builds whose helper has not been asked yet.
    fresh: Vec<bool>,
    /// CPU time of this process when work began, and that of calls in helpers.
    begun: Duration,
    elsewhere: Duration,
    /// Inputs evaluated so far, on any build.
    calls: u64,
    /// When it is late.
    until: Option<Instant>,
}

impl<'h> Native<'h> {
    pub(crate) fn new(host: &'h mut Host, selection: Selection) -> Result<Native<'h>, EvalError> {
        let known = host.plans.len();
        let valid = selection.builds.iter().all(|&plan| plan < known)
            && selection.cautious.len() == selection.builds.len()
            && (1..=MAX_COORDINATES).contains(&selection.arity)
            && (1..=MAX_RESULTS).contains(&selection.width);
        if !valid {
            let reason = format!("a request that makes no sense: {selection:?}");
            return Err(EvalError::Helper { build: String::new(), reason });
        }
        host.tidy();
        let (shims, fresh) = (vec![None; selection.builds.len()], vec![true; selection.builds.len()]);
        let (begun, elsewhere) = (cpu_time(), Duration::ZERO);
        Ok(Native { host, selection, shims, fresh, begun, elsewhere, calls: 0, until: None })
    }

    /// Makes it late after this time. A time too long to be a point in time is none.
    pub(crate) fn finish_within(&mut self, time: Option<Duration>) {
        self.until = time.and_then(|time| Instant::now().checked_add(time));
    }

    /// Inputs evaluated so far, on any build.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    fn is_hot(&self, build: usize) -> bool {
        let plan = self.selection.builds[build];
        !self.selection.cautious[build] && self.host.plans[plan].object.runner.is_none()
    }

    /// The entry point of a hot build.
    fn shim(&mut self, build: usize) -> Result<Shim, EvalError> {
        if let Some(shim) = self.shims[build] {
            return Ok(shim);
        }
        let shim = self.host.shim(self.selection.builds[build], self.selection.function)?;
        self.shims[build] = Some(shim);
        Ok(shim)
    }

    /// The time that inputs take on a build: of a hot one the calls alone, of another all that asking it takes.
    pub(crate) fn pace(&mut self, build: usize, inputs: &[u64]) -> Result<Duration, EvalError> {
        if !self.is_hot(build) {
            let (begun, mut out) = (Instant::now(), Outcomes::new(self.selection.width));
            self.evaluate(build, inputs, &mut out)?;
            return Ok(begun.elapsed());
        }
        let Selection { arity, width, .. } = self.selection;
        let plan = self.selection.builds[build];
        let shim = self.shim(build)?;
        let control = self.host.plans[plan].object.control;
        let mut spent = Duration::ZERO;
        for chunk in inputs.chunks(CAPACITY * arity) {
            let slab = &self.host.slab;
            slab.put_inputs(arity, chunk);
            let end = chunk.len() / arity;
            let batch = Batch { shim, phase: Phase::Call(plan), control, arity, width, begin: 0, end };
            let begun = Instant::now();
            // SAFETY: as in `evaluate_hot`.
            unsafe { batch.pace(slab) };
            spent += begun.elapsed();
            self.host.refuse_strays(end);
        }
        Ok(spent)
    }

    fn evaluate_hot(&mut self, build: usize, inputs: &[u64], out: &mut Outcomes) -> Result<(), EvalError> {
        let Selection { arity, width, .. } = self.selection;
        let plan = self.selection.builds[build];
        let shim = self.shim(build)?;
        let control = self.host.plans[plan].object.control;
        for chunk in inputs.chunks(CAPACITY * arity) {
            let slab = &self.host.slab;
            // The copy lets the watcher name the input of a call that does not return.
            slab.put_inputs(arity, chunk);
            let end = chunk.len() / arity;
            let batch = Batch { shim, phase: Phase::Call(plan), control, arity, width, begin: 0, end };
            // SAFETY: the shim belongs to an object that stays loaded, its words are the function's,
            // and a Host lives only in worker processes.
            let broken = unsafe { batch.run(slab) };
            if broken == 0 {
                slab.read_values(end, out);
            } else {
                slab.read_outcomes(end, out);
                (0..end).for_each(|index| slab.set_fault(index, None));
            }
            self.host.refuse_strays(end);
        }
        Ok(())
    }
}

impl Evaluator for Native<'_> {
    fn elapsed(&self) -> Duration {
        cpu_time().saturating_sub(self.begun) + self.elsewhere
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn arity(&self) -> usize {
        self.selection.arity
    }

    fn width(&self) -> usize {
        self.selection.width
    }

    fn builds(&self) -> usize {
        self.selection.builds.len()
    }

    fn evaluate(&mut self, build: usize, inputs: &[u64], out: &mut Outcomes) -> Result<(), EvalError> {
        let plan = self.selection.builds[build];
        self.calls += (inputs.len() / self.selection.arity) as u64;
        self.host.slab.set_asked(plan);
        if self.is_hot(build) {
            return self.evaluate_hot(build, inputs, out);
        }
        let Host { plans, helpers, relays, slab, timeout, leftovers, .. } = &mut *self.host;
        let Selection { function, arity, width, .. } = self.selection;
        // Each piece of work begins anew, so that its outcomes do not depend on what a worker did before.
        let fresh = std::mem::replace(&mut self.fresh[build], false);
        let call = Call { function, arity, width, alone: false, fresh, timeout: *timeout };
        // Waiting for another process is a sign of life.
        let strain = match &plans[plan].object.runner {
            Some(runner) => {
                let known = (plan, &plans[plan], runner);
                relays.run(known, call, inputs, out, &mut || slab.beat())?
            }
            None => {
                let (known, before) = ((plan, &plans[plan]), out.len());
                let mut go_on = || {
                    slab.beat();
                    true
                };
                match helpers.run(known, call, inputs, out, &mut go_on) {
                    // Hot code may have filled the scratch folder since this piece of work began.
                    Err(error) if error.is_full_disk() => {
                        leftovers.remove();
                        helpers.tidy(&mut go_on);
                        out.truncate(before);
                        helpers.run(known, call, inputs, out, &mut go_on)?
                    }
                    done => done?,
                }
            }
        };
        slab.add_near(strain.near);
        self.elsewhere += strain.cpu;
        Ok(())
    }
}
