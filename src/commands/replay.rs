//! `bitrift replay`: every witness of a stored run, evaluated again with today's builds.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{Exit, ReplayArgs};
use crate::report;

pub fn run(args: &ReplayArgs, console: &Console) -> Result<Exit, Failure> {
    let (run, beside) = wanted::stored(args.run.name())?;
    wanted::check_functions(&args.functions, &run)?;
    let lab = wanted::lab_of(&run, &beside, &args.lab)?;
    let built = lab.build_all(console.progress(args.lab.quiet).as_ref())?;
    let mut replayed = Vec::new();
    for row in run.functions.iter().filter(|f| args.functions.matches(&f.name)) {
        replayed.extend(built.replay(row)?);
    }
    console.print(&report::replay::render(&replayed, args.all, console.style))?;
    Ok(Exit::Done)
}
