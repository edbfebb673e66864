//! What a patch or a safe set of flags costs in time: calls of both builds, side by side, on ordinary inputs.

use std::collections::BTreeSet;
use std::path::Path;

use super::failure::Failure;
use super::speed::{BATCH, inputs};
use crate::explain::{Case, Desk, Fixed, Safe};
use crate::model::{BuildId, BuiltObject};
use crate::pool::{LoadPlan, PaceRequest, Pool, PoolError};
use crate::store::read_samples;

/// Functions that a safe set is timed on, at most.
const MOST_FUNCTIONS: usize = 24;

/// Nanoseconds a call without the patch and with it; None when it cannot be timed.
pub fn fix_times(
    folder: &Path,
    desk: &Desk<'_>,
    function: usize,
    fixed: &Fixed,
) -> Result<Option<(f64, f64)>, Failure> {
    let times = times(folder, desk, function, &[&fixed.variant, &fixed.object])?;
    Ok(times.and_then(|times| Some((*times.first()?, *times.get(1)?))))
}

/// Nanoseconds a call of baseline, safe set and all flags: the geometric mean over the functions with findings.
pub fn safe_times(
    folder: &Path,
    desk: &Desk<'_>,
    cases: &[Case],
    safe: &Safe,
) -> Result<Option<[f64; 3]>, Failure> {
    let functions: BTreeSet<usize> = cases.iter().map(|case| case.function).collect();
    let (mut logs, mut count) = ([0.0; 3], 0.0);
    for function in functions.into_iter().take(MOST_FUNCTIONS) {
        let [baseline, own, full] = &safe.objects;
        let Some(times) = times(folder, desk, function, &[baseline, own, full])? else { continue };
        if times.len() == 3 && times.iter().all(|ns| *ns > 0.0) {
            logs.iter_mut().zip(&times).for_each(|(sum, ns)| *sum += ns.ln());
            count += 1.0;
        }
    }
    Ok((count > 0.0).then(|| logs.map(|sum| (sum / count).exp())))
}

fn times(
    folder: &Path,
    desk: &Desk<'_>,
    function: usize,
    objects: &[&BuiltObject],
) -> Result<Option<Vec<f64>>, Failure> {
    let under_test = &desk.experiment.functions[function];
    let samples = read_samples(folder)?;
    let stored = samples.iter().find(|s| s.function == under_test.name);
    let inputs = inputs(under_test, stored, &desk.experiment.search);
    if inputs.is_empty() {
        return Ok(None);
    }
    let plan = |object: &&BuiltObject| LoadPlan { build: BuildId("timed".into()), object: (*object).clone() };
    let pool = Pool::new(objects.iter().map(plan).collect(), desk.limits, desk.cancel.clone());
    // Counts far below 2^53.
    let calls = (inputs.len() / under_test.arity().max(1)) as f64;
    let request = PaceRequest {
        function_index: function,
        arity: under_test.arity(),
        builds: (0..objects.len()).collect(),
        inputs,
        batch: BATCH,
    };
    match pool.pace(&request) {
        Ok(least) => Ok(Some(least.into_iter().map(|ns| ns as f64 / calls).collect())),
        Err(PoolError::Failed(_)) => Ok(None),
        Err(other) => Err(other.into()),
    }
}
