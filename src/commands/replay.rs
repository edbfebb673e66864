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
    let evaluated = replayed.iter().any(|(_, verdict)| !matches!(verdict, Verdict::Unevaluated { .. }));
    match (replayed.is_empty(), evaluated) {
        (true, _) => {
            console.complain("the run has no witness to replay: nothing was evaluated");
            Ok(Exit::Done)
        }
        (false, true) => Ok(Exit::Done),
        (false, false) => Err(Failure::new(
            Exit::Unevaluated,
            "no witness is left that could be evaluated: the reasons are above; the matrix is another one than the run's, \
             or a build of it is not there",
        )),
    }
}
