//! Builds as plain programs: compiled with their own flags and nothing that makes code loadable, so that they
//! answer as a user's executable would. Only what is asked for is compiled, and it is kept in the cache.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::failure::Failure;
use crate::cli::Exit;
use crate::compile::{BuildObjects, Cache, Compiled, Settings, compile_all};
use crate::eval::EvalError;
use crate::model::{
    Artifact, ArtifactStatus, Build, BuildId, BuiltObject, EventSink, Experiment, Function, FunctionStatus,
    Outcome,
};
use crate::pool::{Limits, LoadPlan, Mode, Pool};

/// What to make programs with.
pub struct Plain<'a> {
    pub experiment: &'a Experiment,
    pub cache: &'a Cache,
    pub jobs: usize,
    pub cancel: Arc<AtomicBool>,
}

/// Programs of some builds with some functions.
pub struct Programs {
    /// With these functions and no others.
    pub experiment: Experiment,
    pub artifacts: Vec<Artifact>,
    /// One for each artifact.
    pub objects: Vec<BuildObjects>,
    pool: Pool,
    /// Which object of the pool each artifact is.
    places: Vec<Option<usize>>,
}

impl Plain<'_> {
    pub fn programs<'b>(
        &self,
        wanted: impl Fn(&Function) -> bool,
        builds: impl Iterator<Item = &'b Build>,
        sink: &dyn EventSink,
    ) -> Result<Programs, Failure> {
        let mut experiment = self.experiment.clone();
        experiment.functions.retain(wanted);
        let builds: Vec<Build> = builds.map(Build::plainly).collect();
        let settings = Settings { jobs: self.jobs, timeout: Settings::TIMEOUT, cancel: &self.cancel };
        let Compiled { artifacts, objects, interrupted, .. } =
            compile_all(&experiment, &builds, self.cache, &settings, sink)?;
        if interrupted {
            return Err(Failure::interrupted(" while compiling; what was compiled is in the cache"));
        }
        let mut plans = Vec::new();
        let mut place = |artifact: &Artifact| {
            let object = artifact.object()?.clone();
            plans.push(LoadPlan { build: artifact.build.clone(), object });
            Some(plans.len() - 1)
        };
        let places = artifacts.iter().map(&mut place).collect();
        let search = &experiment.search;
        let timeout = Duration::from_millis(search.timeout_ms);
        let limits = Limits { timeout, memory_mb: search.memory_mb, jobs: self.jobs };
        let pool = Pool::new(plans, limits, self.cancel.clone());
        Ok(Programs { experiment, artifacts, objects, pool, places })
    }
}

impl Programs {
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.experiment.functions.iter().find(|f| f.name == name)
    }

    /// The program of a build that has a function, with its place; or why there is none, in the tool's words.
    pub fn program(&self, function: &str, build: &BuildId) -> Result<(usize, &BuiltObject), String> {
        let place = self.artifacts.iter().position(|a| a.build == *build);
        let place = place.ok_or("not a build of the matrix any more")?;
        let number = self.experiment.functions.iter().position(|f| f.name == function);
        let number = number.ok_or("not a function of the matrix any more")?;
        match &self.artifacts[place].status {
            ArtifactStatus::Failed { message } => Err(message.clone()),
            ArtifactStatus::Skipped { reason } => Err(reason.clone()),
            ArtifactStatus::Built(object) => match &object.functions[number] {
                FunctionStatus::Missing { message } => Err(message.clone()),
                FunctionStatus::Ready { .. } => Ok((place, object)),
            },
        }
    }

    /// Outcomes of inputs, one after the other, in a fresh process; the inner error is the build's own.
    pub fn evaluate(
        &self,
        function: &str,
        build: &BuildId,
        inputs: &[u64],
        mode: Mode,
    ) -> Result<Result<Vec<Outcome>, String>, Failure> {
        let object = match self.program(function, build) {
            Ok((place, _)) => self.places[place],
            Err(reason) => return Ok(Err(reason)),
        };
        let number = self.experiment.functions.iter().position(|f| f.name == function);
        let (Some(object), Some(number)) = (object, number) else {
            return Err(Failure::new(Exit::Internal, "a program without a place in the pool"));
        };
        let arity = self.experiment.functions[number].arity();
        match self.pool.evaluate(number, arity, &[object], inputs, mode).pop() {
            Some(Ok(outcomes)) => Ok(Ok(outcomes)),
            Some(Err(EvalError::Stopped)) => Err(Failure::interrupted("")),
            Some(Err(error)) => Ok(Err(error.to_string())),
            None => Err(Failure::new(Exit::Internal, "the evaluation gave no outcome")),
        }
    }
}
