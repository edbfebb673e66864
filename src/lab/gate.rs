//! A gate: that the lab is the one a lock file is about, every accepted witness again, a search, and the verdict.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::built::Built;
use super::error::LabError;
use super::run::{Destination, Stored};
use crate::fp::{Equality, Tolerance};
use crate::gate::{Kept, Policy, run_looks, verdict, witness_looks};
use crate::model::{
    ArtifactStatus, Event, EventSink, Experiment, FunctionSamples, GateFile, HeldValue, LockFile, NoteKind,
    PartialGate, Shape, gist, printable,
};
use crate::store::Beside;

/// What a gate is held to.
#[derive(Clone)]
pub struct Terms<'a> {
    /// With the functions that are judged.
    pub lock: &'a LockFile,
    /// Which functions these are, where they are not all of the lock.
    pub partial: Option<PartialGate>,
    /// What the lock keeps of the baseline's results, by function.
    pub values: &'a BTreeMap<String, Vec<HeldValue>>,
    /// What counts as equal by the matrix; None where the caller has another word in it.
    pub matrix_equality: Option<Equality>,
    /// The lock file as messages name it.
    pub lock_name: &'a str,
    /// Bits that a result may move.
    pub tolerance: f64,
    /// A difference that the matrix expects must be there.
    pub strict: bool,
    /// Seconds for the replay and the search together.
    pub time: Option<f64>,
}

/// A verdict, and where it is stored.
pub struct Decided {
    pub gate: GateFile,
    pub beside: Beside,
    /// Seconds that the accepted witnesses took.
    pub replay_s: f64,
}

impl Terms<'_> {
    /// The lock's own search, so that the same code gives the same verdict.
    pub fn search_as_accepted(&self, experiment: &mut Experiment) {
        let settings = &mut experiment.search;
        settings.seed = self.lock.search.seed;
        settings.strategy = self.lock.search.strategy;
        settings.budget = self.lock.search.budget;
        (settings.nan, settings.zero) = (self.lock.nan, self.lock.zero);
    }

    /// That the lock is this lab's, and that its functions are there: before anything is compiled.
    pub fn check_experiment(&self, experiment: &Experiment) -> Result<(), LabError> {
        let Terms { lock, lock_name, .. } = self;
        if lock.name != experiment.name {
            return Err(LabError::OtherLock {
                lock: lock_name.to_string(),
                of: lock.name.clone(),
                matrix: experiment.name.clone(),
            });
        }
        let mut missing = Vec::new();
        for (name, function) in &lock.functions {
            let Some(now) = experiment.functions.iter().find(|f| f.name == *name) else {
                missing.push(format!("function {name} is in the lock and not in the matrix"));
                continue;
            };
            let (then, now) = (function.shape(), Shape::of(now));
            if !then.fits(&now) {
                missing.push(format!("function {name} was accepted as {then}, the matrix now says {now}"));
            }
        }
        let mend = "put it back, or leave it out of the lock: `bitrift run`, then `bitrift accept --prune` \
                    (with --loosen where a signature changed)";
        self.all_there(missing, mend)
    }

    /// That every build of the lock is there, with the functions that were compared on it.
    fn check_builds(&self, built: &Built<'_>) -> Result<(), LabError> {
        let (lock, lab) = (self.lock, built.lab);
        let baseline = &lab.plan.baseline_build().id;
        if lock.baseline != *baseline {
            return Err(LabError::OtherBaseline {
                lock: self.lock_name.into(),
                then: lock.baseline.clone(),
                now: baseline.clone(),
            });
        }
        let mut missing = Vec::new();
        for id in lock.builds.keys() {
            let Some(build) = lab.build(id) else {
                missing.push(format!("build {id} is in the lock and not in the matrix"));
                continue;
            };
            let unbuilt = match &built.panel.artifacts[build].status {
                ArtifactStatus::Built(_) => None,
                ArtifactStatus::Failed { message } => Some(("failed", message)),
                ArtifactStatus::Skipped { reason } => Some(("skipped", reason)),
            };
            if let Some((status, why)) = unbuilt {
                missing.push(format!("build {id} {status}: {}", gist(why)));
                continue;
            }
            for (name, function) in &lock.functions {
                let compared = function.builds.contains_key(id) || function.clean.contains(id);
                let lacks = lab.function(name).and_then(|(index, _)| built.lacks(build, index));
                if let Some(why) = lacks.filter(|_| compared || *id == lock.baseline) {
                    missing.push(format!("build {id} lacks function {name}: {}", gist(&why)));
                }
            }
        }
        let mend = "install what is missing; or leave a build out of the lock that is out of the matrix: `bitrift run`, \
                    then `bitrift accept --prune`";
        self.all_there(missing, mend)
    }

    fn all_there(&self, missing: Vec<String>, mend: &'static str) -> Result<(), LabError> {
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.iter().map(|line| format!("\n  {}", printable(line))).collect();
        Err(LabError::LockUnmet { lock: self.lock_name.into(), missing, mend })
    }
}

impl Built<'_> {
    /// Replays, searches, judges and stores. `start` is when the command began.
    pub fn gate(
        &mut self,
        terms: &Terms<'_>,
        to: &Destination<'_>,
        start: Instant,
        sink: &dyn EventSink,
    ) -> Result<Decided, LabError> {
        self.check_functions()?;
        terms.check_builds(self)?;
        let begun = Instant::now();
        if let Some(until) = terms.time.and_then(|s| begun.checked_add(Duration::try_from_secs_f64(s).ok()?))
        {
            self.finish_by(until);
        }
        let mut seen = self.look_again(witness_looks(terms.lock))?;
        let replay_s = begun.elapsed().as_secs_f64();
        let text = format!("replayed {} accepted witnesses in {replay_s:.2} s", seen.len());
        sink.send(Event::Note { text });
        let opened = self.open_run(to)?;
        let folder = opened.folder.clone();
        let search = || {
            let mut stored = self.run(opened, start, sink)?;
            let samples = std::mem::take(&mut stored.samples).into_iter();
            let samples: BTreeMap<String, FunctionSamples> =
                samples.map(|s| (s.function.clone(), s)).collect();
            seen.extend(self.look_again(run_looks(&stored.run, &samples, terms.lock, terms.tolerance))?);
            let kept = samples.into_iter().map(|(name, samples)| (name, samples.held)).collect();
            Ok((stored, kept))
        };
        // Half a search decides nothing, and a later `accept` must not find it.
        let (stored, now): (Stored, BTreeMap<_, _>) =
            search().inspect_err(|_: &LabError| folder.discard())?;
        let policy = Policy {
            lock: terms.lock,
            limits: &self.lab.experiment.limits,
            tolerance: terms.tolerance,
            equality: self.lab.experiment.search.equality(Tolerance::default()),
            matrix_equality: terms.matrix_equality,
            kept: Kept { then: terms.values, now: &now },
            strict: terms.strict,
        };
        let mut gate = verdict(&policy, &stored.run, &seen);
        if terms.partial.is_some() {
            gate.partial.clone_from(&terms.partial);
            // A limit may be about a function that nobody asked for.
            gate.notes.retain(|note| note.kind != NoteKind::IdleLimit);
        }
        stored.beside.write_gate(&gate)?;
        Ok(Decided { gate, beside: stored.beside, replay_s })
    }
}
