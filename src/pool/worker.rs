//! The far end of a worker: the process that runs code under test, and the one that watches it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::protocol::{PANIC_EXIT, PIPES_EXIT, Reply, Report, Request, Work};
use crate::eval::{
    EvalError, Evaluator, Host, LoadPlan, Native, Phase, Rules, STRAYS_EXIT, Selection, Settled, Token,
    close, go_on_watched, leave, read_frame, settle, stay_on_one_cpu, write_frame,
};
use crate::model::Outcomes;
use crate::search::{Task, run_unit};

/// Runs a worker until it is let go. The subcommand `__worker`.
pub fn worker_main() -> ExitCode {
    let watched = settle().and_then(|settled| {
        let rules = Rules::hot(settled.slab.timeout());
        go_on_watched(settled, rules)
    });
    match watched {
        Ok(settled) => serve(settled),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Answers requests until the coordinator is gone, or code under test has closed the pipes. Leaves
/// without closing anything, because what it owns may not be its own any more.
fn serve(mut settled: Settled) -> ! {
    let Ok(Some((_, (lane, plans)))) = read_frame::<(Token, (usize, Vec<LoadPlan>))>(&mut settled.requests)
    else {
        leave(PIPES_EXIT)
    };
    let is_emulated =
        |plan: &LoadPlan| plan.object.runner.as_ref().is_some_and(|runner| !runner.command.is_empty());
    let emulated = plans.iter().any(is_emulated);
    if let Err(error) = close(&settled, emulated) {
        settled.slab.set_unconfined(&error);
        leave(PIPES_EXIT);
    }
    let Settled { mut requests, mut replies, slab, room, sandbox, .. } = settled;
    if plans.iter().any(|plan| plan.object.runner.is_some()) {
        stay_on_one_cpu(lane);
    }
    let mut host = Host::new(plans, slab, &room, &sandbox);
    let mut tasks = BTreeMap::new();
    while let Ok(Some((token, request))) = read_frame::<(Token, Request)>(&mut requests) {
        host.slab().set_phase(Phase::Busy);
        match request {
            Request::Task { job, task } => {
                tasks.insert(job, *task);
            }
            Request::Work { selection, work } => {
                let report = attempt(&mut host, *selection, &work, &tasks);
                if host.has_strays() {
                    leave(STRAYS_EXIT);
                }
                // A coordinator that was stopped may take long to read; that is no lack of progress.
                host.slab().set_phase(Phase::Idle);
                if write_frame(&mut replies, &(token, report)).is_err() {
                    leave(PIPES_EXIT);
                }
            }
        }
        host.slab().set_phase(Phase::Idle);
    }
    leave(PIPES_EXIT)
}

/// Does the work. A panic beside hot builds may be their doing, so it costs the worker; without
/// them it is a defect of this program, and says so.
fn attempt(host: &mut Host, selection: Selection, work: &Work, tasks: &BTreeMap<usize, Task>) -> Report {
    let hot = selection.cautious.contains(&false);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut native = Native::new(host, selection)?;
        let reply = perform(&mut native, work, tasks)?;
        Ok::<_, EvalError>(Report { calls: native.calls(), reply })
    }));
    let failed = |words: String| Report { calls: 0, reply: Reply::Failed(words) };
    match result {
        Ok(result) => result.unwrap_or_else(|error| failed(error.to_string())),
        Err(_) if hot => leave(PANIC_EXIT),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
            failed(format!("a panic: {text}"))
        }
    }
}

fn perform(native: &mut Native, work: &Work, tasks: &BTreeMap<usize, Task>) -> Result<Reply, EvalError> {
    match work {
        Work::Unit { job, unit, time } => match tasks.get(job) {
            Some(task) => {
                native.finish_within(*time);
                Ok(Reply::Answer(Box::new(run_unit(task, unit, native)?)))
            }
            None => Ok(Reply::Failed(format!("a unit of job {job}, whose task never came"))),
        },
        Work::Evaluate { inputs, batch } => {
            let step = batch.max(&1) * native.arity();
            let mut outcomes = vec![Outcomes::new(native.width()); native.builds()];
            for chunk in inputs.chunks(step) {
                for (build, out) in outcomes.iter_mut().enumerate() {
                    native.evaluate(build, chunk, out)?;
                }
            }
            Ok(Reply::Outcomes(outcomes))
        }
        Work::Time { inputs, batch, repeats } => {
            let step = batch.max(&1) * native.arity();
            let mut out = Outcomes::new(native.width());
            // Loading is not part of what is timed.
            for build in 0..native.builds() {
                native.evaluate(build, &inputs[..step.min(inputs.len())], &mut out)?;
            }
            let begun = Instant::now();
            for _ in 0..*repeats {
                for chunk in inputs.chunks(step) {
                    for build in 0..native.builds() {
                        out.clear();
                        native.evaluate(build, chunk, &mut out)?;
                    }
                }
            }
            Ok(Reply::Nanoseconds(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)))
        }
        Work::Pace { inputs, batch } => Ok(Reply::Paces(pace(native, inputs, *batch)?)),
    }
}

/// Rounds of all builds: at least so many, at most so many, and no more after this time.
const ROUNDS: [usize; 2] = [5, 200];
const PACE_TIME: Duration = Duration::from_millis(300);

/// The least time of all inputs on each build. The first round, which also loads, does not count.
fn pace(native: &mut Native, inputs: &[u64], batch: usize) -> Result<Vec<u64>, EvalError> {
    let step = batch.max(1) * native.arity();
    let mut least = vec![u64::MAX; native.builds()];
    let mut begun = Instant::now();
    for round in 0..=ROUNDS[1] {
        for (build, least) in least.iter_mut().enumerate() {
            let mut spent = Duration::ZERO;
            for chunk in inputs.chunks(step) {
                spent += native.pace(build, chunk)?;
            }
            if round > 0 {
                *least = (*least).min(u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX));
            }
        }
        if round == 0 {
            begun = Instant::now();
        } else if round >= ROUNDS[0] && begun.elapsed() >= PACE_TIME {
            break;
        }
    }
    Ok(least)
}
