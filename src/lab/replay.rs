//! Stored witnesses, evaluated again with today's builds.

use std::collections::BTreeMap;

use super::built::Built;
use super::error::LabError;
use super::panel::{Replies, Unanswered};
use crate::findings::{StoredWitness, Verdict, judge, stored_witnesses, witnesses as all_witnesses};
use crate::model::{BuildId, FunctionRow, Returned, Whole};
use crate::pool::Mode;

impl Built<'_> {
    /// Which witnesses of a function's row still hold.
    pub fn replay(&self, row: &FunctionRow) -> Result<Vec<(StoredWitness, Verdict)>, LabError> {
        let stored = stored_witnesses(row, &self.lab.experiment.functions);
        let (Ok(witnesses), Some((index, function))) = (&stored, self.lab.function(&row.name)) else {
            // A function that is gone or changed takes its own witnesses with it and no others.
            let reason = stored.err().map(|error| error.to_string()).unwrap_or_default();
            let lost = |w| (w, Verdict::Unevaluated { reason: reason.clone() });
            return Ok(all_witnesses(row).into_iter().map(lost).collect());
        };
        // One process per build for all witnesses it appears in.
        let mut wanted: BTreeMap<&BuildId, Vec<&[u64]>> = BTreeMap::new();
        for witness in witnesses {
            wanted.entry(&witness.baseline).or_default().push(&witness.inputs);
            wanted.entry(&witness.build).or_default().push(&witness.inputs);
        }
        let mut outcomes: BTreeMap<(&BuildId, &[u64]), Whole> = BTreeMap::new();
        let mut absent: BTreeMap<&BuildId, Unanswered> = BTreeMap::new();
        for (build, inputs) in wanted {
            match self.ask_named(index, build, &inputs.concat())? {
                Ok(found) => outcomes
                    .extend(inputs.iter().map(|i| (build, *i)).zip(found.iter().map(Returned::to_owned))),
                Err(reason) => {
                    absent.insert(build, reason);
                }
            }
        }
        let verdict = |witness: &StoredWitness| {
            for build in [&witness.baseline, &witness.build] {
                if let Some(reason) = absent.get(build) {
                    return Verdict::Unevaluated { reason: format!("{build}: {reason}") };
                }
            }
            let now = |build| outcomes.get(&(build, witness.inputs.as_slice())).map(Whole::returned);
            match (now(&witness.baseline), now(&witness.build)) {
                (Some(baseline), Some(variant)) => {
                    let equality = self.lab.equality(&witness.function, &witness.build);
                    judge(equality, &function.results, &witness.row, (baseline, variant))
                }
                _ => Verdict::Unevaluated { reason: "it gave no outcome".into() },
            }
        };
        Ok(witnesses.iter().map(|w| (w.clone(), verdict(w))).collect())
    }

    fn ask_named(&self, function: usize, build: &BuildId, inputs: &[u64]) -> Result<Replies, LabError> {
        match self.lab.build(build) {
            Some(build) => self.panel.ask(function, build, inputs, Mode::Together),
            None => Ok(Err(Unanswered("not a build of the matrix any more".into()))),
        }
    }
}
