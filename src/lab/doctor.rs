//! What of a matrix this machine can build and run.
//!
//! Every build is tried for real on a function that returns its argument: found, compiled, linked,
//! loaded, called. Then the matrix's own functions are compiled on those that passed, for what that tells.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::error::{LabError, Progress};
use super::notes;
use super::open::{Lab, Means};
use super::panel::Panel;
use crate::fp::Scalar;
use crate::model::{
    Answer, Artifact, ArtifactStatus, Build, BuildId, Callee, Coordinate, Domain, Event, EventSink,
    Experiment, Function, FunctionStatus, Harness, Implementation, NoEvents, Outcome, Sources, gist,
};
use crate::pool::{Limits, Mode};
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
    /// What to know of the matrix's own functions on the builds that can be made.
    pub notes: Vec<String>,
}

impl Checkup {
    /// Tries every build of an experiment.
    pub fn of(experiment: Experiment, means: Means) -> Result<Checkup, LabError> {
        let own = Lab::new(experiment.clone(), means.clone())?;
        let lab = Lab::new(trial(experiment), means)?;
        let artifacts = lab.compile(&lab.experiment, &lab.plan.builds, &NoEvents)?.artifacts;
        let tools = tools(&lab.plan.builds, &artifacts);
        let limits = Limits { timeout: PATIENCE, ..lab.limits() };
        let panel = Panel::new(&lab.experiment, artifacts, limits, &lab.cancel);
        let mut builds = Vec::new();
        for (place, build) in lab.plan.builds.iter().enumerate() {
            if lab.is_cancelled() {
                return Err(LabError::Interrupted(Progress::Begun));
            }
            builds.push((build.id.clone(), health(&panel, place, build)?));
        }
        let healthy =
            |build: &&Build| builds.iter().any(|(id, health)| *id == build.id && *health == Health::Ok);
        let notes = own.checked(own.plan.builds.iter().filter(healthy).cloned().collect())?;
        Ok(Checkup { tools, builds, notes })
    }
}

impl Lab {
    /// Compiles the matrix's own functions on some builds, for what that tells.
    fn checked(&self, builds: Vec<Build>) -> Result<Vec<String>, LabError> {
        let sink = Notes::default();
        let mut compiled = self.compile(&self.experiment, &builds, &sink)?;
        self.explain_missing(&mut compiled.artifacts);
        let mut notes = sink.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut missing: Vec<String> = Vec::new();
        for object in compiled.artifacts.iter().filter_map(Artifact::object) {
            missing.extend(object.functions.iter().filter_map(|status| match status {
                FunctionStatus::Missing { message } => Some(gist(message).to_string()),
                FunctionStatus::Ready { .. } => None,
            }));
        }
        missing.sort();
        missing.dedup();
        notes.extend(missing);
        notes.extend(notes::of_code(&builds, &compiled.artifacts));
        Ok(notes)
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
