//! What a patch or a safe set of flags costs in time: calls of both builds, side by side, on ordinary inputs.

use std::collections::BTreeSet;

use super::error::LabError;
use super::open::Lab;
use super::speed::{inputs, pace};
use crate::explain::{Case, Fixed, Safe};
use crate::model::{BuildId, BuiltObject};
use crate::pool::{LoadPlan, Pool, PoolError};
use crate::store::Beside;

/// Functions that a safe set is timed on, at most.
const MOST_FUNCTIONS: usize = 24;

/// Times objects of a lab on samples of its run.
pub struct Stopwatch<'a> {
    pub lab: &'a Lab,
    pub beside: &'a Beside,
}

impl Stopwatch<'_> {
    /// Nanoseconds a call without the patch and with it; None when it cannot be timed.
    pub fn fix(&self, function: usize, fixed: &Fixed) -> Result<Option<(f64, f64)>, LabError> {
        let times = self.times(function, &[&fixed.variant, &fixed.object])?;
        Ok(times.and_then(|times| Some((*times.first()?, *times.get(1)?))))
    }

    /// Nanoseconds a call of baseline, safe set and all flags: the geometric mean over the functions with findings.
    pub fn safe(&self, cases: &[Case], safe: &Safe) -> Result<Option<[f64; 3]>, LabError> {
        let functions: BTreeSet<usize> = cases.iter().map(|case| case.function).collect();
        let (mut logs, mut count) = ([0.0; 3], 0.0);
        for function in functions.into_iter().take(MOST_FUNCTIONS) {
            let [baseline, own, full] = &safe.objects;
            let Some(times) = self.times(function, &[baseline, own, full])? else { continue };
            if times.len() == 3 && times.iter().all(|ns| *ns > 0.0) {
                logs.iter_mut().zip(&times).for_each(|(sum, ns)| *sum += ns.ln());
                count += 1.0;
            }
        }
        Ok((count > 0.0).then(|| logs.map(|sum| (sum / count).exp())))
    }

    fn times(&self, place: usize, objects: &[&BuiltObject]) -> Result<Option<Vec<f64>>, LabError> {
        // A call that goes through a pipe cannot be compared with one that does not.
        let programs = objects.iter().filter(|object| object.runner.is_some()).count();
        if programs != 0 && programs != objects.len() {
            return Ok(None);
        }
        let function = &self.lab.experiment.functions[place];
        let samples = self.beside.samples()?;
        let stored = samples.iter().find(|s| s.function == function.name);
        let inputs = inputs(function, stored, &self.lab.experiment.search);
        let plan =
            |object: &&BuiltObject| LoadPlan { build: BuildId("timed".into()), object: (*object).clone() };
        let plans = objects.iter().map(plan).collect();
        let pool = Pool::new(plans, self.lab.limits(), self.lab.cancel.clone());
        let pool = pool.in_sandbox(self.lab.sandbox());
        match pace(&pool, (place, function), (0..objects.len()).collect(), inputs) {
            Ok(times) => Ok((!times.is_empty()).then_some(times)),
            Err(PoolError::Failed(_)) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }
}
