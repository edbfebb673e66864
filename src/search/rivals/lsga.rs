//! The locality-sensitive genetic algorithm (Zou et al., ICSE 2015, section IV.C): exponents evolve,
//! signs flip now and then, significands are always random.
//!
//! The paper's run is 100 initial individuals and 100 mutations. A larger budget is used for further
//! runs, each with a population of its own: with more individuals the intervals of the initial
//! population, and with them the steps of the mutation, would shrink below one exponent.

use super::gene::Gene;
use super::walk::Walker;
use crate::eval::EvalError;
use crate::fp::{Scalar, Side, Stream};

/// n and m of the paper.
const MEMBERS: usize = 100;
const MUTATIONS: usize = 100;
/// How much likelier an exponent near the median is.
const FAVOUR: f64 = 5.0;
/// p of the paper: how often the best group is selected, then the next, and so on.
const BEST: f64 = 0.6;
/// q of the paper: how often a mutation flips the sign.
const FLIP: f64 = 0.1;
/// A group's individuals are within two orders of magnitude: log2(100) bits.
const GROUP: f64 = 6.643_856_189_774_724;
/// Runs that are evaluated side by side: a mutation is one input, which alone is mostly overhead.
const ABREAST: u64 = 16;

pub fn walk(walker: &mut Walker) -> Result<(), EvalError> {
    let ladders: Vec<Ladder> =
        walker.function.coordinates.iter().map(|p| Ladder::new(Gene::new(p))).collect();
    let arity = ladders.len();
    while !walker.is_over() {
        // A count of a few runs, so within usize.
        let runs = (walker.left() / (MEMBERS + MUTATIONS) as u64).clamp(1, ABREAST) as usize;
        let mut populations: Vec<Species> = (0..runs).map(|_| Species::new(arity)).collect();
        let mut inputs: Vec<u64> = Vec::new();
        for _ in 0..runs {
            inputs.extend(initial(&ladders, &mut walker.stream));
        }
        evaluate(walker, &inputs, &mut populations)?;
        for _ in 0..MUTATIONS {
            if walker.is_over() {
                break;
            }
            inputs.clear();
            for population in &populations {
                let stream = &mut walker.stream;
                match population.select(stream) {
                    Some(parent) => mutate(&ladders, parent, stream, &mut inputs),
                    // Every individual faulted.
                    None => inputs.extend(ladders.iter().map(|ladder| ladder.draw(None, stream))),
                }
            }
            evaluate(walker, &inputs, &mut populations)?;
        }
    }
    Ok(())
}

/// Evaluates equally many inputs of each population, one population's after the other's.
fn evaluate(walker: &mut Walker, inputs: &[u64], populations: &mut [Species]) -> Result<(), EvalError> {
    let heights = walker.heights(inputs)?;
    let each = heights.len() / populations.len();
    let arity = inputs.len() / heights.len();
    for (i, input) in inputs.chunks_exact(arity).enumerate() {
        populations[i / each].add(input, heights[i]);
    }
    Ok(())
}

/// The initial population: with one parameter an individual in each interval, with more an
/// interval at random for each parameter.
fn initial(ladders: &[Ladder], stream: &mut Stream) -> Vec<u64> {
    let single = ladders.iter().filter(|ladder| !ladder.gene.is_fixed()).count() <= 1;
    let mut inputs = Vec::with_capacity(MEMBERS * ladders.len());
    for member in 0..MEMBERS {
        inputs.extend(ladders.iter().map(|ladder| ladder.draw(single.then_some(member), stream)));
    }
    inputs
}

fn mutate(ladders: &[Ladder], parent: &[u64], stream: &mut Stream, inputs: &mut Vec<u64>) {
    inputs.extend(ladders.iter().zip(parent).map(|(ladder, &value)| ladder.mutated(value, stream)));
}

/// The exponents of one parameter, cut into as many intervals as there are individuals.
struct Ladder {
    gene: Gene,
    /// How likely each exponent and all before it are, 1 for an exponent far from the median.
    sums: Vec<f64>,
}

impl Ladder {
    /// The median and its surroundings are those of the type, also in a smaller domain: that is
    /// where the paper saw large errors. Bit lengths of integers have no such place.
    fn new(gene: Gene) -> Ladder {
        let (median, reach) = match gene.ty() {
            Scalar::F64 => (1023, 64),
            Scalar::F32 => (127, 16),
            _ => (0, 0),
        };
        let sums = gene.exponents().iter().scan(0.0, |sum, &e| {
            *sum += if reach > 0 && e.abs_diff(median) <= reach { FAVOUR } else { 1.0 };
            Some(*sum)
        });
        let sums = sums.collect();
        Ladder { gene, sums }
    }

