//! The far end of a worker: the process that runs code under test, and the one that watches it.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Instant;

use super::protocol::{Reply, Request, Work};
use crate::eval::{
    EvalError, Evaluator, Forked, Host, LoadPlan, Native, Phase, Rules, Slab, end_descendants, fork, leave,
    read_frame, settle, volunteer_for_oom, watch, write_frame,
};
use crate::search::{Task, run_unit};

/// Runs a worker until it is let go. The subcommand `__worker`.
pub fn worker_main() -> ExitCode {
    let Ok(settled) = settle() else { return ExitCode::FAILURE };
    // SAFETY: nothing in this process has started a thread.
    match unsafe { fork() } {
        Ok(Forked::Child) => {
            volunteer_for_oom();
            drop(settled.leash);
            serve(settled.requests, settled.replies, settled.slab);
            leave(0)
        }
        Ok(Forked::Parent(pid)) => {
            drop((settled.requests, settled.replies));
            let rules = Rules::hot(settled.slab.timeout());
            let end = watch(pid, &settled.slab, settled.leash.as_fd(), rules);
            end_descendants();
            settled.slab.set_end(end);
            let _ = settled.room.close();
            leave(0)
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// Answers requests; None when the coordinator is gone, or code under test closed the pipes.
fn serve(mut requests: File, mut replies: File, slab: Slab) -> Option<()> {
    let plans: Vec<LoadPlan> = read_frame(&mut requests).ok()??;
    let mut host = Host::new(plans, slab);
    let mut tasks = BTreeMap::new();
    loop {
        let request = read_frame(&mut requests).ok()??;
        host.slab().set_phase(Phase::Busy);
        match request {
            Request::Task { job, task } => {
                tasks.insert(job, *task);
            }
            Request::Work { selection, work } => {
                let mut native = Native::new(&mut host, selection);
                let reply = match &mut native {
                    Ok(native) => {
                        perform(native, &work, &tasks).unwrap_or_else(|e| Reply::Failed(e.to_string()))
                    }
                    Err(error) => Reply::Failed(error.to_string()),
                };
                write_frame(&mut replies, &reply).ok()?;
            }
        }
        host.slab().set_phase(Phase::Idle);
    }
}

fn perform(native: &mut Native, work: &Work, tasks: &BTreeMap<usize, Task>) -> Result<Reply, EvalError> {
    match work {
        Work::Unit { job, unit } => match tasks.get(job) {
            Some(task) => Ok(Reply::Answer(run_unit(task, unit, native)?)),
            None => Ok(Reply::Failed(format!("a unit of job {job}, whose task never came"))),
        },
        Work::Evaluate { inputs, batch } => {
            let step = batch.max(&1) * native.arity();
            let mut outcomes = vec![Vec::new(); native.builds()];
            for chunk in inputs.chunks(step) {
                for (build, out) in outcomes.iter_mut().enumerate() {
                    native.evaluate(build, chunk, out)?;
                }
            }
            Ok(Reply::Outcomes(outcomes))
        }
        Work::Time { inputs, batch, repeats } => {
            let step = batch.max(&1) * native.arity();
            let mut out = Vec::with_capacity(*batch);
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
    }
}
