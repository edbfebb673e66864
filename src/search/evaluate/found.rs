//! One input on one pair of builds: its score, and what is kept of an inconsistent one.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::model::{ClassChange, Difference, Outcome, Witness};

/// What a pair of builds made of an input; the value that differs most, where there are several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    pub baseline: Outcome,
    pub variant: Outcome,
    pub bits: f64,
    pub change: Option<ClassChange>,
    /// Whether that change is an inconsistency by itself.
    pub change_counts: bool,
    /// Which value of the function that is.
    pub worst: u8,
    /// False when one of the builds was given up before this input.
    pub evaluated: bool,
}

impl Score {
    pub fn new(difference: Difference) -> Score {
        let Difference { bits, change, change_counts, worst, baseline, variant } = difference;
        Score { baseline, variant, bits, change, change_counts, worst, evaluated: true }
    }

    pub fn skipped() -> Score {
        let nothing = Outcome::Value(0);
        Score {
            baseline: nothing,
            variant: nothing,
            bits: 0.0,
            change: None,
            change_counts: false,
            worst: 0,
            evaluated: false,
        }
    }

    pub fn is_inconsistent(&self) -> bool {
        self.bits > 0.0 || self.change_counts
    }

    pub fn changes_class(&self) -> bool {
        self.change_counts
    }

    /// What a maximiser climbs: bits, and a change of class above none at equal bits.
    pub fn height(&self) -> f64 {
        self.bits + if self.change_counts { 1e-6 } else { 0.0 }
    }
}

/// An inconsistent input with both results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub input: Vec<u64>,
    pub baseline: Outcome,
    pub variant: Outcome,
    pub bits: f64,
    pub change: Option<ClassChange>,
    /// Which value of the function differs most.
    pub worst: u8,
}

impl Found {
    pub fn new(input: &[u64], score: &Score) -> Found {
        let &Score { baseline, variant, bits, change, worst, .. } = score;
        Found { input: input.to_vec(), baseline, variant, bits, change, worst }
    }

    /// Most bits first; a change of class before none; then by input, so that the order of finding
    /// never decides.
    pub fn better_first(&self, other: &Found) -> Ordering {
        let rank = |f: &Found| u8::from(f.change.is_none());
        other
            .bits
            .total_cmp(&self.bits)
            .then(rank(self).cmp(&rank(other)))
            .then_with(|| self.input.cmp(&other.input))
    }

    /// Takes the place of this one when an input is better, in the order of `better_first`. Allocates
    /// nothing: a sweep may meet a better one at every input.
    pub fn improve(&mut self, input: &[u64], score: &Score) {
        let rank = |change: Option<ClassChange>| u8::from(change.is_none());
        let order = self.bits.total_cmp(&score.bits);
        let order = order.then_with(|| rank(score.change).cmp(&rank(self.change)));
        let order = order.then_with(|| input.cmp(self.input.as_slice()));
        if order.is_lt() {
            self.input.copy_from_slice(input);
            (self.baseline, self.variant) = (score.baseline, score.variant);
            (self.bits, self.change, self.worst) = (score.bits, score.change, score.worst);
        }
    }

    pub fn witness(&self) -> Witness {
        Witness {
            inputs: self.input.clone(),
            baseline: self.baseline,
            variant: self.variant,
            bits: self.bits,
            change: self.change,
            worst: self.worst,
            values: Vec::new(),
        }
    }
}

/// Keeps the better of two.
pub fn keep_best(best: &mut Option<Found>, candidate: &Found) {
    if best.as_ref().is_none_or(|b| candidate.better_first(b).is_lt()) {
        *best = Some(candidate.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::{Equality, Scalar};
    use crate::model::Results;

    fn score(a: f64, b: f64) -> Score {
        let value = |x: f64| Outcome::Value(x.to_bits()).into();
        Score::new(Results::one(Scalar::F64).compare(Equality::default(), value(a), value(b)))
    }

    #[test]
    fn a_baseline_nan_that_becomes_a_number_is_inconsistent_without_bits() {
        let changed = score(f64::NAN, 1.0);
        assert_eq!(changed.bits, 0.0);
        assert!(changed.is_inconsistent());
        assert!(changed.height() > score(1.0, 1.0).height());
        assert!(changed.height() < score(1.0, 1.0f64.next_up()).height());
        assert!(!score(0.0, -0.0).is_inconsistent());
    }

    #[test]
    fn the_best_does_not_depend_on_the_order_of_finding() {
        let found = |x: u64, s: &Score| Found::new(&[x], s);
        let all = [found(3, &score(1.0, 2.0)), found(1, &score(1.0, 2.0)), found(2, &score(1.0, 1.5))];
        let mut forward = None;
        all.iter().for_each(|f| keep_best(&mut forward, f));
        let mut backward = None;
        all.iter().rev().for_each(|f| keep_best(&mut backward, f));
        assert_eq!(forward, backward);
        assert_eq!(forward.unwrap().input, [1]);
    }

    #[test]
    fn improving_in_place_keeps_the_one_that_comes_first() {
        let scores = [score(1.0, 2.0), score(1.0, 1.5), score(f64::NAN, 1.0), score(1.0, 1.0)];
        let all: Vec<(u64, &Score)> =
            [5, 3, 9].into_iter().flat_map(|x| scores.iter().map(move |s| (x, s))).collect();
        for (x, a) in &all {
            for (y, b) in &all {
                let (mut one, other) = (Found::new(&[*x], a), Found::new(&[*y], b));
                let mut kept = Some(one.clone());
                keep_best(&mut kept, &other);
                one.improve(&[*y], b);
                assert_eq!(Some(one), kept);
            }
        }
    }
}
