//! Plans the lines through the domain along which results are watched for seams. For one parameter the lines are
//! the whole axis, and once more, finer, the magnitudes that people use, which are also walked root by root; for
//! several they go through the most inconsistent samples and through random points, along every axis in turn. In
//! the end every range has lines of its own.

use std::collections::BTreeSet;

use super::{Cigen, Purpose, Step, Steps};
use crate::fp::{Side, Stream};
use crate::model::{Coordinate, Function, SearchSettings};
use crate::ranges::{Axis, Cuboid, Orthant, Sides};
use crate::search::ledger::{Comparison, Hit, Pool};
use crate::search::sample::{ParamSampler, domain_size, usual_magnitudes};
use crate::search::streams::StreamKey;
use crate::search::unit::{Line, SeamUnit, Unit};

/// Evaluations for a line of several parameters, its seams included, and lines of a unit.
const LINE: u64 = 256;
const LINES: usize = 16;
/// Units that lines are spread over if there are enough.
const UNITS: usize = 8;
/// Half the lengths of short lines, in binades.
const CLOSE: [f64; 3] = [0.25, 0.02, 0.002];
/// Good samples closer together than this, in binades, count as one place.
const APART: f64 = 0.125;
/// Inconsistent samples that a unit returns.
pub(super) const KEPT: u64 = 1024;

impl Cigen {
    pub(super) fn plan_seams(&mut self, round: usize, close: bool) -> Vec<Steps> {
        if self.complete {
            return Vec::new();
        }
        let task = &self.ledger.task;
        let mut planned: Vec<Steps> = Vec::new();
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate().filter(|(_, c)| c.is_open()) {
            let budget = comparison.next_budget(&task.settings, self.ledger.free);
            let budget = budget.seams(comparison.evaluations, round);
            // A domain with fewer values than were tried has no seams left to find.
            let small = domain_size(task, comparison.evaluations) <= comparison.evaluations;
            if small || budget < LINE || (!close && comparison.is_shy(&task.settings)) {
                continue;
            }
            let round_number = round as u64;
            let key = StreamKey::Lines { round: round_number, close };
            let stream = task.stream_of(comparison.variant, key);
            let mut lines = Lines { function: &task.function, free: free_axes(&task.function), stream };
            let groups = match (lines.free.as_slice(), close) {
                (_, true) => lines.close_by(comparison, budget / LINE),
                (&[only], false) => whole_axis(&task.function, only, round == 0),
                _ => lines.through(&task.settings, comparison, budget / LINE),
            };
            let count = groups.len() as u64;
            let (variant, allow) = (comparison.variant, comparison.allowance(&task.settings, count));
            let units = groups.into_iter().zip(0..).map(move |(lines, group)| {
                let stream = StreamKey::Seams { round: round_number, close, group };
                let budget = budget / count;
                let unit = Unit::Seams(SeamUnit { variant, allow, stream, lines, budget, keep: KEPT });
                Step { unit, purpose: Purpose::Seams { comparison: c } }
            });
            planned.push(Box::new(units));
        }
        planned
    }
}

/// A range's own lines: through its best sample, from one of its faces to the other.
pub(super) fn lines_of(sides: &Sides, cuboid: &Cuboid, best: &[u64]) -> Vec<Line> {
    let line = |axis: usize| Line {
        sides: sides.clone(),
        point: best.to_vec(),
        axis,
        lo: cuboid.lo[axis],
        hi: cuboid.hi[axis],
        walked: false,
    };
    cuboid.open_dims().into_iter().map(line).collect()
}

fn free_axes(function: &Function) -> Vec<usize> {
    (0..function.arity()).filter(|&p| !function.coordinates[p].domain.is_fixed()).collect()
}

/// The axis of the only free parameter, and its usual magnitudes, by side.
fn whole_axis(function: &Function, only: usize, first: bool) -> Vec<Vec<Line>> {
    let mut groups = Vec::new();
    for side in [Side::Negative, Side::Positive] {
        let mut sides: Vec<Side> = function.coordinates.iter().map(fixed_side).collect();
        sides[only] = side;
        let Some(orthant) = Orthant::new(function, &sides) else { continue };
        let axis = &orthant.axes[only];
        // One unit, so that all seams of a side compete for what closes in on them.
        let line = |(lo, hi), walked| Line {
            sides: sides.clone(),
            point: vec![0; function.arity()],
            axis: only,
            lo,
            hi,
            walked,
        };
        let mut lines = vec![line((0, axis.last()), false)];
        if let Some(part) = usual(axis) {
            lines.push(line(part, false));
            // What was walked before need not be walked again.
            lines.extend(first.then(|| line(part, true)));
        }
        groups.push(lines);
    }
    groups
}

