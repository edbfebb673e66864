//! `bitrift replay`: every witness of a stored run, evaluated again with today's builds.

use std::collections::BTreeMap;
use std::path::Path;

use super::RESULTS;
use super::console::Console;
use super::failure::Failure;
use super::lab::{self, Lab, Wanted};
use crate::cli::{Exit, FunctionGlobs, ReplayArgs};
use crate::eval::EvalError;
use crate::findings::{StoredWitness, Verdict, judge, stored_witnesses, witnesses as all_witnesses};
use crate::model::{Answer, BuildId, FunctionRow, Outcome};
use crate::pool::Mode;
use crate::report;
use crate::store::{read_run, resolve};

pub fn run(args: &ReplayArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let run = read_run(&folder)?;
    let names: Vec<&str> = run.functions.iter().map(|f| f.name.as_str()).collect();
    lab::check_globs(&args.functions, &names, "of the run")?;
    // Built as the run was, with its functions and no others. One that the matrix lost is told below.
    let experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    let known = |name: &&str| experiment.functions.iter().any(|f| f.name == *name);
    let wanted = Wanted {
        matrix: &args.matrix,
        functions: &FunctionGlobs::exactly(names.iter().copied().filter(known)),
        adjust: &|_| Ok(()),
        cache: args.cache.as_deref(),
        jobs: args.jobs,
    };
    let lab = Lab::open(&wanted, console.progress(args.quiet).as_ref())?;
    let mut replayed = Vec::new();
    for row in run.functions.iter().filter(|f| args.functions.matches(&f.name)) {
        replayed.extend(replay_function(&lab, row)?);
    }
    console.print(&report::replay::render(&replayed, args.all, console.style))?;
    Ok(Exit::Done)
}

fn replay_function(lab: &Lab, row: &FunctionRow) -> Result<Vec<(StoredWitness, Verdict)>, Failure> {
    let stored = stored_witnesses(row, &lab.experiment.functions);
    let (Ok(witnesses), Some((index, function))) = (&stored, lab.function(&row.name)) else {
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
    let mut outcomes: BTreeMap<(&BuildId, &[u64]), Outcome> = BTreeMap::new();
    let mut absent: BTreeMap<&BuildId, String> = BTreeMap::new();
    for (build, inputs) in wanted {
        match evaluate(lab, index, build, &inputs)? {
            Ok(found) => outcomes.extend(inputs.iter().map(|i| (build, *i)).zip(found)),
            Err(reason) => {
                absent.insert(build, reason);
            }
        }
    }
    let nan = lab.experiment.search.nan;
    let verdict = |witness: &StoredWitness| {
        for build in [&witness.baseline, &witness.build] {
            if let Some(reason) = absent.get(build) {
                return Verdict::Unevaluated { reason: format!("{build}: {reason}") };
            }
        }
        let now =
            |build| Some(Answer::new(function.result, *outcomes.get(&(build, witness.inputs.as_slice()))?));
        match (now(&witness.baseline), now(&witness.build)) {
            (Some(baseline), Some(variant)) => judge(nan, &witness.row, baseline, variant),
            _ => Verdict::Unevaluated { reason: "it gave no outcome".into() },
        }
    };
    Ok(witnesses.iter().map(|w| (w.clone(), verdict(w))).collect())
}

/// Outcomes of inputs on a build by its name, or why there are none.
fn evaluate(
    lab: &Lab,
    function: usize,
    build: &BuildId,
    inputs: &[&[u64]],
) -> Result<Result<Vec<Outcome>, String>, Failure> {
    let Some(place) = lab.plan.builds.iter().position(|b| b.id == *build) else {
        return Ok(Err("not a build of the matrix any more".into()));
    };
    let object = match (lab.lacks(place, function), lab.object(place)) {
        (None, Some(object)) => object,
        (why, _) => return Ok(Err(why.unwrap_or_default())),
    };
    let arity = lab.experiment.functions[function].arity();
    let mut answers = lab.pool.evaluate(function, arity, &[object], &inputs.concat(), Mode::Together);
    match answers.pop() {
        Some(Ok(outcomes)) => Ok(Ok(outcomes)),
        Some(Err(EvalError::Stopped)) => Err(Failure::interrupted("")),
        Some(Err(error)) => Ok(Err(error.to_string())),
        None => Err(Failure::new(Exit::Internal, "the evaluation gave no outcome")),
    }
}
