//! Differential evolution as plain functions: SciPy's best1bin with deferred updating, dither and a
//! Latin hypercube start, minimising. Members are points of the unit cube; this file evaluates
//! nothing and knows no floats under test.

use crate::fp::Stream;
use crate::model::SearchSettings;

/// The smallest population best1bin can mutate.
const FEWEST: usize = 5;

/// A population in the unit cube. Members lie one after the other.
pub struct Population {
    pub dims: usize,
    pub members: Vec<f64>,
    pub costs: Vec<f64>,
    pub best: usize,
}

/// The constants of the evolution.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub dither: (f64, f64),
    pub crossover: f64,
    pub tolerance: f64,
}

impl Rules {
    pub fn new(settings: &SearchSettings) -> Rules {
        Rules { dither: settings.dither, crossover: settings.crossover, tolerance: settings.tolerance }
    }
}

/// Members for so many dimensions.
pub fn population_size(settings: &SearchSettings, dims: usize) -> usize {
    (settings.popsize as usize * dims).max(FEWEST)
}

/// One member in each of `count` slices of every axis.
pub fn latin_hypercube(count: usize, dims: usize, stream: &mut Stream) -> Vec<f64> {
    let mut members = vec![0.0; count * dims];
    let mut slices: Vec<usize> = (0..count).collect();
    for d in 0..dims {
        stream.shuffle(&mut slices);
        for (member, &slice) in slices.iter().enumerate() {
            // Member counts are far below 2^53.
            members[member * dims + d] = (slice as f64 + stream.unit()) / count as f64;
        }
    }
    members
}

impl Population {
    /// `costs` are those of `members`.
    pub fn new(dims: usize, members: Vec<f64>, costs: Vec<f64>) -> Population {
        let mut population = Population { dims, members, costs, best: 0 };
        population.find_best();
        population
    }

    fn find_best(&mut self) {
        let best = (0..self.costs.len()).min_by(|&a, &b| self.costs[a].total_cmp(&self.costs[b]));
        self.best = best.unwrap_or(0);
    }

    pub fn member(&self, index: usize) -> &[f64] {
        &self.members[index * self.dims..(index + 1) * self.dims]
    }

    /// A whole generation of trial members.
    pub fn trials(&self, rules: &Rules, stream: &mut Stream, out: &mut Vec<f64>) {
        let count = self.costs.len();
        let best = self.member(self.best);
        let scale = rules.dither.0 + (rules.dither.1 - rules.dither.0) * stream.unit();
        out.clear();
        for member in 0..count {
            let (a, b) = two_others(member, count, stream);
            let forced = pick(self.dims, stream);
            let (own, a, b) = (self.member(member), self.member(a), self.member(b));
            for d in 0..self.dims {
                let crossed = d == forced || stream.unit() < rules.crossover;
                let mutant = best[d] + scale * (a[d] - b[d]);
                out.push(if !crossed {
                    own[d]
                } else if (0.0..=1.0).contains(&mutant) {
                    mutant
                } else {
                    stream.unit()
                });
            }
        }
    }

    /// Replaces every member that its trial does not exceed.
    pub fn select(&mut self, trials: &[f64], costs: &[f64]) {
        for (member, &cost) in costs.iter().enumerate() {
            if cost <= self.costs[member] {
                self.costs[member] = cost;
                let at = member * self.dims;
                self.members[at..at + self.dims].copy_from_slice(&trials[at..at + self.dims]);
            }
        }
        self.find_best();
    }

    /// Whether the costs' standard deviation is within `tolerance` of their mean.
    pub fn has_converged(&self, tolerance: f64) -> bool {
        if self.costs.iter().any(|c| !c.is_finite()) {
            return false;
        }
        let count = self.costs.len() as f64;
        let mean = self.costs.iter().sum::<f64>() / count;
        let variance = self.costs.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / count;
        // sqrt is correctly rounded on every machine.
        variance.sqrt() <= tolerance * mean.abs()
    }
}

/// A random index below `count`. The bias of a plain multiplication, below 2^-50, is no concern of
/// an evolution, and the division that would remove it is half of the cost of a trial.
fn pick(count: usize, stream: &mut Stream) -> usize {
    ((u128::from(stream.bits()) * count as u128) >> 64) as usize
}

/// Two different members, neither of them `member`.
fn two_others(member: usize, count: usize, stream: &mut Stream) -> (usize, usize) {
    let skip = |index: usize, over: usize| if index >= over { index + 1 } else { index };
    let a = skip(pick(count - 1, stream), member);
    let (low, high) = (member.min(a), member.max(a));
    let b = skip(skip(pick(count - 2, stream), low), high);
    (a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutation_never_uses_a_member_twice() {
        let mut stream = Stream::new(1, &["test"], 0);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let (a, b) = two_others(3, 5, &mut stream);
            assert!(a != b && a != 3 && b != 3 && a < 5 && b < 5);
            seen.insert((a, b));
        }
        assert_eq!(seen.len(), 12);
    }

    #[test]
    fn a_latin_hypercube_has_one_member_in_each_slice_of_each_axis() {
        let members = latin_hypercube(20, 3, &mut Stream::new(1, &["test"], 0));
        for d in 0..3 {
            let mut slices: Vec<u32> = (0..20).map(|m| (members[m * 3 + d] * 20.0) as u32).collect();
            slices.sort_unstable();
            assert_eq!(slices, (0..20).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_bowl_is_descended_to_its_bottom() {
        let mut stream = Stream::new(1, &["test"], 0);
        let rules = Rules { dither: (0.5, 1.0), crossover: 0.7, tolerance: 0.01 };
        let cost = |x: &[f64]| (x[0] - 0.3).powi(2) + (x[1] - 0.8).powi(2);
        let costs = |members: &[f64]| members.chunks(2).map(cost).collect::<Vec<f64>>();
        let members = latin_hypercube(40, 2, &mut stream);
        let first = costs(&members);
        let mut population = Population::new(2, members, first);
        let mut trials = Vec::new();
        for _ in 0..60 {
            population.trials(&rules, &mut stream, &mut trials);
            assert!(trials.iter().all(|x| (0.0..=1.0).contains(x)));
            population.select(&trials, &costs(&trials));
        }
        assert!(population.costs[population.best] < 1e-6);
    }

    #[test]
    fn convergence_is_a_small_spread_and_infinite_costs_never_converge() {
        let spread =
            |costs: &[f64]| Population::new(1, vec![0.0; costs.len()], costs.to_vec()).has_converged(0.01);
        assert!(spread(&[-50.0, -50.1, -49.9]));
        assert!(!spread(&[-50.0, -10.0, -49.9]));
        assert!(!spread(&[f64::INFINITY, f64::INFINITY]));
    }
}
