//! `bitrift plan`: the builds and their exact command lines, without running any.

use super::console::Console;
use super::failure::Failure;
use super::lab;
use crate::cli::{Exit, FunctionGlobs, PlanArgs};
use crate::compile::command_lines;
use crate::plan;
use crate::report;
use crate::toolchain::{Family, find};

pub fn run(args: &PlanArgs, console: &Console) -> Result<Exit, Failure> {
    let experiment = lab::load(&args.matrix, &FunctionGlobs::default())?;
    let plan = plan::expand(&experiment)?;
    let planned: Vec<_> = plan
        .builds
        .iter()
        .map(|build| {
            // A compiler that is not here has its family guessed from its name.
            let family = find(&build.command).map_or_else(|_| Family::guess(&build.command), |c| c.family);
            let lines = command_lines(&experiment, build, family);
            (build.id.clone(), lines.into_iter().map(|line| (line.what, line.argv)).collect())
        })
        .collect();
    console.print(&report::plan::render(&planned, &plan.baseline_build().id))?;
    Ok(Exit::Done)
}
