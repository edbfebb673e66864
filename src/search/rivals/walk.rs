//! A sequential algorithm on one variant: which strategy walks how, and the `Walker` through
//! which each of them evaluates inputs within its budget.

use serde::{Deserialize, Serialize};

use super::keepsake::Keepsake;
use super::{bgrt, ga, hsed, lsga, mcmc, random};
use crate::eval::{EvalError, Evaluator};
use crate::fp::Stream;
use crate::model::{Function, StrategyName};
use crate::search::Task;
use crate::search::evaluate::{Probe, Score};
use crate::search::sample::ParamSampler;
use crate::search::unit::{Answer, Seen};

/// The height of an input that faulted or was not evaluated.
pub const NOTHING: f64 = -1.0;

/// An algorithm: it walks until the walker's budget is over.
type Walk = fn(&mut Walker) -> Result<(), EvalError>;

/// The walk of a strategy; None when the strategy is no sequential algorithm.
fn walk_of(strategy: StrategyName) -> Option<Walk> {
    match strategy {
        StrategyName::Random => Some(random::walk),
        StrategyName::Bgrt => Some(bgrt::walk),
        StrategyName::Mcmc => Some(mcmc::walk),
        StrategyName::Ga => Some(ga::walk),
        StrategyName::Lsga => Some(lsga::walk),
        StrategyName::Hsed => Some(hsed::walk),
        StrategyName::Auto | StrategyName::Cigen | StrategyName::Exhaustive => None,
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalkUnit {
    /// Index in the task's builds.
    pub variant: usize,
    /// Faults each build of the task may still have.
    pub allow: Vec<u32>,
    pub evaluations: u64,
}

pub fn run(task: &Task, unit: &WalkUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let mut walker = Walker::new(task, unit, evaluator);
    if let Some(walk) = walk_of(task.settings.strategy) {
        walk(&mut walker)?;
    }
    walker.close()
}

/// Evaluates inputs for an algorithm and keeps what a search reports of them.
pub struct Walker<'a> {
    pub function: &'a Function,
    pub stream: Stream,
    /// One for each parameter.
    pub samplers: Vec<ParamSampler>,
    probe: Probe<'a>,
    variant: usize,
    left: u64,
    seen: Seen,
    kept: Keepsake<'a>,
    heights: Vec<f64>,
}

impl<'a> Walker<'a> {
    pub fn new(task: &'a Task, unit: &WalkUnit, evaluator: &'a mut dyn Evaluator) -> Walker<'a> {
        let settings = &task.settings;
        let build = task.builds[unit.variant].as_str();
        let names = [task.function.name.as_str(), build, settings.strategy.as_str()];
        Walker {
            function: &task.function,
            stream: Stream::new(settings.seed, &names, 0),
            samplers: task.function.coordinates.iter().map(|p| ParamSampler::new(p, settings)).collect(),
            probe: Probe::new(task, evaluator, unit.allow.clone(), false),
            variant: unit.variant,
            left: unit.evaluations,
            seen: Seen::of(unit.variant),
            kept: Keepsake::new(&task.function, settings.gap),
            heights: Vec::new(),
        }
    }

    pub fn arity(&self) -> usize {
        self.samplers.len()
    }

    /// Evaluations that may still be spent.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The budget is used up, or a build was given up because of its faults.
    pub fn is_over(&self) -> bool {
        self.left == 0 || !self.probe.is_open(self.variant)
    }

    /// The height of every input: its bits and a little for a change of class alone, or `NOTHING`,
    /// which is below 0, if it faults or lies beyond the end of the budget. A call costs about as
    /// much as ten cheap evaluations, so hand over many inputs at once.
    pub fn heights(&mut self, inputs: &[u64]) -> Result<&[f64], EvalError> {
        let arity = self.arity();
        let count = inputs.len() / arity;
        self.heights.clear();
        self.heights.resize(count, NOTHING);
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(count);
        self.left -= most as u64;
        let Walker { probe, seen, kept, heights, .. } = self;
        probe.scores(&[self.variant], &inputs[..most * arity], |_, i, input, score| {
            if !score.evaluated {
                return;
            }
            let inconsistent = score.is_inconsistent();
            seen.statistics.add(score.bits, score.change, inconsistent);
            if has_values(score) {
                heights[i] = score.height();
            }
            if !inconsistent {
                kept.miss(input);
            } else {
                kept.hit(input, score);
                seen.rank(input, score);
            }
        })?;
        Ok(&self.heights)
    }

    pub fn close(mut self) -> Result<Answer, EvalError> {
        let closing = self.probe.close()?;
        (self.seen.hits, self.seen.misses) = self.kept.close(self.seen.best.as_ref());
        Ok(Answer::of_variant(self.seen, closing))
    }
}

fn has_values(score: &Score) -> bool {
    score.baseline.value().is_some() && score.variant.value().is_some()
}
