//! One input on every build.

use super::built::Built;
use super::error::LabError;
use crate::model::{BuildId, Difference, Returned, Whole};
use crate::pool::Mode;

/// What one build made of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    pub build: BuildId,
    /// It runs on an emulator.
    pub emulated: bool,
    pub verdict: Comparison,
}

/// A build's outcome beside the baseline's.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// The baseline's own value, or fault.
    Baseline(Whole),
    /// A variant's, with its bits against the baseline; None: one of the two gave no value.
    Variant { outcome: Whole, difference: Option<Difference> },
    /// The build or the function in it is not there.
    Absent { reason: String },
}

impl Built<'_> {
    /// What every build makes of one input, baseline first, each in a fresh process.
    pub fn evaluate(&self, function: usize, input: &[u64]) -> Result<Vec<Evaluated>, LabError> {
        // None also when the baseline lacks the function: there is nothing to compare with.
        let mut baseline = None;
        let mut rows = Vec::new();
        for build in self.baseline_first() {
            let outcomes = self.panel.ask(function, build, input, Mode::Alone)?;
            let verdict = match outcomes.map(|outcomes| outcomes.iter().next().map(Returned::to_owned)) {
                Ok(Some(outcome)) if build == self.lab.plan.baseline => {
                    baseline = Some(outcome.clone());
                    Comparison::Baseline(outcome)
                }
                Ok(Some(outcome)) => self.compare((function, build), baseline.as_ref(), outcome),
                Ok(None) => Comparison::Absent { reason: "it gave no outcome".into() },
                Err(why) => Comparison::Absent { reason: why.0 },
            };
            let emulated = !self.lab.plan.builds[build].runner.is_empty();
            rows.push(Evaluated { build: self.build_id(build).clone(), emulated, verdict });
        }
        Ok(rows)
    }

    fn compare(
        &self,
        (function, build): (usize, usize),
        baseline: Option<&Whole>,
        outcome: Whole,
    ) -> Comparison {
        let results = &self.lab.experiment.functions[function].results;
        let equality = self.lab.experiment.search.equality(self.lab.tolerance(function, build));
        let difference =
            baseline.map(|baseline| results.compare(equality, baseline.returned(), outcome.returned()));
        Comparison::Variant { outcome, difference }
    }
}
