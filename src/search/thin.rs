//! Keeping answers small without losing what decides a range: its extremes, its gaps, its best.

use std::collections::{BTreeMap, BTreeSet};

use super::found::Found;
use crate::fp::AxisPoint;
use crate::model::Function;
use crate::ranges::{Axis, Orthant, Sides};

/// Most inconsistent samples of one variant that a unit returns unthinned.
pub const MOST_HITS: usize = 4096;

/// Thins inconsistent samples when there are more than `MOST_HITS`; the order stays.
///
/// With one free parameter no gap of a quarter of `gap` binades opens between those that are kept,
/// so every one that is dropped lies in the range of its neighbours.
pub fn thin_hits(function: &Function, gap: f64, hits: Vec<Found>) -> Vec<Found> {
    if hits.len() <= MOST_HITS {
        return hits;
    }
    let free: Vec<usize> = (0..function.arity()).filter(|&p| !function.params[p].domain.is_fixed()).collect();
    let kept = match free.as_slice() {
        &[only] => sweep(function, only, gap, &hits),
        _ => stride(function, &free, &hits),
    };
    hits.into_iter().enumerate().filter(|(i, _)| kept.contains(i)).map(|(_, hit)| hit).collect()
}

fn best_of(hits: &[Found]) -> Option<usize> {
    (0..hits.len()).min_by(|&a, &b| hits[a].better_first(&hits[b]))
}

fn sweep(function: &Function, param: usize, gap: f64, hits: &[Found]) -> BTreeSet<usize> {
    let ty = function.params[param].ty;
    let domain = &function.params[param].domain;
    let mut kept: BTreeSet<usize> = best_of(hits).into_iter().collect();
    let mut places: Vec<(AxisPoint, usize)> =
        hits.iter().enumerate().filter_map(|(i, hit)| Some((ty.axis(hit.input[param])?, i))).collect();
    places.sort_by_key(|(place, i)| (place.side, place.mag, *i));
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

fn stride(function: &Function, free: &[usize], hits: &[Found]) -> BTreeSet<usize> {
    let mut kept: BTreeSet<usize> = best_of(hits).into_iter().collect();
    kept.extend((0..hits.len()).step_by(hits.len().div_ceil(MOST_HITS)));
    let mut extremes: BTreeMap<(Sides, usize), [(u64, usize); 2]> = BTreeMap::new();
    for (i, hit) in hits.iter().enumerate() {
        let sides = Orthant::sides_of(function, &hit.input);
        for &p in free {
            let Some(place) = function.params[p].ty.axis(hit.input[p]) else { continue };
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
