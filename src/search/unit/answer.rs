//! What comes back from a unit.

use serde::{Deserialize, Serialize};

use crate::model::Sample;
use crate::ranges::{Range, Statistics};
use crate::search::evaluate::{Closing, Found, Score, keep_best};
use crate::search::sweep::Swept;

/// What a unit found, and how the builds behaved meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub closing: Closing,
    pub harvest: Harvest,
}

/// What a unit found, by what was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Harvest {
    /// Of given inputs: what each variant showed, and samples for plots.
    Inputs { seen: Vec<Seen>, plot: Vec<PlotSample> },
    /// Of strata: what each variant showed.
    Strata(Vec<Seen>),
    /// Of a unit about one variant: dense samples, an evolution, a zoom, seams, a walk.
    Variant(Seen),
    /// Of a tightening: also the ranges that came of it.
    Tighten { seen: Seen, ranges: Vec<Range> },
    /// Of a stretch of the domain: what was counted for each variant, and samples for plots.
    Sweep { swept: Vec<Swept>, plot: Vec<PlotSample> },
}

/// What a unit saw of one variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub variant: usize,
    /// Its samples are the evaluations spent: one input on the baseline and one variant each. Second looks at
    /// an input, to find nondeterministic builds, are not counted.
    pub statistics: Statistics,
    /// Inconsistent samples, thinned when there are very many.
    pub hits: Vec<Found>,
    /// Inputs of consistent samples, thinned, one after the other.
    pub misses: Vec<u64>,
    pub best: Option<Found>,
    /// The best of those that change the class of a result.
    pub changed: Option<Found>,
}

/// A sample for plots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlotSample {
    pub sample: Sample,
    /// The variant whose inconsistency made the sample interesting; None for a regular pick.
    pub chosen_by: Option<usize>,
}

impl Seen {
    /// Nothing yet.
    pub fn of(variant: usize) -> Seen {
        Seen { variant, ..Seen::default() }
    }

    /// Counts a score, and remembers its input when it is the best so far.
    pub fn note(&mut self, input: &[u64], score: &Score) {
        let inconsistent = score.is_inconsistent();
        self.statistics.add(score.bits, score.change, inconsistent);
        if inconsistent {
            self.rank(input, score);
        }
    }

    /// Remembers an inconsistent input when it is the best so far. Copies only what may be.
    pub fn rank(&mut self, input: &[u64], score: &Score) {
        let places = [(&mut self.best, true), (&mut self.changed, score.changes_class())];
        for (best, counts) in places {
            if counts && best.as_ref().is_none_or(|best| score.bits >= best.bits) {
                keep_best(best, &Found::new(input, score));
            }
        }
    }
}

impl Answer {
    /// Of a unit about one variant.
    pub fn of_variant(seen: Seen, closing: Closing) -> Answer {
        Answer { closing, harvest: Harvest::Variant(seen) }
    }

    /// Evaluations spent.
    pub fn evaluations(&self) -> u64 {
        let samples = |seen: &Seen| seen.statistics.samples;
        match &self.harvest {
            Harvest::Inputs { seen, .. } | Harvest::Strata(seen) => seen.iter().map(samples).sum(),
            Harvest::Variant(seen) | Harvest::Tighten { seen, .. } => samples(seen),
            Harvest::Sweep { swept, .. } => swept.iter().map(|s| s.statistics.samples).sum(),
        }
    }

    /// Of a unit about a part of the space that the domain of the function does not reach.
    pub fn nothing(variant: usize) -> Answer {
        Answer::of_variant(Seen::of(variant), Closing::default())
    }
}
