//! `bitrift plan`: the builds and their exact command lines, and what is known of them without running any. No command
//! that the matrix names is executed, unless a preset or the user asks for it; then the plan says so.

use std::collections::BTreeMap;

use super::console::Console;
use super::failure::Failure;
use crate::cli::{Exit, PlanArgs};
use crate::compile::{command_lines, foreseen};
use crate::lab::{Means, family, load, opened, planned, tool_reach};
use crate::model::{Build, Experiment, Preset, printable};
use crate::report;
use crate::report::plan::PlannedBuild;
use crate::toolchain::{Compilers, Family};

pub fn run(args: &PlanArgs, console: &Console) -> Result<Exit, Failure> {
    let means = Means { no_sandbox: args.no_sandbox, ..Means::default() };
    let experiment = load(args.matrix.path(), &means)?;
    let compilers = Compilers::new(tool_reach(&experiment, &means));
    let (mut plan, notes) = planned(&experiment, compilers.reach())?;
    let apart: BTreeMap<usize, String> =
        foreseen(&experiment, &plan.builds, compilers.reach()).into_iter().collect();
    apart.keys().for_each(|&place| plan.builds[place].apart = true);
    let of_command =
        |command: &str| if args.ask { family(command, &compilers) } else { Family::guess(command) };
    let mut families: BTreeMap<&str, Family> = BTreeMap::new();
    let lines: Vec<_> = plan
        .builds
        .iter()
        .enumerate()
        .map(|(place, build)| {
            let family = families.entry(&build.command).or_insert_with_key(|command| of_command(command));
            let lines = command_lines(&experiment, build, *family);
            PlannedBuild {
                id: build.id.clone(),
                note: note(&experiment, build, apart.get(&place)),
                steps: lines.into_iter().map(|line| (line.what, line.argv)).collect(),
            }
        })
        .collect();
    let mut text = report::plan::render(&lines, &plan.baseline_build().id);
    let commands: Vec<&str> = families.keys().copied().collect();
    let silent: Vec<&str> = commands
        .iter()
        .copied()
        .filter(|command| args.ask && !compilers.find(command).is_ok_and(|compiler| compiler.told))
        .collect();
    let asked = asked(&experiment, (&commands, &silent), args.ask);
    let opened = opened(&experiment, &means);
    notes
        .iter()
        .chain(&opened)
        .chain(&asked)
        .for_each(|note| text.push_str(&format!("note: {}\n", printable(note))));
    console.print(&text)?;
    Ok(Exit::Done)
}

/// What was executed to make the plan, and why; and what was not.
fn asked(experiment: &Experiment, (commands, silent): (&[&str], &[&str]), ask: bool) -> Vec<String> {
    let list = |commands: &[&str]| commands.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ");
    let mut notes = Vec::new();
    if experiment.presets.contains(&Preset::FastMath) {
        let asked: Vec<&str> =
            experiment.compilers.iter().map(|compiler| compiler.command.as_str()).collect();
        let asked = list(&asked);
        notes
            .push(format!("asked {asked} what -ffast-math stands for: the preset `fast-math` depends on it"));
    }
    let all = list(commands);
    notes.push(match ask {
        true if !silent.is_empty() => format!(
            "asked {all} for --version; {} did not tell who it is, and is taken by its name (`bitrift doctor` says why)",
            list(silent)
        ),
        true => format!("asked {all} for --version: that tells which arguments a compiler takes"),
        false => format!(
            "not asked: {all}; which arguments a compiler takes is told by its name here. \
             `bitrift plan --ask` runs each with --version to know"
        ),
    });
    notes
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
