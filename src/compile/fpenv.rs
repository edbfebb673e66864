//! The floating-point environment of a build: given, or what its own executables start with.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::bench::{Bench, Failure, Job};
use super::command::{CommandLine, Lines, PROBE_PROGRAM};
use super::harness::RUNNER;
use crate::model::{Build, ControlWords, FpEnvPolicy, RunnerPlan};
use crate::toolchain::{Compiler, PROBE_FILE, PROBE_SOURCE, locate, read_probe};

/// The registers a build's calls start with, and whether no tool had to run to know them. Those of
/// another target are shown by its runner, later.
pub fn control_words(
    bench: &Bench,
    build: &Build,
    compiler: &Compiler,
    lines: &Lines,
) -> Result<(ControlWords, bool), Failure> {
    let (words, known) = match (build.fpenv, lines.probe()) {
        (FpEnvPolicy::Ftz, _) => (ControlWords::FTZ, true),
        (FpEnvPolicy::Probed, Some(line)) => probe(bench, build, compiler, &line)?,
        (FpEnvPolicy::Ieee | FpEnvPolicy::Probed, _) => (ControlWords::IEEE, true),
    };
    Ok((words.with(&build.setting()), known))
}

/// How to run a build that is a program of its own, and the environment it runs in. `native` is what
/// this machine's own compiler would start it with.
pub fn runner_plan(
    bench: &Bench,
    build: &Build,
    program: &Path,
    native: ControlWords,
) -> Result<(ControlWords, RunnerPlan), Failure> {
    let mut plan =
        RunnerPlan { command: build.runner.clone(), setting: build.setting(), ..RunnerPlan::default() };
    if let Some(first) = plan.command.first_mut() {
        *first = tool(first)?.display().to_string();
    }
    let tunables = build.environment.tunables.iter();
    plan.variables.extend(tunables.map(|value| ("GLIBC_TUNABLES".into(), value.clone())));
    if build.is_native() {
        // Another libm, the same code: how it is linked must not change what is flushed.
        plan.setting.flush = Some(native.flushes());
        return Ok((native, plan));
    }
    let job = Job::new(bench)?;
    let copy = job.path().join(RUNNER);
    fs::copy(program, &copy)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o700))?;
    let mut argv = plan.command.clone();
    argv.extend([format!("./{RUNNER}"), "--probe".into()]);
    let first = plan.command.first().map_or(copy, PathBuf::from);
    let answer = job.run(&first, &CommandLine { what: "run probe".into(), argv })?.stdout;
    Ok((read(&answer)?.with(&plan.setting), plan))
}

fn read(answer: &str) -> Result<ControlWords, Failure> {
    read_probe(answer)
        .ok_or_else(|| Failure::Tool(format!("the fp environment probe printed {:?}", answer.trim_end())))
}

fn tool(command: &str) -> Result<PathBuf, Failure> {
    locate(command).ok_or_else(|| Failure::Tool(format!("{command} not found")))
}

fn probe(
    bench: &Bench,
    build: &Build,
    compiler: &Compiler,
    line: &CommandLine,
) -> Result<(ControlWords, bool), Failure> {
    bench.stop_if_cancelled()?;
    let mut key = bench.key("probe", compiler, line);
    key.add(PROBE_SOURCE).add_all(&build.runner);
    bench.add_link_inputs(&mut key, line);
    let key = key.finish();
    let _turn = bench.in_flight.enter(key);
    let known = bench.look_up(&key, &[]).and_then(|(_, answer)| fs::read_to_string(answer.path).ok());
    if let Some(words) = known.and_then(|text| read_probe(&text)) {
        return Ok((words, true));
    }
    let job = Job::new(bench)?;
    fs::write(job.path().join(PROBE_FILE), PROBE_SOURCE)?;
    job.run(&compiler.path, line)?;
    job.output(PROBE_PROGRAM, line)?;
    let program = job.path().join(PROBE_PROGRAM);
    let argv = vec![format!("./{PROBE_PROGRAM}")];
    let answer = job.run(&program, &CommandLine { what: "run probe".into(), argv })?.stdout;
    let words = read(&answer)?;
    bench.keep(&key, answer.as_bytes(), Vec::new())?;
    Ok((words, false))
}
