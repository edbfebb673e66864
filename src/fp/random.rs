//! Random streams: one seed, and a stream for every name.
//!
//! A stream depends on what it is for (function, build, phase, index), never on a thread or on a
//! position in a list, so adding a build or running one function alone changes no other stream.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// A reproducible stream of random numbers.
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a seed for a path of names and an index.
    pub fn new(seed: u64, names: &[&str], index: u64) -> Stream {
        let mut hasher = blake3::Hasher::new_derive_key("bitrift random stream 1");
        hasher.update(&seed.to_le_bytes());
        for name in names {
            // The length keeps ["ab", "c"] and ["a", "bc"] apart.
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
        }
        hasher.update(&index.to_le_bytes());
        Stream(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0..n, without bias. `n` 0 means the full 64 bits.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return self.bits();
        }
        // Lemire's multiply-and-reject: the high half of a 128-bit product.
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform in lo..=hi; `hi` when the bounds are crossed.
    pub fn between(&mut self, lo: u64, hi: u64) -> u64 {
        if lo >= hi {
            return hi;
        }
        // hi - lo + 1 wraps to 0 for the full line, which `below` takes as 2^64.
        lo + self.below((hi - lo).wrapping_add(1))
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        // 53 bits are exact in a double.
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Puts a slice into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_every_part_of_its_name() {
        let first = |seed, names: &[&str], index| Stream::new(seed, names, index).bits();
        let here = first(1, &["f", "gcc"], 0);
        assert_eq!(here, first(1, &["f", "gcc"], 0));
        assert_ne!(here, first(2, &["f", "gcc"], 0));
        assert_ne!(here, first(1, &["f", "gcc"], 1));
        assert_ne!(here, first(1, &["fg", "cc"], 0));
        assert_ne!(here, first(1, &["f", "gcc", ""], 0));
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_both_ends() {
        let mut stream = Stream::new(1, &["bounds"], 0);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            let n = stream.between(3, 9);
            seen[(n - 3) as usize] = true;
            assert!((0.0..1.0).contains(&stream.unit()));
        }
        assert!(seen.iter().all(|&s| s));
        assert_eq!(stream.between(5, 5), 5);
        let _ = stream.between(0, u64::MAX);
    }

    #[test]
    fn the_first_word_of_a_stream_never_changes() {
        // A changed generator would change every stored result: this pins it.
        assert_eq!(Stream::new(1, &["pin"], 0).bits(), PINNED);
    }

    const PINNED: u64 = 2_203_218_950_222_831_414;
}
