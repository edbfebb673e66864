//! What of a matrix this machine can build and run.
//!
//! Every build is tried for real on a function that returns its argument: found, compiled, linked, loaded, called. So a tool
//! that is broken is told from code that is. Then the same is done with the matrix's own sources, and each function of
//! every build that works is called once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::error::{LabError, Progress};
use super::notes;
use super::open::{Lab, Means};
use super::panel::Panel;
use super::reach::opened;
use crate::fp::{AxisPoint, Scalar, parse_number};
use crate::model::{
    Answer, Artifact, ArtifactStatus, Build, BuildId, Callee, Coordinate, Domain, Event, EventSink,
    Experiment, Function, FunctionStatus, Harness, Implementation, NoEvents, Number, Outcome, Sources,
};
use crate::pool::{Limits, Mode, Question};
use crate::sandbox::{Held, Promise};
use crate::toolchain::{debian_package, locate};

/// What the trial function is called with.
const TRIAL: f64 = 1.5;
/// A trial is no search: let a slow machine take its time.
const PATIENCE: Duration = Duration::from_secs(2);

/// A compiler or runner that builds need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// As the matrix says.
    pub command: String,
    /// Where it was found.
    pub path: Option<String>,
    /// First line of its `--version`.
    pub version: String,
    /// The Debian package that brings it.
    pub package: Option<String>,
}

/// How a build came out of its trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Ok,
    /// It was tried and failed, in the tool's own words.
    Broken(String),
    /// It could not be tried.
    Missing(String),
    /// It could not be tried, and the matrix says that is fine.
    Skipped(String),
}

/// Every tool once, and every build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    pub tools: Vec<Tool>,
    pub builds: Vec<(BuildId, Health)>,
    /// Builds that the matrix can do without.
    pub optional: BTreeSet<BuildId>,
    /// Calls of the matrix's own functions, one for each function of each build that works.
    pub calls: usize,
    /// Those that gave a value.
    pub answered: usize,
    /// Those that did not.
    pub failed: Vec<FailedCall>,
    /// What to know of the matrix's own functions on the builds that can be made.
    pub notes: Vec<String>,
    /// What the sandbox holds; empty where there is none.
    pub sandbox: Vec<Promise>,
}

/// A function that cannot be called, or comes to grief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    /// None: the build's sources themselves.
    pub function: Option<String>,
    pub build: BuildId,
    /// In the tool's own words, or the fault with its input.
    pub why: String,
}

impl Checkup {
    /// Tries every build of an experiment.
    pub fn of(experiment: Experiment, means: Means) -> Result<Checkup, LabError> {
        let lab = Lab::new(trial(experiment.clone()), means.clone())?;
        let artifacts = lab.compile(&lab.experiment, &lab.plan.builds, &NoEvents)?.artifacts;
        let tools = tools(&lab.plan.builds, &artifacts);
        let limits = Limits { timeout: PATIENCE, ..lab.limits() };
        let panel = Panel::new(&lab.experiment, artifacts, limits, lab.sandbox(), &lab.cancel);
        let mut builds = Vec::new();
        for (place, build) in lab.plan.builds.iter().enumerate() {
            if lab.is_cancelled() {
                return Err(LabError::Interrupted(Progress::Begun));
            }
            builds.push((build.id.clone(), health(&panel, place, build)?));
        }
        let optional = lab.plan.builds.iter().filter(|build| build.optional);
        let optional = optional.map(|build| build.id.clone()).collect();
        let sandbox = if lab.sandbox().is_off() { Vec::new() } else { Held::here().promises() };
        let mut checkup = Checkup { tools, builds, optional, sandbox, ..Checkup::default() };
        let opened = if means.no_sandbox { Vec::new() } else { opened(&experiment, &means) };
        checkup.call_functions(&Lab::new(experiment, means)?)?;
        checkup.notes.extend(opened);
        Ok(checkup)
    }

    /// Builds that do not work and that the matrix cannot do without.
    pub fn wanting(&self) -> impl Iterator<Item = &BuildId> {
        let is_wanting = |(id, health): &&(BuildId, Health)| {
            matches!(health, Health::Broken(_) | Health::Missing(_)) && !self.optional.contains(id)
        };
        self.builds.iter().filter(is_wanting).map(|(id, _)| id)
    }

