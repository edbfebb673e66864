//! `bitrift run`: compile, search every function, store and print what differs.

use std::path::Path;
use std::time::Instant;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{Exit, RunArgs};
use crate::findings::{compares, mends, searches, shortfalls, wanting};
use crate::lab::{Destination, Lab, LabError, Stored, check_search};
use crate::model::{ConfirmFile, RunFile, printable, tolerate_nothing};
use crate::report::plan::quoted;
use crate::report::table::{self, TableOptions};
use crate::store::run_json;

pub fn run(args: &RunArgs, console: &Console) -> Result<Exit, Failure> {
    let start = Instant::now();
    let sink = console.progress(args.quiet);
    let means = wanted::means(&args.means)?;
    let mut experiment = wanted::experiment(args.matrix.path(), &args.functions, &means)?;
    args.search.apply(&mut experiment.search)?;
    if args.search.bitwise {
        tolerate_nothing(&mut experiment.limits);
    }
    check_search(&experiment)?;
    let lab = Lab::new(experiment, means)?;
    let built = lab.build_all(sink.as_ref())?;
    built.check_functions()?;
    let to = Destination {
        root: Path::new(RESULTS),
        out: args.out.as_deref(),
        overwrite: args.overwrite,
        resume: args.resume,
        confirm: !args.no_confirm,
    };
    let stored = built.run(built.open_run(&to)?, start, sink.as_ref())?;
    let confirm = || -> Result<ConfirmFile, LabError> {
        let file = lab.confirm(&stored.run, sink.as_ref())?;
        stored.beside.write_confirm(&file)?;
        Ok(file)
    };
    let confirmed = if args.no_confirm { Ok(None) } else { confirm().map(Some) };
    // The run is stored, so it is shown however its confirmation ended.
    let exit = report(args, console, &stored, confirmed.as_ref().ok().and_then(Option::as_ref));
    confirmed.map_err(|error| Failure::from(error).advising(|| confirm_later(args, &stored)))?;
    exit
}

/// The run itself is whole: how to get the rest.
fn confirm_later(args: &RunArgs, stored: &Stored) -> String {
    let [place, matrix] =
        [stored.folder.path(), args.matrix.path()].map(|p| quoted(&p.display().to_string()));
    format!(
        " while the witnesses were confirmed; the run is complete, and its witnesses are confirmed by \
         `bitrift confirm {place} --matrix {matrix}`"
    )
}

fn report(
    args: &RunArgs,
    console: &Console,
    Stored { run, folder, .. }: &Stored,
    confirm: Option<&ConfirmFile>,
) -> Result<Exit, Failure> {
    let place = printable(&folder.path().display().to_string());
    if args.json {
        console.print(&run_json(run))?;
    } else {
        // Without --out this run is the latest.
        let name = args.out.as_ref().map(|_| place.as_str());
        let options = TableOptions { run: name, confirm, ..TableOptions::default() };
        let table = table::render(run, options, console.style);
        console.print(&format!("{table}\nstored in {place}\n"))?;
    }
    let (short, mend) = match args.strict {
        true => (shortfalls(run), ""),
        false => (
            wanting(run),
            "\nwhere a run may do without a compiler, a target or an environment, say so: `optional = true`",
        ),
    };
    let list: String = short.iter().map(|line| format!("\n  {line}")).collect();
    let message = match (searches(run), short.is_empty()) {
        (true, true) => return Ok(Exit::Done),
        (false, _) if compares(run) => nothing_searched(run),
        (false, _) => {
            format!(
                "nothing was compared: there is no build beside the baseline {} that has a function{list}",
                run.baseline
            )
        }
        (true, false) if args.strict => format!("not everything could be evaluated (--strict):{list}"),
        (true, false) => format!("not everything that the matrix asks for could be evaluated:{list}{mend}"),
    };
    Err(Failure::new(Exit::Unevaluated, message))
}

/// Comparisons there are, and none of them says anything: why, and what to do about it.
fn nothing_searched(run: &RunFile) -> String {
    let why: String = shortfalls(run).iter().map(|line| format!("\n  {line}")).collect();
    let mends: String = mends(run).iter().map(|mend| format!("\nto mend it: {mend}")).collect();
    format!("nothing was searched, so that this run says nothing about any function:{why}{mends}")
}
