//! `samples.jsonl`: one line per function with a bounded, reproducible part of its samples.

use serde::{Deserialize, Serialize};

use super::{BuildId, Function, FunctionResult, HeldValue};
use crate::fp::format_hex;

/// One sample of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub input: Vec<u64>,
    /// For each variant, 0 where there are none.
    pub bits: Vec<f32>,
    /// For each variant which value differs most; empty for a function that gives one value.
    pub worst: Vec<u8>,
}

/// The stored samples of one function, for plots and exports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionSamples {
    pub function: String,
    /// Names of the parameters.
    pub params: Vec<String>,
    /// The variants, in the order of each sample's bits.
    pub builds: Vec<BuildId>,
    /// Inputs as exact text, then bits of inconsistency per variant (null: no value to compare).
    pub samples: Vec<(Vec<String>, Vec<Option<f32>>)>,
    /// For each sample and variant which of the function's results differs most, counted from 0; not there for a
    /// function that gives one value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worst: Vec<Vec<u8>>,
    /// The first inputs whose results of the baseline are held, with these results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldValue>,
}

impl FunctionSamples {
    /// `builds` as in the function's task: the baseline first.
    pub fn new(function: &Function, builds: &[BuildId], result: &FunctionResult) -> FunctionSamples {
        let scalars = function.scalars();
        let sample = |Sample { input, bits, .. }: &Sample| {
            let input = scalars.iter().zip(input).map(|(&s, &x)| format_hex(s, x)).collect();
            (input, bits.iter().map(|b| b.is_finite().then_some(*b)).collect())
        };
        let worst = |sample: &Sample| sample.worst.clone();
        let is_wide = function.results.is_wide();
        FunctionSamples {
            function: function.name.clone(),
            params: function.coordinates.iter().map(|p| p.name.clone()).collect(),
            builds: builds.iter().skip(1).cloned().collect(),
            samples: result.samples.iter().map(sample).collect(),
            worst: result.samples.iter().filter(|_| is_wide).map(worst).collect(),
            held: Vec::new(),
        }
    }

    /// Which of the bits of a sample are those of a build.
    pub fn column(&self, build: &BuildId) -> Option<usize> {
        self.builds.iter().position(|b| b == build)
    }
}
