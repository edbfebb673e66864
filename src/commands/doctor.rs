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
    Artifact, ArtifactStatus, Build, Callee, Domain, Experiment, Function, FunctionStatus, NoEvents, Outcome,
    Param, Sources,
};
use crate::plan;
use crate::pool::{Limits, LoadPlan, Mode, Pool};
use crate::report::doctor::{self, DoctorRow};
use crate::toolchain::{debian_package, locate};

/// What the trial function is called with.
const TRIAL: f64 = 1.5;

pub fn run(args: &DoctorArgs, console: &Console) -> Result<Exit, Failure> {
    let experiment = trial(lab::load(&args.matrix, &FunctionGlobs::default())?);
    let plan = plan::expand(&experiment)?;
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
    let mut rows = Vec::new();
    for (build, artifact) in plan.builds.iter().zip(&compiled.artifacts) {
        if interrupt::is_set(&cancel) {
            return Err(Failure::interrupted(""));
        }
        let call = |plan| {
            Pool::new(vec![plan], limits, cancel.clone()).evaluate(
                0,
                1,
                &[0],
                &[TRIAL.to_bits()],
                Mode::Alone,
            )
        };
        let problem = match load_plan(artifact) {
            Ok(plan) => complaint(call(plan).pop()),
            Err(problem) => Some(problem),
        };
        rows.push(row(build, artifact, problem));
        rows.extend(build.runner.first().map(|runner| tool(runner, build)));
    }
    console.print(&doctor::render(&rows, console.style))?;
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
        callee: Callee::Call("x".into()),
        headers: Vec::new(),
    };
    Experiment {
        functions: vec![identity],
        sources: Sources { files: Vec::new(), ..experiment.sources },
        setup: None,
        ..experiment
    }
}

fn load_plan(artifact: &Artifact) -> Result<LoadPlan, String> {
    match &artifact.status {
        ArtifactStatus::Built(object) => match &object.functions[0] {
            FunctionStatus::Ready { .. } => {
                Ok(LoadPlan { build: artifact.build.clone(), object: object.clone() })
            }
            FunctionStatus::Missing { message } => Err(message.clone()),
        },
        ArtifactStatus::Failed { message } => Err(message.clone()),
        ArtifactStatus::Skipped { reason } => Err(reason.clone()),
    }
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

fn row(build: &Build, artifact: &Artifact, problem: Option<String>) -> DoctorRow {
    DoctorRow { version: artifact.version.clone(), problem, ..tool(&build.command, build) }
}

fn tool(command: &str, build: &Build) -> DoctorRow {
    DoctorRow {
        name: build.id.to_string(),
        command: command.into(),
        path: locate(command).map(|p| p.display().to_string()),
        optional: build.optional,
        package: debian_package(command),
        ..DoctorRow::default()
    }
}