    /// Calls every function once in every build that is well.
    fn call_functions(&mut self, lab: &Lab) -> Result<(), LabError> {
        let sink = Notes::default();
        let mut artifacts = lab.compile(&lab.experiment, &lab.plan.builds, &sink)?.artifacts;
        lab.explain_missing(&mut artifacts);
        self.notes = sink.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.notes.extend(notes::of_code(&lab.plan.builds, &artifacts));
        let limits = Limits { timeout: PATIENCE, ..lab.limits() };
        let panel = Panel::new(&lab.experiment, artifacts, limits, lab.sandbox(), &lab.cancel);
        let functions = &lab.experiment.functions;
        let input = |function: &Function| function.coordinates.iter().map(usual).collect::<Vec<u64>>();
        let question = |(n, function)| panel.question(n, input(function), Mode::Alone);
        let questions: Vec<Question> = functions.iter().enumerate().map(question).collect();
        for (place, build) in lab.plan.builds.iter().enumerate() {
            if lab.is_cancelled() {
                return Err(LabError::Interrupted(Progress::Begun));
            }
            if !self.builds.iter().any(|(id, health)| *id == build.id && *health == Health::Ok) {
                continue;
            }
            self.calls += functions.len();
            let failed = |function: Option<&Function>, why: String| FailedCall {
                function: function.map(|f| f.name.clone()),
                build: build.id.clone(),
                why,
            };
            if let ArtifactStatus::Failed { message: why } | ArtifactStatus::Skipped { reason: why } =
                &panel.artifacts[place].status
            {
                self.failed.push(failed(None, why.clone()));
                continue;
            }
            for (function, replies) in functions.iter().zip(panel.ask_all(place, &questions)?) {
                let why = match replies.as_ref().map(|outcomes| outcomes.firsts().first().copied()) {
                    Ok(Some(Outcome::Value(_))) => {
                        self.answered += 1;
                        continue;
                    }
                    Ok(Some(Outcome::Fault(kind))) => {
                        format!("{kind} at {}", shown(function, &input(function)))
                    }
                    Ok(None) => "it gave no outcome".into(),
                    Err(why) => why.0.clone(),
                };
                self.failed.push(failed(Some(function), why));
            }
        }
        self.notes.extend(panel.refusals());
        Ok(())
    }
}

/// Keeps what a user should read.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl EventSink for Notes {
    fn send(&self, event: Event) {
        if let Event::Note { text } = event {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }
}

/// A value of the domain: 1.5 or 1 where it is one, else an end of the domain.
fn usual(coordinate: &Coordinate) -> u64 {
    let Coordinate { ty, domain, .. } = coordinate;
    let trial = parse_number(*ty, if ty.is_float() { "1.5" } else { "1" }).unwrap_or_default();
    match (ty.axis(trial), domain.segments.last()) {
        (Some(point), Some(last)) if !domain.contains(point) => {
            ty.at_axis(AxisPoint { side: last.side, mag: last.lo })
        }
        _ => trial,
    }
}

/// `x = 1.5, n = 1`.
fn shown(function: &Function, input: &[u64]) -> String {
    let numbers = Number::list(&function.scalars(), input);
    let coordinates = function.coordinates.iter().zip(&numbers);
    let texts: Vec<String> =
        coordinates.map(|(c, number)| format!("{} = {}", c.name, number.dec())).collect();
    texts.join(", ")
}

fn health(panel: &Panel, place: usize, build: &Build) -> Result<Health, LabError> {
    Ok(match &panel.artifacts[place].status {
        ArtifactStatus::Built(object) => match &object.functions[0] {
            FunctionStatus::Ready { .. } => match panel.ask(0, place, &[TRIAL.to_bits()], Mode::Alone)? {
                Ok(outcomes) if outcomes.firsts() == [Outcome::Value(TRIAL.to_bits())] => Health::Ok,
                Ok(outcomes) => Health::Broken(wrong(outcomes.firsts())),
                Err(why) => Health::Broken(why.0),
            },
            FunctionStatus::Missing { message } => Health::Broken(message.clone()),
        },
        ArtifactStatus::Failed { message } => Health::Broken(message.clone()),
        ArtifactStatus::Skipped { reason } if build.optional => Health::Skipped(reason.clone()),
        ArtifactStatus::Skipped { reason } => Health::Missing(reason.clone()),
    })
}

fn wrong(outcomes: &[Outcome]) -> String {
    let what = outcomes.first().map(|outcome| Answer::new(Scalar::F64, *outcome).dec());
    format!("a function that returns its argument gave {}", what.unwrap_or_default())
}

/// The same axes around one function that needs no sources.
fn trial(experiment: Experiment) -> Experiment {
    let param = Coordinate {
        name: "x".into(),
        ty: Scalar::F64,
        domain: Domain::all(Scalar::F64),
        domain_text: String::new(),
    };
    let identity = Function::of_scalars("doctor", vec![param], Scalar::F64, Callee::Elsewhere);
    let bare = |implementation: Implementation| Implementation {
        sources: Sources { files: Vec::new(), ..implementation.sources },
        setup: None,
        calls: [(identity.name.clone(), Callee::Call("x".into()))].into(),
        ..implementation
    };
    let implementations = experiment.implementations.into_iter().map(bare).collect();
    let harness = Harness::default();
    Experiment { functions: vec![identity.clone()], implementations, harness, ..experiment }
}

/// Every compiler and runner once, in the order of the matrix.
fn tools(builds: &[Build], artifacts: &[Artifact]) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    for (build, artifact) in builds.iter().zip(artifacts) {
        let compiler = (&build.command, artifact.version.as_str());
        for (command, version) in [compiler].into_iter().chain(build.runner.first().map(|r| (r, ""))) {
            if tools.iter().any(|tool| tool.command == *command) {
                continue;
            }
            tools.push(Tool {
                command: command.clone(),
                path: locate(command).map(|p| p.display().to_string()),
                version: version.into(),
                package: debian_package(command),
            });
        }
    }
    tools
}
