//! All builds of an experiment, compiled in parallel: probes, then objects, then links.
//!
//! The result does not depend on the number of jobs or on what was cached.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rayon::prelude::*;

use super::audit::AuditRequest;
use super::bench::{Bench, Failure, Object};
use super::cache::Cache;
use super::command::{Lines, ShimLine, SourceLine};
use super::error::CompileError;
use super::folders::include_folders;
use super::fpenv::control_words;
use super::link::{LinkRequest, Linked};
use super::object::{Made, ObjectRequest, Origin, make_object};
use super::program::{Program, lacking, program};
use super::shim::Shim;
use crate::model::{
    Artifact, ArtifactStatus, Audit, Build, BuiltObject, ControlWords, Event, EventSink, Experiment,
    FunctionStatus, gist,
};
use crate::toolchain::{Compiler, Missing, find, libm_identity};

/// How to compile.
pub struct Settings<'a> {
    /// Tools that run at once.
    pub jobs: usize,
    /// Wall time of one command line; a compiler that takes longer has failed.
    pub timeout: Duration,
    /// Set by an interrupt: no further tool is started and running ones are stopped.
    pub cancel: &'a AtomicBool,
}

impl Settings<'_> {
    pub const TIMEOUT: Duration = Duration::from_secs(120);
}

/// The objects a build was linked from, in the cache, so that objects of two builds can be mixed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildObjects {
    /// Each source with its object, in the experiment's order.
    pub sources: Vec<(PathBuf, PathBuf)>,
    pub setup: Option<PathBuf>,
    /// One for each function; None when its shim did not compile.
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

/// Compiles builds as they are. Only a cache that cannot be written is an error.
pub fn compile_builds(
    experiment: &Experiment,
    builds: &[Build],
    cache: &Cache,
    settings: &Settings,
    sink: &dyn EventSink,
) -> Result<Compiled, CompileError> {
    let jobs = settings.jobs.max(1);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .map_err(|e| CompileError::Threads { jobs, reason: e.to_string() })?;
    let bench = Bench::new(cache, settings);
    let (compiled, cached) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let stage = Stage { experiment, bench: &bench, sink, compiled: &compiled, cached: &cached };
    let outcomes = pool.install(|| stage.run(builds));

    let mut result = Compiled {
        artifacts: Vec::new(),
        objects: Vec::new(),
        compiled: compiled.into_inner(),
        cached: cached.into_inner(),
        interrupted: false,
    };
    for (build, outcome) in builds.iter().zip(outcomes) {
        let (status, objects) = match outcome.result {
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
        result.artifacts.push(Artifact { build: build.id.clone(), version: outcome.version, status });
        result.objects.push(objects);
    }
    sink.send(Event::CompileFinished { compiled: result.compiled, cached: result.cached });
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

struct Outcome {
    version: String,
    result: Result<(BuiltObject, BuildObjects), Unbuilt>,
}

/// A build whose compiler is there.
struct Ready<'a> {
    build: &'a Build,
    compiler: &'a Compiler,
    lines: Lines<'a>,
    /// Where its headers are looked for.
    folders: Vec<PathBuf>,
}

/// One build on its way through the phases.
enum Progress<'a> {
    Stopped(Unbuilt),
    Going(Box<Ready<'a>>, ControlWords),
}

struct Stage<'a> {
    experiment: &'a Experiment,
    bench: &'a Bench<'a>,
    sink: &'a dyn EventSink,
    compiled: &'a AtomicUsize,
    cached: &'a AtomicUsize,
}

