//! `bitrift speed`: the time of a call in every build, on inputs of a stored run, beside its bits.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{Exit, SpeedArgs};
use crate::lab::Timed;
use crate::report;
use crate::store::{read_run, read_samples, resolve, speed_json, write_speed};

pub fn run(args: &SpeedArgs, console: &Console) -> Result<Exit, Failure> {
    let folder = resolve(Path::new(RESULTS), args.run.as_deref())?;
    let run = read_run(&folder)?;
    let samples = read_samples(&folder)?;
    let lab = wanted::lab_of(&run, &args.lab)?;
    let built = lab.build_all(console.progress(args.lab.quiet).as_ref())?;
    let Timed { file, untimed } = built.time(&samples)?;
    for (function, reason) in untimed {
        console.complain(&format!("{function} could not be timed: {reason}"));
    }
    write_speed(&folder, &file)?;
    console.print(&match args.json {
        true => speed_json(&file),
        false => report::speed::render(&run, &file, console.style),
    })?;
    Ok(Exit::Done)
}
