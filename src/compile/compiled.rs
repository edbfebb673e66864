//! All builds of an experiment, compiled in parallel: probes, then objects, then links.
//!
//! The result does not depend on the number of jobs or on what was cached.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rayon::prelude::*;

use super::assembly::{Assembled, Assembly, Objects, make_objects};
use super::audit::{AuditRequest, Audited};
use super::bench::{Failure, Object};
use super::cache::Cache;
use super::command::Lines;
use super::error::CompileError;
use super::fpenv::control_words;
use super::libraries::{digests, libraries};
use super::material::Materials;
use super::pipeline::{Pipeline, Step};
use super::program::{Program, lacking, program};
use super::ready::Ready;
use super::shim::SETUP_SYMBOL;
use crate::model::{
    Artifact, ArtifactStatus, Audit, Build, BuiltObject, ControlWords, Event, EventSink, Experiment,
    Function, FunctionStatus, gist,
};
use crate::toolchain::{Compilers, libm_identity};

/// How to compile.
pub struct Settings<'a> {
    /// Tools that run at once.
    pub jobs: usize,
    /// Wall time of one command line; a compiler that takes longer has failed.
    pub timeout: Duration,
    /// Set by an interrupt: no further tool is started and running ones are stopped.
    pub cancel: &'a AtomicBool,
    pub compilers: &'a Compilers,
}

impl Settings<'_> {
    pub const TIMEOUT: Duration = Duration::from_secs(120);
}

/// The objects a build was linked from, in the cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildObjects {
    /// Each source with its object, in the experiment's order.
    pub sources: Vec<(PathBuf, PathBuf)>,
    pub setup: Option<PathBuf>,
    /// One for each function, maybe shared with others; None when its shim did not compile.
    pub shims: Vec<Option<PathBuf>>,
    /// Every header that was read for them.
    pub headers: BTreeSet<PathBuf>,
}

/// Every build after compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// One for each build, in their order.
    pub artifacts: Vec<Artifact>,
    /// One for each build, in their order; empty unless it was built.
    pub objects: Vec<BuildObjects>,
    /// Objects, links and probes for which a tool ran.
    pub compiled: usize,
    pub cached: usize,
    pub interrupted: bool,
}

/// Compiles builds as they are, with at most so many shims in a file; what comes out does not depend on it. Only a
/// cache that cannot be written is an error.
pub fn compile_grouped(
    experiment: &Experiment,
    builds: &[Build],
    cache: &Cache,
    settings: &Settings,
    sink: &dyn EventSink,
    most: usize,
) -> Result<Compiled, CompileError> {
    let pipeline = Pipeline::new(cache, settings, sink)?;
    let materials = Materials::grouped(experiment, most, cache.root());
    let stage = Stage { functions: &experiment.functions, materials, pipeline };
    let outcomes = stage.pipeline.threads.install(|| stage.run(builds, sink));

    let tally = &stage.pipeline.tally;
    let (compiled, cached) = (tally.ran(), tally.cached.load(Ordering::Relaxed));
    let mut result =
        Compiled { artifacts: Vec::new(), objects: Vec::new(), compiled, cached, interrupted: false };
    for (build, outcome) in builds.iter().zip(outcomes) {
        let (status, objects) = match outcome {
            Ok((object, objects)) => (ArtifactStatus::Built(Box::new(object)), objects),
            Err(Unbuilt::Skipped(reason)) => (ArtifactStatus::Skipped { reason }, BuildObjects::default()),
            Err(Unbuilt::Failed(Failure::Tool(message))) => {
                (ArtifactStatus::Failed { message }, BuildObjects::default())
            }
            Err(Unbuilt::Failed(Failure::Cancelled)) => {
                result.interrupted = true;
                (ArtifactStatus::Skipped { reason: "interrupted".into() }, BuildObjects::default())
            }
            Err(Unbuilt::Failed(Failure::Cache(source))) => {
                return Err(CompileError::Cache { path: cache.root().into(), source });
            }
        };
        note(sink, build, &status);
        let compiler = stage.pipeline.compilers.find(&build.command);
        let version = compiler.map(|compiler| compiler.version.clone()).unwrap_or_default();
        result.artifacts.push(Artifact { build: build.id.clone(), version, status });
        result.objects.push(objects);
    }
    sink.send(Event::CompileFinished { compiled, cached });
    Ok(result)
}

fn note(sink: &dyn EventSink, build: &Build, status: &ArtifactStatus) {
    let text = match status {
        ArtifactStatus::Built(_) => return,
        ArtifactStatus::Failed { message } => format!("{} failed: {}", build.id, gist(message)),
        ArtifactStatus::Skipped { reason } => format!("{} skipped: {reason}", build.id),
    };
    sink.send(Event::Note { text });
}

/// Why a build has no shared object.
enum Unbuilt {
    Skipped(String),
    Failed(Failure),
}

type Outcome = Result<(BuiltObject, BuildObjects), Unbuilt>;

struct Stage<'a> {
    functions: &'a [Function],
    materials: Materials<'a>,
    pipeline: Pipeline<'a>,
}

