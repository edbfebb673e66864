//! `bitrift gate`: every accepted witness again, then a search, both against the lock file.

use std::time::{Duration, Instant};

use super::console::Console;
use super::failure::Failure;
use super::lab::{Lab, Wanted};
use super::looking::look;
use super::run::{self, Searched, check_fit, search_and_store};
use crate::cli::{Exit, FunctionGlobs, GateArgs};
use crate::findings::build_row;
use crate::gate::{Policy, run_looks, verdict, witness_looks};
use crate::model::{Event, EventSink, Experiment, GateFile, GateVerdict, LockFile, gist, printable};
use crate::report::gate::{self as page, GatePage};
use crate::store::{RunFolder, StoreError, gate_json, read_lock, write_gate};

pub fn run(args: &GateArgs, console: &Console) -> Result<Exit, Failure> {
    let start = Instant::now();
    let shown = printable(&args.lock.display().to_string());
    let lock = read_lock(&args.lock)?.ok_or(StoreError::NoLock { path: shown.clone() })?;
    let sink = console.progress(args.quiet);
    let wanted = Wanted {
        matrix: &args.matrix,
        functions: &FunctionGlobs::default(),
        adjust: &|experiment| {
            search_as_accepted(args, &lock, experiment)?;
            check_fit(experiment)?;
            check_lab(&lock, &shown, experiment)
        },
        cache: args.cache.as_deref(),
        jobs: args.jobs,
    };
    let mut lab = Lab::open(&wanted, sink.as_ref()).map_err(undecided)?;
    lab.check_functions()?;
    check_builds(&lock, &shown, &lab)?;
    let done = decide(args, &lock, &mut lab, start, sink.as_ref()).map_err(undecided)?;
    report(args, console, &done)?;
    Ok(if done.gate.verdict == GateVerdict::Red { Exit::GateFailed } else { Exit::Done })
}

/// A verdict, and where it is stored.
struct Decided {
    gate: GateFile,
    folder: RunFolder,
    replay_s: f64,
}

/// Replays, searches, judges and stores.
fn decide(
    args: &GateArgs,
    lock: &LockFile,
    lab: &mut Lab,
    start: Instant,
    sink: &dyn EventSink,
) -> Result<Decided, Failure> {
    let begun = Instant::now();
    if let Some(until) = args.time.and_then(|s| begun.checked_add(Duration::try_from_secs_f64(s).ok()?)) {
        lab.pool.finish_by(until);
    }
    let mut seen = look(lab, witness_looks(lock))?;
    let replay_s = begun.elapsed().as_secs_f64();
    let text = format!("replayed {} accepted witnesses in {replay_s:.2} s", seen.len());
    sink.send(Event::Note { text });
    let opened = run::new_folder(lab, args.out.as_deref(), args.overwrite)?;
    let folder = opened.0.clone();
    let search = || {
        let Searched { run, samples, .. } = search_and_store(lab, opened, start, sink)?;
        let samples = samples.into_iter().map(|s| (s.function.clone(), s)).collect();
        seen.extend(look(lab, run_looks(&run, &samples, lock, args.tolerance))?);
        Ok(run)
    };
    // Half a search decides nothing, and a later `accept` must not find it.
    let run = search().inspect_err(|_: &Failure| folder.discard())?;
    let policy = Policy {
        lock,
        limits: &lab.experiment.limits,
        tolerance: args.tolerance,
        nan: lab.experiment.search.nan,
        strict: args.strict,
    };
    let gate = verdict(&policy, &run, &seen);
    write_gate(folder.path(), &gate)?;
    Ok(Decided { gate, folder, replay_s })
}

fn report(args: &GateArgs, console: &Console, done: &Decided) -> Result<(), Failure> {
    if args.json {
        return console.print(&gate_json(&done.gate));
    }
    let page = GatePage {
        gate: &done.gate,
        matrix: &args.matrix.display().to_string(),
        lock: &args.lock.display().to_string(),
        folder: &done.folder.path().display().to_string(),
        is_latest: args.out.is_none(),
        replay_s: done.replay_s,
    };
    console.print(&page::render(&page, console.style))
}

