//! Ranges of many orthants as few boxes that may reach over zero: with eight parameters there are 256 orthants, and a
//! function that is inconsistent in all of them has not 256 things to tell.

use super::candidates::MOST_RANGES;
use super::comparison::{Comparison, Track};
use crate::fp::Side;
use crate::model::{EdgeKind, Function};
use crate::ranges::{Piece, Poles, Span, Statistics, join_pieces};
use crate::search::evaluate::{Found, keep_best};
use crate::search::unit::Seen;

/// A range of more than one orthant, or one that stayed as it was beside those.
pub struct Wide {
    pub piece: Piece,
    /// Uniform samples of the box.
    pub uniform: Statistics,
    /// The best of them.
    pub best: Option<Found>,
}

/// Both sides of every parameter.
pub fn poles(function: &Function) -> Vec<Poles> {
    function.coordinates.iter().map(|p| Poles::new(p.ty, &p.domain)).collect()
}

impl Comparison {
    /// Whether there are more ranges than are told one by one.
    pub fn is_crowded(&self) -> bool {
        self.tracks.len() > MOST_RANGES
    }

    /// Joins ranges across orthants if there are too many.
    pub fn widen(&mut self, function: &Function) {
        if !self.is_crowded() {
            return;
        }
        // A range that no inconsistent sample is left of is not told.
        let shown: Vec<&Track> = self.tracks.iter().filter(|track| self.best_in(track).is_some()).collect();
        let pieces = shown.into_iter().map(|track| self.piece(track)).collect();
        let wide = |piece| Wide { piece, uniform: Statistics::default(), best: None };
        self.wide = join_pieces(pieces, MOST_RANGES, &poles(function)).into_iter().map(wide).collect();
    }

    /// Adds uniform samples of one of the joined ranges.
    pub fn measure_wide(&mut self, index: usize, seen: Seen) {
        self.count(&seen);
        let wide = &mut self.wide[index];
        wide.uniform.absorb(&seen.statistics);
        if let Some(best) = &seen.best {
            keep_best(&mut wide.best, best);
        }
    }

    fn piece(&self, track: &Track) -> Piece {
        let kinds = track.sides.iter().zip(&track.range.edges);
        let by_value = |(&side, &[near, far]): (&Side, &[EdgeKind; 2])| match side {
            Side::Negative => [far, near],
            Side::Positive => [near, far],
        };
        let (mut hits, mut misses) = (0, 0);
        if let Some(pool) = self.pools.get(&track.sides) {
            let inside = |point: &[u64]| track.range.cuboid.contains(point);
            hits = pool.hits.iter().filter(|hit| inside(&hit.point)).count() as u64;
            misses = pool.misses.iter().filter(|point| inside(point)).count() as u64;
        }
        let (inconsistent, samples) = match &track.uniform {
            uniform if uniform.samples > 0 => (uniform.inconsistent, uniform.samples),
            _ => (hits, hits + misses),
        };
        Piece {
            span: Span::of(&track.sides, &track.range.cuboid),
            edges: kinds.map(by_value).collect(),
            // One sample at least is inconsistent. Counts far below 2^53.
            fill: inconsistent.max(1) as f64 / samples.max(1) as f64,
            hits,
        }
    }
}
