//! `bitrift doctor`: what of a matrix this machine can build and run.

use super::console::Console;
use super::failure::Failure;
use super::wanted;
use crate::cli::{DoctorArgs, Exit};
use crate::lab::{Checkup, load};
use crate::report::doctor;

pub fn run(args: &DoctorArgs, console: &Console) -> Result<Exit, Failure> {
    let means = wanted::means(&args.means)?;
    let checkup = Checkup::of(load(args.matrix.path(), &means)?, means)?;
    console.print(&doctor::render(&checkup, console.style))?;
    match doctor::shortfall(&checkup) {
        None => Ok(Exit::Done),
        Some(text) => Err(Failure::new(Exit::Unevaluated, text)),
    }
}
