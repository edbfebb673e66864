//! The axes of the matrix: `[[compiler]]`, `[[flags]]`, `[[target]]`, and `[[exclude]]` over them.

use std::path::Path;

use super::args;
use super::environment;
use super::names::{Unique, check_name};
use super::place::Text;
use super::problem::{Problem, Problems};
use super::raw::{RawCompiler, RawExclude, RawFlags, RawMatrix, RawTarget};
use super::sources::plain;
use crate::model::{CompilerSpec, Exclude, FlagSet, TargetSpec};

/// The target that is there when none is declared.
const NATIVE: &str = "native";

pub(super) fn compilers(raw: &[RawCompiler], folder: &Path, problems: &mut Problems) -> Vec<CompilerSpec> {
    let mut unique = Unique::default();
    let mut compilers = Vec::new();
    for entry in raw {
        check_name("compiler", &entry.name, problems);
        unique.add("compilers", entry.name.as_str(), entry.name.place, "", problems);
        args::check(&entry.args, problems);
        let command = entry.command.as_ref().unwrap_or(&entry.name);
        compilers.push(CompilerSpec {
            name: entry.name.value.clone(),
            command: command_path(command, folder, problems),
            args: args::resolve(&entry.args, folder),
            optional: entry.optional,
        });
    }
    compilers
}

pub(super) fn flags(raw: &[RawFlags], folder: &Path, problems: &mut Problems) -> Vec<FlagSet> {
    let mut unique = Unique::default();
    let mut sets = Vec::new();
    for entry in raw {
        check_name("flag set", &entry.name, problems);
        unique.add("flag sets", entry.name.as_str(), entry.name.place, "", problems);
        args::check(&entry.args, problems);
        let fpenv = entry.fpenv.as_ref().and_then(|text| environment::fpenv(text, problems));
        sets.push(FlagSet {
            name: entry.name.value.clone(),
            args: args::resolve(&entry.args, folder),
            fpenv: fpenv.unwrap_or_default(),
        });
    }
    sets
}

pub(super) fn targets(
    raw: &[RawTarget],
    compilers: &[RawCompiler],
    folder: &Path,
    problems: &mut Problems,
) -> Vec<TargetSpec> {
    if raw.is_empty() {
        return vec![TargetSpec {
            name: NATIVE.into(),
            triple: None,
            compilers: None,
            args: Vec::new(),
            runner: Vec::new(),
            fpenv: None,
            optional: false,
        }];
    }
    let mut unique = Unique::default();
    let mut targets = Vec::new();
    for entry in raw {
        check_name("target", &entry.name, problems);
        unique.add("targets", entry.name.as_str(), entry.name.place, "", problems);
        args::check(&entry.args, problems);
        check_native(entry, problems);
        if let Some(triple) = &entry.triple {
            check_triple(triple, problems);
        }
        targets.push(TargetSpec {
            name: entry.name.value.clone(),
            triple: entry.triple.as_ref().map(|triple| triple.value.clone()),
            compilers: target_compilers(entry, compilers, folder, problems),
            args: args::resolve(&entry.args, folder),
            runner: runner(entry, folder, problems),
            fpenv: entry.fpenv.as_ref().and_then(|text| environment::fpenv(text, problems)),
            optional: entry.optional,
        });
    }
    targets
}

fn check_native(entry: &RawTarget, problems: &mut Problems) {
    let foreign = [
        ("triple", entry.triple.as_ref().map(|triple| triple.place)),
        ("runner", entry.runner.as_ref().map(|runner| runner.place)),
    ];
    for (key, place) in foreign {
        if let Some(place) = place.filter(|_| entry.name.as_str() == NATIVE) {
            let problem = Problem::new(place, format!("the target `native` cannot have a `{key}`"));
            problems.add(problem.label("native is this machine").help("give the target another name"));
        }
    }
}

fn check_triple(triple: &Text, problems: &mut Problems) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if triple.value.is_empty() || triple.value.starts_with('-') || !triple.value.chars().all(allowed) {
        let problem = Problem::new(triple.place, format!("{:?} is no target triple", triple.as_str()));
        problems.add(problem.label("for example \"aarch64-linux-gnu\""));
    }
}

fn target_compilers(
    entry: &RawTarget,
    compilers: &[RawCompiler],
    folder: &Path,
    problems: &mut Problems,
) -> Option<Vec<(String, String)>> {
    let names = || compilers.iter().map(|compiler| compiler.name.as_str());
    let example = "for example `compilers = { gcc = \"aarch64-linux-gnu-gcc\" }`";
    let Some(list) = &entry.compilers else {
        if entry.name.as_str() != NATIVE {
            let title = format!("the target `{}` does not say which compilers make it", entry.name.as_str());
            problems.add(Problem::new(entry.place, title).label("no `compilers` here").help(example));
        }
        return None;
    };
    if list.value.is_empty() {
        problems
            .add(Problem::new(list.place, "`compilers` is empty").label("expected a command").help(example));
    }
    for (name, _) in &list.value {
        if !names().any(|known| known == name.as_str()) {
            let title = format!("no [[compiler]] is named `{}`", name.as_str());
            let problem = Problem::new(name.place, title);
            problems.add(problem.meant(name.as_str(), names(), "not a declared compiler", "compilers"));
        }
    }
    let commands = list.value.iter();
    Some(
        commands
            .map(|(name, command)| (name.value.clone(), command_path(command, folder, problems)))
            .collect(),
    )
}

