//! Bounds what is remembered of the samples of a comparison: the budget decides what is evaluated, not what is kept.

use std::cmp::Ordering;

use super::comparison::{Comparison, Hit, Pool};
use crate::ranges::{Cuboid, Orthant};

/// Most samples of a kind that a comparison keeps: inconsistent ones, consistent ones, the best of units that keep no
/// others. Budgets of millions never have as many; of more, half as many are left, and so on.
const MOST_KEPT: usize = 1 << 19;
/// An orthant with few samples keeps as many as this.
const FEW: usize = 64;
/// Cells along every axis of several, from fine to coarse: eight bits for each of sixteen axes name a cell.
const CELLS: [u64; 5] = [256, 64, 16, 4, 1];

impl Comparison {
    /// Thins the samples of every orthant when there are too many.
    pub(super) fn bound_samples(&mut self) {
        self.bound(|pool| &mut pool.hits, |hit| &hit.point, by_bits);
        self.bound(|pool| &mut pool.champions, |hit| &hit.point, by_bits);
        self.bound(|pool| &mut pool.misses, |point| point, |_, _| Ordering::Equal);
    }

    fn bound<T>(
        &mut self,
        samples: fn(&mut Pool) -> &mut Vec<T>,
        point: fn(&T) -> &[u64],
        order: fn(&T, &T) -> Ordering,
    ) {
        let total: usize = self.pools.values_mut().map(|pool| samples(pool).len()).sum();
        if total <= MOST_KEPT {
            return;
        }
        for pool in self.pools.values_mut() {
            let most = samples(pool).len() * (MOST_KEPT / 2) / total;
            let cells = axes(&pool.orthant);
            let samples = samples(pool);
            let kept = thinned(samples, &cells, most.max(FEW), point, order);
            let mut kept = kept.into_iter().peekable();
            let mut index = 0..;
            samples.retain(|_| kept.next_if_eq(&index.next().unwrap_or(0)).is_some());
        }
    }
}

fn by_bits(a: &Hit, b: &Hit) -> Ordering {
    a.found.better_first(&b.found)
}

/// The axes of an orthant along which samples differ, and their lengths.
fn axes(orthant: &Orthant) -> Vec<(usize, u64)> {
    let Cuboid { lo, hi } = orthant.whole();
    (0..lo.len()).filter(|&d| lo[d] < hi[d]).map(|d| (d, hi[d])).collect()
}

/// Which samples to keep, in their order: of every cell of a grid those at its ends along each axis and the one that
/// comes first in `order`, so that the box around the samples of a cell and the best of them stay. The cells are
/// the finest that leave at most about `most`.
fn thinned<T>(
    samples: &[T],
    axes: &[(usize, u64)],
    most: usize,
    point: fn(&T) -> &[u64],
    order: fn(&T, &T) -> Ordering,
) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..samples.len()).collect();
    let single = [(most as u64 / 3).max(1), 1];
    for &cells in if axes.len() > 1 { CELLS.as_slice() } else { single.as_slice() } {
        if kept.len() <= most {
            break;
        }
        let cell = |&i: &usize| {
            let places = axes.iter().map(|&(d, last)| {
                // Below the number of cells, so within 64 bits.
                (u128::from(point(&samples[i])[d]) * u128::from(cells) / (u128::from(last) + 1)) as u64
            });
            (places.fold(0u128, |name, place| name << 8 | u128::from(place)), i)
        };
        let mut named: Vec<(u128, usize)> = kept.iter().map(cell).collect();
        named.sort_unstable();
        kept.clear();
        for members in named.chunk_by(|a, b| a.0 == b.0) {
            let members = || members.iter().map(|&(_, i)| i);
            kept.extend(members().min_by(|&a, &b| order(&samples[a], &samples[b])));
            for &(d, _) in axes {
                kept.extend(members().min_by_key(|&i| point(&samples[i])[d]));
                kept.extend(members().max_by_key(|&i| point(&samples[i])[d]));
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
        let kept = thinned(samples, axes, most, |s| &s.0, |a, b| b.1.cmp(&a.1));
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
