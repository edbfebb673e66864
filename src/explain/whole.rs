//! Whole builds for trials: compiled as a run compiles them, each once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::ExplainError;
use super::scene::Side;
use crate::compile::{Cache, CompileError, Compiled, Settings, compile_all};
use crate::model::{Artifact, ArtifactStatus, Build, Cost, Experiment, NoEvents};

/// Compiles whole builds of an experiment.
pub struct Workshop<'a> {
    pub experiment: &'a Experiment,
    pub cache: &'a Cache,
    pub settings: Settings<'a>,
    made: Mutex<HashMap<Build, Result<Arc<Side>, String>>>,
    compiles: AtomicU64,
}

impl<'a> Workshop<'a> {
    pub fn new(experiment: &'a Experiment, cache: &'a Cache, settings: Settings<'a>) -> Workshop<'a> {
        Workshop { experiment, cache, settings, made: Mutex::default(), compiles: AtomicU64::new(0) }
    }

    /// Tools that ran for whole builds; answers from the cache do not count.
    pub fn cost(&self) -> Cost {
        Cost { compiles: self.compiles.load(Ordering::Relaxed), ..Cost::default() }
    }

    /// A build and its object; the inner error says why there is none, in the tool's words.
    pub fn make(&self, build: &Build) -> Result<Result<Arc<Side>, String>, ExplainError> {
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made().get(build) {
            return Ok(known.clone());
        }
        let builds = std::slice::from_ref(build);
        let Compiled { artifacts, compiled, interrupted, .. } =
            compile_all(self.experiment, builds, self.cache, &self.settings, &NoEvents)?;
        if interrupted {
            return Err(ExplainError::Interrupted);
        }
        // A count far below 2^64.
        self.compiles.fetch_add(compiled as u64, Ordering::Relaxed);
        let side = match artifacts.into_iter().next().map(|Artifact { status, .. }| status) {
            Some(ArtifactStatus::Built(object)) => {
                // What is mixed of its parts has to be linked as the whole was.
                let apart = build.apart || build.is_loaded() && object.runner.is_some();
                let build = Arc::new(Build { apart, ..build.clone() });
                Ok(Arc::new(Side { build, object: *object }))
            }
            Some(ArtifactStatus::Failed { message }) => Err(message),
            Some(ArtifactStatus::Skipped { reason }) => Err(reason),
            None => Err("it gave no object".into()),
        };
        made().insert(build.clone(), side.clone());
        Ok(side)
    }
}

impl From<CompileError> for ExplainError {
    fn from(error: CompileError) -> ExplainError {
        ExplainError::Compile(error)
    }
}
