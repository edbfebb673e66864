//! CIV's search (partitions and Markov chain Monte Carlo) as the CIGEN paper describes it and its
//! authors rebuilt it: samples in every combination of partitions, then a Metropolis chain in each
//! combination that holds an inconsistent one. Without CIV's filter, which compares LLVM traces and
//! would also start chains where the results still agree.
//!
//! CIV's step sizes are not published. Here a step takes any scale from the whole partition down
//! to the next float, on the axis, which suits all partitions alike.

use super::walk::Walker;
use crate::eval::EvalError;

/// Samples of each combination of partitions, as in the CIGEN authors' version of CIV.
const SAMPLES: u64 = 81;
/// Inputs of one call while sampling.
const BATCH: usize = 4096;
/// Most steps of a chain, and most without a new best.
const STEPS: u64 = 1000;
const PATIENCE: u64 = 250;
/// Steps a chain needs at least to be worth starting.
const FEWEST_STEPS: u64 = 100;
/// Most chains that run in step, so that their inputs share a call.
const CHAINS: usize = 128;
/// Most combinations that wait for a chain.
const MOST_STARTS: usize = 1 << 16;
/// Bits a chain steps down with probability 1/e.
const TEMPERATURE: f64 = 1.0;

/// A chain in one combination of partitions.
#[derive(Clone)]
struct Chain {
    /// A partition of each parameter.
    cell: Vec<usize>,
    at: Vec<u64>,
    height: f64,
    best: f64,
    steps: u64,
    since_best: u64,
}

impl Chain {
    fn new(cell: Vec<usize>, at: Vec<u64>, height: f64) -> Chain {
        Chain { cell, at, height, best: height, steps: 0, since_best: 0 }
    }

    /// Moves to the proposed input if it is higher, and sometimes if it is not.
    fn step(&mut self, to: &[u64], height: f64, chance: f64) {
        self.steps += 1;
        self.since_best += 1;
        if height > self.best {
            self.best = height;
            self.since_best = 0;
        }
        // libm's exp is the same on every machine. What faults or was not evaluated is below 0.
        let accepted = height >= self.height
            || (height >= 0.0 && chance < libm::exp((height - self.height) / TEMPERATURE));
        if accepted {
            self.at.copy_from_slice(to);
            self.height = height;
        }
    }

    fn is_done(&self) -> bool {
        self.steps >= STEPS || self.since_best >= PATIENCE
    }
}

pub fn walk(walker: &mut Walker) -> Result<(), EvalError> {
    while !walker.is_over() {
        let mut starts = sample(walker)?;
        let affordable = usize::try_from(walker.left() / FEWEST_STEPS).unwrap_or(usize::MAX).max(1);
        keep_best(&mut starts, affordable.min(MOST_STARTS));
        run_chains(walker, starts)?;
    }
    Ok(())
}

/// The best starts first, of equal ones the earliest: a small budget has no time for all.
fn keep_best(starts: &mut Vec<Chain>, most: usize) {
    starts.sort_by(|a, b| b.height.total_cmp(&a.height));
    starts.truncate(most);
}

/// Samples every combination of partitions, or as many as half of the budget reaches; a chain at
/// the best sample of each that has an inconsistent one.
fn sample(walker: &mut Walker) -> Result<Vec<Chain>, EvalError> {
    let sizes: Vec<u64> = walker.samplers.iter().map(|s| s.cells() as u64).collect();
    let cells = sizes.iter().fold(1u64, |product, &size| product.saturating_mul(size));
    let room = walker.left().div_ceil(2);
    let each = (room / cells).clamp(1, SAMPLES);
    let visited = cells.min(room / each).max(1);
    let mut starts = Vec::new();
    let (mut owners, mut inputs) = (Vec::new(), Vec::new());
    for i in 0..visited {
        if walker.is_over() {
            break;
        }
        let cell = match cells {
            // More combinations than can be numbered.
            u64::MAX => sizes.iter().map(|&size| walker.stream.below(size) as usize).collect(),
            _ if visited < cells => combination(walker.stream.below(cells), &sizes),
            _ => combination(i, &sizes),
        };
        for _ in 0..each {
            let Walker { samplers, stream, .. } = &mut *walker;
            inputs.extend(samplers.iter().zip(&cell).map(|(sampler, &c)| sampler.in_cell(c, stream)));
        }
        owners.push(cell);
        let full = owners.len() * each as usize >= BATCH;
        if full || i + 1 == visited {
            pick_starts(walker, &owners, &inputs, &mut starts)?;
            if starts.len() >= 2 * MOST_STARTS {
                keep_best(&mut starts, MOST_STARTS);
            }
            owners.clear();
            inputs.clear();
        }
    }
    Ok(starts)
}

