//! What a search hands on for one function: comparisons with their ranges, and faults, in bits.
//! The texts a user reads are made from it in `run`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Census, ClassChange, FaultKind, Outcome, Sample};
use crate::fp::Scalar;

/// Why the search of a function or a comparison ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Every phase ran to its end.
    #[default]
    Complete,
    /// The budget ended before the last phase.
    Budget,
    /// Too many faults.
    Faults,
    /// The process that searched was lost more often than can be forgiven.
    Lost,
    Deadline,
    /// The function is slow, so it got fewer evaluations than the budget.
    Pace,
    /// A build answered differently for the same input.
    Nondeterministic,
    /// The baseline or the variant lacks the function.
    Missing,
}

/// How the end of a range looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// Inconsistent up to it and clean after it, as far as samples show.
    Sharp,
    /// Inconsistent and clean inputs mix around it.
    Ragged,
}

/// Both ends of a range along one parameter: `lo` is the end towards minus infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edges {
    pub lo: EdgeKind,
    pub hi: EdgeKind,
}

/// An input with what the two builds made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    pub inputs: Vec<u64>,
    pub baseline: Outcome,
    pub variant: Outcome,
    pub bits: f64,
    pub change: Option<ClassChange>,
    /// Which value of the function differs most: the two outcomes, the bits and the change are its.
    pub worst: u8,
    /// All values of both builds, of a function that gives several; filled when the witness is confirmed.
    pub values: Vec<(Outcome, Outcome)>,
}

/// A box of inputs, which reaches over zero only where the ranges of many orthants were joined. `lo` and `hi` are the
/// bits of values with lo <= hi in value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeResult {
    pub lo: Vec<u64>,
    pub hi: Vec<u64>,
    pub edges: Vec<Edges>,
    /// Uniform (on the axis) samples of the final box, and how many of them are inconsistent.
    pub samples: u64,
    pub inconsistent: u64,
    /// Mean over those samples.
    pub mean_bits: f64,
    pub witness: Witness,
    /// Of all samples seen in the box.
    pub class_changes: BTreeMap<ClassChange, u64>,
}

impl RangeResult {
    /// A range of one input.
    pub fn of_one(witness: &Witness) -> RangeResult {
        let sharp = Edges { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp };
        RangeResult {
            lo: witness.inputs.clone(),
            hi: witness.inputs.clone(),
            edges: vec![sharp; witness.inputs.len()],
            samples: 1,
            inconsistent: 1,
            mean_bits: witness.bits,
            witness: witness.clone(),
            class_changes: witness.change.map(|change| (change, 1)).into_iter().collect(),
        }
    }

    /// Whether an input of parameters of these types lies in the box.
    pub fn holds(&self, scalars: &[Scalar], input: &[u64]) -> bool {
        scalars.iter().enumerate().all(|(p, scalar)| {
            let [lo, hi, at] = [self.lo[p], self.hi[p], input[p]].map(|bits| scalar.ordinal(bits));
            (lo..=hi).contains(&at)
        })
    }
}

/// One variant against the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparisonResult {
    /// Index of the variant in the task's builds (0 is the baseline).
    pub variant: usize,
    pub evaluations: u64,
    pub stop: StopReason,
    /// Ordered by value: first parameter first, negative before positive, small before large.
    pub ranges: Vec<RangeResult>,
    /// The most inconsistent input of all; None when nothing is inconsistent.
    pub witness: Option<Witness>,
    /// Of all samples.
    pub class_changes: BTreeMap<ClassChange, u64>,
    /// Exact counts, from a strategy that evaluated every input of the domain.
    pub census: Option<Census>,
}

/// Faults of one kind in one build, with the first few inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Index in the task's builds.
    pub build: usize,
    pub kind: FaultKind,
    pub count: u64,
    pub examples: Vec<Vec<u64>>,
}

/// Everything a search says about one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionResult {
    pub evaluations: u64,
    pub stop: StopReason,
    /// One per variant that has the function, in build order.
    pub comparisons: Vec<ComparisonResult>,
    /// Ordered by build, then kind.
    pub faults: Vec<FaultRecord>,
    /// A bounded, deterministic part of the samples, for plots.
    pub samples: Vec<Sample>,
    /// The values that the baseline gave to every input; None where it gave several, or nothing.
    pub constant: Option<Vec<u64>>,
}
