//! A bench's maxima against the best of another, usually much longer, bench.

use super::Grid;
use crate::model::{BenchFile, StrategyName};

/// A maximum this close to the other's, or above it, reaches it.
pub const NEAR_BITS: f64 = 0.5;

/// A function on which the other bench found more.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    pub function: String,
    pub bits: f64,
    pub other_bits: f64,
}

/// One strategy of this bench against the best that the other one has.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    pub strategy: StrategyName,
    /// Functions that both benches have.
    pub functions: usize,
    /// Functions on which it reaches the other's best, and on which it finds clearly more.
    pub near: usize,
    pub above: usize,
    /// The rest, the widest gap first.
    pub short: Vec<Shortfall>,
}

/// This bench counts by its medians over seeds, the other by the most any strategy and seed found.
pub fn against(grid: &Grid<'_>, other: &BenchFile) -> Vec<Against> {
    let other = Grid::new(other);
    let best = |name: &str| {
        let function = other.functions.iter().position(|f| *f == name)?;
        let rows = (0..other.strategies.len()).flat_map(|strategy| other.rows(strategy, function));
        rows.map(|row| row.max_bits).max_by(f64::total_cmp)
    };
    let best: Vec<Option<f64>> = grid.functions.iter().map(|name| best(name)).collect();
    let compare = |strategy: usize| {
        let name = grid.strategies[strategy];
        let mut sum = Against { strategy: name, functions: 0, near: 0, above: 0, short: Vec::new() };
        for (function, name) in grid.functions.iter().enumerate() {
            let (Some(bits), Some(other_bits)) = (grid.median(strategy, function), best[function]) else {
                continue;
            };
            sum.functions += 1;
            if bits >= other_bits - NEAR_BITS {
                sum.near += 1;
                sum.above += usize::from(bits > other_bits + NEAR_BITS);
            } else {
                sum.short.push(Shortfall { function: name.to_string(), bits, other_bits });
            }
        }
        sum.short.sort_by(|a, b| (b.other_bits - b.bits).total_cmp(&(a.other_bits - a.bits)));
        sum
    };
    (0..grid.strategies.len()).map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    #[test]
    fn what_a_longer_search_found_and_this_one_did_not_is_named() {
        let (file, mut long) = (sample::bench(), sample::bench());
        long.strategies = vec![StrategyName::Cigen];
        long.functions.retain(|name| name != "clausen");
        long.rows.retain(|row| row.function != "clausen");
        for row in long.rows.iter_mut().filter(|row| row.seed == 2) {
            row.max_bits = match row.function.as_str() {
                "airy" => 60.5,
                "beta" => 52.0,
                "dawson" => 0.0,
                other => panic!("{other}"),
            };
        }
        let all = against(&Grid::new(&file), &long);
        assert_eq!((all[0].functions, all[0].near, all[0].above), (3, 2, 0));
        let short = Shortfall { function: "beta".into(), bits: 50.0, other_bits: 52.0 };
        assert_eq!(all[0].short, [short]);
        long.rows.iter_mut().for_each(|row| row.max_bits = 0.0);
        assert_eq!(against(&Grid::new(&file), &long)[0].above, 2);
    }
}
