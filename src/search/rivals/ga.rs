//! The standard genetic algorithm that LSGA is compared with (Zou et al., ICSE 2015, section V.C):
//! bit vectors, roulette wheel, one-point crossover, bit flips, no survivors.
//!
//! The paper's run is 10 generations of 20. A larger budget is used for further runs, each with a
//! population of its own.

use super::gene::{Gene, low_bits};
use super::walk::Walker;
use crate::eval::EvalError;
use crate::fp::Stream;

/// N of the paper.
const MEMBERS: usize = 20;
const GENERATIONS: usize = 10;
/// C of the paper: how often a pair of parameters is crossed over.
const CROSSOVER: f64 = 0.96;
/// M of the paper, how often a bit is flipped, in 2^-16: 0.1.
const FLIP: u16 = 6554;
/// How often a mutation that leaves the domain is tried again before a random value takes its
/// place. The paper's functions take every double, so it has no word on domains.
const TRIES: usize = 16;
/// Runs that are evaluated side by side: an evaluation of 20 inputs is mostly overhead.
const ABREAST: u64 = 16;

pub fn walk(walker: &mut Walker) -> Result<(), EvalError> {
    let genes: Vec<Gene> = walker.function.coordinates.iter().map(Gene::new).collect();
    let size = MEMBERS * genes.len();
    while !walker.is_over() {
        // A count of a few runs, so within usize.
        let runs = (walker.left() / (MEMBERS * GENERATIONS) as u64).clamp(1, ABREAST) as usize;
        let mut members: Vec<u64> = Vec::new();
        for _ in 0..runs * MEMBERS {
            members.extend(genes.iter().map(|gene| gene.random(&mut walker.stream)));
        }
        for generation in 0..GENERATIONS {
            let heights = walker.heights(&members)?.to_vec();
            if generation + 1 == GENERATIONS || walker.is_over() {
                break;
            }
            for (herd, heights) in members.chunks_exact_mut(size).zip(heights.chunks_exact(MEMBERS)) {
                let children = children(&genes, herd, heights, &mut walker.stream);
                herd.copy_from_slice(&children);
            }
        }
    }
    Ok(())
}

/// The next generation: as many children as there are members.
fn children(genes: &[Gene], members: &[u64], heights: &[f64], stream: &mut Stream) -> Vec<u64> {
    let wheel = Wheel::new(heights);
    let member = |index: usize| &members[index * genes.len()..(index + 1) * genes.len()];
    let mut children = Vec::with_capacity(members.len());
    while children.len() < members.len() {
        let mut pair = [member(wheel.turn(stream)).to_vec(), member(wheel.turn(stream)).to_vec()];
        for (p, gene) in genes.iter().enumerate() {
            if stream.unit() < CROSSOVER {
                let width = gene.ty().width();
                // 1 to all but one of the bits: less or more would exchange nothing or everything.
                let first = 1 + stream.below(u64::from(width) - 1) as u32;
                (pair[0][p], pair[1][p]) = crossover(gene, pair[0][p], pair[1][p], first);
            }
            for child in &mut pair {
                child[p] = mutated(gene, child[p], stream);
            }
        }
        children.extend(pair.into_iter().flatten());
    }
    children.truncate(members.len());
    children
}

/// The roulette wheel. Bits are the logarithm of the inconsistency, which is the weight the paper
/// asks for; without any inconsistency all members are equal.
struct Wheel {
    sums: Vec<f64>,
}

impl Wheel {
    fn new(heights: &[f64]) -> Wheel {
        let total: f64 = heights.iter().map(|h| h.max(0.0)).sum();
        let weight = |h: &f64| if total > 0.0 { h.max(0.0) } else { 1.0 };
        let sums = heights.iter().scan(0.0, |sum, h| {
            *sum += weight(h);
            Some(*sum)
        });
        Wheel { sums: sums.collect() }
    }

    fn turn(&self, stream: &mut Stream) -> usize {
        let at = stream.unit() * self.sums.last().copied().unwrap_or(0.0);
        self.sums.partition_point(|&sum| sum <= at).min(self.sums.len() - 1)
    }
}