    fn total(&self) -> f64 {
        self.sums.last().copied().unwrap_or(1.0)
    }

    /// The exponents in the interval around the one at `index`.
    fn interval(&self, index: usize) -> f64 {
        let before = if index == 0 { 0.0 } else { self.sums[index - 1] };
        self.total() / MEMBERS as f64 / (self.sums[index] - before)
    }

    /// A random value of an interval: a given one, or any.
    fn draw(&self, interval: Option<usize>, stream: &mut Stream) -> u64 {
        let interval = interval.unwrap_or_else(|| stream.below(MEMBERS as u64) as usize);
        let at = (interval as f64 + stream.unit()) * self.total() / MEMBERS as f64;
        let index = self.sums.partition_point(|&sum| sum <= at).min(self.sums.len() - 1);
        let side = if stream.below(2) == 0 { Side::Negative } else { Side::Positive };
        self.gene.of_exponent(self.gene.exponents()[index], side, stream)
    }

    /// Adds N(0, interval) to the exponent, flips the sign rarely, draws a new significand. The
    /// first and the last exponent of the domain stop the step.
    fn mutated(&self, value: u64, stream: &mut Stream) -> u64 {
        let exponents = self.gene.exponents();
        let exponent = self.gene.exponent_of(value);
        let index = exponents.partition_point(|&e| e < exponent).min(exponents.len() - 1);
        let step = libm::round(normal(stream) * self.interval(index).sqrt());
        // A handful of standard deviations of a few exponents; exponents are at most 2047.
        let moved = (index as i64 + step as i64).clamp(0, exponents.len() as i64 - 1) as usize;
        let (side, _) = self.gene.split(value);
        let flipped = stream.unit() < FLIP;
        let side = match side {
            Side::Negative if flipped => Side::Positive,
            Side::Positive if flipped => Side::Negative,
            same => same,
        };
        self.gene.of_exponent(exponents[moved], side, stream)
    }
}

/// Standard normal (Box and Muller), with functions that are the same on every machine.
fn normal(stream: &mut Stream) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let radius = (-2.0 * libm::log(1.0 - stream.unit())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * stream.unit())
}

/// Everything a run has evaluated. Nothing is ever removed.
struct Species {
    arity: usize,
    members: Vec<u64>,
    /// Heights and members, highest first. Faulty inputs are no parents and are left out.
    ranked: Vec<(f64, usize)>,
}

impl Species {
    fn new(arity: usize) -> Species {
        Species { arity, members: Vec::new(), ranked: Vec::new() }
    }

    fn add(&mut self, input: &[u64], height: f64) {
        let index = self.members.len() / self.arity;
        if height >= 0.0 {
            self.members.extend_from_slice(input);
            let at = self.ranked.partition_point(|(other, _)| *other >= height);
            self.ranked.insert(at, (height, index));
        }
    }

    /// The group that starts at a rank: to the last individual within two orders of magnitude. No
    /// inconsistency at all is infinitely many orders below any.
    fn group_end(&self, start: usize) -> usize {
        let top = self.ranked[start].0;
        self.ranked.partition_point(|&(height, _)| height >= top - GROUP && (height > 0.0 || top <= 0.0))
    }

