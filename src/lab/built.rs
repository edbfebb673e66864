//! A lab with its builds compiled and known to load, ready to be asked and searched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::declared::{Declared, Unreachable};
use super::error::{LabError, Progress};
use super::notes;
use super::open::Lab;
use super::panel::Panel;
use super::serve::serves;
use crate::compile::Compiled;
use crate::findings::build_row;
use crate::model::{
    Artifact, ArtifactStatus, BuildId, BuildRow, BuiltObject, Event, EventSink, FunctionStatus,
    SearchSettings,
};
use crate::pool::{FunctionJob, LoadPlan, Pool};
use crate::search::Task;

/// The builds of a lab's plan. Those that are not there are rows with a reason.
pub struct Built<'l> {
    pub lab: &'l Lab,
    /// In the order of the plan.
    pub panel: Panel,
    /// Every header that was read.
    pub headers: BTreeSet<PathBuf>,
    pub work: Work,
}

/// What compiling took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub compiled: usize,
    pub cached: usize,
    pub time: Duration,
}

impl Lab {
    /// Compiles everything this machine can. An unusable baseline is an error: nothing can be compared.
    pub fn build_all(&self, sink: &dyn EventSink) -> Result<Built<'_>, LabError> {
        let start = Instant::now();
        let Compiled { mut artifacts, objects, compiled, cached, .. } =
            self.compile(&self.experiment, &self.plan.builds, sink)?;
        let time = start.elapsed();
        self.explain_missing(&mut artifacts);
        for text in notes::of_code(&self.plan.builds, &artifacts) {
            sink.send(Event::Note { text });
        }
        let failed = self.try_loading(&mut artifacts);
        if failed && !serves() {
            return Err(LabError::NotServed);
        }
        if self.is_cancelled() {
            return Err(LabError::Interrupted(Progress::Begun));
        }
        let built = Built {
            lab: self,
            panel: Panel::new(&self.experiment, artifacts, self.limits(), self.sandbox(), &self.cancel),
            headers: objects.into_iter().flat_map(|part| part.headers).collect(),
            work: Work { compiled, cached, time },
        };
        built.check_baseline()?;
        Ok(built)
    }

    /// Says why a function that no build of an implementation has is nowhere, in place of each linker's words.
    pub(super) fn explain_missing(&self, artifacts: &mut [Artifact]) {
        let is_missing = |status: &FunctionStatus| matches!(status, FunctionStatus::Missing { .. });
        if !artifacts
            .iter()
            .filter_map(Artifact::object)
            .any(|object| object.functions.iter().any(is_missing))
        {
            return;
        }
        let declared = Declared::read(&self.experiment, self.indices());
        for Unreachable { implementation, function, why, .. } in &declared.unreachable {
            let Some((place, _)) = self.function(function) else { continue };
            let is_own = |artifact: &Artifact| artifact.build.implementation() == implementation;
            let own = || artifacts.iter().filter(|a| is_own(a)).filter_map(Artifact::object);
            let is_undefined = |object: &BuiltObject| match &object.functions[place] {
                FunctionStatus::Missing { message } => message.contains("undefined"),
                FunctionStatus::Ready { .. } => false,
            };
            if !own().all(is_undefined) {
                continue;
            }
            for artifact in artifacts.iter_mut().filter(|artifact| is_own(artifact)) {
                if let ArtifactStatus::Built(object) = &mut artifact.status {
                    object.functions[place] = FunctionStatus::Missing { message: why.clone() };
                }
            }
        }
    }

    /// A build that does not load is a failed one; whether there is any.
    fn try_loading(&self, artifacts: &mut [Artifact]) -> bool {
        let plan = |a: &Artifact| Some(LoadPlan { build: a.build.clone(), object: a.object()?.clone() });
        let plans = artifacts.iter().filter_map(plan).collect();
        let pool = Pool::new(plans, self.limits(), self.cancel.clone()).in_sandbox(self.sandbox());
        let mut errors = pool.load_errors().iter();
        let mut failed = false;
        for artifact in artifacts.iter_mut().filter(|a| a.object().is_some()) {
            if let Some(Some(message)) = errors.next() {
                artifact.status = ArtifactStatus::Failed { message: message.clone() };
                failed = true;
            }
        }
        failed
    }
}

impl Built<'_> {
    fn check_baseline(&self) -> Result<(), LabError> {
        let artifact = &self.panel.artifacts[self.lab.plan.baseline];
        let why = match &artifact.status {
            ArtifactStatus::Built(_) => return Ok(()),
            ArtifactStatus::Failed { message } => format!("\n{message}"),
            ArtifactStatus::Skipped { reason } => format!(" {reason}"),
        };
        Err(LabError::BaselineUnusable { build: artifact.build.clone(), why })
    }

    /// That the baseline has some function: without one there is nothing to compare.
    pub fn check_functions(&self) -> Result<(), LabError> {
        let baseline = self.lab.plan.baseline;
        let functions = 0..self.lab.experiment.functions.len();
        let lacks: Option<Vec<String>> = functions.map(|function| self.lacks(baseline, function)).collect();
        let Some(why) = lacks.and_then(|messages| messages.into_iter().next()) else { return Ok(()) };
        Err(LabError::BaselineEmpty { build: self.build_id(baseline).clone(), why })
    }

    /// The builds of the plan with the baseline first.
    pub fn baseline_first(&self) -> impl Iterator<Item = usize> {
        let baseline = self.lab.plan.baseline;
        std::iter::once(baseline).chain((0..self.lab.plan.builds.len()).filter(move |&b| b != baseline))
    }

    pub fn build_id(&self, build: usize) -> &BuildId {
        &self.lab.plan.builds[build].id
    }

    /// Why a build has not got a function, in the tool's words; None when it has.
    pub fn lacks(&self, build: usize, function: usize) -> Option<String> {
        self.panel.object(build, function).err().map(|why| why.0)
    }

    /// The builds that have a function, baseline first, and why the others have not.
    pub fn cast(&self, function: usize) -> (Vec<usize>, BTreeMap<BuildId, String>) {
        let (mut have, mut missing) = (Vec::new(), BTreeMap::new());
        for build in self.baseline_first() {
            match self.lacks(build, function) {
                None => have.push(build),
                // A build that is not there at all has its own row.
                Some(_) if !self.panel.is_built(build) => {}
                Some(why) => {
                    missing.insert(self.build_id(build).clone(), why);
                }
            }
        }
        if have.first() != Some(&self.lab.plan.baseline) {
            have.clear();
        }
        (have, missing)
    }

    /// The search of a function on the builds that have it.
    pub(super) fn job(
        &self,
        index: usize,
        have: &[usize],
        settings: &SearchSettings,
        literals: &[f64],
    ) -> FunctionJob {
        let task = Task {
            function: self.lab.experiment.functions[index].clone(),
            builds: have.iter().map(|&b| self.build_id(b).clone()).collect(),
            settings: settings.clone(),
            literals: literals.to_vec(),
            tolerances: have.iter().map(|&b| self.lab.tolerance(index, b)).collect(),
        };
        let builds = have.iter().filter_map(|&b| self.panel.place(b)).collect();
        FunctionJob { function_index: index, task, builds }
    }

    /// Searches share what is left of the time until then.
    pub fn finish_by(&mut self, until: Instant) {
        self.panel.pool.finish_by(until);
    }

    /// The builds as a run file has them.
    pub fn build_rows(&self) -> Vec<BuildRow> {
        let builds = self.lab.plan.builds.iter().zip(&self.panel.artifacts);
        builds.map(|(build, artifact)| build_row(build, artifact)).collect()
    }
}
