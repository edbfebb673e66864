//! `bitrift eval`: one input on every build.

use super::console::Console;
use super::failure::Failure;
use super::lab::{self, Lab, Wanted};
use crate::cli::{EvalArgs, Exit, FunctionGlobs};
use crate::fp::{inconsistency, parse_number};
use crate::model::{self, ClassChange, Function, Number, Outcome, ParamRow, SearchSettings};
use crate::pool::Mode;
use crate::report::evaluation::{self, Answer, Evaluation, EvaluationRow};

pub fn run(args: &EvalArgs, console: &Console) -> Result<Exit, Failure> {
    // Before anything is compiled: a wrong name or number is told at once.
    let experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    let names: Vec<&str> = experiment.functions.iter().map(|f| f.name.as_str()).collect();
    let function = experiment
        .functions
        .iter()
        .find(|f| f.name == args.function)
        .ok_or_else(|| lab::no_such_function(&args.function, &names, "of the matrix"))?;
    let inputs = read_inputs(function, &args.values)?;
    let only = FunctionGlobs::exactly([args.function.as_str()]);
    let wanted = Wanted {
        matrix: &args.matrix,
        functions: &only,
        adjust: &|_| Ok(()),
        cache: args.cache.as_deref(),
        jobs: None,
    };
    let lab = Lab::open(&wanted, console.progress(args.quiet).as_ref())?;
    let evaluation = evaluate(&lab, function, &inputs)?;
    console.print(&evaluation::render(&evaluation, console.style))?;
    Ok(Exit::Done)
}

fn read_inputs(function: &Function, values: &[String]) -> Result<Vec<u64>, Failure> {
    let spelled: Vec<String> = function.params.iter().map(|p| format!("{} {}", p.c_type, p.name)).collect();
    if values.len() != function.arity() {
        return Err(Failure::usage(format!(
            "{} takes {} {} ({}), not {}",
            function.name,
            function.arity(),
            if function.arity() == 1 { "value" } else { "values" },
            spelled.join(", "),
            values.len()
        )));
    }
    let read = |(param, text): (&crate::model::Param, &String)| {
        parse_number(param.ty, text).map_err(|e| Failure::usage(format!("parameter {}: {e}", param.name)))
    };
    function.params.iter().zip(values).map(read).collect()
}

fn evaluate(lab: &Lab, function: &Function, inputs: &[u64]) -> Result<Evaluation, Failure> {
    // None also when the baseline lacks the function: there is nothing to compare with.
    let mut baseline = None;
    let mut rows = Vec::new();
    for build in lab.baseline_first() {
        let answer = match (lab.lacks(build, 0), lab.object(build)) {
            (None, Some(object)) => match outcome(lab, function, object, inputs)? {
                Ok(now) if build == lab.plan.baseline => {
                    baseline = Some(now);
                    Answer::Baseline(model::Answer::new(function.result, now))
                }
                Ok(now) => answer(function, &lab.experiment.search, baseline, now),
                Err(reason) => Answer::Absent { reason },
            },
            (why, _) => Answer::Absent { reason: why.unwrap_or_default() },
        };
        let emulated = !lab.plan.builds[build].runner.is_empty();
        rows.push(EvaluationRow { build: lab.build_id(build).clone(), emulated, answer });
    }
    let param = |p: &crate::model::Param| ParamRow { name: p.name.clone(), ty: p.ty };
    Ok(Evaluation {
        function: function.name.clone(),
        params: function.params.iter().map(param).collect(),
        inputs: Number::list(&function.scalars(), inputs),
        rows,
    })
}

/// What one build makes of the input, in a fresh process; the inner error is the build's own.
fn outcome(
    lab: &Lab,
    function: &Function,
    object: usize,
    inputs: &[u64],
) -> Result<Result<Outcome, String>, Failure> {
    let mut answers = lab.pool.evaluate(0, function.arity(), &[object], inputs, Mode::Alone);
    match answers.pop() {
        Some(Ok(outcomes)) if outcomes.len() == 1 => Ok(Ok(outcomes[0])),
        Some(Err(crate::eval::EvalError::Stopped)) => Err(Failure::interrupted("")),
        Some(Err(error)) => Ok(Err(error.to_string())),
        _ => Err(Failure::new(Exit::Internal, "the evaluation gave no outcome")),
    }
}

fn answer(function: &Function, settings: &SearchSettings, baseline: Option<Outcome>, now: Outcome) -> Answer {
    let result = model::Answer::new(function.result, now);
    let bits = match (baseline, now) {
        (Some(Outcome::Value(a)), Outcome::Value(b)) => {
            Some(inconsistency(function.result, a, b, settings.nan))
        }
        _ => None,
    };
    let change = baseline
        .and_then(|b| ClassChange::between(function.result, settings.nan, b, now))
        .map(ClassChange::as_str);
    Answer::Variant { result, bits, change }
}
