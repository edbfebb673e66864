//! `bitrift plan`: the builds and their exact command lines, without running any, and what is known of them
//! without that. A compiler is asked for its version and nothing else.

use std::collections::BTreeMap;

use super::console::Console;
use super::failure::Failure;
use crate::cli::{Exit, PlanArgs};
use crate::compile::command_lines;
use crate::lab::{family, load, planned};
use crate::model::printable;
use crate::report;
use crate::toolchain::Family;

pub fn run(args: &PlanArgs, console: &Console) -> Result<Exit, Failure> {
    let experiment = load(args.matrix.path())?;
    let (plan, notes) = planned(&experiment)?;
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    let lines: Vec<_> = plan
        .builds
        .iter()
        .map(|build| {
            let family = families.entry(&build.command).or_insert_with_key(|command| family(command));
            let lines = command_lines(&experiment, build, *family);
            (build.id.clone(), lines.into_iter().map(|line| (line.what, line.argv)).collect())
        })
        .collect();
    let mut text = report::plan::render(&lines, &plan.baseline_build().id);
    notes.iter().for_each(|note| text.push_str(&format!("note: {}\n", printable(note))));
    console.print(&text)?;
    Ok(Exit::Done)
}
