//! `bitrift replay`: every witness of a stored run, evaluated again with today's builds.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{Exit, ReplayArgs};
use crate::findings::Verdict;
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
    if replayed.is_empty() {
        console.complain("the run has no witness to replay: nothing was evaluated");
        return Ok(Exit::Done);
    }
    let is_lost = |(_, verdict): &&(_, Verdict)| matches!(verdict, Verdict::Unevaluated { .. });
    let (lost, all) = (replayed.iter().filter(is_lost).count(), replayed.len());
    if lost == 0 {
        return Ok(Exit::Done);
    }
    let rest = if lost == all { "; no witness is left that could be" } else { "" };
    Err(Failure::new(
        Exit::Unevaluated,
        format!(
            "{lost} of {all} witnesses could not be evaluated{rest}: the reasons are above; the matrix is another one than the \
             run's, or a build of it is not there"
        ),
    ))
}
