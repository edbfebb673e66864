//! Which builds agree on the ranges of a function: every witness is tried on every build.

use crate::findings::{Looks, Place};
use crate::model::{Build, CampRow, FunctionResult, FunctionRow, RangeResult, StopReason};
use crate::pool::{FunctionJob, Mode, Question, Response};

/// Witnesses that are tried, at most.
const MOST: usize = 256;

fn ranges(result: &FunctionResult) -> impl Iterator<Item = &RangeResult> {
    result.comparisons.iter().flat_map(|c| &c.ranges)
}

/// The witnesses that are tried, each once.
fn witnesses(result: &FunctionResult) -> Vec<&[u64]> {
    let mut inputs: Vec<&[u64]> = ranges(result).map(|range| range.witness.inputs.as_slice()).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs.truncate(MOST);
    inputs
}

/// What has to be asked about a result, build by build. With two builds a range says all there is to say.
pub fn questions(job: &FunctionJob, result: &FunctionResult) -> Vec<(usize, Question)> {
    if job.builds.len() < 3 || ranges(result).next().is_none() {
        return Vec::new();
    }
    let question = Question {
        function: job.function_index,
        arity: job.task.function.arity(),
        width: job.task.function.results.width(),
        inputs: witnesses(result).concat(),
        mode: Mode::Together,
    };
    job.builds.iter().map(|&object| (object, question.clone())).collect()
}

/// The camps of a function from the responses to its questions. A build that answers differently each time, or
/// could not be asked, is in none.
pub fn camps(
    builds: &[Build],
    job: &FunctionJob,
    result: &FunctionResult,
    row: &FunctionRow,
    responses: Vec<Response>,
) -> Vec<CampRow> {
    let unsteady = |variant: usize| {
        let stop = result.comparisons.iter().find(|c| c.variant == variant).map(|c| c.stop);
        stop == Some(StopReason::Nondeterministic)
    };
    let (mut asked, mut answers) = (Vec::new(), Vec::new());
    for (index, (id, response)) in job.task.builds.iter().zip(responses).enumerate() {
        let build = builds.iter().find(|build| build.id == *id);
        match (build, response) {
            (Some(build), Ok(outcomes)) if !unsteady(index) => {
                asked.push(build);
                answers.push(outcomes);
            }
            // Without the baseline there is nobody to differ from.
            _ if index == 0 => return Vec::new(),
            _ => {}
        }
    }
    if asked.is_empty() {
        return Vec::new();
    }
    let (results, nan) = (&job.task.function.results, job.task.settings.nan);
    let looks = Looks { builds: asked, outcomes: answers, results, nan };
    let (scalars, inputs) = (job.task.function.scalars(), witnesses(result));
    let ids = row.comparisons.iter().flat_map(|c| &c.ranges).map(|range| range.id.clone());
    let places = ids.zip(ranges(result)).map(|(id, range)| {
        let inside = |&i: &usize| range.holds(&scalars, inputs[i]);
        Place { range: id, inputs: (0..inputs.len()).filter(inside).collect() }
    });
    // A range of which no witness was tried has no camps.
    let places: Vec<Place> = places.filter(|place| !place.inputs.is_empty()).collect();
    looks.rows(&places)
}
