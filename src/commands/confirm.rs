//! `bitrift confirm`: every witness of a run in plain executables, built with the builds' own flags and
//! nothing that makes code loadable. The answer stands beside the run. `bitrift run` ends with it too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::RESULTS;
use super::console::Console;
use super::failure::Failure;
use super::plain::{Plain, Programs};
use super::{interrupt, lab};
use crate::cli::{ConfirmArgs, Exit, FunctionGlobs};
use crate::compile::Cache;
use crate::findings::{StoredWitness, confirm_row, stored_witnesses, witnesses as all_witnesses};
use crate::model::{
    Answer, BuildId, CONFIRM_SCHEMA, ConfirmFile, ConfirmRow, Event, EventSink, Experiment, Outcome, RunFile,
};
use crate::plan::{self, Plan};
use crate::pool::Mode;
use crate::report;
use crate::store::{read_run, resolve, write_confirm};

pub fn run(args: &ConfirmArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let run = read_run(&folder)?;
    let experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    let plan = plan::expand(&experiment)?;
    let place = args.cache.as_deref().map_or_else(Cache::default_folder, Path::to_path_buf);
    let request = Request {
        run: &run,
        experiment: &experiment,
        plan: &plan,
        cache: &Cache::open(&place)?,
        jobs: lab::jobs(args.jobs),
        cancel: interrupt::flag()?,
    };
    let file = confirm(&request, console.progress(args.quiet).as_ref())?;
    write_confirm(&folder, &file)?;
    console.print(&report::confirm::render(&run, &file, args.all, console.style))?;
    Ok(Exit::Done)
}

/// What to confirm, and with what.
pub struct Request<'a> {
    pub run: &'a RunFile,
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    pub cache: &'a Cache,
    pub jobs: usize,
    pub cancel: Arc<AtomicBool>,
}

/// One function on one build.
type Place<'a> = (&'a str, &'a BuildId);

/// Compiles the builds that witnesses name, no others, and asks them.
pub fn confirm(request: &Request<'_>, sink: &dyn EventSink) -> Result<ConfirmFile, Failure> {
    let mut file = ConfirmFile { schema: CONFIRM_SCHEMA.into(), witnesses: BTreeMap::new() };
    let mut witnesses: Vec<StoredWitness> = Vec::new();
    for row in &request.run.functions {
        match stored_witnesses(row, &request.experiment.functions) {
            Ok(stored) => witnesses.extend(stored),
            // A function that is gone or changed takes its own witnesses with it and no others.
            Err(error) => file.witnesses.extend(
                all_witnesses(row).into_iter().map(|w| (w.id, ConfirmRow::unknown(error.to_string()))),
            ),
        }
    }
    if witnesses.is_empty() {
        return Ok(file);
    }
    let noun = if witnesses.len() == 1 { "witness" } else { "witnesses" };
    sink.send(Event::Note { text: format!("confirming {} {noun} in plain executables", witnesses.len()) });
    let functions: BTreeSet<&str> = witnesses.iter().map(|w| w.function.as_str()).collect();
    let names = witnesses.iter().flat_map(|w| [&w.baseline, &w.build]);
    let builds = request.plan.builds.iter().filter(|b| names.clone().any(|name| *name == b.id));
    let plain = Plain {
        experiment: request.experiment,
        cache: request.cache,
        jobs: request.jobs,
        cancel: request.cancel.clone(),
    };
    let programs = plain.programs(|f| functions.contains(f.name.as_str()), builds, sink)?;
    let answers = ask(&programs, &witnesses, request.jobs)?;
    for witness in &witnesses {
        let row = row(&programs, &answers, request.experiment, witness);
        file.witnesses.insert(witness.id.clone(), row);
    }
    Ok(file)
}

/// What every build says to the inputs of its witnesses, or why it says nothing.
type Answers<'a> = BTreeMap<Place<'a>, Result<BTreeMap<&'a [u64], Outcome>, String>>;

fn ask<'a>(programs: &Programs, witnesses: &'a [StoredWitness], jobs: usize) -> Result<Answers<'a>, Failure> {
    let mut wanted: BTreeMap<Place<'a>, BTreeSet<&'a [u64]>> = BTreeMap::new();
    for witness in witnesses {
        for build in [&witness.baseline, &witness.build] {
            wanted.entry((&witness.function, build)).or_default().insert(&witness.inputs);
        }
    }
    let wanted: Vec<_> = wanted.into_iter().collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.max(1))
        .build()
        .map_err(|e| Failure::new(Exit::Internal, format!("failed to start {jobs} threads: {e}")))?;
    let one = |((function, build), inputs): &(Place<'a>, BTreeSet<&'a [u64]>)| {
        let list: Vec<&[u64]> = inputs.iter().copied().collect();
        let answer = programs.evaluate(function, build, &list.concat(), Mode::Together)?;
        Ok(((*function, *build), answer.map(|outcomes| list.into_iter().zip(outcomes).collect())))
    };
    pool.install(|| wanted.par_iter().with_max_len(1).map(one).collect())
}

fn row(
    programs: &Programs,
    answers: &Answers<'_>,
    experiment: &Experiment,
    witness: &StoredWitness,
) -> ConfirmRow {
    let answer = |build: &BuildId| match answers.get(&(witness.function.as_str(), build)) {
        Some(Ok(outcomes)) => {
            outcomes.get(witness.inputs.as_slice()).copied().ok_or_else(|| format!("{build} gave no outcome"))
        }
        Some(Err(reason)) => Err(format!("{build}: {reason}")),
        None => Err(format!("{build} was not asked")),
    };
    let Some(function) = programs.function(&witness.function) else {
        return ConfirmRow::unknown(format!("function {} is not in the matrix", witness.function));
    };
    match (answer(&witness.baseline), answer(&witness.build)) {
        (Ok(baseline), Ok(variant)) => {
            let answer = |outcome| Answer::new(function.result, outcome);
            confirm_row(experiment.search.nan, witness, answer(baseline), answer(variant))
        }
        (Err(reason), _) | (_, Err(reason)) => ConfirmRow::unknown(reason),
    }
}
