//! `bitrift show`: a stored run again.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{Exit, ShowArgs};
use crate::findings::{select, select_explained};
use crate::report::table::{self, TableOptions};
use crate::store::{read_confirm, read_explain, read_run, resolve, run_json};

pub fn run(args: &ShowArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let run = read_run(&folder)?;
    wanted::check_functions(&args.functions, &run)?;
    let run = select(&run, |name| args.functions.matches(name));
    let text = if args.json {
        run_json(&run)
    } else {
        let confirm = read_confirm(&folder, &run)?;
        let explain = read_explain(&folder)?.map(|file| select_explained(file, &run));
        let options = TableOptions {
            all: args.all,
            run: args.run.as_deref(),
            confirm: confirm.as_ref(),
            explain: explain.as_ref(),
        };
        table::render(&run, options, console.style)
    };
    console.print(&text)?;
    Ok(Exit::Done)
}
