//! `bitrift plan`: the builds and their exact command lines, without running any. A compiler is
//! asked for its version and nothing else.

use std::collections::BTreeMap;

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
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    let planned: Vec<_> = plan
        .builds
        .iter()
        .map(|build| {
            let family = families.entry(&build.command).or_insert_with_key(|command| family(command));
            let lines = command_lines(&experiment, build, *family);
            (build.id.clone(), lines.into_iter().map(|line| (line.what, line.argv)).collect())
        })
        .collect();
    console.print(&report::plan::render(&planned, &plan.baseline_build().id))?;
    Ok(Exit::Done)
}

/// Which arguments a compiler understands; one that is not here is judged by its name.
pub(super) fn family(command: &str) -> Family {
    find(command).map_or_else(|_| Family::guess(command), |compiler| compiler.family)
}
