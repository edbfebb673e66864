//! The shape of CIGEN's Table 2: functions over 48, 32, 8 and 0 bits and the mean of maxima, for
//! each strategy over its seeds, and what they cost.

use super::Grid;
use super::numbers::{Spread, mean};
use crate::model::StrategyName;

/// The thresholds of Table 2, in bits.
pub const OVER: [f64; 4] = [48.0, 32.0, 8.0, 0.0];

/// One strategy over all functions and seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    pub strategy: StrategyName,
    /// Functions over each threshold, over seeds.
    pub over: [Spread; 4],
    /// Mean of the functions' maxima, over seeds.
    pub mean_bits: Spread,
    /// Evaluations of a function, mean over functions and seeds.
    pub evaluations: f64,
    /// Busy seconds of a function, mean over functions and seeds.
    pub seconds: f64,
    /// Evaluations in one busy second.
    pub rate: f64,
}

pub fn tallies(grid: &Grid<'_>) -> Vec<Tally> {
    (0..grid.strategies.len()).map(|strategy| tally(grid, strategy)).collect()
}

fn tally(grid: &Grid<'_>, strategy: usize) -> Tally {
    let mut over = [const { Vec::new() }; 4];
    let mut means = Vec::new();
    for &seed in &grid.seeds {
        let maxima: Vec<f64> = grid.rows_of_seed(strategy, seed).map(|row| row.max_bits).collect();
        if maxima.is_empty() {
            continue;
        }
        for (counts, limit) in over.iter_mut().zip(OVER) {
            // A number of functions.
            counts.push(maxima.iter().filter(|bits| **bits > limit).count() as f64);
        }
        means.push(mean(&maxima));
    }
    // Counts of evaluations stay far below 2^53.
    let evaluations: Vec<f64> = grid.rows_of(strategy).map(|row| row.evaluations as f64).collect();
    let seconds: Vec<f64> = grid.rows_of(strategy).map(|row| row.busy_s).collect();
    let busy: f64 = seconds.iter().sum();
    Tally {
        strategy: grid.strategies[strategy],
        over: over.map(|counts| Spread::of(&counts)),
        mean_bits: Spread::of(&means),
        evaluations: mean(&evaluations),
        seconds: mean(&seconds),
        rate: if busy > 0.0 { evaluations.iter().sum::<f64>() / busy } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    #[test]
    fn counts_are_medians_over_seeds_with_their_ends() {
        let file = sample::bench();
        let [first, second] = &tallies(&Grid::new(&file))[..] else { panic!("two strategies") };
        assert_eq!((first.strategy, second.strategy), (StrategyName::Mcmc, StrategyName::Cigen));
        // walk: over 48 bits are 2, 1 and 2 of the functions with seeds 1, 2 and 3.
        assert_eq!(first.over[0], Spread { median: 2.0, min: 1.0, max: 2.0 });
        assert_eq!(first.over[3], Spread { median: 3.0, min: 3.0, max: 3.0 });
        // (60 + 50 + 2 + 0) / 4, (60 + 40 + 2 + 0) / 4, (63 + 51 + 2 + 0) / 4.
        assert_eq!(first.mean_bits, Spread { median: 28.0, min: 25.5, max: 29.0 });
        assert_eq!((first.evaluations, first.seconds, first.rate), (1000.0, 0.5, 2000.0));
        assert_eq!(second.over.map(|o| o.median), [1.0, 2.0, 2.0, 3.0]);
    }

    #[test]
    fn exactly_a_threshold_is_not_over_it() {
        let mut file = sample::bench();
        file.rows.iter_mut().for_each(|row| row.max_bits = 48.0);
        let tally = &tallies(&Grid::new(&file))[0];
        assert_eq!(tally.over.map(|o| o.median), [0.0, 4.0, 4.0, 4.0]);
    }
}
