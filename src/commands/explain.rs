//! `bitrift explain`: why findings of a run differ, from the environment to the statement and the compiler's
//! pass. The answers stand beside the run.

use std::collections::BTreeSet;

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{Exit, ExplainArgs};
use crate::lab::{Finding, Wish};
use crate::model::{ExplainFile, FindingId, RunFile};
use crate::report;
use crate::store::Beside;

pub fn run(args: &ExplainArgs, console: &Console) -> Result<Exit, Failure> {
    let (name, id) = words(&args.words, args.run.run.as_deref())?;
    let (run, beside) = wanted::stored(name)?;
    wanted::check_functions(&args.functions, &run)?;
    let lab = wanted::lab_of(&run, &beside, &args.lab)?;
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
    let explained = lab.explain((&run, &beside), &findings, &wish, sink.as_ref());
    let shown: BTreeSet<FindingId> = findings.into_iter().map(|found| found.witness.id).collect();
    let answers = Answers { run: &run, beside: &beside, id };
    match explained {
        Ok(file) => console.print(&answers.text(args, &file, &shown, console))?,
        Err(error) if error.is_interrupt() => {
            // What is known by now is worth reading.
            if let Some(file) = beside.explain()? {
                let known = shown.into_iter().filter(|id| file.findings.contains_key(id)).collect();
                console.print(&answers.text(args, &file, &known, console))?;
            }
            return Err(error.into());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Exit::Done)
}

/// Answers about a run, or about one finding of it.
struct Answers<'a> {
    run: &'a RunFile,
    beside: &'a Beside,
    id: Option<&'a str>,
}

impl Answers<'_> {
    fn text(
        &self,
        args: &ExplainArgs,
        file: &ExplainFile,
        shown: &BTreeSet<FindingId>,
        console: &Console,
    ) -> String {
        match (args.json, args.patch, self.id) {
            (true, ..) => self.beside.json(file),
            (_, true, _) => report::explain::patches(file, shown),
            (.., Some(_)) => {
                let one = |id| report::explain::render_one(self.run, file, id, console.style);
                shown.iter().map(one).collect()
            }
            (.., None) => report::explain::render(self.run, file, shown, console.style),
        }
    }
}

/// A run and a finding among the words: an id has a `#`, a run's name has none.
fn words<'a>(
    words: &'a [String],
    run: Option<&'a str>,
) -> Result<(Option<&'a str>, Option<&'a str>), Failure> {
    match (words, run) {
        ([], run) => Ok((run, None)),
        ([id], run) if run.is_some() || id.contains('#') => Ok((run, Some(id))),
        ([name], _) => Ok((Some(name), None)),
        ([name, id], None) => Ok((Some(name), Some(id))),
        _ => Err(Failure::usage("expected at most a run and a finding")),
    }
}
