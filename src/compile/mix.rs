//! Builds put together from parts: each source compiled as its own build, text and arguments say, all linked
//! as one of the builds would be. What is tried once is not compiled again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::assembly::{Assembly, make_objects};
use super::bench::Failure;
use super::cache::Cache;
use super::compiled::Settings;
use super::error::CompileError;
use super::material::{Material, Materials};
use super::pipeline::Pipeline;
use super::ready::Ready;
use crate::model::{Build, Cost, Experiment, FunctionStatus, NoEvents};
use crate::toolchain::Compilers;

/// How one source goes into a mix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Whose compiler and flags.
    pub build: Arc<Build>,
    /// In place of the file's own.
    pub text: Option<Arc<str>>,
    /// Arguments behind the build's own.
    pub more: Vec<String>,
    /// Keep the last line of what the compiler says that starts so.
    pub echo: Option<&'static str>,
}

impl Part {
    /// A source as a build has it.
    pub fn of(build: &Arc<Build>) -> Part {
        Part { build: build.clone(), text: None, more: Vec::new(), echo: None }
    }
}

/// What to put together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mix {
    /// Links it, as it links its own objects.
    pub frame: Arc<Build>,
    /// One for each source of the builds' implementation, in its order.
    pub sources: Vec<Part>,
    /// For each function the build whose flags the matrix's own C is compiled with.
    pub shims: Vec<Arc<Build>>,
}

impl Mix {
    /// A build as it is: a mix of one.
    pub fn of(build: &Build, material: &Material<'_>) -> Mix {
        let build = Arc::new(build.clone());
        Mix {
            sources: vec![Part::of(&build); material.sources.files.len()],
            shims: vec![build.clone(); material.shims.asked().len()],
            frame: build,
        }
    }
}

/// A mix after linking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    pub path: PathBuf,
    /// One entry per function of the experiment.
    pub functions: Vec<FunctionStatus>,
    /// The line that a part asked for, of the first that did.
    pub echo: Option<String>,
}

/// Makes mixes of one experiment.
pub struct Mixer<'a> {
    materials: Materials<'a>,
    pipeline: Pipeline<'a>,
    mixes: Mutex<HashMap<Mix, Mixed>>,
}

impl<'a> Mixer<'a> {
    pub fn new(
        experiment: &'a Experiment,
        cache: &'a Cache,
        settings: &Settings<'a>,
    ) -> Result<Mixer<'a>, CompileError> {
        let pipeline = Pipeline::new(cache, settings, &NoEvents)?;
        Ok(Mixer { materials: Materials::of(experiment, cache.root()), pipeline, mixes: Mutex::default() })
    }

    /// What tools may read.
    pub fn compilers(&self) -> &Compilers {
        self.pipeline.compilers
    }

    /// Compiles and links since the mixer was made; answers from the cache do not count.
    pub fn cost(&self) -> Cost {
        let tally = &self.pipeline.tally;
        // Counts far below 2^64.
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed) as u64;
        Cost { compiles: count(&tally.objects), links: count(&tally.links), evaluations: 0 }
    }

    /// Compiles and links a mix.
    pub fn make(&self, mix: &Mix) -> Result<Mixed, Failure> {
        if let Some(known) = self.known().get(mix) {
            return Ok(known.clone());
        }
        let mixed = self.pipeline.threads.install(|| self.build(mix))?;
        self.known().insert(mix.clone(), mixed.clone());
        Ok(mixed)
    }

    fn build(&self, mix: &Mix) -> Result<Mixed, Failure> {
        let mut ready: HashMap<&Build, Ready<'_>> = HashMap::new();
        let parts = mix.sources.iter().map(|part| &part.build).chain(&mix.shims);
        for build in std::iter::once(&mix.frame).chain(parts) {
            if let Entry::Vacant(place) = ready.entry(&**build) {
                let material = self.materials.of_build(build).map_err(Failure::Tool)?;
                let made = self.pipeline.ready(material, build);
                place.insert(made.map_err(|missing| Failure::Tool(missing.to_string()))?);
            }
        }
        let assembly = Assembly::new(mix, |build| &ready[build]);
        let objects = make_objects(&self.pipeline, std::slice::from_ref(&assembly)).remove(0)?;
        let assembled = assembly.link(&self.pipeline, &objects)?;
        Ok(Mixed { path: assembled.linked.path, functions: assembled.functions, echo: objects.echo })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Mix, Mixed>> {
        // What is kept is whole at every moment, whoever panicked.
        self.mixes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
