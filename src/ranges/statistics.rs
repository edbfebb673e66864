//! Counting samples: how many, how many inconsistent, their bits, their changes of class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ClassChange;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub samples: u64,
    pub inconsistent: u64,
    /// Over all samples, added in the order they were taken.
    pub sum_bits: f64,
    pub changes: BTreeMap<ClassChange, u64>,
}

impl Statistics {
    pub fn add(&mut self, bits: f64, change: Option<ClassChange>, inconsistent: bool) {
        self.samples += 1;
        self.inconsistent += u64::from(inconsistent);
        self.sum_bits += bits;
        if let Some(change) = change {
            *self.changes.entry(change).or_default() += 1;
        }
    }

    pub fn absorb(&mut self, other: &Statistics) {
        self.samples += other.samples;
        self.inconsistent += other.inconsistent;
        self.sum_bits += other.sum_bits;
        for (&change, count) in &other.changes {
            *self.changes.entry(change).or_default() += count;
        }
    }

    pub fn mean_bits(&self) -> f64 {
        // A count of samples is far below 2^53.
        if self.samples == 0 { 0.0 } else { self.sum_bits / self.samples as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_all_samples_consistent_ones_included() {
        let mut statistics = Statistics::default();
        assert_eq!(statistics.mean_bits(), 0.0);
        statistics.add(6.0, Some(ClassChange::FiniteToNan), true);
        statistics.add(0.0, None, false);
        let mut twice = statistics.clone();
        twice.absorb(&statistics);
        assert_eq!(twice.mean_bits(), 3.0);
        assert_eq!((twice.samples, twice.inconsistent), (4, 2));
        assert_eq!(twice.changes[&ClassChange::FiniteToNan], 2);
    }
}
