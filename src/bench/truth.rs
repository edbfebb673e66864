//! Strategies against the exact truth, for the functions whose truth is known.

use super::Grid;
use super::against::NEAR_BITS;
use super::numbers::{mean, median};
use crate::model::{BenchRow, StrategyName, TruthScore};

/// One strategy over the functions with a known truth. Each function counts by its medians over
/// seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthTally {
    pub strategy: StrategyName,
    pub functions: usize,
    /// Functions whose maximum is within `NEAR_BITS` of the true one.
    pub reached: usize,
    /// Means over functions, as in `TruthScore`.
    pub covered: f64,
    pub filled: f64,
    pub density: f64,
    /// Functions that miss the true maximum, in order.
    pub missed: Vec<String>,
}

/// None when no function has a known truth.
pub fn truth(grid: &Grid<'_>) -> Option<Vec<TruthTally>> {
    let all: Vec<TruthTally> = (0..grid.strategies.len()).map(|strategy| of(grid, strategy)).collect();
    all.iter().any(|tally| tally.functions > 0).then_some(all)
}

fn of(grid: &Grid<'_>, strategy: usize) -> TruthTally {
    let (mut covered, mut filled, mut density) = (Vec::new(), Vec::new(), Vec::new());
    let mut missed = Vec::new();
    for (function, name) in grid.functions.iter().enumerate() {
        let scored: Vec<(&BenchRow, TruthScore)> =
            grid.rows(strategy, function).filter_map(|row| Some((row, row.truth?))).collect();
        let middle = |value: &dyn Fn(&TruthScore) -> f64| {
            median(&scored.iter().map(|(_, score)| value(score)).collect::<Vec<_>>())
        };
        let Some((_, score)) = scored.first() else { continue };
        let bits = median(&scored.iter().map(|(row, _)| row.max_bits).collect::<Vec<_>>());
        if bits < score.true_max_bits - NEAR_BITS {
            missed.push(name.to_string());
        }
        covered.push(middle(&|score| score.covered));
        filled.push(middle(&|score| score.filled));
        density.push(middle(&|score| score.density));
    }
    TruthTally {
        strategy: grid.strategies[strategy],
        functions: covered.len(),
        reached: covered.len() - missed.len(),
        covered: mean(&covered),
        filled: mean(&filled),
        density: mean(&density),
        missed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    #[test]
    fn only_functions_with_a_truth_count_each_by_its_median() {
        let mut file = sample::bench();
        assert_eq!(truth(&Grid::new(&file)), None);
        for row in file.rows.iter_mut().filter(|row| row.strategy == StrategyName::Mcmc) {
            let covered = [0.9, 1.0, 0.5][usize::try_from(row.seed).unwrap() - 1];
            let true_max_bits = if row.function == "airy" { 60.4 } else { 51.0 };
            let score = TruthScore { true_max_bits, covered, filled: 0.5, density: 3.0 };
            row.truth = ["airy", "beta"].contains(&row.function.as_str()).then_some(score);
        }
        let all = truth(&Grid::new(&file)).unwrap();
        assert_eq!((all[0].functions, all[0].reached, all[1].functions), (2, 1, 0));
        assert_eq!(all[0].missed, ["beta"]);
        assert!((all[0].covered - 0.9).abs() < 1e-12);
        assert_eq!((all[0].filled, all[0].density), (0.5, 3.0));
    }
}