impl Stage<'_> {
    fn run(&self, builds: &[Build]) -> Vec<Outcome> {
        let compilers = find_all(builds);
        let ready: Vec<Result<Ready, Unbuilt>> = builds.iter().map(|b| self.prepare(b, &compilers)).collect();
        let jobs = ready.iter().flatten().map(steps).sum();
        self.sink.send(Event::CompileStarted { jobs });

        let probed: Vec<Progress> = ready.into_par_iter().with_max_len(1).map(|r| self.probe(r)).collect();
        let requests: Vec<(usize, &Ready, Part)> = probed
            .iter()
            .enumerate()
            .flat_map(|(b, progress)| match progress {
                Progress::Going(ready, _) => parts(&ready.lines).map(|p| (b, &**ready, p)).collect(),
                Progress::Stopped(_) => Vec::new(),
            })
            .collect();
        let made: Vec<(usize, Result<Made, Failure>)> = requests
            .into_par_iter()
            .with_max_len(1)
            .map(|(b, ready, part)| (b, self.object(ready, part)))
            .collect();
        let mut objects: Vec<Vec<Result<Object, Failure>>> = builds.iter().map(|_| Vec::new()).collect();
        let mut headers = vec![BTreeSet::new(); builds.len()];
        for (b, made) in made {
            objects[b].push(made.map(|made| {
                headers[b].extend(made.headers);
                made.object
            }));
        }
        let version = |build: &Build| match compilers.get(build.command.as_str()) {
            Some(Ok(compiler)) => compiler.version.clone(),
            _ => String::new(),
        };
        let parts: Vec<_> = builds.iter().zip(probed).zip(objects.into_iter().zip(headers)).collect();
        parts
            .into_par_iter()
            .with_max_len(1)
            .map(|((build, progress), (objects, headers))| {
                let result = match progress {
                    Progress::Stopped(why) => Err(why),
                    Progress::Going(ready, control) => self
                        .link(&ready, control, objects)
                        .map(|(object, parts)| (object, BuildObjects { headers, ..parts }))
                        .map_err(Unbuilt::Failed),
                };
                Outcome { version: version(build), result }
            })
            .collect()
    }

    fn prepare<'b>(&self, build: &'b Build, compilers: &'b Compilers) -> Result<Ready<'b>, Unbuilt> {
        let compiler = match compilers.get(build.command.as_str()) {
            Some(Ok(compiler)) => compiler,
            Some(Err(missing)) => return Err(Unbuilt::Skipped(missing.to_string())),
            None => return Err(Unbuilt::Skipped(format!("{} not found", build.command))),
        };
        if let Some(why) = lacking(build) {
            return Err(Unbuilt::Skipped(why));
        }
        let mut folders = self.experiment.implementation(build).sources.include.clone();
        folders.extend(include_folders(&build.args));
        let lines = Lines::new(self.experiment, build, compiler.family);
        Ok(Ready { build, compiler, lines, folders })
    }

    /// First of all: a flag the compiler does not know shows here, before many objects are tried.
    fn probe<'b>(&self, ready: Result<Ready<'b>, Unbuilt>) -> Progress<'b> {
        let ready = match ready {
            Ok(ready) => ready,
            Err(why) => return Progress::Stopped(why),
        };
        let words = control_words(self.bench, ready.build, ready.compiler, &ready.lines);
        if ready.lines.probe().is_some() {
            self.step(&ready, "probe", words.as_ref().is_ok_and(|w| w.1));
        }
        match words {
            Ok((words, _)) => Progress::Going(Box::new(ready), words),
            Err(failure) => Progress::Stopped(Unbuilt::Failed(failure)),
        }
    }

    fn object(&self, ready: &Ready, part: Part) -> Result<Made, Failure> {
        let mut folders = ready.folders.clone();
        let name;
        let (line, object, origin) = match part {
            Part::Source(source) => {
                // Quoted includes look beside the source first.
                folders.extend(source.path.parent().map(PathBuf::from));
                (&source.line, &source.object, Origin::File(&source.path))
            }
            Part::Shim(ShimLine { shim: Shim { lacking: Some(why), .. }, .. }) => {
                return Err(Failure::Tool(why.clone()));
            }
            Part::Shim(ShimLine { shim, object, line }) => {
                name = format!("{}.c", shim.stem);
                (line, object, Origin::Text { name: &name, text: &shim.text })
            }
        };
        let made = make_object(
            self.bench,
            &ObjectRequest { compiler: ready.compiler, line, origin, object, folders: &folders, echo: None },
        );
        self.step(ready, &line.what, made.as_ref().is_ok_and(|m| m.cached));
        made
    }

    fn link(
        &self,
        ready: &Ready,
        control: ControlWords,
        objects: Vec<Result<Object, Failure>>,
    ) -> Result<(BuiltObject, BuildObjects), Failure> {
        let lines = &ready.lines;
        let mut objects = objects.into_iter();
        let fixed_count = lines.harness.len() + lines.sources.len() + usize::from(lines.setup.is_some());
        let fixed: Vec<Object> = objects.by_ref().take(fixed_count).collect::<Result<_, _>>()?;
        let mut shims: Vec<Result<Object, String>> = Vec::new();
        for shim in objects {
            shims.push(match shim {
                Ok(object) => Ok(object),
                Err(Failure::Tool(message)) => Err(message),
                Err(other) => return Err(other),
            });
        }
        let names = lines.objects().into_iter().take(fixed_count);
        let compiled = shims.iter().enumerate().filter_map(|(n, shim)| shim.as_ref().ok().map(|o| (n, o)));
        let request = LinkRequest {
            bench: self.bench,
            compiler: ready.compiler,
            lines,
            fixed: names.zip(&fixed).collect(),
            shims: compiled.map(|(n, object)| (n, lines.shims[n].object.as_str(), object)).collect(),
        };
        let linked = request.link();
        self.step(ready, "link", linked.as_ref().is_ok_and(|l| l.cached));
        let linked = linked?;
        let program = match ready.build.is_loaded() {
            true => Program { control, libm: libm_identity(), ..Program::default() },
            false => program(self.bench, (ready.build, ready.compiler), &linked.object.path, control)?,
        };
        let audit = self.audit(ready, &fixed, &shims, &linked)?;
        Ok(built(lines, (program, audit), &fixed, &shims, linked))
    }

    fn audit(
        &self,
        ready: &Ready,
        fixed: &[Object],
        shims: &[Result<Object, String>],
        linked: &Linked,
    ) -> Result<Audit, Failure> {
        if ready.build.plain {
            // Its loadable twin has been looked at.
            return Ok(Audit::default());
        }
        let lines = &ready.lines;
        let has = |n: &usize| shims[*n].is_ok() && !linked.missing.contains_key(n);
        let name = |n: usize| self.experiment.functions[n].name.as_str();
        let functions = (0..shims.len()).filter(has).map(|n| (name(n), lines.shims[n].shim.symbol.as_str()));
        AuditRequest {
            bench: self.bench,
            build: ready.build,
            compiler: ready.compiler,
            linked: &linked.object,
            parts: fixed[lines.harness.len()..].iter().chain(shims.iter().flatten()).collect(),
            functions: functions.collect(),
        }
        .audit()
    }

    fn step(&self, ready: &Ready, what: &str, cached: bool) {
        let count = if cached { self.cached } else { self.compiled };
        count.fetch_add(1, Ordering::Relaxed);
        self.sink.send(Event::CompileStep { build: ready.build.id.clone(), what: what.into(), cached });
    }
}

