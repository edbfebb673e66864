//! `bitrift confirm`: every witness of a run in plain executables. The answer stands beside the run.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{ConfirmArgs, Exit};
use crate::lab::Lab;
use crate::report;
use crate::store::{read_run, resolve, write_confirm};

pub fn run(args: &ConfirmArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let run = read_run(&folder)?;
    let lab = Lab::open(&args.lab.matrix, wanted::means(&args.lab.means)?)?;
    let file = lab.confirm(&run, console.progress(args.lab.quiet).as_ref())?;
    write_confirm(&folder, &file)?;
    console.print(&report::confirm::render(&run, &file, args.all, console.style))?;
    Ok(Exit::Done)
}
