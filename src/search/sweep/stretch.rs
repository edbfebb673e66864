//! Runs the unit of an exhaustive search: every value of a stretch of the domain, on all variants.
//! Counts what it sees; keeps no samples but the best.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::runs::{RungGaps, Runs};
use crate::eval::{EvalError, Evaluator};
use crate::fp::Side;
use crate::model::Coordinate;
use crate::ranges::{Ladder, Statistics};
use crate::search::Task;
use crate::search::evaluate::{Closing, Found, Mark, Probe, Score, keep_best};
use crate::search::unit::{Answer, Crowd, Harvest, PlotSample};

/// Inputs made at a time.
const BATCH: u64 = 8192;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepUnit {
    pub crowd: Crowd,
    pub side: Side,
    /// Rungs from..to of that side of the free parameter's domain.
    pub from: u64,
    pub to: u64,
    /// The first unit of a search: it evaluates some inputs twice whatever they give.
    pub first: bool,
    /// Every how many rungs one is kept for plots.
    pub plot_every: u64,
}

/// Inconsistent inputs of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweptCell {
    pub index: u64,
    pub inconsistent: u64,
}

/// What a unit counted for one variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Swept {
    pub variant: usize,
    pub statistics: Statistics,
    pub best: Option<Found>,
    /// Inconsistent inputs with the bits of the best.
    pub at_max: u64,
    /// Cells that hold an inconsistent input, in order.
    pub cells: Vec<SweptCell>,
    pub runs: Runs,
}

/// The parameter that is swept: the free one; the first when all are fixed.
pub fn free_param(params: &[Coordinate]) -> usize {
    params.iter().position(|p| !p.domain.is_fixed()).unwrap_or(0)
}

/// An input with every parameter at the value nearest to zero: the only one of a fixed parameter.
pub fn template(params: &[Coordinate]) -> Vec<u64> {
    let nearest = |p: &Coordinate| Ladder::both(p.ty, &p.domain).first().map_or(0, |ladder| ladder.value(0));
    params.iter().map(nearest).collect()
}

pub fn run(task: &Task, unit: &SweepUnit, evaluator: &mut dyn Evaluator) -> Result<Answer, EvalError> {
    let params = &task.function.coordinates;
    let (free, mut input) = (free_param(params), template(params));
    let Some(ladder) = Ladder::new(params[free].ty, &params[free].domain, unit.side) else {
        let harvest = Harvest::Sweep { swept: Vec::new(), plot: Vec::new() };
        return Ok(Answer { closing: Closing::default(), harvest });
    };
    let gaps = RungGaps::new(&ladder, task.settings.gap);
    let variants = &unit.crowd.variants;
    let mut swept: Vec<Swept> =
        variants.iter().map(|&variant| Swept { variant, ..Swept::default() }).collect();
    let mut plot = Plot::new(unit, variants.len());
    let mut answered = vec![0; variants.len()];
    let mut probe = Probe::new(task, evaluator, unit.crowd.allow.clone(), unit.first);
    let mut inputs = Vec::new();
    let mut at = unit.from;
    while at < unit.to {
        let cell = ladder.cell(at);
        let end = ladder.rungs_of(cell).1.min(unit.to);
        while at < end {
            let to = end.min(at + BATCH);
            inputs.clear();
            if input.len() == 1 {
                ladder.list(at, to, |bits| inputs.push(bits));
            } else {
                ladder.list(at, to, |bits| {
                    input[free] = bits;
                    inputs.extend_from_slice(&input);
                });
            }
            probe.differences(variants, &inputs, &mut answered, |v, i, input, score| {
                let rung = at + i as u64;
                swept[v].add(gaps, cell, rung, input, score);
                plot.mark(v, rung, score);
            })?;
            at = to;
        }
    }
    for (swept, answered) in swept.iter_mut().zip(answered) {
        swept.statistics.samples = answered;
    }
    // Every input is evaluated however long it takes, so the time decides nothing.
    let closing = Closing { seconds: Vec::new(), ..probe.close()? };
    let plot = plot.samples(task, unit, |rung| {
        input[free] = ladder.value(rung);
        input.clone()
    });
    Ok(Answer { closing, harvest: Harvest::Sweep { swept, plot } })
}

impl Swept {
    /// An input whose two outcomes differ.
    fn add(&mut self, gaps: RungGaps<'_>, cell: u64, rung: u64, input: &[u64], score: &Score) {
        if let Some(change) = score.change {
            *self.statistics.changes.entry(change).or_default() += 1;
        }
        if !score.is_inconsistent() {
            if let Some(change) = score.change {
                self.runs.pass(change);
            }
            return;
        }
        self.statistics.inconsistent += 1;
        self.statistics.sum_bits += score.bits;
        match self.cells.last_mut() {
            Some(last) if last.index == cell => last.inconsistent += 1,
            _ => self.cells.push(SweptCell { index: cell, inconsistent: 1 }),
        }
        self.runs.hit(gaps, rung, input, score);
        match &mut self.best {
            None => (self.best, self.at_max) = (Some(Found::new(input, score)), 1),
            Some(best) => {
                self.at_max = match score.bits.total_cmp(&best.bits) {
                    Ordering::Greater => 1,
                    Ordering::Equal => self.at_max + 1,
                    Ordering::Less => self.at_max,
                };
                best.improve(input, score);
            }
        }
    }

    /// Adds what the next unit counted, except the runs, which belong to one side.
    pub fn absorb(&mut self, next: &Swept) {
        self.statistics.absorb(&next.statistics);
        if let Some(theirs) = &next.best {
            let bits = self.best.as_ref().map_or(-1.0, |best| best.bits);
            if theirs.bits > bits {
                self.at_max = 0;
            }
            if theirs.bits >= bits {
                self.at_max += next.at_max;
            }
            keep_best(&mut self.best, theirs);
        }
    }
}

/// Rungs that are kept for plots: a row for each, a column for each variant.
struct Plot {
    every: u64,
    first: u64,
    marks: Vec<Vec<Mark>>,
}

impl Plot {
    fn new(unit: &SweepUnit, variants: usize) -> Plot {
        let every = unit.plot_every.max(1);
        let first = unit.from.div_ceil(every);
        // Few: a plot has about a thousand samples.
        let count = unit.to.div_ceil(every).saturating_sub(first) as usize;
        Plot { every, first, marks: vec![vec![Mark::default(); variants]; count] }
    }

    fn mark(&mut self, v: usize, rung: u64, score: &Score) {
        if rung.is_multiple_of(self.every) {
            self.marks[(rung / self.every - self.first) as usize][v] = Mark::of(score);
        }
    }

    fn samples(
        self,
        task: &Task,
        unit: &SweepUnit,
        mut input: impl FnMut(u64) -> Vec<u64>,
    ) -> Vec<PlotSample> {
        let rows = self.marks.into_iter().enumerate();
        rows.map(|(i, row)| {
            let input = input((self.first + i as u64) * self.every);
            let sample = Mark::sample(task, input, unit.crowd.variants.iter().copied().zip(row));
            PlotSample { sample, chosen_by: None }
        })
        .collect()
    }
}