/// One object of a build.
enum Part<'a> {
    Source(&'a SourceLine),
    Shim(&'a ShimLine),
}

/// The harness, the sources, then the setup, then the shims.
fn parts<'a>(lines: &'a Lines) -> impl Iterator<Item = Part<'a>> {
    let generated = lines.setup.iter().chain(&lines.shims).map(Part::Shim);
    let harness = lines.harness.iter().map(Part::Shim);
    harness.chain(lines.sources.iter().map(Part::Source)).chain(generated)
}

/// Probe, objects and link.
fn steps(ready: &Ready) -> usize {
    parts(&ready.lines).count() + 1 + usize::from(ready.lines.probe().is_some())
}

fn built(
    lines: &Lines,
    (Program { control, runner, arithmetic, libm }, audit): (Program, Audit),
    fixed: &[Object],
    shims: &[Result<Object, String>],
    linked: Linked,
) -> (BuiltObject, BuildObjects) {
    let status = |(n, line): (usize, &ShimLine)| match (&shims[n], linked.missing.get(&n)) {
        (Err(message), _) | (Ok(_), Some(message)) => FunctionStatus::Missing { message: message.clone() },
        (Ok(_), None) => FunctionStatus::Ready { symbol: line.shim.symbol.clone() },
    };
    let object = BuiltObject {
        functions: lines.shims.iter().enumerate().map(status).collect(),
        path: linked.object.path,
        control,
        runner,
        arithmetic,
        libm,
        setup_symbol: lines.setup.as_ref().map(|s| s.shim.symbol.clone()),
        audit,
    };
    let fixed = &fixed[lines.harness.len()..];
    let sources = lines.sources.iter().zip(fixed).map(|(s, o)| (s.path.clone(), o.path.clone()));
    let objects = BuildObjects {
        sources: sources.collect(),
        setup: lines.setup.as_ref().and(fixed.last()).map(|o| o.path.clone()),
        shims: shims.iter().map(|s| s.as_ref().ok().map(|o| o.path.clone())).collect(),
        headers: BTreeSet::new(),
    };
    (object, objects)
}

type Compilers = BTreeMap<String, Result<Compiler, Missing>>;

/// Each command is looked up once.
fn find_all(builds: &[Build]) -> Compilers {
    let commands: BTreeSet<&str> = builds.iter().map(|b| b.command.as_str()).collect();
    commands.into_par_iter().map(|command| (command.to_string(), find(command))).collect()
}
