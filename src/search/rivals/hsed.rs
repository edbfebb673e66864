//! HSED (Zhang et al., J. Supercomputing 2023, sections 4 and 5): inputs of low precision locate hot
//! spots, and the numbers between a hot spot and its neighbour of the same precision are searched
//! with more mantissa bits, from "half" over "single" to all.
//!
//! What the paper leaves open. A layer that does not fit its share of the budget is searched at
//! random, as the paper does with its own large layers, one input in each of equal parts of it.
//! Several parameters form a layer together. A budget that outlasts the best hot spot goes to the
//! next ones, each in another combination of signs and exponents, and then to new random inputs of
//! the first layer.

use std::collections::BTreeMap;

use super::gene::Gene;
use super::layers::{FULL, HALF, Layer, SINGLE};
use super::walk::Walker;
use crate::eval::EvalError;
use crate::fp::{Side, Stream};

/// A significant inconsistency: 100 ulps, in bits log2(101).
const SIGNIFICANT: f64 = 6.658_211_482_751_795;
/// Random inputs of a layer in the paper.
const SAMPLES: u64 = 100_000;
/// A hot spot gets one part in so many of what is left, so that the best gets most.
const SHARE: u64 = 4;
/// The least that a hot spot gets.
const FEWEST: u64 = 256;
/// Hot spots that are remembered.
const MOST_SPOTS: usize = 8192;
/// Hot spots of one random search of the "single" layer.
const FEW_SPOTS: usize = 4;
/// Inputs of one call.
const BATCH: u64 = 4096;

pub fn walk(walker: &mut Walker) -> Result<(), EvalError> {
    let genes: Vec<Gene> = walker.function.coordinates.iter().map(Gene::new).collect();
    let mut spots = Spots::new(&genes);
    // Preprocessing: the whole "half" layer, or half of the budget.
    let share = walker.left().div_ceil(2);
    search(walker, &Layer::of_domain(&genes, HALF), share, &mut spots)?;
    let significant = spots.highest() >= SIGNIFICANT;
    let first = if significant { HALF } else { SINGLE };
    if !significant {
        spots.clear();
    }
    while !walker.is_over() {
        if spots.is_empty() {
            let count = (walker.left() / 2).clamp(1, SAMPLES);
            search(walker, &Layer::of_domain(&genes, first), count, &mut spots)?;
            if !significant {
                spots.keep(FEW_SPOTS);
            }
        }
        if let Some(input) = spots.take() {
            descend(walker, &genes, input, first)?;
        }
    }
    Ok(())
}

/// Follows a hot spot of a layer through all finer ones.
fn descend(walker: &mut Walker, genes: &[Gene], spot: Vec<u64>, from: u32) -> Result<(), EvalError> {
    let finer: Vec<u32> = [SINGLE, FULL].into_iter().filter(|&bits| bits > from).collect();
    let mut allotted = (walker.left() / SHARE).max(FEWEST);
    let (mut input, mut coarse) = (spot, from);
    for (i, &bits) in finer.iter().enumerate() {
        let layer = Layer::around(genes, &input, coarse, bits);
        let share = (allotted / (finer.len() - i) as u64).min(SAMPLES);
        if layer.count() > 1 {
            let mut best = Best::default();
            allotted = allotted.saturating_sub(search(walker, &layer, share, &mut best)?);
            input = best.input.unwrap_or(input);
        }
        coarse = bits;
    }
    Ok(())
}

/// What is done with the inputs of a search.
trait Watch {
    fn see(&mut self, input: &[u64], height: f64);
}

/// Evaluates a whole layer, or so many random inputs of it if it has more; how many it evaluated.
fn search(walker: &mut Walker, layer: &Layer, most: u64, watch: &mut impl Watch) -> Result<u64, EvalError> {
    let arity = walker.arity();
    let parts = Parts::new(layer.count(), most);
    let mut inputs = Vec::new();
    let mut next = 0;
    while next < parts.count && !walker.is_over() {
        let end = parts.count.min(next + BATCH);
        inputs.clear();
        for turn in next..end {
            match parts.index(turn, &mut walker.stream) {
                Some(index) => layer.input(index, &mut inputs),
                None => layer.random(&mut walker.stream, &mut inputs),
            }
        }
        let heights = walker.heights(&inputs)?;
        for (input, &height) in inputs.chunks_exact(arity).zip(heights) {
            watch.see(input, height);
        }
        next = end;
    }
    Ok(next)
}

/// A layer's inputs in equal parts, from each of which one is evaluated. The parts come in
/// scattered order, so that a stretch of faults does not end a search before it has seen the rest.
struct Parts {
    size: u64,
    count: u64,
    stride: u64,
}

impl Parts {
    fn new(size: u64, most: u64) -> Parts {
        let count = size.min(most).max(1);
        // Near the golden section, and without a common divisor, so that every part has its turn.
        let start = (u128::from(count) * 618 / 1000) as u64;
        let stride = (start.max(1)..).find(|&stride| gcd(stride, count) == 1).unwrap_or(1);
        Parts { size, count, stride }
    }

