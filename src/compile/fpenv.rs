//! The floating-point environment of a build: given, or what its own executables start with.

use std::fs;

use super::bench::{Bench, Failure, Job};
use super::command::{CommandLine, Lines, PROBE_PROGRAM};
use crate::model::{Build, ControlWords, FpEnvPolicy};
use crate::toolchain::{Compiler, PROBE_FILE, PROBE_SOURCE, read_probe};

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
        (FpEnvPolicy::Probed, Some(line)) => probe(bench, compiler, &line)?,
        (FpEnvPolicy::Ieee | FpEnvPolicy::Probed, _) => (ControlWords::IEEE, true),
    };
    Ok((words.with(&build.setting()), known))
}

fn probe(bench: &Bench, compiler: &Compiler, line: &CommandLine) -> Result<(ControlWords, bool), Failure> {
    bench.stop_if_cancelled()?;
    let key = bench.key("probe", compiler, line).map(|mut key| {
        key.add(PROBE_SOURCE);
        bench.add_link_inputs(&mut key, line);
        key.finish()
    });
    let _turn = key.map(|key| bench.in_flight.enter(key));
    let known = bench.look_up(key.as_ref(), &[]).and_then(|(_, answer)| fs::read_to_string(answer.path).ok());
    if let Some(words) = known.and_then(|text| read_probe(&text)) {
        return Ok((words, true));
    }
    let job = Job::new(bench)?;
    job.put(PROBE_FILE, PROBE_SOURCE.as_bytes(), 0o600)?;
    job.run(&compiler.path, line)?;
    let asked = Job::new(bench)?;
    asked.put(PROBE_PROGRAM, &job.output(PROBE_PROGRAM, line)?, 0o700)?;
    let argv = vec![format!("./{PROBE_PROGRAM}")];
    let answer = asked.run_code(&CommandLine { what: "run probe".into(), argv })?.stdout;
    let words = read_probe(&answer)
        .ok_or_else(|| Failure::Tool(format!("the fp environment probe printed {:?}", answer.trim_end())))?;
    bench.keep(key.as_ref(), answer.as_bytes(), Vec::new())?;
    Ok((words, false))
}