    /// Group-based rank selection. The last group takes what the others leave.
    fn select(&self, stream: &mut Stream) -> Option<&[u64]> {
        let mut start = 0;
        while start < self.ranked.len() {
            let end = self.group_end(start);
            if end == self.ranked.len() || stream.unit() < BEST {
                let (_, index) = self.ranked[start + stream.below((end - start) as u64) as usize];
                return Some(&self.members[index * self.arity..(index + 1) * self.arity]);
            }
            start = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::gene::tests::{between, gene};
    use super::*;
    use crate::model::Domain;

    fn all_doubles() -> Ladder {
        Ladder::new(gene(Scalar::F64, Domain::all(Scalar::F64)))
    }

    fn exponent(bits: u64) -> u32 {
        (bits >> 52 & 0x7ff) as u32
    }

    #[test]
    fn exponents_near_the_median_are_five_times_as_likely_and_their_intervals_as_short() {
        let ladder = all_doubles();
        // 129 of 2047 exponents lie within 64 of the median.
        assert_eq!(ladder.total(), 5.0 * 129.0 + 1918.0);
        assert_eq!(ladder.interval(0), 25.63);
        assert_eq!(ladder.interval(1023 - 65), 25.63);
        assert_eq!(ladder.interval(1023 - 64), 25.63 / 5.0);
        assert_eq!(ladder.interval(1023 + 64), 25.63 / 5.0);
        let floats = Ladder::new(gene(Scalar::F32, Domain::all(Scalar::F32)));
        assert_eq!(floats.total(), 5.0 * 33.0 + 222.0);
    }

    #[test]
    fn one_parameter_starts_with_one_exponent_in_each_interval() {
        let ladders = [all_doubles()];
        let inputs = initial(&ladders, &mut Stream::new(1, &["test"], 0));
        let exponents: Vec<u32> = inputs.iter().map(|&x| exponent(x)).collect();
        assert_eq!(exponents.len(), MEMBERS);
        assert!(exponents.is_sorted());
        let near = exponents.iter().filter(|e| e.abs_diff(1023) <= 64).count();
        assert!((24..=27).contains(&near), "{near}: 645 of 2563 are 25 of 100");
        let negative = inputs.iter().filter(|&&x| f64::from_bits(x).is_sign_negative()).count();
        assert!((30..70).contains(&negative), "{negative}");
    }

    #[test]
    fn a_mutation_moves_the_exponent_a_little_and_seldom_flips_the_sign() {
        let ladder = all_doubles();
        let mut stream = Stream::new(1, &["test"], 0);
        let mut spread = |x: f64| {
            let old = exponent(x.to_bits());
            let children: Vec<u64> = (0..4000).map(|_| ladder.mutated(x.to_bits(), &mut stream)).collect();
            let square = |&c: &u64| (f64::from(exponent(c)) - f64::from(old)).powi(2);
            let flipped = children.iter().filter(|&&c| f64::from_bits(c).is_sign_negative()).count();
            assert!((320..480).contains(&flipped), "{flipped}");
            children.iter().map(square).sum::<f64>() / 4000.0
        };
        // The variance is the interval's length; rounding to whole exponents adds a twelfth.
        let (near, far) = (spread(1.5), spread(1e200));
        assert!((near - 5.126 - 1.0 / 12.0).abs() < 0.5, "{near}");
        assert!((far - 25.63 - 1.0 / 12.0).abs() < 2.5, "{far}");
    }

    #[test]
    fn a_mutation_does_not_leave_the_domain() {
        let ladder = Ladder::new(gene(Scalar::F64, between(0.9, 5.0)));
        let mut stream = Stream::new(1, &["test"], 0);
        let mut value = 1f64.to_bits();
        for _ in 0..1000 {
            value = ladder.mutated(value, &mut stream);
            assert!((0.9..=5.0).contains(&f64::from_bits(value)));
        }
    }

    #[test]
    fn groups_span_two_orders_of_magnitude_and_the_best_is_selected_six_times_in_ten() {
        let mut population = Species::new(1);
        for (i, height) in [0.0, 30.0, 44.0, 50.0, 25.0, -1.0, 1.0].iter().enumerate() {
            population.add(&[i as u64], *height);
        }
        let ranked: Vec<f64> = population.ranked.iter().map(|(height, _)| *height).collect();
        assert_eq!(ranked, [50.0, 44.0, 30.0, 25.0, 1.0, 0.0]);
        assert_eq!([0, 2, 4, 5].map(|start| population.group_end(start)), [2, 4, 5, 6]);
        let mut stream = Stream::new(1, &["test"], 0);
        let mut counts = [0; 7];
        (0..10_000).for_each(|_| counts[population.select(&mut stream).unwrap()[0] as usize] += 1);
        let share = |members: &[usize]| members.iter().map(|&m| counts[m]).sum::<i32>();
        assert!((5800..6200).contains(&share(&[2, 3])), "{counts:?}");
        assert!((2250..2550).contains(&share(&[1, 4])), "{counts:?}");
        assert!((880..1040).contains(&counts[6]) && (560..720).contains(&counts[0]), "{counts:?}");
        assert!(Species::new(1).select(&mut stream).is_none());
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut stream = Stream::new(1, &["test"], 0);
        let numbers: Vec<f64> = (0..20_000).map(|_| normal(&mut stream)).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
    }
}
