//! An evenly spread sequence in several dimensions, in integers.

use crate::fp::Stream;
use crate::model::MAX_PARAMS;

/// Steps of the additive recurrence in 2^-64: powers of the generalised golden ratio, the root of
/// x^(d+1) = x + 1, for d dimensions. Any stretch of the sequence fills the cube evenly.
const STEPS: [&[u64]; MAX_PARAMS] = [
    &[0x9e3779b97f4a7c15],
    &[0xc13fa9a902a6328f, 0x91e10da5c79e7b1c],
    &[0xd1b54a32d192ed03, 0xabc98388fb8fac02, 0x8cb92ba72f3d8dd7],
    &[0xdb4f0b9175ae2165, 0xbbe0563303a4615f, 0xa0f2ec75a1fe1575, 0x89e182857d9ed688],
    &[0xe19b01aa9d42c633, 0xc6d1d6c8ed0c9631, 0xaf36d01ef7518dbb, 0x9a69443f36f710e6, 0x881403b9339bd42d],
    &[
        0xe60e2b722b53aeeb,
        0xcebd76d9edb6a8ef,
        0xb9c9aa3a51d00b65,
        0xa6f5777f6f88983f,
        0x9609c71eb7d03f7a,
        0x86d516e50b04ab1b,
    ],
    &[
        0xe95e1dd17d35800d,
        0xd4bc74e13f3c782e,
        0xc1edbc5b5c68ac24,
        0xb0c8ac50f0edef5c,
        0xa127a31c56d1cdb5,
        0x92e852c80d153db2,
        0x85eb75c3024385c3,
    ],
    &[
        0xebedeed9d803c815,
        0xd96eb1a810caaf5e,
        0xc862b36daf790dd5,
        0xb8acd90c142fe10b,
        0xaa324f90ded86b69,
        0x9cda5e693fea10ae,
        0x908e3d2c82567a73,
        0x8538ecb5bd456ea2,
    ],
];

/// The sequence with a random shift.
pub struct Lattice {
    steps: &'static [u64],
    shift: Vec<u64>,
}

impl Lattice {
    /// For 1 to 8 dimensions; more are taken as 8, none as 1.
    pub fn new(dims: usize, stream: &mut Stream) -> Lattice {
        let steps = STEPS[dims.clamp(1, MAX_PARAMS) - 1];
        Lattice { steps, shift: steps.iter().map(|_| stream.bits()).collect() }
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
}
