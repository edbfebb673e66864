//! `bitrift plan`: the builds and their exact command lines, without running any, and what is known of them
//! without that. A compiler is asked for its version and nothing else.

use std::collections::BTreeMap;

use super::console::Console;
use super::failure::Failure;
use crate::cli::{Exit, PlanArgs};
use crate::compile::{command_lines, foreseen};
use crate::lab::{family, load, planned};
use crate::model::{Build, Experiment, printable};
use crate::report;
use crate::report::plan::PlannedBuild;
use crate::toolchain::Family;

pub fn run(args: &PlanArgs, console: &Console) -> Result<Exit, Failure> {
    let experiment = load(args.matrix.path())?;
    let (mut plan, notes) = planned(&experiment)?;
    let apart: BTreeMap<usize, String> = foreseen(&experiment, &plan.builds).into_iter().collect();
    apart.keys().for_each(|&place| plan.builds[place].apart = true);
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    let lines: Vec<_> = plan
        .builds
        .iter()
        .enumerate()
        .map(|(place, build)| {
            let family = families.entry(&build.command).or_insert_with_key(|command| family(command));
            let lines = command_lines(&experiment, build, *family);
            PlannedBuild {
                id: build.id.clone(),
                note: note(&experiment, build, apart.get(&place)),
                steps: lines.into_iter().map(|line| (line.what, line.argv)).collect(),
            }
        })
        .collect();
    let mut text = report::plan::render(&lines, &plan.baseline_build().id);
    notes.iter().for_each(|note| text.push_str(&format!("note: {}\n", printable(note))));
    console.print(&text)?;
    Ok(Exit::Done)
}

/// What the libraries of a build mean for how it is linked. What its own code defines is known when that is compiled.
fn note(experiment: &Experiment, build: &Build, apart: Option<&String>) -> Option<String> {
    if let Some(why) = apart {
        return Some(format!("a program of its own: {why}"));
    }
    let further = |lib: &String| !["m", "c"].contains(&lib.as_str()) && !lib.ends_with(".a");
    let has_further = experiment.implementation(build).sources.libs.iter().any(further);
    (build.is_loaded() && has_further).then(|| {
        "linked as a program of its own instead, if its libraries take symbols from its code or belong to another \
         implementation too"
            .into()
    })
}
