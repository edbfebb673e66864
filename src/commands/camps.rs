//! Which builds agree on the ranges of a function: every witness is tried on every build.

use super::lab::Lab;
use crate::findings::{Looks, Place};
use crate::model::{CampRow, FunctionResult, FunctionRow};
use crate::pool::{FunctionJob, Mode};

/// Witnesses that are tried, at most.
const MOST: usize = 256;

/// The camps of a finished function. With two builds a range says all there is to say.
pub fn camps(lab: &Lab, job: &FunctionJob, result: &FunctionResult, row: &FunctionRow) -> Vec<CampRow> {
    let arity = job.task.function.arity();
    let ranges = || result.comparisons.iter().flat_map(|c| &c.ranges);
    if job.builds.len() < 3 || ranges().next().is_none() {
        return Vec::new();
    }
    let mut inputs: Vec<&[u64]> = ranges().map(|range| range.witness.inputs.as_slice()).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs.truncate(MOST);
    let words = inputs.concat();
    let outcomes = lab.pool.evaluate(job.function_index, arity, &job.builds, &words, Mode::Together);
    // A build that cannot be asked any more is no member of a camp.
    let (mut builds, mut answers) = (Vec::new(), Vec::new());
    for (id, outcomes) in job.task.builds.iter().zip(outcomes) {
        let build = lab.plan.builds.iter().find(|build| build.id == *id);
        if let (Some(build), Ok(outcomes)) = (build, outcomes) {
            builds.push(build);
            answers.push(outcomes);
        }
    }
    let looks = Looks { builds, outcomes: answers, result: job.task.function.result };
    let params = &job.task.function.params;
    let ids = row.comparisons.iter().flat_map(|c| &c.ranges).map(|range| range.id.clone());
    let places = ids.zip(ranges()).map(|(id, range)| {
        let inside = |input: &[u64]| {
            (0..arity).all(|p| {
                let ordinal = |bits: u64| params[p].ty.ordinal(bits);
                let (lo, hi) = (ordinal(range.lo[p]), ordinal(range.hi[p]));
                (lo.min(hi)..=hi.max(lo)).contains(&ordinal(input[p]))
            })
        };
        Place { range: id, inputs: (0..inputs.len()).filter(|&i| inside(inputs[i])).collect() }
    });
    let places: Vec<Place> = places.collect();
    looks.rows(&places)
}
