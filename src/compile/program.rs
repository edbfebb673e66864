//! How a build that is a program of its own is run: on which emulator, in which environment, and how
//! that emulator computes.

use std::fs;
use std::path::Path;

use super::bench::{Bench, Failure, Job};
use super::command::CommandLine;
use super::harness::{RUNNER, abi_args, linker};
use crate::model::{Arithmetic, Build, ControlWords, Libm, RunnerPlan};
use crate::toolchain::{
    Compiler, Family, Libraries, RunnerWords, ToolReach, library_identity, library_of, locate, missing_tool,
    read_runner,
};

/// What is known of a build's object beside its path. Without a runner it is one to load.
#[derive(Default)]
pub struct Program {
    pub control: ControlWords,
    pub runner: Option<RunnerPlan>,
    pub arithmetic: Option<Arithmetic>,
    /// The mathematics library: file, build id, version.
    pub libm: String,
}

/// Why no program of this build can be linked or run here.
pub fn lacking(build: &Build) -> Option<String> {
    let tools = build.runner.first().map(String::as_str).into_iter().chain(linker(build));
    if let Some(missing) = tools.into_iter().find_map(missing_tool) {
        return Some(missing.to_string());
    }
    let machine = build.triple.as_deref().and_then(|triple| triple.split('-').next());
    let foreign = machine.filter(|machine| *machine != std::env::consts::ARCH);
    foreign.and(linker(build)).map(|linker| {
        format!(
            "{linker} links programs of this machine alone; leave target {} out of environment {} with [[exclude]]",
            build.target, build.environment.name
        )
    })
}

/// Looks at a linked runner. `native` is what this machine's own compiler would start it with.
pub fn program(
    bench: &Bench,
    (build, compiler): (&Build, &Compiler),
    (path, libraries): (&Path, &Libraries),
    native: ControlWords,
) -> Result<Program, Failure> {
    let mut plan =
        RunnerPlan { command: build.runner.clone(), setting: build.setting(), ..RunnerPlan::default() };
    if let Some(first) = plan.command.first_mut() {
        let found = locate(first).ok_or_else(|| Failure::Tool(format!("{first} not found")))?;
        *first = found.display().to_string();
    }
    let tunables = build.environment.tunables.iter();
    plan.variables.extend(tunables.map(|value| ("GLIBC_TUNABLES".into(), value.clone())));
    let answer = ask(bench, &plan, path).map_err(|failure| with_hint(build, failure))?;
    let RunnerWords { control, arithmetic, libc } =
        read_runner(&answer).ok_or_else(|| Failure::Tool(no_runner(build, &answer)))?;
    let libm = format!("{}, {libc}", library(build, compiler, libraries, &bench.reach));
    // A plain program keeps what its own link gives it, unless another compiler links it.
    let own_start = build.plain && linker(build).is_none();
    if build.is_native() && !own_start {
        // Another libm, the same code: how it is linked must not change what is flushed.
        plan.setting.flush = Some(native.flushes());
        return Ok(Program { control: native, runner: Some(plan), arithmetic: None, libm });
    }
    let arithmetic = (!plan.command.is_empty()).then_some(arithmetic);
    Ok(Program { control: control.with(&plan.setting), runner: Some(plan), arithmetic, libm })
}

/// The runner's own words are fixed, so that these are another program's.
fn no_runner(build: &Build, answer: &str) -> String {
    let shown = answer.trim_end();
    match build.runner.first() {
        Some(emulator) => format!(
            "{emulator} printed {shown:?} and not what the program it was given prints; \
             `runner` of target {} must run that program",
            build.target
        ),
        None => format!("the runner's probe printed {shown:?}"),
    }
}

/// The name by which programs of this machine ask for their mathematics library.
const LIBM: &str = "libm.so.6";

/// The library a build's mathematics come from.
fn library(build: &Build, compiler: &Compiler, libraries: &Libraries, reach: &ToolReach) -> String {
    let found = match &build.environment.libm {
        Some(Libm::File(path)) => Some(path.clone()),
        // musl's libm is a part of its libc.
        Some(Libm::Musl) => locate("musl-gcc").and_then(|gcc| library_of(&gcc, &[], "libc.a", reach)),
        // A program with its libraries inside asks for none.
        None if build.is_native() => {
            libraries.get(LIBM).cloned().or_else(|| library_of(&compiler.path, &[], LIBM, reach))
        }
        None => {
            let mut args = abi_args(&build.args);
            args.extend(
                build
                    .triple
                    .iter()
                    .filter(|_| compiler.family == Family::Clang)
                    .map(|t| format!("--target={t}")),
            );
            // glibc's libm.a is a list of two archives on some machines, which is as good.
            library_of(&compiler.path, &args, "libm.a", reach)
        }
    };
    found.map_or_else(|| "libm of unknown place".into(), |path| library_identity(&path))
}

/// ENOEXEC in the words of the system.
const NOT_OURS: &str = "Exec format error";

fn with_hint(build: &Build, failure: Failure) -> Failure {
    match failure {
        Failure::Tool(words) if build.runner.is_empty() && words.contains(NOT_OURS) => {
            Failure::Tool(format!(
                "this machine cannot run programs of target {}; give it a `runner`, such as [\"qemu-aarch64\"]",
                build.target
            ))
        }
        other => other,
    }
}

/// What the runner says of itself.
fn ask(bench: &Bench, plan: &RunnerPlan, path: &Path) -> Result<String, Failure> {
    let job = Job::new(bench)?;
    job.put(RUNNER, &fs::read(path)?, 0o700)?;
    let mut argv = plan.command.clone();
    argv.extend([format!("./{RUNNER}"), "--probe".into()]);
    Ok(job.run_code(&CommandLine { what: "run probe".into(), argv })?.stdout)
}
