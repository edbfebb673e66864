//! `bitrift show`: a stored run again.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{Exit, ShowArgs};
use crate::findings::{select, select_explained};
use crate::report::table::{self, TableOptions};
use crate::store::run_json;

pub fn run(args: &ShowArgs, console: &Console) -> Result<Exit, Failure> {
    let (run, beside) = wanted::stored(args.run.name())?;
    wanted::check_functions(&args.functions, &run)?;
    let run = select(&run, |name| args.functions.matches(name));
    let text = if args.json {
        run_json(&run)
    } else {
        let confirm = beside.confirm(&run)?;
        let explain = beside.explain()?.map(|file| select_explained(file, &run));
        let options = TableOptions {
            all: args.all,
            run: args.run.name(),
            confirm: confirm.as_ref(),
            explain: explain.as_ref(),
        };
        table::render(&run, options, console.style)
    };
    console.print(&text)?;
    Ok(Exit::Done)
}
