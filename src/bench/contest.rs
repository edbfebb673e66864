//! Who wins where: strategies two by two over all functions, as in LSGA's Table V, and where the
//! first strategy stays behind.

use super::{Grid, sign_test};
use crate::model::StrategyName;

/// Medians that differ by no more are a tie.
pub const TIE_BITS: f64 = 0.1;
/// A function on which the first strategy misses more than this is named.
pub const BEHIND_BITS: f64 = 1.0;

/// Two strategies compared by their medians over seeds, function by function.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    pub first: StrategyName,
    pub second: StrategyName,
    /// Functions on which the first finds more, and the second.
    pub wins: u64,
    pub losses: u64,
    pub ties: u64,
    /// Of the two-sided sign test, ties left out.
    pub p: f64,
}

/// Every pair, in the order of the strategies.
pub fn duels(grid: &Grid<'_>) -> Vec<Duel> {
    let count = grid.strategies.len();
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    pairs.map(|(a, b)| duel(grid, a, b)).collect()
}

fn duel(grid: &Grid<'_>, a: usize, b: usize) -> Duel {
    let (mut wins, mut losses, mut ties) = (0, 0, 0);
    for function in 0..grid.functions.len() {
        let (Some(ours), Some(theirs)) = (grid.median(a, function), grid.median(b, function)) else {
            continue;
        };
        match ours - theirs {
            ahead if ahead > TIE_BITS => wins += 1,
            ahead if ahead < -TIE_BITS => losses += 1,
            _ => ties += 1,
        }
    }
    let name = |strategy: usize| grid.strategies[strategy];
    Duel { first: name(a), second: name(b), wins, losses, ties, p: sign_test(wins, losses) }
}

/// A function on which a rival finds clearly more than the first strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Behind {
    pub function: String,
    pub bits: f64,
    /// The rival that finds the most.
    pub rival: StrategyName,
    pub rival_bits: f64,
}

/// Where the first strategy is more than `BEHIND_BITS` below the best rival, the widest gap first.
pub fn behind(grid: &Grid<'_>) -> Vec<Behind> {
    let mut found = Vec::new();
    for (function, name) in grid.functions.iter().enumerate() {
        let Some(bits) = grid.median(0, function) else { continue };
        let rivals = (1..grid.strategies.len()).filter_map(|s| Some((s, grid.median(s, function)?)));
        // Of equals the first.
        let best = rivals.rev().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((rival, rival_bits)) = best.filter(|(_, theirs)| theirs - bits > BEHIND_BITS) {
            let rival = grid.strategies[rival];
            found.push(Behind { function: name.to_string(), bits, rival, rival_bits });
        }
    }
    found.sort_by(|a, b| (b.rival_bits - b.bits).total_cmp(&(a.rival_bits - a.bits)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    #[test]
    fn a_pair_is_compared_by_medians_with_ties_left_out() {
        let file = sample::bench();
        let all = duels(&Grid::new(&file));
        // Medians of walk 60, 50, 2, 0 against 60, 35, 4, 0 of guess.
        let expected = Duel {
            first: StrategyName::Mcmc,
            second: StrategyName::Cigen,
            wins: 1,
            losses: 1,
            ties: 2,
            p: 1.0,
        };
        assert_eq!(all, [expected]);
    }

    #[test]
    fn a_difference_within_the_tolerance_is_a_tie() {
        let mut file = sample::bench();
        for row in &mut file.rows {
            row.max_bits = if row.strategy == StrategyName::Mcmc { 10.0 } else { 10.0 + 0.99 * TIE_BITS };
        }
        assert_eq!(duels(&Grid::new(&file))[0].ties, 4);
    }

    #[test]
    fn functions_where_the_first_stays_behind_are_named_with_the_best_rival() {
        let file = sample::bench();
        let all = behind(&Grid::new(&file));
        let expected =
            Behind { function: "clausen".into(), bits: 2.0, rival: StrategyName::Cigen, rival_bits: 4.0 };
        assert_eq!(all, [expected]);
    }
}
