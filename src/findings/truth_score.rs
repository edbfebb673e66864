//! How what a search found compares with the truth: the maximum it reached, and whether its ranges
//! hold the inconsistent inputs and little else.

use super::truth::{Truth, TruthSide};
use crate::model::{BuildId, ComparisonRow, FunctionRow, Number, RangeRow};

/// What a search reached of what there is. Shares of nothing are 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthCount {
    pub build: BuildId,
    pub true_bits: f64,
    pub found_bits: f64,
    /// All inputs, and all inconsistent ones.
    pub inputs: u64,
    pub inconsistent: u64,
    /// Inputs in the ranges.
    pub inputs_in: u64,
    /// Inconsistent inputs in the ranges: at least and at most. They differ where a range ends inside
    /// a cell, because the truth says how many of a cell's inputs are inconsistent and not which.
    pub inconsistent_in: [u64; 2],
    /// Cells that lie in a range or are touched by one, and those of them that hold an inconsistent
    /// input.
    pub cells_in: u64,
    pub cells_held: u64,
    /// Cells of the domain that hold an inconsistent input.
    pub cells_inconsistent: u64,
}

impl TruthCount {
    /// How many bits the search fell short of the true maximum.
    pub fn shortfall(&self) -> f64 {
        (self.true_bits - self.found_bits).max(0.0)
    }

    /// Share of all inconsistent inputs that lie in the ranges, at least.
    pub fn recall(&self) -> f64 {
        share(self.inconsistent_in[0], self.inconsistent)
    }

    /// Share of the cells in the ranges that hold an inconsistent input.
    pub fn tightness(&self) -> f64 {
        share(self.cells_held, self.cells_in)
    }

    /// Share of the inputs in the ranges that is inconsistent, at least.
    pub fn density(&self) -> f64 {
        if self.inputs_in == 0 { 0.0 } else { share(self.inconsistent_in[0], self.inputs_in) }
    }

    /// How many times denser in inconsistencies the ranges are than the domain; None without ranges
    /// or without inconsistencies.
    pub fn gain(&self) -> Option<f64> {
        let domain = share(self.inconsistent, self.inputs);
        (self.inputs_in > 0 && self.inconsistent > 0).then(|| self.density() / domain)
    }
}

/// Counts stay below 2^53.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The scores of a function's comparisons that have a truth, in the order of the row.
pub fn score_function(truths: &[Truth], row: &FunctionRow) -> Vec<TruthCount> {
    let of = |comparison: &ComparisonRow| {
        let truth = truths.iter().find(|truth| truth.build == comparison.build)?;
        let ranges: Vec<(u64, u64)> = comparison.ranges.iter().filter_map(|r| ends(truth, r)).collect();
        Some(score(truth, comparison.max_bits, &ranges))
    };
    row.comparisons.iter().filter_map(of).collect()
}

/// Both ends of a range along the swept parameter.
fn ends(truth: &Truth, range: &RangeRow) -> Option<(u64, u64)> {
    let end = |list: &[Number]| Some(list.get(truth.swept).filter(|end| end.scalar == truth.ty)?.bits);
    Some((end(&range.lo)?, end(&range.hi)?))
}

/// Scores the most bits a search found and its ranges: bits of both ends along the swept parameter,
/// in any order. A range that crosses zero has a part on each side.
pub fn score(truth: &Truth, found_bits: f64, ranges: &[(u64, u64)]) -> TruthCount {
    let mut score = TruthCount {
        build: truth.build.clone(),
        true_bits: truth.max_bits,
        found_bits,
        inputs: truth.inputs,
        inconsistent: truth.inconsistent,
        inputs_in: 0,
        inconsistent_in: [0; 2],
        cells_in: 0,
        cells_held: 0,
        cells_inconsistent: 0,
    };
    for side in &truth.sides {
        let spans = spans(truth, side, ranges);
        score.inputs_in += spans.iter().map(|(from, to)| to - from).sum::<u64>();
        for (i, &count) in side.counts.iter().enumerate() {
            score.cells_inconsistent += u64::from(count > 0);
            let (from, to) = side.ladder.rungs_of(side.first + i as u64);
            let inside = overlap(&spans, from, to);
            if inside == 0 {
                continue;
            }
            score.cells_in += 1;
            score.cells_held += u64::from(count > 0);
            score.inconsistent_in[0] += count.saturating_sub(to - from - inside);
            score.inconsistent_in[1] += count.min(inside);
        }
    }
    score
}

/// The rungs of one side that lie in ranges: disjoint stretches in order, each with one past its last.
fn spans(truth: &Truth, side: &TruthSide, ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let ladder = &side.ladder;
    let mut spans = Vec::new();
    for &(a, b) in ranges {
        let (Some(a), Some(b)) = (truth.ty.axis(a), truth.ty.axis(b)) else { continue };
        let (near, far) = match (a.side == ladder.side(), b.side == ladder.side()) {
            (true, true) => (a.mag.min(b.mag), a.mag.max(b.mag)),
            (true, false) => (0, a.mag),
            (false, true) => (0, b.mag),
            (false, false) => continue,
        };
        let end = far.checked_add(1).map_or(ladder.count(), |beyond| ladder.at_or_after(beyond));
        spans.push((ladder.at_or_after(near), end));
    }
    spans.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in spans.into_iter().filter(|(from, to)| from < to) {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// How many rungs of from..to lie in the spans.
fn overlap(spans: &[(u64, u64)], from: u64, to: u64) -> u64 {
    let first = spans.partition_point(|span| span.1 <= from);
    let touching = spans[first..].iter().take_while(|span| span.0 < to);
    touching.map(|span| span.1.min(to) - span.0.max(from)).sum()
}
