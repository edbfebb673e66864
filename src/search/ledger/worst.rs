//! The worst input of a comparison is the witness of one of its ranges: what a table shows is what was found.

use std::collections::BTreeMap;

use super::candidates::reach;
use super::comparison::{Comparison, Hit, Pool};
use crate::model::{Function, SearchSettings};
use crate::ranges::{Orthant, Range, Sides, extend};
use crate::search::evaluate::Found;

impl Comparison {
    /// What is left to do before ranges are told: the worst inputs lie in one of them, and they are not too many.
    pub fn settle(&mut self, function: &Function, settings: &SearchSettings) {
        // Boxes that were joined before held the worst input then, and were all that was sampled since.
        if self.wide.is_empty() {
            self.cover_worst(function, settings);
            self.widen(function);
        }
    }

    /// Makes the worst input, and the worst that changes the class of a result, lie in a range. A unit returns a part of
    /// its samples, and the worst may not be in that part. The nearest range takes it in, and if none is near, it is a
    /// range of its own.
    pub fn cover_worst(&mut self, function: &Function, settings: &SearchSettings) {
        for peak in std::mem::take(&mut self.peaks) {
            self.crown(function, peak);
        }
        let worst = [self.best.clone(), self.changed.clone()];
        for found in worst.into_iter().flatten() {
            let Some((sides, point)) = self.crown(function, found) else { continue };
            let mut ranges: BTreeMap<Sides, Vec<Range>> = BTreeMap::new();
            for track in &self.tracks {
                ranges.entry(track.sides.clone()).or_default().push(track.range.clone());
            }
            let reach = reach(&self.pools[&sides].orthant, settings);
            let around = ranges.entry(sides).or_default();
            if !around.iter().any(|range| range.cuboid.contains(&point)) {
                *around = extend(std::mem::take(around), [point.as_slice()], &reach);
                self.retrack(ranges.into_iter().collect());
            }
        }
    }

    /// Remembers a sample for the witness of its range, whatever the number of orthants; and where it lies.
    fn crown(&mut self, function: &Function, found: Found) -> Option<(Sides, Vec<u64>)> {
        let sides = Orthant::sides_of(function, &found.input);
        if !self.pools.contains_key(&sides) {
            self.pools.insert(sides.clone(), Pool::new(Orthant::new(function, &sides)?));
        }
        let pool = self.pools.get_mut(&sides)?;
        let point = pool.orthant.point(&found.input)?;
        pool.champions.push(Hit { found, point: point.clone() });
        Some((sides, point))
    }
}