/// The lock's own search, so that the same code gives the same verdict; options come last.
fn search_as_accepted(args: &GateArgs, lock: &LockFile, experiment: &mut Experiment) -> Result<(), Failure> {
    let settings = &mut experiment.search;
    settings.seed = lock.search.seed;
    settings.strategy = lock.search.strategy;
    settings.budget = lock.search.budget;
    settings.nan = lock.nan;
    Ok(args.search.apply(settings)?)
}

/// Without a verdict there is nothing to go on with.
fn undecided(failure: Failure) -> Failure {
    match failure.exit {
        Exit::Interrupted => {
            Failure::interrupted(" before the verdict; nothing is stored, start the gate again")
        }
        _ => failure,
    }
}

/// That the lock is this lab's, and that its functions are there: before anything is compiled.
fn check_lab(lock: &LockFile, path: &str, experiment: &Experiment) -> Result<(), Failure> {
    if lock.name != experiment.name {
        return Err(Failure::usage(format!(
            "{path} is the lock of the lab `{}`, the matrix is `{}`; name its own lock with --lock, or make one \
             with `bitrift accept --lock FILE`",
            lock.name, experiment.name
        )));
    }
    let mut missing = Vec::new();
    for (name, function) in &lock.functions {
        let Some(now) = experiment.functions.iter().find(|f| f.name == *name) else {
            missing.push(format!("function {name} is in the lock and not in the matrix"));
            continue;
        };
        let params: Vec<&str> = now.params.iter().map(|p| p.ty.c_name()).collect();
        let now = format!("{} ({})", now.result.c_name(), params.join(", "));
        if now != function.signature() {
            let then = function.signature();
            missing.push(format!("function {name} was accepted as {then}, the matrix now says {now}"));
        }
    }
    let mend = "put it back, or leave it out of the lock: `bitrift run`, then `bitrift accept --prune` \
                (with --loosen where a signature changed)";
    absent(missing, path, mend)
}

/// That every build of the lock is there, with the functions that were compared on it.
fn check_builds(lock: &LockFile, path: &str, lab: &Lab) -> Result<(), Failure> {
    let baseline = lab.build_id(lab.plan.baseline).as_str();
    if lock.baseline != baseline {
        return Err(Failure::usage(format!(
            "{path} was made against the baseline {}, the matrix has {baseline}: nothing can be compared; set the \
             baseline back, or delete the lock and make it anew: `bitrift run`, then `bitrift accept`",
            lock.baseline
        )));
    }
    let mut missing = Vec::new();
    for id in lock.builds.keys() {
        let Some(build) = lab.plan.builds.iter().position(|b| b.id == *id) else {
            missing.push(format!("build {id} is in the lock and not in the matrix"));
            continue;
        };
        let row = build_row(&lab.plan.builds[build], &lab.artifacts[build]);
        if !row.is_built() {
            missing.push(format!("build {id} {}: {}", row.status, gist(&row.reason)));
            continue;
        }
        for (name, function) in &lock.functions {
            let compared = function.builds.contains_key(id) || function.clean.contains(id);
            let lacks = lab.function(name).and_then(|(index, _)| lab.lacks(build, index));
            if let Some(why) = lacks.filter(|_| compared || *id == lock.baseline) {
                missing.push(format!("build {id} lacks function {name}: {}", gist(&why)));
            }
        }
    }
    let mend = "install what is missing; or leave a build out of the lock that is out of the matrix: `bitrift run`, \
                then `bitrift accept --prune`";
    absent(missing, path, mend)
}

fn absent(missing: Vec<String>, path: &str, mend: &str) -> Result<(), Failure> {
    if missing.is_empty() {
        return Ok(());
    }
    let list: String = missing.iter().map(|line| format!("\n  {}", printable(line))).collect();
    let message = format!("the gate cannot compare all that {path} is about:{list}\n{mend}");
    Err(Failure::new(Exit::Unevaluated, message))
}
