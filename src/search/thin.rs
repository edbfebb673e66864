//! Keeping answers small without losing what decides a range: its extremes, its gaps, its best.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, Score};
use crate::fp::AxisPoint;
use crate::model::Function;
use crate::ranges::{Axis, Orthant, Sides};

/// Most inconsistent samples of one variant that a unit returns unthinned.
pub const MOST_HITS: usize = 4096;

/// Inconsistent samples among a unit's inputs: which, and their scores.
pub struct Hits<'a> {
    pub inputs: &'a [u64],
    pub arity: usize,
    pub rows: Vec<(usize, Score)>,
}

impl Hits<'_> {
    fn input(&self, row: usize) -> &[u64] {
        let at = self.rows[row].0 * self.arity;
        &self.inputs[at..at + self.arity]
    }

    fn found(&self, row: usize) -> Found {
        Found::new(self.input(row), &self.rows[row].1)
    }

    /// The best of them.
    pub fn best(&self) -> Option<Found> {
        let most = self.rows.iter().map(|(_, score)| score.height()).max_by(f64::total_cmp)?;
        let top = (0..self.rows.len()).filter(|&row| self.rows[row].1.height() == most);
        top.map(|row| self.found(row)).min_by(Found::better_first)
    }

    /// The samples, thinned when there are more than `MOST_HITS`; the order stays.
    ///
    /// With one free parameter no gap of a quarter of `gap` binades opens between those that are
    /// kept, so every one that is dropped lies in the range of its neighbours.
    pub fn thinned(&self, function: &Function, gap: f64) -> Vec<Found> {
        if self.rows.len() <= MOST_HITS {
            return (0..self.rows.len()).map(|row| self.found(row)).collect();
        }
        let is_free = |&p: &usize| !function.params[p].domain.is_fixed();
        let free: Vec<usize> = (0..function.arity()).filter(is_free).collect();
        let kept = match free.as_slice() {
            &[only] => sweep(function, only, gap, self),
            _ => stride(function, &free, self),
        };
        kept.into_iter().map(|row| self.found(row)).collect()
    }
}

fn sweep(function: &Function, param: usize, gap: f64, hits: &Hits<'_>) -> BTreeSet<usize> {
    let ty = function.params[param].ty;
    let domain = &function.params[param].domain;
    let mut kept = BTreeSet::new();
    let mut places: Vec<(AxisPoint, usize)> =
        (0..hits.rows.len()).filter_map(|i| Some((ty.axis(hits.input(i)[param])?, i))).collect();
    places.sort_unstable_by_key(|(place, i)| (place.side, place.mag, *i));
    for side in places.chunk_by(|a, b| a.0.side == b.0.side) {
        let Some(axis) = Axis::new(ty, domain, side[0].0.side) else { continue };
        let reach = axis.steps(gap / 4.0);
        let mut last = None;
        for (i, &(place, index)) in side.iter().enumerate() {
            let far_from_last = last.is_none_or(|mag| place.mag - mag >= reach);
            let far_from_next = side.get(i + 1).is_none_or(|(next, _)| next.mag - place.mag >= reach);
            if far_from_last || far_from_next {
                kept.insert(index);
                last = Some(place.mag);
            }
        }
    }
    kept
}

fn stride(function: &Function, free: &[usize], hits: &Hits<'_>) -> BTreeSet<usize> {
    let count = hits.rows.len();
    let mut kept: BTreeSet<usize> = (0..count).step_by(count.div_ceil(MOST_HITS)).collect();
    let mut extremes: BTreeMap<(Sides, usize), [(u64, usize); 2]> = BTreeMap::new();
    for i in 0..count {
        let input = hits.input(i);
        let sides = Orthant::sides_of(function, input);
        for &p in free {
            let Some(place) = function.params[p].ty.axis(input[p]) else { continue };
            let ends = extremes.entry((sides.clone(), p)).or_insert([(place.mag, i); 2]);
            if place.mag < ends[0].0 {
                ends[0] = (place.mag, i);
            }
            if place.mag > ends[1].0 {
                ends[1] = (place.mag, i);
            }
        }
    }
    kept.extend(extremes.values().flatten().map(|&(_, i)| i));
    kept
}
