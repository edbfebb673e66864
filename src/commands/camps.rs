//! Which builds agree on the ranges of a function: every witness is tried on every build.

use super::lab::Lab;
use crate::eval::EvalError;
use crate::findings::{Looks, Place};
use crate::model::{CampRow, FunctionResult, FunctionRow, StopReason};
use crate::pool::{FunctionJob, Mode};

/// Witnesses that are tried, at most.
const MOST: usize = 256;

/// The camps of a finished function; None when the user interrupted. With two builds a range says all
/// there is to say. A build that answers differently each time, or cannot be asked any more, is in none.
pub fn camps(
    lab: &Lab,
    job: &FunctionJob,
    result: &FunctionResult,
    row: &FunctionRow,
) -> Option<Vec<CampRow>> {
    let arity = job.task.function.arity();
    let ranges = || result.comparisons.iter().flat_map(|c| &c.ranges);
    if job.builds.len() < 3 || ranges().next().is_none() {
        return Some(Vec::new());
    }
    let mut inputs: Vec<&[u64]> = ranges().map(|range| range.witness.inputs.as_slice()).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs.truncate(MOST);
    let words = inputs.concat();
    let outcomes = lab.pool.evaluate(job.function_index, arity, &job.builds, &words, Mode::Together);
    let unsteady = |variant: usize| {
        let stop = result.comparisons.iter().find(|c| c.variant == variant).map(|c| c.stop);
        stop == Some(StopReason::Nondeterministic)
    };
    let (mut builds, mut answers) = (Vec::new(), Vec::new());
    for (index, (id, outcomes)) in job.task.builds.iter().zip(outcomes).enumerate() {
        let build = lab.plan.builds.iter().find(|build| build.id == *id);
        match (build, outcomes) {
            (_, Err(EvalError::Stopped)) => return None,
            (Some(build), Ok(outcomes)) if !unsteady(index) => {
                builds.push(build);
                answers.push(outcomes);
            }
            // Without the baseline there is nobody to differ from.
            _ if index == 0 => return Some(Vec::new()),
            _ => {}
        }
    }
    let (result, nan) = (job.task.function.result, job.task.settings.nan);
    let looks = Looks { builds, outcomes: answers, result, nan };
    let scalars = job.task.function.scalars();
    let ids = row.comparisons.iter().flat_map(|c| &c.ranges).map(|range| range.id.clone());
    let places = ids.zip(ranges()).map(|(id, range)| {
        let inside = |&i: &usize| range.holds(&scalars, inputs[i]);
        Place { range: id, inputs: (0..inputs.len()).filter(inside).collect() }
    });
    // A range of which no witness was tried has no camps.
    let places: Vec<Place> = places.filter(|place| !place.inputs.is_empty()).collect();
    Some(looks.rows(&places))
}
