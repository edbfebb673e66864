//! Which inputs have special values: each value in each coordinate, among special, plain and partitioned others.

use std::collections::BTreeSet;

use crate::fp::Stream;
use crate::model::{Budget, Coordinate};
use crate::search::Task;
use crate::search::sample::{ParamSampler, edge_values};
use crate::search::streams::StreamKey;

/// Inputs for each value of a coordinate that has others beside it.
const DRAWS: usize = 64;
/// One part in so many of a budget may go to special values.
const BUDGET_SHARE: u64 = 4;

/// Distinct inputs, one after the other, in an order that depends on the seed alone.
pub fn inputs(task: &Task) -> Vec<u64> {
    let coordinates = &task.function.coordinates;
    let samplers: Vec<ParamSampler> =
        coordinates.iter().map(|c| ParamSampler::new(c, &task.settings)).collect();
    let edges: Vec<Vec<u64>> = coordinates.iter().map(edge_values).collect();
    let mut stream = task.stream(StreamKey::Fringe);
    let draws = if coordinates.len() == 1 { 1 } else { DRAWS };
    let most = match task.settings.budget {
        Budget::Paper => u64::MAX,
        Budget::Evaluations(total) => (total / BUDGET_SHARE).max(1),
    };
    let mut seen: BTreeSet<Vec<u64>> = BTreeSet::new();
    let mut inputs = Vec::new();
    // Every value once before any a second time, so that a small budget has them all.
    for _ in 0..draws {
        for (p, coordinate) in coordinates.iter().enumerate() {
            for &special in &coordinate.domain.specials {
                let other =
                    |q: usize, stream: &mut Stream| beside(&coordinates[q], &samplers[q], &edges[q], stream);
                let input: Vec<u64> = (0..coordinates.len())
                    .map(|q| if q == p { special } else { other(q, &mut stream) })
                    .collect();
                if (seen.len() as u64) < most && seen.insert(input.clone()) {
                    inputs.extend(input);
                }
            }
        }
    }
    inputs
}

/// A value of another coordinate.
fn beside(coordinate: &Coordinate, sampler: &ParamSampler, edges: &[u64], stream: &mut Stream) -> u64 {
    let specials = &coordinate.domain.specials;
    let choice = stream.below(4);
    // Indices are below a length.
    let mut pick = |from: &[u64]| from[stream.below(from.len() as u64) as usize];
    match choice {
        0 if !specials.is_empty() => pick(specials),
        1 if !edges.is_empty() => pick(edges),
        _ => sampler.partitioned(stream),
    }
}
