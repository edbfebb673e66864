//! An evenly spread sequence in any number of dimensions, in integers.

use crate::fp::Stream;

/// Steps of the additive recurrence in 2^-64: powers of 1/x, where x is the generalised golden ratio, the root of
/// x^(d+1) = x + 1, for d dimensions. Any stretch of the sequence fills the cube evenly.
fn steps(dims: usize) -> Vec<u64> {
    let ratio = ratio(dims);
    let powers = std::iter::successors(Some(ratio), |&power| Some(times(power, ratio)));
    // The upper half of 128 bits.
    powers.take(dims).map(|power| (power >> 64) as u64).collect()
}

/// 1/x in 2^-128: the y in (0, 1) with y^d + y^(d+1) = 1. Bits of it are tried from the highest down.
fn ratio(dims: usize) -> u128 {
    let mut y: u128 = 0;
    for bit in (0..u128::BITS).rev() {
        let tried = y | 1 << bit;
        let power = (1..dims).fold(tried, |power, _| times(power, tried));
        // A sum beyond 1 does not fit.
        if power.checked_add(times(power, tried)).is_some() {
            y = tried;
        }
    }
    y
}

/// The product of two fractions in 2^-128, rounded down by at most three of these.
fn times(a: u128, b: u128) -> u128 {
    let halves = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
    a1 * b1 + ((a1 * b0) >> 64) + ((a0 * b1) >> 64)
}

/// The sequence with a random shift.
pub struct Lattice {
    steps: Vec<u64>,
    shift: Vec<u64>,
}

impl Lattice {
    /// For at least one dimension.
    pub fn new(dims: usize, stream: &mut Stream) -> Lattice {
        let steps = steps(dims.max(1));
        Lattice { shift: steps.iter().map(|_| stream.bits()).collect(), steps }
    }

    /// A coordinate of a point, as a fraction in 2^-64. Wrapping is the "modulo 1".
    pub fn fraction(&self, index: u64, dim: usize) -> u64 {
        self.shift[dim].wrapping_add(index.wrapping_mul(self.steps[dim]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_a_grid_gets_about_its_share() {
        let lattice = Lattice::new(2, &mut Stream::new(1, &["test"], 0));
        let mut cells = [[0u32; 10]; 10];
        for i in 0..5000 {
            let cell = |d| ((u128::from(lattice.fraction(i, d)) * 10) >> 64) as usize;
            cells[cell(0)][cell(1)] += 1;
        }
        assert!(cells.iter().flatten().all(|&n| (40..=60).contains(&n)), "{cells:?}");
    }

    #[test]
    fn steps_are_the_powers_of_the_generalised_golden_ratio_to_the_last_bit() {
        assert_eq!(steps(1), [0x9e3779b97f4a7c15]);
        assert_eq!(steps(2), [0xc13fa9a902a6328f, 0x91e10da5c79e7b1c]);
        assert_eq!(steps(3), [0xd1b54a32d192ed03, 0xabc98388fb8fac02, 0x8cb92ba72f3d8dd7]);
        assert_eq!(
            steps(4),
            [0xdb4f0b9175ae2165, 0xbbe0563303a4615f, 0xa0f2ec75a1fe1575, 0x89e182857d9ed688]
        );
        let last = [1, 2, 3, 4, 5, 6, 7, 8].map(|dims| steps(dims)[dims - 1]);
        assert_eq!(
            last[4..],
            [0x881403b9339bd42d, 0x86d516e50b04ab1b, 0x85eb75c3024385c3, 0x8538ecb5bd456ea2]
        );
    }

    #[test]
    fn sixteen_dimensions_have_sixteen_different_steps() {
        let steps = steps(16);
        assert_eq!(steps.len(), 16);
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]), "{steps:x?}");
    }
}
