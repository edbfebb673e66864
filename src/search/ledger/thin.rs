//! Bounds what is remembered of the samples of a comparison: the budget decides what is evaluated, not what is kept.

use std::cmp::Ordering;

use super::comparison::{Comparison, Hit, Pool};
use crate::ranges::{Cuboid, Orthant};

/// Most inconsistent samples that a comparison keeps, and most of the best of units that keep no others; and most
/// words of the inputs of consistent ones. Budgets of millions never have as many; of more, half as many are left, and so on.
const MOST_HITS: usize = 1 << 19;
const MOST_WORDS: usize = 1 << 23;
/// An orthant with few samples keeps as many as this.
const FEW: usize = 64;
/// Cells along every axis of several, from fine to coarse: eight bits for each of sixteen axes name a cell.
const CELLS: [u64; 5] = [256, 64, 16, 4, 1];

impl Comparison {
    /// Thins the samples of every orthant when there are too many.
    pub(super) fn bound_samples(&mut self) {
        self.bound_hits(|pool| &mut pool.hits);
        self.bound_hits(|pool| &mut pool.champions);
        self.bound_misses();
    }

    fn bound_hits(&mut self, hits: fn(&mut Pool) -> &mut Vec<Hit>) {
        let total: usize = self.pools.values_mut().map(|pool| hits(pool).len()).sum();
        if total <= MOST_HITS {
            return;
        }
        for pool in self.pools.values_mut() {
            let axes = axes(&pool.orthant);
            let hits = hits(pool);
            let most = (hits.len() * (MOST_HITS / 2) / total).max(FEW);
            let better = |a: usize, b: usize| hits[a].found.better_first(&hits[b].found);
            let kept = thinned(hits.len(), &axes, most, |i| &hits[i].point, better);
            let mut kept = kept.into_iter().peekable();
            let mut index = 0..;
            hits.retain(|_| index.next().is_some_and(|index| kept.next_if_eq(&index).is_some()));
            hits.shrink_to_fit();
        }
    }

    fn bound_misses(&mut self) {
        let total: usize = self.pools.values().map(|pool| pool.misses.len()).sum();
        let dims = self.pools.values().next().map_or(1, |pool| pool.orthant.dims().max(1));
        if total * dims <= MOST_WORDS {
            return;
        }
        for pool in self.pools.values_mut() {
            let misses = &mut pool.misses;
            let most = (misses.len() * (MOST_WORDS / dims / 2) / total).max(FEW);
            let place = |i: usize| misses.get(i);
            misses.keep(&thinned(misses.len(), &axes(&pool.orthant), most, place, |_, _| Ordering::Equal));
        }
    }
}

/// The axes of an orthant along which samples differ, and their lengths.
fn axes(orthant: &Orthant) -> Vec<(usize, u64)> {
    let Cuboid { lo, hi } = orthant.whole();
    (0..lo.len()).filter(|&d| lo[d] < hi[d]).map(|d| (d, hi[d])).collect()
}

/// Which of `count` samples to keep, in their order: of every cell of a grid those at its ends along each axis and
/// the one that comes first in `order`, so that the box around the samples of a cell and the best of them stay. The
/// cells are the finest that leave at most `most`, or one.
fn thinned<'a>(
    count: usize,
    axes: &[(usize, u64)],
    most: usize,
    point: impl Fn(usize) -> &'a [u64],
    order: impl Fn(usize, usize) -> Ordering,
) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..count).collect();
    let single = [(most as u64 / 3).max(1), 1];
    for &cells in if axes.len() > 1 { CELLS.as_slice() } else { single.as_slice() } {
        if kept.len() <= most {
            break;
        }
        let cell = |&i: &usize| {
            let places = axes.iter().map(|&(d, last)| {
                // Below the number of cells, so within 64 bits.
                (u128::from(point(i)[d]) * u128::from(cells) / (u128::from(last) + 1)) as u64
            });
            (places.fold(0u128, |name, place| name << 8 | u128::from(place)), i)
        };
        let mut named: Vec<(u128, usize)> = kept.iter().map(cell).collect();
        named.sort_unstable();
        kept.clear();
        for members in named.chunk_by(|a, b| a.0 == b.0) {
            let members = || members.iter().map(|&(_, i)| i);
            kept.extend(members().min_by(|&a, &b| order(a, b)));
            for &(d, _) in axes {
                kept.extend(members().min_by_key(|&i| point(i)[d]));
                kept.extend(members().max_by_key(|&i| point(i)[d]));
            }
        }
        kept.sort_unstable();
        kept.dedup();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sample = (Vec<u64>, u32);

    fn thin(samples: &[Sample], axes: &[(usize, u64)], most: usize) -> Vec<Sample> {
        let order = |a: usize, b: usize| samples[b].1.cmp(&samples[a].1);
        let kept = thinned(samples.len(), axes, most, |i| &samples[i].0, order);
        kept.into_iter().map(|i| samples[i].clone()).collect()
    }

    #[test]
    fn ends_and_the_best_of_every_stretch_of_an_axis_stay() {
        let samples: Vec<Sample> =
            (0..90_000).map(|i| (vec![i * 7919 % 90_000 * 10], u32::from(i == 777))).collect();
        let kept = thin(&samples, &[(0, 900_000)], 3000);
        assert!((2000..=3000).contains(&kept.len()), "{}", kept.len());
        assert!(kept.contains(&samples[777]));
        let mut places: Vec<u64> = kept.iter().map(|s| s.0[0]).collect();
        places.sort_unstable();
        assert_eq!((places[0], places[places.len() - 1]), (0, 899_990));
        assert!(places.windows(2).all(|w| w[1] - w[0] <= 900));
    }

    #[test]
    fn the_box_around_samples_of_many_axes_stays_however_few_are_kept() {
        let place = |i: u64, d: u64| (i + 1).wrapping_mul(d + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        for axes in [2, 16] {
            let samples: Vec<Sample> =
                (0..5000).map(|i| ((0..axes).map(|d| place(i, d)).collect(), u32::from(i == 4321))).collect();
            let axes: Vec<(usize, u64)> = (0..axes as usize).map(|d| (d, 1 << 44)).collect();
            for most in [2000, 64] {
                let kept = thin(&samples, &axes, most);
                assert!(kept.len() <= most && kept.contains(&samples[4321]), "{}", kept.len());
                let hull = |of: &[Sample]| Cuboid::hull(of.iter().map(|s| s.0.as_slice()));
                assert_eq!(hull(&kept), hull(&samples));
            }
        }
    }
}
