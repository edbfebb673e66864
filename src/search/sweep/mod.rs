//! Every input of a small domain: one free parameter, at most 2^32 values. Exact, so that what other
//! strategies find can be held against it. The budget does not matter: it is the domain's size.

mod runs;
mod stretch;

pub use stretch::{SweepUnit, Swept, run as run_sweep};

use std::collections::{BTreeMap, VecDeque};

use crate::fp::Side;
use crate::model::{
    Census, CensusCell, ComparisonResult, EdgeKind, Edges, Function, FunctionResult, RangeResult, StopReason,
};
use crate::ranges::Ladder;
use crate::search::Task;
use crate::search::agenda::{Agenda, Planned};
use crate::search::ledger::Ledger;
use crate::search::strategy::Strategy;
use crate::search::task::column;
use crate::search::unit::{Answer, Harvest, Unit};
pub use runs::Run;
use runs::{RungGaps, Runs};
use stretch::{free_param, template};

/// Most inputs of a domain that can be swept.
const MOST_INPUTS: u64 = 1 << 32;
/// Rungs of a unit: a fraction of a second up to some seconds of work.
const UNIT_RUNGS: [u64; 2] = [1 << 14, 1 << 22];
/// A small domain is cut into about so many units.
const UNITS: u64 = 32;
/// Units of the first phase and of the largest. Faults are added up between phases, so that a function
/// that faults everywhere is given up soon.
const PHASE_UNITS: [usize; 2] = [4, 64];
/// Most ranges of a comparison.
const MOST_RANGES: usize = 64;
/// Samples for plots.
const PLOT_SAMPLES: u64 = 1000;
/// An edge is sharp when so many inputs in a row are inconsistent inside of it.
const SHARP: u64 = 16;

/// Why a function cannot be swept, in words; None when it can.
pub fn unfit(function: &Function) -> Option<String> {
    let free: Vec<&str> = {
        let free = function.coordinates.iter().filter(|p| !p.domain.is_fixed());
        free.map(|p| p.name.as_str()).collect()
    };
    match free.as_slice() {
        [] | [_] => {}
        several => return Some(format!("it has {} free parameters ({})", several.len(), several.join(", "))),
    }
    let param = function.coordinates.get(free_param(&function.coordinates))?;
    let count: u128 = Ladder::both(param.ty, &param.domain).iter().map(|l| u128::from(l.count())).sum();
    (count > u128::from(MOST_INPUTS))
        .then(|| format!("the domain of {} has {count} values, more than 2^32", param.name))
}

/// What the sweep of one variant has counted.
#[derive(Default)]
struct Total {
    swept: Swept,
    runs: BTreeMap<Side, Runs>,
    cells: BTreeMap<(Side, u64), u64>,
}

pub struct Exhaustive {
    ledger: Ledger,
    ladders: Vec<Ladder>,
    totals: Vec<Total>,
    /// Stretches of rungs not planned yet.
    left: VecDeque<(Side, u64, u64)>,
    /// The units of a phase, each for one side.
    agenda: Agenda<Side>,
    phase_units: usize,
    first: bool,
}

impl Exhaustive {
    pub fn new(task: Task) -> Exhaustive {
        let params = &task.function.coordinates;
        let ladders = match params.get(free_param(params)) {
            Some(param) if unfit(&task.function).is_none() => Ladder::both(param.ty, &param.domain),
            _ => Vec::new(),
        };
        let total: u64 = ladders.iter().map(Ladder::count).sum();
        let size = (total / UNITS).clamp(UNIT_RUNGS[0], UNIT_RUNGS[1]);
        let mut left = VecDeque::new();
        for ladder in &ladders {
            let starts = (0..ladder.count()).step_by(size as usize);
            left.extend(starts.map(|from| (ladder.side(), from, ladder.count().min(from + size))));
        }
        Exhaustive {
            totals: task.variants().map(|_| Total::default()).collect(),
            ledger: Ledger::new(task),
            ladders,
            left,
            agenda: Agenda::empty(),
            phase_units: PHASE_UNITS[0],
            first: true,
        }
    }

    fn inputs(&self) -> u64 {
        self.ladders.iter().map(Ladder::count).sum()
    }

    /// Puts what was counted where the ledger expects it.
    fn settle(&mut self) {
        let inputs = self.inputs();
        let unplanned = !self.left.is_empty();
        self.ledger.surveyed = inputs;
        for (comparison, total) in self.ledger.comparisons.iter_mut().zip(&self.totals) {
            comparison.evaluations = total.swept.statistics.samples;
            comparison.statistics = total.swept.statistics.clone();
            comparison.best = total.swept.best.clone();
            if comparison.is_open() && (inputs == 0 || unplanned || comparison.evaluations < inputs) {
                let reason = if inputs == 0 { StopReason::Budget } else { StopReason::Deadline };
                comparison.stop = Some(reason);
            }
        }
    }
}