impl Stage<'_> {
    /// One outcome for each build, in their order.
    fn run(&self, builds: &[Build], sink: &dyn EventSink) -> Vec<Outcome> {
        let commands: BTreeSet<&str> = builds.iter().map(|build| build.command.as_str()).collect();
        commands.into_par_iter().for_each(|command| drop(self.pipeline.compilers.find(command)));
        let ready: Vec<Result<Ready, Unbuilt>> = builds.iter().map(|build| self.prepare(build)).collect();
        sink.send(Event::CompileStarted { jobs: ready.iter().flatten().map(steps).sum() });

        // First of all: a flag the compiler does not know shows here, before many objects are tried.
        let probed: Vec<Result<(Ready, ControlWords), Unbuilt>> = ready
            .into_par_iter()
            .with_max_len(1)
            .map(|ready| ready.and_then(|ready| self.probe(ready).map_err(Unbuilt::Failed)))
            .collect();
        let (mut outcomes, mut going) = (Vec::new(), Vec::new());
        for (number, probed) in probed.into_iter().enumerate() {
            match probed {
                Ok((ready, control)) => going.push((number, ready, control)),
                Err(why) => outcomes.push((number, Err(why))),
            }
        }
        let assemblies: Vec<Assembly> = going.iter().map(|(_, ready, _)| Assembly::whole(ready)).collect();
        let made = make_objects(&self.pipeline, &assemblies);
        outcomes.par_extend(going.par_iter().zip(&assemblies).zip(made).with_max_len(1).map(
            |(((number, _, control), assembly), objects)| {
                let built = objects.and_then(|objects| self.finish(assembly, *control, objects));
                (*number, built.map_err(Unbuilt::Failed))
            },
        ));
        outcomes.sort_by_key(|(number, _)| *number);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    fn prepare<'b>(&'b self, build: &'b Build) -> Result<Ready<'b>, Unbuilt> {
        let material = self.materials.of_build(build).map_err(Unbuilt::Skipped)?;
        let ready = self.pipeline.ready(material, build);
        let ready = ready.map_err(|missing| Unbuilt::Skipped(missing.to_string()))?;
        match lacking(build) {
            Some(why) => Err(Unbuilt::Skipped(why)),
            None => Ok(ready),
        }
    }

    fn probe<'b>(&self, ready: Ready<'b>) -> Result<(Ready<'b>, ControlWords), Failure> {
        ready.lines.material.shelf.make()?;
        let words = control_words(&self.pipeline.bench, ready.build, &ready.compiler, &ready.lines);
        if ready.lines.probe().is_some() {
            self.pipeline.step(ready.build, Step::Probe, "probe", words.as_ref().ok().map(|words| words.1));
        }
        Ok((ready, words?.0))
    }

    /// Links, and looks at what came out.
    fn finish(
        &self,
        assembly: &Assembly<'_>,
        control: ControlWords,
        objects: Objects<'_>,
    ) -> Result<(BuiltObject, BuildObjects), Failure> {
        let Ready { build, compiler, lines, .. } = assembly.frame;
        let Assembled { linked, functions } = assembly.link(&self.pipeline, &objects)?;
        let libraries = libraries(assembly.frame, &linked.path, &self.pipeline.bench.reach)?;
        let Program { control, runner, arithmetic, libm } = match build.is_loaded() {
            true => Program { control, libm: libm_identity(), ..Program::default() },
            false => {
                let made = (linked.path.as_path(), &libraries);
                program(&self.pipeline.bench, (build, compiler), made, control)?
            }
        };
        let audit = self.audit(assembly.frame, &objects, &linked, &functions)?;
        let object = BuiltObject {
            functions,
            path: linked.path,
            control,
            runner,
            arithmetic,
            libm,
            libraries: digests(&self.pipeline.bench, lines.material.folder, &libraries),
            setup_symbol: lines.setup.as_ref().map(|_| SETUP_SYMBOL.into()),
            audit,
        };
        Ok((object, build_objects(assembly.frame, objects)))
    }

    fn audit(
        &self,
        frame: &Ready<'_>,
        objects: &Objects<'_>,
        linked: &Object,
        functions: &[FunctionStatus],
    ) -> Result<Audit, Failure> {
        if frame.build.plain {
            // Its loadable twin has been looked at.
            return Ok(Audit::default());
        }
        let shims = &frame.lines.material.shims;
        // At the link a shim may take in what it calls.
        let is_open = frame.build.args.iter().any(|arg| arg.starts_with("-flto"));
        let ready = |(place, status): (usize, &'_ FunctionStatus)| match status {
            FunctionStatus::Ready { symbol } => Some(Audited {
                name: self.functions[place].name.clone(),
                symbol: symbol.clone(),
                with_shim: is_open || !shims.calls_elsewhere(shims.asked()[place]),
            }),
            FunctionStatus::Missing { .. } => None,
        };
        let own = &objects.fixed[frame.lines.before_sources()..];
        AuditRequest {
            bench: &self.pipeline.bench,
            build: frame.build,
            compiler: &frame.compiler,
            linked,
            parts: own.iter().chain(objects.shims.objects.iter().map(|shim| &shim.object)).collect(),
            functions: functions.iter().enumerate().filter_map(ready).collect(),
        }
        .audit()
    }
}

/// Probe, objects and link.
fn steps(ready: &Ready<'_>) -> usize {
    let Lines { sources, setup, .. } = &ready.lines;
    let fixed = ready.lines.before_sources() + sources.len() + usize::from(setup.is_some());
    fixed + ready.lines.groups().len() + 1 + usize::from(ready.lines.probe().is_some())
}

fn build_objects(frame: &Ready<'_>, objects: Objects<'_>) -> BuildObjects {
    let lines = &frame.lines;
    let own = &objects.fixed[lines.before_sources()..];
    let sources =
        lines.sources.iter().zip(own).map(|(source, object)| (source.path.clone(), object.path.clone()));
    let shim = |number: &usize| {
        let file = objects.shims.objects.iter().find(|file| file.members.contains(number));
        file.map(|file| file.object.path.clone())
    };
    BuildObjects {
        sources: sources.collect(),
        setup: lines.setup.as_ref().and(own.last()).map(|object| object.path.clone()),
        shims: lines.material.shims.asked().iter().map(shim).collect(),
        headers: objects.shims.headers,
    }
}
