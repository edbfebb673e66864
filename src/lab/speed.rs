//! The time of a call: inputs that calls are timed on, and the builds side by side.

use std::collections::BTreeMap;

use super::built::Built;
use super::error::LabError;
use crate::fp::parse_number;
use crate::model::{
    Coordinate, Function, FunctionSamples, SPEED_SCHEMA, SearchSettings, SpeedFile, SpeedRow,
};
use crate::pool::{PaceRequest, Pool, PoolError};
use crate::search::{is_ordinary, ordinary_inputs};
use crate::toolchain::cpu_model;

/// Inputs a function is timed on, at most; with fewer ordinary ones than the least, all of them count.
const MOST_INPUTS: usize = 1024;
const LEAST_ORDINARY: usize = 32;
const BATCH: usize = 1024;

/// The times of a lab's builds, and the functions that could not be timed, with why.
pub struct Timed {
    pub file: SpeedFile,
    pub untimed: Vec<(String, String)>,
}

impl Built<'_> {
    /// Times every function in every build that has it, on samples of a stored run.
    pub fn time(&self, samples: &[FunctionSamples]) -> Result<Timed, LabError> {
        let mut times: BTreeMap<usize, BTreeMap<String, f64>> = BTreeMap::new();
        let mut untimed = Vec::new();
        for (index, function) in self.lab.experiment.functions.iter().enumerate() {
            let stored = samples.iter().find(|s| s.function == function.name);
            let inputs = inputs(function, stored, &self.lab.experiment.search);
            let (have, _) = self.cast(index);
            let builds: Vec<(usize, usize)> =
                have.iter().filter_map(|&b| Some((b, self.panel.place(b)?))).collect();
            let objects = builds.iter().map(|(_, object)| *object).collect();
            match pace(&self.panel.pool, (index, function), objects, inputs) {
                Ok(all) => {
                    for ((build, _), ns) in builds.into_iter().zip(all) {
                        times.entry(build).or_default().insert(function.name.clone(), ns);
                    }
                }
                Err(PoolError::Failed(reason)) => untimed.push((function.name.clone(), reason)),
                Err(other) => return Err(other.into()),
            }
        }
        let row = |(build, functions): (usize, BTreeMap<String, f64>)| SpeedRow {
            build: self.build_id(build).clone(),
            functions,
            emulated: self.panel.artifacts[build].object().is_some_and(|object| object.runner.is_some()),
        };
        let builds = times.into_iter().map(row).collect();
        let file = SpeedFile { schema: SPEED_SCHEMA.into(), cpu: cpu_model(), builds };
        Ok(Timed { file, untimed })
    }
}

/// Samples of the run that every build answered, ordinary ones if there are enough; else random ones.
pub(super) fn inputs(
    function: &Function,
    stored: Option<&FunctionSamples>,
    settings: &SearchSettings,
) -> Vec<u64> {
    let scalars = function.scalars();
    let read = |(texts, bits): &(Vec<String>, Vec<Option<f32>>)| {
        let answered = texts.len() == scalars.len() && bits.iter().all(Option::is_some);
        let numbers = texts.iter().zip(&scalars).map(|(text, &scalar)| parse_number(scalar, text).ok());
        let input: Vec<u64> = numbers.collect::<Option<_>>().filter(|_| answered)?;
        let inside = |(param, &bits): (&Coordinate, &u64)| {
            param.ty.axis(bits).is_some_and(|point| param.domain.contains(point))
        };
        function.coordinates.iter().zip(&input).all(inside).then_some(input)
    };
    let all: Vec<Vec<u64>> = stored.iter().flat_map(|s| &s.samples).filter_map(read).collect();
    let ordinary: Vec<Vec<u64>> = all.iter().filter(|input| is_ordinary(&scalars, input)).cloned().collect();
    let chosen = if ordinary.len() >= LEAST_ORDINARY { ordinary } else { all };
    if chosen.is_empty() {
        return ordinary_inputs(function, settings, MOST_INPUTS);
    }
    chosen.into_iter().take(MOST_INPUTS).flatten().collect()
}

/// Nanoseconds a call in each object of a pool; none when there is nothing to call or to call with.
pub(super) fn pace(
    pool: &Pool,
    (function_index, function): (usize, &Function),
    builds: Vec<usize>,
    inputs: Vec<u64>,
) -> Result<Vec<f64>, PoolError> {
    if builds.is_empty() || inputs.is_empty() {
        return Ok(Vec::new());
    }
    let (arity, width) = (function.arity(), function.results.width());
    // Nanoseconds and counts are far below 2^53.
    let calls = (inputs.len() / arity.max(1)) as f64;
    let least = pool.pace(&PaceRequest { function_index, arity, width, builds, inputs, batch: BATCH })?;
    Ok(least.into_iter().map(|ns| ns as f64 / calls).collect())
}
