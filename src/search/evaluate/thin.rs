//! Keeping answers small without losing what decides a range: its extremes, its gaps, its best.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, Score};
use crate::fp::{AxisPoint, Side};
use crate::model::Function;
use crate::ranges::{Axis, Orthant, Sides};

/// Most inconsistent samples of one variant that a unit returns, unless it is told otherwise.
pub const MOST_HITS: u64 = 4096;

/// Most samples that thinning keeps with several free parameters. Up to eight of them never have as many extremes and
/// cells; the orthants of more would be without end.
const MOST_KEPT: usize = 3 * MOST_HITS as usize;

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

    /// The best of those that change the class of a result.
    pub fn changed(&self) -> Option<Found> {
        let changing = (0..self.rows.len()).filter(|&row| self.rows[row].1.changes_class());
        changing.map(|row| self.found(row)).min_by(Found::better_first)
    }

    /// The samples, thinned when there are more than `most`; the order stays.
    ///
    /// With one free parameter no gap of a quarter of `gap` binades opens between those that are
    /// kept, so every one that is dropped lies in the range of its neighbours. With several, each
    /// stretch of the space keeps its share, so that the few of a small region stay beside the many
    /// of a large one.
    pub fn thinned(&self, function: &Function, gap: f64, most: u64) -> Vec<Found> {
        if self.rows.len() as u64 <= most {
            return (0..self.rows.len()).map(|row| self.found(row)).collect();
        }
        let is_free = |&p: &usize| !function.coordinates[p].domain.is_fixed();
        let free: Vec<usize> = (0..function.arity()).filter(is_free).collect();
        let kept = match free.as_slice() {
            &[only] => sweep(function, only, gap, self),
            _ => even(function, &free, most as usize, self),
        };
        kept.into_iter().map(|row| self.found(row)).collect()
    }
}

fn sweep(function: &Function, param: usize, gap: f64, hits: &Hits<'_>) -> BTreeSet<usize> {
    let ty = function.coordinates[param].ty;
    let domain = &function.coordinates[param].domain;
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

/// The extremes of every orthant, and as many of each cell of a grid as there is room for.
fn even(function: &Function, free: &[usize], most: usize, hits: &Hits<'_>) -> BTreeSet<usize> {
    let mut kept = extremes(function, free, hits);
    let ends: Vec<(u64, u64)> = free.iter().map(|&p| ends(function, p, hits)).collect();
    for cells in [32, 16, 8, 4, 2, 1] {
        let mut members: BTreeMap<Vec<(Side, u64)>, Vec<usize>> = BTreeMap::new();
        for i in 0..hits.rows.len() {
            let input = hits.input(i);
            let cell = |(&p, &(lo, hi)): (&usize, &(u64, u64))| {
                let place = function.coordinates[p].ty.axis(input[p])?;
                Some((place.side, (place.mag - lo) / ((hi - lo) / cells + 1)))
            };
            members.entry(free.iter().zip(&ends).filter_map(cell).collect()).or_default().push(i);
        }
        if members.len() > most && cells > 1 {
            continue;
        }
        let share = (most / members.len()).max(1);
        for cell in members.values() {
            kept.extend(cell.iter().step_by(cell.len().div_ceil(share)));
        }
        break;
    }
    let every = kept.len().div_ceil(MOST_KEPT).max(1);
    kept.into_iter().step_by(every).collect()
}

/// The least and the greatest distance from zero of one parameter.
fn ends(function: &Function, param: usize, hits: &Hits<'_>) -> (u64, u64) {
    let places =
        (0..hits.rows.len()).filter_map(|i| function.coordinates[param].ty.axis(hits.input(i)[param]));
    let widen = |(lo, hi): (u64, u64), place: AxisPoint| (lo.min(place.mag), hi.max(place.mag));
    let (lo, hi) = places.fold((u64::MAX, 0), widen);
    (lo.min(hi), hi)
}

fn extremes(function: &Function, free: &[usize], hits: &Hits<'_>) -> BTreeSet<usize> {
    let mut extremes: BTreeMap<(Sides, usize), [(u64, usize); 2]> = BTreeMap::new();
    for i in 0..hits.rows.len() {
        let input = hits.input(i);
        let sides = Orthant::sides_of(function, input);
        for &p in free {
            let Some(place) = function.coordinates[p].ty.axis(input[p]) else { continue };
            let ends = extremes.entry((sides.clone(), p)).or_insert([(place.mag, i); 2]);
            if place.mag < ends[0].0 {
                ends[0] = (place.mag, i);
            }
            if place.mag > ends[1].0 {
                ends[1] = (place.mag, i);
            }
        }
    }
    extremes.values().flatten().map(|&(_, i)| i).collect()
}
