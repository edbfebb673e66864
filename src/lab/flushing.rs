//! Which findings are there only because a build flushes subnormals: inputs of every range are tried
//! again with the same code and flushing off.

use super::panel::Panel;
use crate::fp::Equality;
use crate::model::{ComparisonResult, FunctionResult, RangeResult, Returned, WithoutFlushing};
use crate::pool::{FunctionJob, Mode, Question, Response};

/// Inconsistent inputs of a range that are tried, beside its witness.
const MOST: usize = 63;

/// The comparisons with a build that flushes, and the baseline and the variant of each with flushing off.
fn flushing<'r>(
    panel: &Panel,
    job: &FunctionJob,
    result: &'r FunctionResult,
) -> Vec<(usize, &'r ComparisonResult, [usize; 2])> {
    let objects = |comparison: &ComparisonResult| {
        let own = [0, comparison.variant].map(|build| job.builds[build]);
        let calm = own.map(|object| panel.unflushed(object).unwrap_or(object));
        // With neither build flushing there is nothing to switch off.
        (calm != own && !comparison.ranges.is_empty()).then_some(calm)
    };
    let all = result.comparisons.iter().enumerate();
    all.filter_map(|(index, comparison)| Some((index, comparison, objects(comparison)?))).collect()
}

/// What has to be asked about a result: two questions for each comparison with a build that flushes.
pub fn questions(panel: &Panel, job: &FunctionJob, result: &FunctionResult) -> Vec<(usize, Question)> {
    let ask = |(_, comparison, objects): (usize, &ComparisonResult, [usize; 2])| {
        let inputs = comparison.ranges.iter().flat_map(|range| inputs(job, result, comparison, range));
        let question = Question {
            function: job.function_index,
            arity: job.task.function.arity(),
            width: job.task.function.results.width(),
            inputs: inputs.flatten().copied().collect(),
            mode: Mode::Together,
        };
        objects.map(|object| (object, question.clone()))
    };
    flushing(panel, job, result).into_iter().flat_map(ask).collect()
}

/// For some comparisons, by place, what is true of each of their ranges; from the responses to the questions.
pub fn verdicts(
    panel: &Panel,
    job: &FunctionJob,
    result: &FunctionResult,
    responses: &[Response],
) -> Vec<(usize, Vec<Option<WithoutFlushing>>)> {
    let pairs = flushing(panel, job, result).into_iter().zip(responses.chunks(2));
    let judge = |((index, comparison, _), both): ((usize, &ComparisonResult, _), &[Response])| {
        // A build that cannot be asked in this way leaves it open.
        let [Ok(baseline), Ok(variant)] = both else { return None };
        let mut pairs = baseline.iter().zip(variant.iter());
        let of_range = |range: &RangeResult| {
            let count = inputs(job, result, comparison, range).len();
            verdict(job, job.task.equality(comparison.variant), pairs.by_ref().take(count))
        };
        Some((index, comparison.ranges.iter().map(of_range).collect()))
    };
    pairs.filter_map(judge).collect()
}

/// The witness of a range and others of its inconsistent samples, evenly taken. The witness alone is not
/// enough: flushing may cost the most bits where something else costs some everywhere.
fn inputs<'a>(
    job: &FunctionJob,
    result: &'a FunctionResult,
    comparison: &ComparisonResult,
    range: &'a RangeResult,
) -> Vec<&'a [u64]> {
    let scalars = job.task.function.scalars();
    // Samples have a column for each variant.
    let differs = |bits: &[f32]| bits.get(comparison.variant.wrapping_sub(1)).is_some_and(|&b| b > 0.0);
    let inside = result.samples.iter().filter(|s| differs(&s.bits) && range.holds(&scalars, &s.input));
    let inside: Vec<&[u64]> = inside.map(|sample| sample.input.as_slice()).collect();
    let step = inside.len().div_ceil(MOST).max(1);
    std::iter::once(range.witness.inputs.as_slice()).chain(inside.into_iter().step_by(step)).collect()
}

/// None when faults leave it open.
fn verdict<'a>(
    job: &FunctionJob,
    equality: Equality,
    pairs: impl Iterator<Item = (Returned<'a>, Returned<'a>)>,
) -> Option<WithoutFlushing> {
    let results = &job.task.function.results;
    let differs = |(a, b): (Returned<'_>, Returned<'_>)| {
        let answered = a.first.value().is_some() && b.first.value().is_some();
        answered.then(|| results.compare(equality, a, b).is_inconsistent())
    };
    let all: Vec<bool> = pairs.filter_map(differs).collect();
    match all.as_slice() {
        [] => None,
        all if all.contains(&true) => Some(WithoutFlushing::Differs),
        _ => Some(WithoutFlushing::Agrees),
    }
}
