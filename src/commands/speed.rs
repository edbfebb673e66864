//! `bitrift speed`: the time of a call in every build, on inputs of a stored run, beside its bits.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{Exit, SpeedArgs};
use crate::lab::Timed;
use crate::report;

pub fn run(args: &SpeedArgs, console: &Console) -> Result<Exit, Failure> {
    let (run, beside) = wanted::stored(args.run.name())?;
    let samples = beside.samples()?;
    let lab = wanted::lab_of(&run, &beside, &args.lab)?;
    let built = lab.build_all(console.progress(args.lab.quiet).as_ref())?;
    let Timed { file, untimed } = built.time(&samples)?;
    for (function, reason) in untimed {
        console.complain(&format!("{function} could not be timed: {reason}"));
    }
    beside.write_speed(&file)?;
    console.print(&match args.json {
        true => beside.json(&file),
        false => report::speed::render(&run, &file, console.style),
    })?;
    Ok(Exit::Done)
}
