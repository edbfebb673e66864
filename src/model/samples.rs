//! `samples.jsonl`: one line per function with a bounded, reproducible part of its samples.

use serde::{Deserialize, Serialize};

use super::{BuildId, Function, FunctionResult};
use crate::fp::format_hex;

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
}

impl FunctionSamples {
    /// `builds` as in the function's task: the baseline first.
    pub fn new(function: &Function, builds: &[BuildId], result: &FunctionResult) -> FunctionSamples {
        let scalars = function.scalars();
        let sample = |(inputs, bits): &(Vec<u64>, Vec<f32>)| {
            let inputs = scalars.iter().zip(inputs).map(|(&s, &x)| format_hex(s, x)).collect();
            (inputs, bits.iter().map(|b| b.is_finite().then_some(*b)).collect())
        };
        FunctionSamples {
            function: function.name.clone(),
            params: function.coordinates.iter().map(|p| p.name.clone()).collect(),
            builds: builds.iter().skip(1).cloned().collect(),
            samples: result.samples.iter().map(sample).collect(),
        }
    }

    /// Which of the bits of a sample are those of a build.
    pub fn column(&self, build: &BuildId) -> Option<usize> {
        self.builds.iter().position(|b| b == build)
    }
}