/// Exchanges the first bits of two values: the sign, then the exponent, then the mantissa.
fn crossover(gene: &Gene, a: u64, b: u64, first: u32) -> (u64, u64) {
    let rest = low_bits(gene.ty().width() - first);
    (gene.pattern_value(a & rest | b & !rest), gene.pattern_value(b & rest | a & !rest))
}

/// A value with some bits flipped, within the domain.
fn mutated(gene: &Gene, bits: u64, stream: &mut Stream) -> u64 {
    for _ in 0..TRIES {
        let child = gene.pattern_value(bits ^ flips(stream));
        if gene.piece_of(child).is_some() {
            return child;
        }
    }
    gene.random(stream)
}

/// 64 bits, each set with the probability `FLIP`: for every digit of it, from the last to the
/// first, the set bits are joined with or thinned by random ones.
fn flips(stream: &mut Stream) -> u64 {
    (FLIP.trailing_zeros()..u16::BITS).fold(0, |mask, digit| {
        if FLIP >> digit & 1 == 1 { mask | stream.bits() } else { mask & stream.bits() }
    })
}

#[cfg(test)]
mod tests {
    use super::super::gene::tests::{between, gene};
    use super::*;
    use crate::fp::Scalar;
    use crate::model::Domain;

    #[test]
    fn a_tenth_of_the_bits_is_flipped() {
        let mut stream = Stream::new(1, &["test"], 0);
        let mut counts = [0u32; 64];
        for _ in 0..10_000 {
            let mask = flips(&mut stream);
            (0..64).for_each(|bit| counts[bit] += (mask >> bit & 1) as u32);
        }
        assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_crossover_exchanges_the_first_bits() {
        let doubles = gene(Scalar::F64, Domain::all(Scalar::F64));
        let (a, b) = ((-1.5f64).to_bits(), 8.25f64.to_bits());
        let (c, d) = crossover(&doubles, a, b, 12);
        assert_eq!((f64::from_bits(c), f64::from_bits(d)), (12.0, -1.03125));
        let floats = gene(Scalar::F32, Domain::all(Scalar::F32));
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(crossover(&floats, bits(-1.5), bits(2.0), 1), (bits(1.5), bits(-2.0)));
        let integers = gene(Scalar::I16, Domain::all(Scalar::I16));
        let bits = |x: i64| x.cast_unsigned();
        assert_eq!(crossover(&integers, bits(-1), bits(5), 12), (bits(15), bits(-11)));
    }

    #[test]
    fn the_wheel_stops_in_proportion_to_the_bits() {
        let mut stream = Stream::new(1, &["test"], 0);
        let mut turns = |heights: &[f64]| {
            let wheel = Wheel::new(heights);
            let mut counts = [0; 4];
            (0..4000).for_each(|_| counts[wheel.turn(&mut stream)] += 1);
            counts
        };
        let counts = turns(&[0.0, 10.0, -1.0, 30.0]);
        assert_eq!((counts[0], counts[2]), (0, 0));
        assert!((850..1150).contains(&counts[1]), "{counts:?}");
        let counts = turns(&[0.0, 0.0, -1.0, 0.0]);
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn children_stay_in_the_domain_and_resemble_the_fit() {
        let narrow = gene(Scalar::F64, between(1.0, 1.0 + 1e-9));
        let genes = [gene(Scalar::F64, Domain::all(Scalar::F64)), narrow];
        let mut stream = Stream::new(1, &["test"], 0);
        let mut members: Vec<u64> = Vec::new();
        for _ in 0..MEMBERS {
            members.extend(genes.iter().map(|gene| gene.random(&mut stream)));
        }
        let mut heights = vec![0.0; MEMBERS];
        heights[7] = 50.0;
        let next = children(&genes, &members, &heights, &mut stream);
        assert_eq!(next.len(), members.len());
        let flipped: u32 = next.chunks(2).map(|child| (child[0] ^ members[14]).count_ones()).sum();
        // Only the member with bits has children, each with about a tenth of 64 bits flipped.
        assert!((4 * 20..9 * 20).contains(&flipped), "{flipped}");
        assert!(next.chunks(2).all(|child| genes[1].piece_of(child[1]).is_some()));
    }
}
