//! `bitrift explain`: why findings of a run differ, from the environment to the statement and the compiler's
//! pass. The answers stand beside the run.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{Exit, ExplainArgs};
use crate::lab::{Finding, Wish};
use crate::report;
use crate::store::{explain_json, read_run, resolve};

pub fn run(args: &ExplainArgs, console: &Console) -> Result<Exit, Failure> {
    let (name, id) = words(&args.words)?;
    let folder = resolve(Path::new(RESULTS), name)?;
    let run = read_run(&folder)?;
    wanted::check_functions(&args.functions, &run)?;
    let lab = wanted::lab_of(&run, &args.lab)?;
    let findings = match id {
        Some(id) => vec![Finding::named(&run, id)?],
        None => Finding::all(&run, |name| args.functions.matches(name)),
    };
    let wish = Wish {
        layers: args.layers.iter().copied().collect(),
        limit: (id.is_none() && !args.no_safe).then_some(args.limit),
        again: args.again,
    };
    let sink = console.progress(args.lab.quiet);
    let file = lab.explain((&run, &folder), &findings, &wish, sink.as_ref())?;
    let shown = findings.into_iter().map(|found| found.witness.id).collect();
    console.print(&match (args.json, args.patch, id) {
        (true, ..) => explain_json(&file),
        (_, true, _) => report::explain::patches(&file, &shown),
        (.., Some(_)) => {
            let one = |id| report::explain::render_one(&run, &file, id, console.style);
            shown.iter().map(one).collect()
        }
        (.., None) => report::explain::render(&run, &file, &shown, console.style),
    })?;
    Ok(Exit::Done)
}

/// A run and a finding among the words: an id has a `#`, a run's name has none.
fn words(words: &[String]) -> Result<(Option<&str>, Option<&str>), Failure> {
    match words {
        [] => Ok((None, None)),
        [id] if id.contains('#') => Ok((None, Some(id))),
        [run] => Ok((Some(run), None)),
        [run, id] => Ok((Some(run), Some(id))),
        _ => Err(Failure::usage("expected at most a run and a finding")),
    }
}