/// Evaluates the samples of some combinations, as many of each.
fn pick_starts(
    walker: &mut Walker,
    cells: &[Vec<usize>],
    inputs: &[u64],
    starts: &mut Vec<Chain>,
) -> Result<(), EvalError> {
    let arity = walker.arity();
    let each = inputs.len() / arity / cells.len();
    let heights = walker.heights(inputs)?;
    for ((cell, heights), inputs) in cells.iter().zip(heights.chunks(each)).zip(inputs.chunks(each * arity)) {
        let best = (0..each).max_by(|&a, &b| heights[a].total_cmp(&heights[b])).unwrap_or(0);
        if heights[best] > 0.0 {
            let at = inputs[best * arity..(best + 1) * arity].to_vec();
            starts.push(Chain::new(cell.clone(), at, heights[best]));
        }
    }
    Ok(())
}

/// Runs all chains to their ends, some at a time.
fn run_chains(walker: &mut Walker, starts: Vec<Chain>) -> Result<(), EvalError> {
    let mut waiting = starts.into_iter();
    let mut running: Vec<Chain> = waiting.by_ref().take(CHAINS).collect();
    let arity = walker.arity();
    let mut inputs = Vec::new();
    while !running.is_empty() && !walker.is_over() {
        inputs.clear();
        for chain in &running {
            propose(walker, chain, &mut inputs);
        }
        let heights = walker.heights(&inputs)?.to_vec();
        for ((chain, to), height) in running.iter_mut().zip(inputs.chunks(arity)).zip(heights) {
            chain.step(to, height, walker.stream.unit());
            if chain.is_done()
                && let Some(next) = waiting.next()
            {
                *chain = next;
            }
        }
        running.retain(|chain| !chain.is_done());
    }
    Ok(())
}

/// An input near the chain's place: one parameter moves, or each with an even chance.
fn propose(walker: &mut Walker, chain: &Chain, inputs: &mut Vec<u64>) {
    let Walker { samplers, stream, .. } = walker;
    // Below a length, so within usize.
    let forced = stream.below(samplers.len() as u64) as usize;
    let alone = stream.below(2) == 0;
    for (p, sampler) in samplers.iter().enumerate() {
        let moves = p == forced || (!alone && stream.below(2) == 0);
        inputs.push(if moves { sampler.near(chain.cell[p], chain.at[p], stream) } else { chain.at[p] });
    }
}

/// The partition of each parameter in the `number`-th combination.
fn combination(mut number: u64, sizes: &[u64]) -> Vec<usize> {
    let cell = |&size: &u64| {
        let at = number % size;
        number /= size;
        // Below the number of partitions, so within usize.
        at as usize
    };
    sizes.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_climbs_always_falls_sometimes_and_never_onto_a_fault() {
        let start = Chain::new(vec![0], vec![1], 5.0);
        let after = |height: f64, chance: f64| {
            let mut chain = start.clone();
            chain.step(&[2], height, chance);
            (chain.at[0], chain.best)
        };
        assert_eq!(after(6.0, 0.99), (2, 6.0));
        assert_eq!(after(4.0, 0.3), (2, 5.0));
        assert_eq!(after(4.0, 0.4), (1, 5.0));
        assert_eq!(after(-1.0, 0.0), (1, 5.0));
    }

    #[test]
    fn every_combination_of_partitions_has_a_number() {
        let all: std::collections::BTreeSet<Vec<usize>> =
            (0..24).map(|n| combination(n, &[2, 3, 4])).collect();
        assert_eq!(all.len(), 24);
        assert!(all.iter().all(|cell| cell[0] < 2 && cell[1] < 3 && cell[2] < 4));
    }
}
