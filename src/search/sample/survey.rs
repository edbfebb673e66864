//! Plans the inputs that all variants see first: partitioned samples, exponent coverage and edge
//! values (CIGEN, section 3.1), or every input there is when there are few.

use std::collections::BTreeSet;

use super::edge_values::edge_values;
use super::lattice::Lattice;
use super::sampler::{Exponent, ParamSampler};
use crate::fp::Stream;
use crate::search::Task;
use crate::search::streams::StreamKey;

/// Most partitioned samples and most samples of a range: 2^n factors would explode at 8 parameters.
const MOST_SAMPLES: u64 = 65_536;
/// Most inputs of a domain that is searched completely.
const MOST_LISTED: u64 = 1 << 18;
/// Most combinations of edge values.
const EDGE_COMBINATIONS: usize = 256;

pub struct Survey {
    /// One input after the other.
    pub inputs: Vec<u64>,
    /// How many of them are samples, which come first, and how many are edge values, which follow.
    sampled: usize,
    edges: usize,
    /// Every input of the domain is among them.
    pub complete: bool,
    /// Fewer than the paper's because the budget is smaller.
    pub cut: bool,
}

impl Survey {
    /// Deals the inputs to units of equal length that follow each other: each has its part of the edge
    /// values first, then of the samples, then of what was added to them.
    pub fn deal(&mut self, arity: usize, units: usize) {
        let rows: Vec<&[u64]> = self.inputs.chunks(arity).collect();
        let edges = self.sampled..self.sampled + self.edges;
        let order: Vec<usize> = edges.clone().chain(0..edges.start).chain(edges.end..rows.len()).collect();
        let dealt = (0..units).flat_map(|unit| order.iter().skip(unit).step_by(units));
        self.inputs = dealt.flat_map(|&i| rows[i]).copied().collect();
    }
}

/// `base * 2^n` for n free parameters, at most `MOST_SAMPLES`.
pub fn per_dimension(base: u32, free: usize) -> u64 {
    (u64::from(base) << free.min(16)).clamp(1, MOST_SAMPLES)
}

/// The survey's inputs: at most `limit`.
pub fn survey(task: &Task, limit: Option<u64>) -> Survey {
    let settings = &task.settings;
    let params = &task.function.coordinates;
    let mut plan = SurveyPlanner {
        samplers: params.iter().map(|p| ParamSampler::new(p, settings)).collect(),
        stream: task.stream(StreamKey::Survey),
        inputs: Vec::new(),
    };
    let free = free_params(task);
    let samples = per_dimension(settings.samples, free);
    let few = limit.unwrap_or(samples * 4).min(MOST_LISTED);
    if plan.enumerate(few) {
        return Survey { inputs: plan.inputs, sampled: 0, edges: 0, complete: true, cut: false };
    }
    plan.partitioned(samples);
    let targets = if settings.coverage { plan.uncovered() } else { Vec::new() };
    let edges: Vec<Vec<u64>> =
        if settings.edges { params.iter().map(edge_values).collect() } else { Vec::new() };
    plan.cover(&targets);
    plan.shuffle();
    let arity = params.len();
    let sampled = plan.inputs.len() / arity;
    plan.edges(&edges);
    let planned = (plan.inputs.len() / arity) as u64;
    let kept = limit.unwrap_or(planned).clamp(1, planned.max(1));
    // Thinned evenly, so both alike.
    let sampled = (sampled as u64 * kept).div_ceil(planned.max(1)) as usize;
    if kept < planned {
        plan.thin(kept);
    }
    let edges = plan.inputs.len() / arity - sampled;
    Survey { inputs: plan.inputs, sampled, edges, complete: false, cut: kept < planned }
}

/// Parameters that are not fixed to one value.
pub fn free_params(task: &Task) -> usize {
    task.function.coordinates.iter().filter(|p| !p.domain.is_fixed()).count()
}

/// The number of inputs of the domain, at most about `most + 1`.
pub fn domain_size(task: &Task, most: u64) -> u64 {
    let samplers = task.function.coordinates.iter().map(|p| ParamSampler::new(p, &task.settings));
    samplers.fold(1, |product, sampler| product.saturating_mul(sampler.count(most)))
}

struct SurveyPlanner {
    samplers: Vec<ParamSampler>,
    stream: Stream,
    inputs: Vec<u64>,
}

impl SurveyPlanner {
    /// Lists every input when there are at most `most`.
    fn enumerate(&mut self, most: u64) -> bool {
        let mut total: u64 = 1;
        for sampler in &self.samplers {
            total = total.saturating_mul(sampler.count(most));
        }
        if total > most {
            return false;
        }
        let lists: Vec<Vec<u64>> = self.samplers.iter().map(ParamSampler::all).collect();
        for index in 0..total {
            self.inputs.extend(combination(&lists, index));
        }
        true
    }