impl Strategy for Exhaustive {
    fn next_phase(&mut self) -> bool {
        self.ledger.close_comparisons();
        let open = self.ledger.open();
        if open.is_empty() {
            self.left.clear();
            return false;
        }
        let crowd = self.ledger.whole_crowd(&open);
        let plot_every = self.inputs().div_ceil(PLOT_SAMPLES);
        let mut planned = Vec::new();
        while planned.len() < self.phase_units
            && let Some((side, from, to)) = self.left.pop_front()
        {
            let first = std::mem::take(&mut self.first);
            let unit = Unit::Sweep(SweepUnit { crowd: crowd.clone(), side, from, to, first, plot_every });
            planned.push(Planned { unit, purpose: side });
        }
        self.phase_units = (self.phase_units * 2).min(PHASE_UNITS[1]);
        self.agenda = Agenda::new(planned.into_iter());
        !self.agenda.is_done()
    }

    fn next_unit(&mut self) -> Option<Unit> {
        self.agenda.next_unit()
    }

    fn absorb(&mut self, answer: Answer) {
        let Some(side) = self.agenda.answered() else { return };
        self.ledger.note(&answer.closing, |_| true);
        // Nothing but sweeps was asked for.
        let Harvest::Sweep { swept, plot } = answer.harvest else { return };
        self.ledger.plot.extend(plot);
        let Some(ladder) = self.ladders.iter().find(|ladder| ladder.side() == side) else { return };
        let gaps = RungGaps::new(ladder, self.ledger.task.settings.gap);
        for swept in swept {
            let total = &mut self.totals[column(swept.variant)];
            total.swept.absorb(&swept);
            for cell in &swept.cells {
                *total.cells.entry((side, cell.index)).or_default() += cell.inconsistent;
            }
            total.runs.entry(side).or_default().append(gaps, swept.runs);
        }
    }

    fn finish(mut self: Box<Self>) -> FunctionResult {
        self.ledger.close_comparisons();
        self.settle();
        let Exhaustive { ledger, ladders, mut totals, .. } = *self;
        let params = &ledger.task.function.coordinates;
        let maker = RangeMaker { free: free_param(params), template: template(params) };
        let mut result = ledger.finish();
        for (comparison, total) in result.comparisons.iter_mut().zip(&mut totals) {
            if comparison.stop == StopReason::Nondeterministic {
                continue;
            }
            comparison.ranges = maker.ranges(&ladders, total);
            comparison.census = census(comparison, &ladders, total);
        }
        result
    }
}

/// None unless every input was evaluated.
fn census(comparison: &ComparisonResult, ladders: &[Ladder], total: &Total) -> Option<Census> {
    if comparison.stop != StopReason::Complete {
        return None;
    }
    let mut cells = Vec::new();
    for ladder in ladders {
        let mut rung = 0;
        while rung < ladder.count() {
            let (side, index) = (ladder.side(), ladder.cell(rung));
            let end = ladder.rungs_of(index).1;
            let inconsistent = total.cells.get(&(side, index)).copied().unwrap_or(0);
            cells.push(CensusCell { side, index, inputs: end - rung, inconsistent });
            rung = end;
        }
    }
    let statistics = &total.swept.statistics;
    Some(Census {
        inputs: statistics.samples,
        inconsistent: statistics.inconsistent,
        at_max: total.swept.at_max,
        cells,
    })
}

/// Turns runs of the free parameter into ranges of all of them.
struct RangeMaker {
    free: usize,
    template: Vec<u64>,
}

impl RangeMaker {
    /// In the order of values.
    fn ranges(&self, ladders: &[Ladder], total: &mut Total) -> Vec<RangeResult> {
        let sides = total.runs.values().filter(|runs| !runs.list.is_empty()).count();
        let mut ranges = Vec::new();
        for ladder in ladders {
            let Some(runs) = total.runs.get_mut(&ladder.side()) else { continue };
            runs.keep_widest_gaps(ladder, MOST_RANGES / sides.max(1));
            let made = runs.list.iter().map(|run| self.range(ladder, run));
            match ladder.side() {
                Side::Negative => ranges.extend(made.rev()),
                Side::Positive => ranges.extend(made),
            }
        }
        ranges
    }

    fn range(&self, ladder: &Ladder, run: &Run) -> RangeResult {
        let input = |rung: u64| {
            let mut input = self.template.clone();
            input[self.free] = ladder.value(rung);
            input
        };
        let kind = |streak: u64| {
            if streak >= SHARP.min(run.len()) { EdgeKind::Sharp } else { EdgeKind::Ragged }
        };
        let (near, far) = (kind(run.ends[0]), kind(run.ends[1]));
        let (lo, hi, edges) = match ladder.side() {
            Side::Negative => (input(run.last), input(run.first), Edges { lo: far, hi: near }),
            Side::Positive => (input(run.first), input(run.last), Edges { lo: near, hi: far }),
        };
        let fixed = Edges { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp };
        RangeResult {
            edges: (0..lo.len()).map(|p| if p == self.free { edges } else { fixed }).collect(),
            lo,
            hi,
            samples: run.len(),
            inconsistent: run.inconsistent,
            // A count is far below 2^53.
            mean_bits: run.sum_bits / run.len() as f64,
            witness: run.best.witness(),
            class_changes: run.changes.clone(),
        }
    }
}
