//! `bitrift confirm`: every witness of a run in plain executables. The answer stands beside the run.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{ConfirmArgs, Exit};
use crate::report;

pub fn run(args: &ConfirmArgs, console: &Console) -> Result<Exit, Failure> {
    let (run, beside) = wanted::stored(args.run.name())?;
    let lab = wanted::whole_lab_of(&run, &beside, &args.lab)?;
    let file = lab.confirm(&run, console.progress(args.lab.quiet).as_ref())?;
    beside.write_confirm(&file)?;
    console.print(&report::confirm::render(&run, &file, args.all, console.style))?;
    Ok(Exit::Done)
}
