//! One input on every build.

use super::built::Built;
use super::error::LabError;
use crate::fp::inconsistency;
use crate::model::{BuildId, ClassChange, Outcome};
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
    Baseline(Outcome),
    /// A variant's, with its bits against the baseline; None: one of the two gave no value.
    Variant { outcome: Outcome, bits: Option<f64>, change: Option<ClassChange> },
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
            let verdict = match outcomes.map(|outcomes| outcomes.first().copied()) {
                Ok(Some(outcome)) if build == self.lab.plan.baseline => {
                    baseline = Some(outcome);
                    Comparison::Baseline(outcome)
                }
                Ok(Some(outcome)) => self.compare(function, baseline, outcome),
                Ok(None) => Comparison::Absent { reason: "it gave no outcome".into() },
                Err(why) => Comparison::Absent { reason: why.0 },
            };
            let emulated = !self.lab.plan.builds[build].runner.is_empty();
            rows.push(Evaluated { build: self.build_id(build).clone(), emulated, verdict });
        }
        Ok(rows)
    }

    fn compare(&self, function: usize, baseline: Option<Outcome>, outcome: Outcome) -> Comparison {
        let (result, nan) = (self.lab.experiment.functions[function].result, self.lab.experiment.search.nan);
        let bits = match (baseline, outcome) {
            (Some(Outcome::Value(a)), Outcome::Value(b)) => Some(inconsistency(result, a, b, nan)),
            _ => None,
        };
        let change = baseline.and_then(|baseline| ClassChange::between(result, nan, baseline, outcome));
        Comparison::Variant { outcome, bits, change }
    }
}
