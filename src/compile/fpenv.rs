//! The floating-point environment of a build: given, or what its own executables start with.

use std::fs;
use std::path::PathBuf;

use super::bench::{Bench, Failure, Job};
use super::command::{CommandLine, Lines, PROBE_PROGRAM};
use crate::model::{Build, ControlWords, FpEnvPolicy};
use crate::toolchain::{Compiler, PROBE_FILE, PROBE_SOURCE, debian_package, locate, read_probe};

/// The registers a build's calls start with, and whether no tool had to run to know them.
pub fn control_words(
    bench: &Bench,
    build: &Build,
    compiler: &Compiler,
    lines: &Lines,
) -> Result<(ControlWords, bool), Failure> {
    match build.fpenv {
        FpEnvPolicy::Ieee => Ok((ControlWords::IEEE, true)),
        FpEnvPolicy::Ftz => Ok((ControlWords::FTZ, true)),
        FpEnvPolicy::Probed => probe(bench, build, compiler, &lines.probe()),
    }
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
    let mut argv = build.runner.clone();
    argv.push(format!("./{PROBE_PROGRAM}"));
    let program = program_of(&argv, &job)?;
    let answer = job.run(&program, &CommandLine { what: "run probe".into(), argv })?.stdout;
    let words = read_probe(&answer)
        .ok_or_else(|| Failure::Tool(format!("the fp environment probe printed {:?}", answer.trim_end())))?;
    bench.keep(&key, answer.as_bytes(), Vec::new())?;
    Ok((words, false))
}

fn program_of(argv: &[String], job: &Job) -> Result<PathBuf, Failure> {
    match argv {
        [_] => Ok(job.path().join(PROBE_PROGRAM)),
        [runner, ..] => locate(runner).ok_or_else(|| {
            let package = debian_package(runner).map(|p| format!("; Debian package {p}")).unwrap_or_default();
            Failure::Tool(format!("{runner} not found{package}"))
        }),
        [] => Err(Failure::Tool("empty command line".into())),
    }
}