    fn partitioned(&mut self, samples: u64) {
        for _ in 0..samples {
            let SurveyPlanner { samplers, stream, inputs } = self;
            inputs.extend(samplers.iter().map(|s| s.partitioned(stream)));
        }
    }

    /// Exponents of each parameter that no input has yet.
    fn uncovered(&self) -> Vec<(usize, Exponent)> {
        let mut targets = Vec::new();
        for (p, sampler) in self.samplers.iter().enumerate() {
            let column = self.inputs.iter().skip(p).step_by(self.samplers.len());
            let covered: BTreeSet<Exponent> = column.filter_map(|&bits| sampler.exponent_of(bits)).collect();
            targets.extend(sampler.exponents().difference(&covered).map(|&e| (p, e)));
        }
        targets
    }

    /// One input for each target. The other parameters are partitioned in half of them; in the
    /// other half they are spread evenly over their axes, which is what finds boxes far from the
    /// partitions' favourites.
    fn cover(&mut self, targets: &[(usize, Exponent)]) {
        let lattice = Lattice::new(self.samplers.len(), &mut self.stream);
        for (i, &(target, exponent)) in targets.iter().enumerate() {
            for p in 0..self.samplers.len() {
                let sampler = &self.samplers[p];
                let value = if p == target {
                    sampler.of_exponent(exponent, &mut self.stream)
                } else if i % 2 == 0 {
                    None
                } else {
                    Some(sampler.at_fraction(lattice.fraction(i as u64, p)))
                };
                let value = value.unwrap_or_else(|| sampler.partitioned(&mut self.stream));
                self.inputs.push(value);
            }
        }
    }

    /// Random order, so that a stretch of the axis that crashes does not fill a whole batch.
    fn shuffle(&mut self) {
        let mut order: Vec<usize> = (0..self.inputs.len() / self.samplers.len()).collect();
        self.stream.shuffle(&mut order);
        self.keep(&order);
    }

    fn keep(&mut self, order: &[usize]) {
        let arity = self.samplers.len();
        let rows = order.iter().flat_map(|&i| &self.inputs[i * arity..(i + 1) * arity]);
        self.inputs = rows.copied().collect();
    }

    /// Every edge value among random others, then edges with edges.
    fn edges(&mut self, edges: &[Vec<u64>]) {
        for (p, values) in edges.iter().enumerate() {
            for &value in values {
                for (q, sampler) in self.samplers.iter().enumerate() {
                    let other = if q == p { value } else { sampler.partitioned(&mut self.stream) };
                    self.inputs.push(other);
                }
            }
        }
        if edges.len() < 2 || edges.iter().any(Vec::is_empty) {
            return;
        }
        let total = edges.iter().fold(1usize, |product, list| product.saturating_mul(list.len()));
        if total <= EDGE_COMBINATIONS {
            for index in 0..total {
                self.inputs.extend(combination(edges, index as u64));
            }
        } else {
            for _ in 0..EDGE_COMBINATIONS {
                let SurveyPlanner { stream, inputs, .. } = self;
                inputs.extend(edges.iter().map(|list| list[stream.below(list.len() as u64) as usize]));
            }
        }
    }

    /// Keeps `kept` of the inputs, evenly.
    fn thin(&mut self, kept: u64) {
        let count = (self.inputs.len() / self.samplers.len()) as u64;
        let order: Vec<usize> = (0..kept).map(|i| (i * count / kept) as usize).collect();
        self.keep(&order);
    }
}

/// The `index`-th choice of one value from every list, the last list running fastest.
fn combination(lists: &[Vec<u64>], mut index: u64) -> Vec<u64> {
    let mut chosen = vec![0; lists.len()];
    for (p, list) in lists.iter().enumerate().rev() {
        chosen[p] = list[(index % list.len() as u64) as usize];
        index /= list.len() as u64;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_dealt_edge_values_first_then_samples_then_the_rest() {
        // Five samples, three edge values, two others, of two parameters.
        let inputs = (0..10).flat_map(|i| [i, 100 + i]).collect();
        let mut plan = Survey { inputs, sampled: 5, edges: 3, complete: false, cut: false };
        plan.deal(2, 2);
        let first: Vec<u64> = plan.inputs.chunks(2).map(|row| row[0]).collect();
        assert_eq!(first, [5, 7, 1, 3, 8, 6, 0, 2, 4, 9]);
        assert!(plan.inputs.chunks(2).all(|row| row[1] == 100 + row[0]));
    }
}
