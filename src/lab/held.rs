//! What the baseline makes of inputs that depend on the domain alone: asked in the function's own job, so that a row has
//! it at any number of jobs and resumes.

use super::built::Built;
use super::error::LabError;
use crate::model::{
    BLOCK_INPUTS, FaultKind, FaultRecord, FunctionResult, HeldRow, HeldValue, KEPT_INPUTS, MOST_BLOCKS,
    Outcomes, StopReason, digest,
};
use crate::pool::{FunctionJob, Mode, Question, Response};
use crate::search::anchors;

/// Evaluations of the search for each held input, so that holding results costs a part of it.
const SHARE: u64 = 4;
/// Faults of the baseline that holding may cost, each of which takes a process; and calls that run out of time.
const MOST_FAULTS: f64 = 128.0;
const MOST_TIMEOUTS: f64 = 1.0;

/// Blocks that are held of a function: fewer of one that was searched little, none of a baseline that answers
/// differently each time or mostly not at all.
fn blocks(job: &FunctionJob, result: &FunctionResult) -> usize {
    let unsteady = |f: &FaultRecord| f.build == 0 && f.kind == FaultKind::Nondeterministic;
    let given_up =
        matches!(result.stop, StopReason::Missing | StopReason::Lost | StopReason::Nondeterministic);
    if job.builds.is_empty() || given_up || result.evaluations == 0 || result.faults.iter().any(unsteady) {
        return 0;
    }
    // An evaluation is of one variant; the baseline's is shared by all of them. Counts are far below 2^53.
    let variants = result.comparisons.len().max(1) as u64;
    let rate = |is: fn(FaultKind) -> bool| {
        let faults = result.faults.iter().filter(|f| f.build == 0 && is(f.kind)).map(|f| f.count);
        faults.sum::<u64>() as f64 / (result.evaluations / variants) as f64
    };
    let (timeouts, others) =
        (rate(|kind| kind == FaultKind::Timeout), rate(|kind| kind != FaultKind::Timeout));
    let affordable = |count: usize| {
        let inputs = (KEPT_INPUTS + (count - 1) * BLOCK_INPUTS) as f64;
        inputs * others <= MOST_FAULTS && inputs * timeouts <= MOST_TIMEOUTS
    };
    // At most MOST_BLOCKS, so within usize.
    let wanted = 1 + (result.evaluations / SHARE / BLOCK_INPUTS as u64).min(MOST_BLOCKS as u64) as usize;
    (1..=wanted).rev().find(|&count| affordable(count)).unwrap_or(0)
}

/// Whether the baseline is asked at all.
pub fn is_asked(job: &FunctionJob, result: &FunctionResult) -> bool {
    blocks(job, result) > 0
}

/// What has to be asked: one question to the baseline, or none.
pub fn questions(job: &FunctionJob, result: &FunctionResult) -> Vec<(usize, Question)> {
    let function = &job.task.function;
    let inputs: Vec<u64> = (0..blocks(job, result)).flat_map(|block| anchors(function, block)).collect();
    if inputs.is_empty() {
        return Vec::new();
    }
    let question = Question {
        function: job.function_index,
        arity: function.arity(),
        width: function.results.width(),
        inputs,
        mode: Mode::Together,
    };
    vec![(job.builds[0], question)]
}

/// Digests and kept values, from the response to the question.
pub fn held(
    job: &FunctionJob,
    result: &FunctionResult,
    response: Option<&Response>,
) -> Option<(HeldRow, Vec<HeldValue>)> {
    let Some(Ok(outcomes)) = response else { return None };
    let function = &job.task.function;
    let (scalars, equality) = (function.scalars(), job.task.equality(0));
    let mut row = HeldRow::default();
    let mut values = Vec::new();
    for block in 0..blocks(job, result) {
        let inputs = anchors(function, block);
        // Counts are far below 2^64.
        let from = row.inputs as usize;
        let answers = pairs(function.arity(), &inputs, outcomes, from);
        row.blocks.push(digest(&function.results, equality, answers));
        if block == 0 {
            let value = |(input, returned)| HeldValue::new(&scalars, input, &function.results, returned);
            values = pairs(function.arity(), &inputs, outcomes, from).map(value).collect();
        }
        row.inputs += HeldRow::len_of(block) as u64;
    }
    Some((row, values))
}

/// Inputs with what was made of them; the first is the outcome at `from`.
fn pairs<'a>(
    arity: usize,
    inputs: &'a [u64],
    outcomes: &'a Outcomes,
    from: usize,
) -> impl Iterator<Item = (&'a [u64], crate::model::Returned<'a>)> {
    inputs.chunks_exact(arity).enumerate().map(move |(k, input)| (input, outcomes.get(from + k)))
}

impl Built<'_> {
    /// The inputs of a block of a function, with what the baseline makes of them.
    pub fn held_block(&self, function: usize, block: usize) -> Result<Vec<HeldValue>, LabError> {
        let of = &self.lab.experiment.functions[function];
        let inputs = anchors(of, block);
        let replies = self.panel.ask(function, self.lab.plan.baseline, &inputs, Mode::Together)?;
        let outcomes = replies.map_err(|why| LabError::Unanswered {
            build: self.lab.plan.baseline_build().id.clone(),
            reason: why.0,
        })?;
        let scalars = of.scalars();
        let value = |(input, returned)| HeldValue::new(&scalars, input, &of.results, returned);
        Ok(pairs(of.arity(), &inputs, &outcomes, 0).map(value).collect())
    }
}
