//! What a long walk remembers of its samples: a bounded number, spread over the space.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Function;
use crate::search::evaluate::{Found, Hits, MOST_HITS, Score};

/// Inconsistent samples that are collected before they are thinned.
const ROOM: usize = 16_384;
/// Most consistent samples.
const MISSES: usize = 8192;
/// The best of every so many binades of each parameter is never thinned out.
const STRETCH: u64 = 16;

pub struct Keepsake<'a> {
    function: &'a Function,
    gap: f64,
    /// Inconsistent inputs, and the score of each.
    inputs: Vec<u64>,
    rows: Vec<(usize, Score)>,
    /// As many rows as this are thinned.
    room: usize,
    misses: Vec<u64>,
    /// Consistent samples so far, and every how many of them one is kept.
    missed: u64,
    keep_every: u64,
}

impl<'a> Keepsake<'a> {
    pub fn new(function: &'a Function, gap: f64) -> Keepsake<'a> {
        Keepsake {
            function,
            gap,
            inputs: Vec::new(),
            rows: Vec::new(),
            room: ROOM,
            misses: Vec::new(),
            missed: 0,
            keep_every: 1,
        }
    }

    pub fn hit(&mut self, input: &[u64], score: &Score) {
        self.rows.push((self.rows.len(), *score));
        self.inputs.extend_from_slice(input);
        if self.rows.len() >= self.room {
            let kept = self.thinned();
            self.inputs.clear();
            self.rows.clear();
            for found in &kept {
                let Found { baseline, variant, bits, change, worst, .. } = *found;
                // Every row is inconsistent: one without bits is so by its change.
                let change_counts = change.is_some();
                let score = Score { baseline, variant, bits, change, change_counts, worst, evaluated: true };
                self.rows.push((self.rows.len(), score));
                self.inputs.extend_from_slice(&found.input);
            }
            // A thinning that left much would come again at once.
            self.room = ROOM.max(2 * self.rows.len());
        }
    }

    /// The thinned samples and the best of each stretch, each once.
    fn thinned(&mut self) -> Vec<Found> {
        let arity = self.function.arity();
        let (inputs, rows) = (std::mem::take(&mut self.inputs), std::mem::take(&mut self.rows));
        let champions = champions(self.function, &inputs, &rows);
        let hits = Hits { inputs: &inputs, arity, rows };
        let mut kept = hits.thinned(self.function, self.gap, MOST_HITS);
        let known: BTreeSet<Vec<u64>> = kept.iter().map(|found| found.input.clone()).collect();
        let missing = champions.into_iter().map(|row| {
            let (at, score) = &hits.rows[row];
            Found::new(&inputs[at * arity..(at + 1) * arity], score)
        });
        kept.extend(missing.filter(|found| !known.contains(&found.input)));
        kept
    }

    pub fn miss(&mut self, input: &[u64]) {
        let regular = self.missed.is_multiple_of(self.keep_every);
        self.missed += 1;
        if !regular {
            return;
        }
        self.misses.extend_from_slice(input);
        if self.misses.len() >= MISSES * input.len() {
            let every_second: Vec<u64> =
                self.misses.chunks_exact(input.len()).step_by(2).flatten().copied().collect();
            self.misses = every_second;
            self.keep_every *= 2;
        }
    }

    /// The inconsistent samples, `best` among them, and the consistent inputs.
    pub fn close(mut self, best: Option<&Found>) -> (Vec<Found>, Vec<u64>) {
        let mut hits = self.thinned();
        if let Some(best) = best
            && !hits.contains(best)
        {
            hits.push(best.clone());
        }
        (hits, self.misses)
    }
}

/// Rows of the best samples of each stretch of each parameter, in order.
fn champions(function: &Function, inputs: &[u64], rows: &[(usize, Score)]) -> BTreeSet<usize> {
    let arity = function.arity();
    let mut best: BTreeMap<(usize, crate::fp::Side, u64), usize> = BTreeMap::new();
    for (row, (at, score)) in rows.iter().enumerate() {
        for (p, param) in function.coordinates.iter().enumerate() {
            let Some(place) = param.ty.axis(inputs[at * arity + p]) else { continue };
            let width = if param.ty.is_float() { STRETCH * param.ty.axis_unit() } else { u64::MAX };
            let champion = best.entry((p, place.side, place.mag / width)).or_insert(row);
            if score.height() > rows[*champion].1.height() {
                *champion = row;
            }
        }
    }
    best.into_values().collect()
}
