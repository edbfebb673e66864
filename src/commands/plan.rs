//! `bitrift plan`: the builds and their exact command lines, without running any. A compiler is
//! asked for its version and nothing else.

use std::collections::BTreeMap;

use super::console::Console;
use super::failure::Failure;
use crate::cli::{Exit, PlanArgs};
use crate::compile::command_lines;
use crate::lab::{LabError, family, load};
use crate::plan;
use crate::report;
use crate::toolchain::Family;

pub fn run(args: &PlanArgs, console: &Console) -> Result<Exit, Failure> {
    let experiment = load(args.matrix.path())?;
    let plan = plan::expand(&experiment).map_err(LabError::from)?;
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