/// The side of a parameter that has but one value.
fn fixed_side(param: &Coordinate) -> Side {
    match Axis::new(param.ty, &param.domain, Side::Positive) {
        Some(_) => Side::Positive,
        None => Side::Negative,
    }
}

/// The ranks of the magnitudes that people use, where they are a part of the axis.
fn usual(axis: &Axis) -> Option<(u64, u64)> {
    let [least, most] = usual_magnitudes(axis.ty())?;
    let first_beyond = |mag: u64| {
        // The first rank at that magnitude or above.
        let (mut lo, mut hi) = (0, axis.last());
        while lo < hi {
            let middle = lo + (hi - lo) / 2;
            if axis.mag(middle) < mag { lo = middle + 1 } else { hi = middle }
        }
        lo
    };
    let (lo, hi) = (first_beyond(least), first_beyond(most));
    (hi > lo && hi - lo < axis.last()).then_some((lo, hi))
}

/// Lines through points of a function's domain.
struct Lines<'a> {
    function: &'a Function,
    free: Vec<usize>,
    stream: Stream,
}

impl Lines<'_> {
    /// `count` whole lines: a third through good samples, the others through random points.
    fn through(&mut self, settings: &SearchSettings, comparison: &Comparison, count: u64) -> Vec<Vec<Line>> {
        // Counts of evaluations by hundreds, so within usize.
        let points = count as usize / self.free.len().max(1);
        let mut inputs = best_inputs(comparison, points / 3);
        let samplers: Vec<ParamSampler> =
            self.function.coordinates.iter().map(|p| ParamSampler::new(p, settings)).collect();
        while inputs.len() < points {
            inputs.push(samplers.iter().map(|s| s.partitioned(&mut self.stream)).collect());
        }
        self.along(inputs, |axis, _| (0, axis.last()))
    }

    /// Short lines through the best samples: where a function oscillates, seams lie close together,
    /// and those beside the worst inconsistency are worth the most.
    fn close_by(&mut self, comparison: &Comparison, count: u64) -> Vec<Vec<Line>> {
        let points = (count as usize / self.free.len().max(1)).min(LINES);
        let mut turn = 0;
        self.along(best_inputs(comparison, points), |axis, at| {
            let reach = axis.steps(CLOSE[turn % CLOSE.len()]);
            turn += 1;
            (at.saturating_sub(reach), at.saturating_add(reach).min(axis.last()))
        })
    }

    fn along(
        &mut self,
        inputs: Vec<Vec<u64>>,
        mut part: impl FnMut(&Axis, u64) -> (u64, u64),
    ) -> Vec<Vec<Line>> {
        let mut lines: Vec<Line> = Vec::new();
        for input in inputs {
            let sides = Orthant::sides_of(self.function, &input);
            let Some(orthant) = Orthant::new(self.function, &sides) else { continue };
            let Some(point) = orthant.point(&input) else { continue };
            for &axis in &self.free {
                let (lo, hi) = part(&orthant.axes[axis], point[axis]);
                lines.push(Line { sides: sides.clone(), point: point.clone(), axis, lo, hi, walked: false });
            }
        }
        self.stream.shuffle(&mut lines);
        let size = lines.len().div_ceil(UNITS).clamp(1, LINES);
        lines.chunks(size).map(<[Line]>::to_vec).collect()
    }
}

/// The inputs of the best `count` inconsistent samples that are not all at one place.
fn best_inputs(comparison: &Comparison, count: usize) -> Vec<Vec<u64>> {
    let mut best: Vec<(&Pool, &Hit)> = Vec::new();
    for pool in comparison.pools.values() {
        best.extend(pool.hits.iter().chain(&pool.champions).map(|hit| (pool, hit)));
    }
    best.sort_by(|a, b| a.1.found.better_first(&b.1.found));
    let mut places = BTreeSet::new();
    let is_new = |(pool, hit): &&(&Pool, &Hit)| {
        let cell = pool.orthant.axes.iter().zip(&hit.point).map(|(axis, at)| at / axis.steps(APART));
        let sides: Vec<Side> = pool.orthant.axes.iter().map(Axis::side).collect();
        places.insert((sides, cell.collect::<Vec<u64>>()))
    };
    best.iter().filter(is_new).take(count).map(|(_, hit)| hit.found.input.clone()).collect()
}
