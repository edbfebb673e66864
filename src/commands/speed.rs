//! `bitrift speed`: the time of a call in every build, on inputs of a stored run, beside its bits.

use std::collections::BTreeMap;
use std::path::Path;

use super::RESULTS;
use super::console::Console;
use super::failure::Failure;
use super::lab::{self, Lab, Wanted};
use crate::cli::{Exit, FunctionGlobs, SpeedArgs};
use crate::fp::parse_number;
use crate::model::{Function, FunctionSamples, SPEED_SCHEMA, SearchSettings, SpeedFile, SpeedRow};
use crate::pool::{PaceRequest, PoolError};
use crate::report;
use crate::search::{is_ordinary, ordinary_inputs};
use crate::store::{read_run, read_samples, resolve, speed_json, write_speed};
use crate::toolchain::cpu_model;

/// Inputs a function is timed on, at most; with fewer ordinary ones than the least, all of them count.
const MOST_INPUTS: usize = 1024;
const LEAST_ORDINARY: usize = 32;
pub(super) const BATCH: usize = 1024;

pub fn run(args: &SpeedArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let run = read_run(&folder)?;
    let samples = read_samples(&folder)?;
    let experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    let names = run.functions.iter().map(|f| f.name.as_str());
    let known = names.filter(|name| experiment.functions.iter().any(|f| f.name == *name));
    let wanted = Wanted {
        matrix: &args.matrix,
        functions: &FunctionGlobs::exactly(known),
        adjust: &|_| Ok(()),
        cache: args.cache.as_deref(),
        jobs: None,
    };
    let lab = Lab::open(&wanted, console.progress(args.quiet).as_ref())?;
    let mut times: BTreeMap<usize, BTreeMap<String, f64>> = BTreeMap::new();
    for (index, function) in lab.experiment.functions.iter().enumerate() {
        let stored = samples.iter().find(|s| s.function == function.name);
        let inputs = inputs(function, stored, &lab.experiment.search);
        for (build, ns) in time(&lab, index, &inputs, console)? {
            times.entry(build).or_default().insert(function.name.clone(), ns);
        }
    }
    let row = |(build, functions): (usize, BTreeMap<String, f64>)| SpeedRow {
        build: lab.build_id(build).clone(),
        functions,
        emulated: !lab.plan.builds[build].is_loaded(),
    };
    let builds = times.into_iter().map(row).collect();
    let file = SpeedFile { schema: SPEED_SCHEMA.into(), cpu: cpu_model(), builds };
    write_speed(&folder, &file)?;
    console.print(&match args.json {
        true => speed_json(&file),
        false => report::speed::render(&run, &file, console.style),
    })?;
    Ok(Exit::Done)
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
        let inside = |(param, &bits): (&crate::model::Param, &u64)| {
            param.ty.axis(bits).is_some_and(|point| param.domain.contains(point))
        };
        function.params.iter().zip(&input).all(inside).then_some(input)
    };
    let all: Vec<Vec<u64>> = stored.iter().flat_map(|s| &s.samples).filter_map(read).collect();
    let ordinary: Vec<Vec<u64>> = all.iter().filter(|input| is_ordinary(&scalars, input)).cloned().collect();
    let chosen = if ordinary.len() >= LEAST_ORDINARY { ordinary } else { all };
    if chosen.is_empty() {
        return ordinary_inputs(function, settings, MOST_INPUTS);
    }
    chosen.into_iter().take(MOST_INPUTS).flatten().collect()
}

/// Nanoseconds a call in each build that has the function; none when it cannot be timed, which is told.
fn time(lab: &Lab, index: usize, inputs: &[u64], console: &Console) -> Result<Vec<(usize, f64)>, Failure> {
    let function = &lab.experiment.functions[index];
    let (have, _) = lab.cast(index);
    let objects: Vec<(usize, usize)> = have.iter().filter_map(|&b| Some((b, lab.object(b)?))).collect();
    if objects.is_empty() || inputs.is_empty() {
        return Ok(Vec::new());
    }
    let request = PaceRequest {
        function_index: index,
        arity: function.arity(),
        builds: objects.iter().map(|(_, object)| *object).collect(),
        inputs: inputs.to_vec(),
        batch: BATCH,
    };
    let least = match lab.pool.pace(&request) {
        Ok(least) => least,
        Err(PoolError::Failed(reason)) => {
            console.complain(&format!("{} could not be timed: {reason}", function.name));
            return Ok(Vec::new());
        }
        Err(other) => return Err(other.into()),
    };
    // Nanoseconds and counts are far below 2^53.
    let calls = (inputs.len() / function.arity().max(1)) as f64;
    Ok(objects.iter().zip(least).map(|((build, _), ns)| (*build, ns as f64 / calls)).collect())
}