fn runner(entry: &RawTarget, folder: &Path, problems: &mut Problems) -> Vec<String> {
    let Some(list) = &entry.runner else { return Vec::new() };
    let Some((command, args)) = list.value.split_first() else {
        let problem = Problem::new(list.place, "`runner` is empty").label("expected a command");
        problems.add(problem.help("leave `runner` out if this machine runs the target's programs itself"));
        return Vec::new();
    };
    args::check(args, problems);
    let mut runner = vec![command_path(command, folder, problems)];
    runner.extend(args.iter().map(|arg| arg.value.clone()));
    runner
}

/// Excludes. A glob that matches nothing is an error.
pub(super) fn excludes(raw: &RawMatrix, targets: &[TargetSpec], problems: &mut Problems) -> Vec<Exclude> {
    let compilers: Vec<&str> = raw.compilers.iter().map(|entry| entry.name.as_str()).collect();
    let flags: Vec<&str> = raw.flags.iter().map(|entry| entry.name.as_str()).collect();
    let targets: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let environments: Vec<&str> = raw.environments.iter().map(|entry| entry.name.as_str()).collect();
    let mut implementations: Vec<&str> = raw.implementations.iter().map(|i| i.name.as_str()).collect();
    implementations.extend(raw.has_unnamed().then_some(""));
    let mut excludes = Vec::new();
    for entry in &raw.exclude {
        let RawExclude { place, implementation, compiler, flags: flag_set, target, environment } = entry;
        if [implementation, compiler, flag_set, target, environment].iter().all(|part| part.is_none()) {
            let problem =
                Problem::new(*place, "[[exclude]] names nothing").label("this would exclude every build");
            problems.add(problem.help(
                "give `implementation`, `compiler`, `flags`, `target` or `environment`, or several of them",
            ));
        }
        check_glob("implementation", implementation.as_ref(), &implementations, problems);
        check_glob("compiler", compiler.as_ref(), &compilers, problems);
        check_glob("flag set", flag_set.as_ref(), &flags, problems);
        check_glob("target", target.as_ref(), &targets, problems);
        check_glob("environment", environment.as_ref(), &environments, problems);
        let value = |text: &Option<Text>| text.as_ref().map(|text| text.value.clone());
        excludes.push(Exclude {
            implementation: value(implementation),
            compiler: value(compiler),
            flags: value(flag_set),
            target: value(target),
            environment: value(environment),
        });
    }
    excludes
}

fn check_glob(kind: &str, text: Option<&Text>, names: &[&str], problems: &mut Problems) {
    let Some(text) = text else { return };
    match glob::Pattern::new(text.as_str()) {
        Err(error) => {
            problems.add(
                Problem::new(text.place, format!("`{}` is not a valid glob", text.as_str())).label(error.msg),
            );
        }
        // What excludes nothing was meant to exclude something.
        Ok(pattern) if !names.iter().any(|name| pattern.matches(name)) => {
            let title = format!("no {kind} matches `{}`", text.as_str());
            let names = names.iter().copied().filter(|name| !name.is_empty());
            let declared = format!("declared {kind}s");
            problems.add(Problem::new(text.place, title).meant(
                text.as_str(),
                names,
                "matches nothing",
                &declared,
            ));
        }
        Ok(_) => {}
    }
}

/// A name to look up in PATH, or an absolute path.
fn command_path(text: &Text, folder: &Path, problems: &mut Problems) -> String {
    let command = text.as_str();
    let path = if command.contains('/') { plain(&folder.join(command)) } else { command.into() };
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else {
        problems.add(Problem::new(text.place, "the command is empty").label("for example \"gcc\""));
        return String::new();
    };
    if command.contains(char::is_whitespace) && !path.is_file() {
        let problem = Problem::new(text.place, format!("`{command}` is not one command"));
        let options: Vec<String> = rest.iter().map(|word| format!("{word:?}")).collect();
        problems.add(if rest.iter().all(|word| word.starts_with('-')) {
            let help =
                format!("no shell splits commands; put options into `args = [{}]`", options.join(", "));
            problem.label(format!("write {first:?}")).help(help)
        } else {
            let help =
                "no shell splits commands; a wrapper such as ccache needs a script of its own to name here";
            problem.label("expected a single program").help(help)
        });
    }
    path.to_string_lossy().into_owned()
}
