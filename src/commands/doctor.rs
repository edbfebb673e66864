//! `bitrift doctor`: what of a matrix this machine can build and run.
//!
//! Every build is tried for real on a function that returns its argument: found, compiled, linked,
//! loaded, called. The matrix's own sources are not compiled.

use std::time::Duration;

use super::console::Console;
use super::failure::Failure;
use super::{interrupt, lab};
use crate::cli::{DoctorArgs, Exit, FunctionGlobs};
use crate::compile::{Cache, Settings, compile_all};
use crate::findings::outcome_text;
use crate::fp::Scalar;
use crate::model::{
    Artifact, ArtifactStatus, Build, BuiltObject, Callee, Domain, Experiment, Function, FunctionStatus,
    Implementation, NoEvents, Outcome, Param, Sources,
};
use crate::plan;
use crate::pool::{Limits, LoadPlan, Mode, Pool};
use crate::report::doctor::{self, Checkup, Health, Tool};
use crate::toolchain::{debian_package, locate};

/// What the trial function is called with.
const TRIAL: f64 = 1.5;

pub fn run(args: &DoctorArgs, console: &Console) -> Result<Exit, Failure> {
    let experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    let plan = plan::expand(&experiment)?;
    let experiment = trial(experiment);
    let cancel = interrupt::flag()?;
    let cache = Cache::open(&Cache::default_folder())?;
    let jobs = lab::jobs(None);
    let settings = Settings { jobs, timeout: Settings::TIMEOUT, cancel: &cancel };
    let compiled = compile_all(&experiment, &plan.builds, &cache, &settings, &NoEvents)?;
    let limits = Limits {
        // A trial is no search: let a slow machine take its time.
        timeout: Duration::from_secs(2),
        memory_mb: experiment.search.memory_mb,
        jobs,
    };
    let mut checkup = Checkup { tools: tools(&plan.builds, &compiled.artifacts), builds: Vec::new() };
    for (build, artifact) in plan.builds.iter().zip(&compiled.artifacts) {
        if interrupt::is_set(&cancel) {
            return Err(Failure::interrupted(""));
        }
        let call = |object: &BuiltObject| {
            let plan = LoadPlan { build: artifact.build.clone(), object: object.clone() };
            let pool = Pool::new(vec![plan], limits, cancel.clone());
            complaint(pool.evaluate(0, 1, &[0], &[TRIAL.to_bits()], Mode::Alone).pop())
        };
        let health = match &artifact.status {
            ArtifactStatus::Built(object) => match &object.functions[0] {
                FunctionStatus::Ready { .. } => call(object).map_or(Health::Ok, Health::Broken),
                FunctionStatus::Missing { message } => Health::Broken(message.clone()),
            },
            ArtifactStatus::Failed { message } => Health::Broken(message.clone()),
            ArtifactStatus::Skipped { reason } if build.optional => Health::Skipped(reason.clone()),
            ArtifactStatus::Skipped { reason } => Health::Missing(reason.clone()),
        };
        checkup.builds.push((build.id.to_string(), health));
    }
    console.print(&doctor::render(&checkup, console.style))?;
    Ok(Exit::Done)
}

/// The same axes around one function that needs no sources.
fn trial(experiment: Experiment) -> Experiment {
    let param = Param {
        name: "x".into(),
        c_type: "double".into(),
        ty: Scalar::F64,
        domain: Domain::all(Scalar::F64),
        domain_text: String::new(),
    };
    let identity = Function {
        name: "doctor".into(),
        params: vec![param],
        result: Scalar::F64,
        result_c_type: "double".into(),
        callee: Callee::Elsewhere,
        headers: Vec::new(),
    };
    let bare = |implementation: Implementation| Implementation {
        sources: Sources { files: Vec::new(), ..implementation.sources },
        setup: None,
        calls: [(identity.name.clone(), Callee::Call("x".into()))].into(),
        ..implementation
    };
    let implementations = experiment.implementations.into_iter().map(bare).collect();
    Experiment { functions: vec![identity.clone()], implementations, ..experiment }
}

/// What is wrong with the trial call, if anything.
fn complaint(answer: Option<Result<Vec<Outcome>, crate::eval::EvalError>>) -> Option<String> {
    match answer {
        Some(Ok(outcomes)) if outcomes == [Outcome::Value(TRIAL.to_bits())] => None,
        Some(Ok(outcomes)) => {
            let what = outcomes.first().map(|o| outcome_text(Scalar::F64, *o).dec);
            Some(format!("a function that returns its argument gave {}", what.unwrap_or_default()))
        }
        Some(Err(error)) => Some(error.to_string()),
        None => Some("the trial call gave no outcome".into()),
    }
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
