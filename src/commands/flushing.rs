//! Which findings are there only because a build flushes subnormals: inputs of every range are tried
//! again with the same code and flushing off.

use super::lab::Lab;
use crate::eval::EvalError;
use crate::model::{ComparisonResult, FunctionResult, FunctionRow, Outcome, RangeResult, WithoutFlushing};
use crate::pool::{FunctionJob, Mode};
use crate::search::Score;

/// Inconsistent inputs of a range that are tried, beside its witness.
const MOST: usize = 63;

/// Notes it in the ranges of a row; None when the user interrupted.
pub fn note(lab: &Lab, job: &FunctionJob, result: &FunctionResult, row: &mut FunctionRow) -> Option<()> {
    let calm = |build: usize| lab.unflushed(job.builds[build]);
    for (comparison, row) in result.comparisons.iter().zip(&mut row.comparisons) {
        // With neither build flushing there is nothing to switch off.
        if calm(0).is_none() && calm(comparison.variant).is_none() {
            continue;
        }
        let objects = [0, comparison.variant].map(|build| calm(build).unwrap_or(job.builds[build]));
        let of_ranges: Vec<Vec<&[u64]>> =
            comparison.ranges.iter().map(|range| inputs(job, result, comparison, range)).collect();
        let words: Vec<u64> = of_ranges.iter().flatten().flat_map(|input| input.iter().copied()).collect();
        if words.is_empty() {
            continue;
        }
        let arity = job.task.function.arity();
        let both = lab.pool.evaluate(job.function_index, arity, &objects, &words, Mode::Together);
        if both.iter().any(|outcomes| matches!(outcomes, Err(EvalError::Stopped))) {
            return None;
        }
        // A build that cannot be asked in this way leaves it open.
        let [Ok(baseline), Ok(variant)] = both.as_slice() else { continue };
        let mut pairs = baseline.iter().zip(variant);
        for (range, inputs) in row.ranges.iter_mut().zip(&of_ranges) {
            range.without_flushing = verdict(job, pairs.by_ref().take(inputs.len()));
        }
    }
    Some(())
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
    let inside = result.samples.iter().filter(|(input, bits)| differs(bits) && range.holds(&scalars, input));
    let inside: Vec<&[u64]> = inside.map(|(input, _)| input.as_slice()).collect();
    let step = inside.len().div_ceil(MOST).max(1);
    std::iter::once(range.witness.inputs.as_slice()).chain(inside.into_iter().step_by(step)).collect()
}

/// None when faults leave it open.
fn verdict<'a>(
    job: &FunctionJob,
    pairs: impl Iterator<Item = (&'a Outcome, &'a Outcome)>,
) -> Option<WithoutFlushing> {
    let (result, nan) = (job.task.function.result, job.task.settings.nan);
    let differs = |(&a, &b): (&Outcome, &Outcome)| {
        let answered = a.value().is_some() && b.value().is_some();
        answered.then(|| Score::new(result, nan, a, b).is_inconsistent())
    };
    let all: Vec<bool> = pairs.filter_map(differs).collect();
    match all.as_slice() {
        [] => None,
        all if all.contains(&true) => Some(WithoutFlushing::Differs),
        _ => Some(WithoutFlushing::Agrees),
    }
}
