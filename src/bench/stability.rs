//! How much a strategy's maxima depend on the seed.

use super::Grid;
use super::numbers::stability_ratio;
use crate::model::StrategyName;

/// The limits of the stability ratio that are counted.
pub const STEADY: [f64; 2] = [0.02, 0.05];

/// The stability ratios of one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    pub strategy: StrategyName,
    pub functions: usize,
    /// Functions within each limit.
    pub steady: [usize; 2],
    /// The highest ratio and its function.
    pub worst: Option<(String, f64)>,
}

/// None with fewer than two seeds: there is nothing to compare.
pub fn stability(grid: &Grid<'_>) -> Option<Vec<Stability>> {
    (grid.seeds.len() > 1).then(|| (0..grid.strategies.len()).map(|strategy| of(grid, strategy)).collect())
}

fn of(grid: &Grid<'_>, strategy: usize) -> Stability {
    let ratios: Vec<(&str, f64)> = (0..grid.functions.len())
        .map(|function| (grid.functions[function], grid.maxima(strategy, function)))
        .filter(|(_, maxima)| !maxima.is_empty())
        .map(|(name, maxima)| (name, stability_ratio(&maxima)))
        .collect();
    // Of equals the first.
    let worst = ratios.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
    Stability {
        strategy: grid.strategies[strategy],
        functions: ratios.len(),
        steady: STEADY.map(|limit| ratios.iter().filter(|(_, ratio)| *ratio <= limit).count()),
        worst: worst.map(|(name, ratio)| (name.to_string(), *ratio)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    #[test]
    fn steady_functions_are_counted_and_the_worst_is_named() {
        let file = sample::bench();
        let all = stability(&Grid::new(&file)).unwrap();
        // walk: airy 60 60 63 has sqrt(2) / 61 = 0.0232, beta 50 40 51 has 4.967 / 47 = 0.1057.
        assert_eq!((all[0].functions, all[0].steady), (4, [2, 3]));
        let (name, ratio) = all[0].worst.clone().unwrap();
        assert_eq!(name, "beta");
        assert!((ratio - (74.0f64 / 3.0).sqrt() / 47.0).abs() < 1e-12);
        // guess: clausen 4 4 1 has sqrt(2) / 3.
        assert_eq!(all[1].worst.as_ref().unwrap().0, "clausen");
    }

    #[test]
    fn one_seed_has_no_stability() {
        let mut file = sample::bench();
        file.seeds = vec![1];
        assert_eq!(stability(&Grid::new(&file)), None);
    }
}