    /// A random index of the part whose turn it is; None when there are too many to be counted.
    fn index(&self, turn: u64, stream: &mut Stream) -> Option<u64> {
        if self.size == u64::MAX {
            return None;
        }
        let part = u128::from(turn) * u128::from(self.stride) % u128::from(self.count);
        // At most `size`, so within 64 bits.
        let bound = |part: u128| (part * u128::from(self.size) / u128::from(self.count)) as u64;
        Some(stream.between(bound(part), bound(part + 1) - 1))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The highest input; of equal ones the last, as in the paper.
#[derive(Default)]
struct Best {
    height: f64,
    input: Option<Vec<u64>>,
}

impl Watch for Best {
    fn see(&mut self, input: &[u64], height: f64) {
        if height > 0.0 && height >= self.height {
            self.height = height;
            self.input = Some(input.to_vec());
        }
    }
}

/// A height and its input.
type HotSpot = (f64, Vec<u64>);

/// The hot spots of a layer: the highest input of every combination of signs and exponents.
struct Spots<'a> {
    genes: &'a [Gene],
    best: BTreeMap<Vec<(Side, u32)>, HotSpot>,
    /// The same by height, highest last, once they are being taken.
    queue: Vec<HotSpot>,
    highest: f64,
}

impl<'a> Spots<'a> {
    fn new(genes: &'a [Gene]) -> Spots<'a> {
        Spots { genes, best: BTreeMap::new(), queue: Vec::new(), highest: 0.0 }
    }

    /// The greatest height ever seen.
    fn highest(&self) -> f64 {
        self.highest
    }

    fn is_empty(&self) -> bool {
        self.best.is_empty() && self.queue.is_empty()
    }

    fn clear(&mut self) {
        self.best.clear();
        self.queue.clear();
    }

    /// Puts the spots in order, and forgets all but the highest.
    fn keep(&mut self, most: usize) {
        self.queue.extend(std::mem::take(&mut self.best).into_values());
        // Spots are in the order of their exponents before, so equal heights have an order too.
        self.queue.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.queue.drain(..self.queue.len().saturating_sub(most));
    }

    /// The highest spot that was not yet taken.
    fn take(&mut self) -> Option<Vec<u64>> {
        if !self.best.is_empty() {
            self.keep(MOST_SPOTS);
        }
        self.queue.pop().map(|(_, input)| input)
    }
}

impl Watch for Spots<'_> {
    fn see(&mut self, input: &[u64], height: f64) {
        if height <= 0.0 {
            return;
        }
        self.highest = self.highest.max(height);
        let place = |(gene, &value): (&Gene, &u64)| (gene.split(value).0, gene.exponent_of(value));
        let key = self.genes.iter().zip(input).map(place).collect();
        let spot = self.best.entry(key).or_insert_with(|| (0.0, Vec::new()));
        if height >= spot.0 {
            *spot = (height, input.to_vec());
        }
        if self.best.len() > 2 * MOST_SPOTS {
            let mut heights: Vec<f64> = self.best.values().map(|spot| spot.0).collect();
            heights.sort_by(f64::total_cmp);
            let middle = heights[MOST_SPOTS];
            let mut room = MOST_SPOTS;
            self.best.retain(|_, spot| {
                let kept = spot.0 >= middle && room > 0;
                room -= usize::from(kept);
                kept
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gene::tests::gene;
    use super::*;
    use crate::fp::Scalar;
    use crate::model::Domain;

    #[test]
    fn every_part_of_a_layer_has_its_turn() {
        let mut stream = Stream::new(1, &["test"], 0);
        let mut indices = |size, most| {
            let parts = Parts::new(size, most);
            let mut all: Vec<u64> =
                (0..parts.count).map(|turn| parts.index(turn, &mut stream).unwrap()).collect();
            assert!(all.len() < 4 || !all.is_sorted());
            all.sort_unstable();
            all
        };
        for size in [1, 2, 3, 10, 1024, 8192] {
            assert_eq!(indices(size, 10_000), (0..size).collect::<Vec<u64>>());
        }
        let thousand = indices(1000 << 20, 1000);
        assert!((0..1000).all(|part| thousand[part] >> 20 == part as u64));
        assert_eq!(Parts::new(u64::MAX, 7).index(0, &mut stream), None);
    }

    #[test]
    fn hot_spots_are_taken_from_the_highest_down_one_for_each_exponent_and_sign() {
        let genes = [gene(Scalar::F64, Domain::all(Scalar::F64))];
        let mut spots = Spots::new(&genes);
        for (x, height) in [(1.0, 9.0), (1.5, 20.0), (1.75, 20.0), (-1.5, 3.0), (8.0, 50.0), (9.0, 0.0)] {
            spots.see(&[f64::to_bits(x)], height);
        }
        assert_eq!(spots.highest(), 50.0);
        let taken: Vec<f64> = std::iter::from_fn(|| spots.take()).map(|x| f64::from_bits(x[0])).collect();
        assert_eq!(taken, [8.0, 1.75, -1.5]);
        assert!(spots.is_empty());
    }

    #[test]
    fn very_many_hot_spots_are_thinned_to_the_highest() {
        let genes =
            [gene(Scalar::F64, Domain::all(Scalar::F64)), gene(Scalar::F64, Domain::all(Scalar::F64))];
        let mut spots = Spots::new(&genes);
        for i in 0..20_000u64 {
            let bits = |e: u64| (e + 1) << 52;
            spots.see(&[bits(i % 200), bits(i / 200)], 1.0 + (i * 7919 % 20_000) as f64 / 1000.0);
        }
        assert!(spots.best.len() <= 2 * MOST_SPOTS);
        spots.take();
        assert!(spots.queue.len() < MOST_SPOTS);
        assert!(spots.queue.iter().all(|spot| spot.0 > 10.0));
    }
}
