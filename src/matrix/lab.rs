//! The whole matrix: from the raw mirror to an `Experiment`.

use std::path::Path;

use super::place::{Place, Text};
use super::problem::{Problem, Problems};
use super::raw::RawMatrix;
use super::{axes, environment, function, harness, implementation, limit, names, sandbox, search, within};
use crate::model::{BuildId, Callee, Experiment, Function, Preset, TargetSpec};

/// Resolves a matrix whose file is at `path`, absolute.
pub(super) fn resolve(raw: &RawMatrix, path: &Path, problems: &mut Problems) -> Experiment {
    let folder = path.parent().unwrap_or(Path::new("/"));
    require(raw, problems);
    let compilers = axes::compilers(&raw.compilers, folder, problems);
    let flags = axes::flags(&raw.flags, folder, problems);
    let targets = axes::targets(&raw.targets, &raw.compilers, folder, problems);
    let environments = environment::environments(&raw.environments, folder, problems);
    let exclude = axes::excludes(raw, &targets, problems);
    let presets = presets(&raw.presets, problems);
    // Presets bring names of their own; the plan knows all of them.
    if let Some(baseline) = raw.baseline.as_ref().filter(|_| raw.presets.is_empty()) {
        check_baseline(baseline, raw, &targets, problems);
    }
    let mut functions = function::resolve(&raw.functions, problems);
    let implementations = implementation::resolve(raw, &functions, folder, problems);
    let harness = harness::resolve(raw.harness.as_ref(), &implementations, folder, problems);
    for (function, text) in functions.iter_mut().zip(raw.functions.iter().map(|f| &f.within)) {
        let text = text.as_ref();
        function.within = text.and_then(|text| within::resolve(text, &implementations, folder, problems));
    }
    let given = raw.sources.as_ref().is_some_and(|s| s.files.is_some() || !s.libs.is_empty());
    if raw.has_unnamed() && !given {
        check_defined(&functions, problems);
    }
    let limits = limit::resolve(&raw.limits, &raw.functions, &functions, problems);
    names::check_headers(&raw.setup_headers, problems);
    if let Some(name) = raw.name.as_ref().filter(|name| name.value.trim().is_empty()) {
        problems.add(Problem::new(name.place, "the name is empty").label("for example \"quickstart\""));
    }
    Experiment {
        name: lab_name(raw, path),
        path: path.to_owned(),
        baseline: raw.baseline.as_ref().map(|baseline| baseline.value.clone()),
        implementations,
        harness,
        sandbox: sandbox::resolve(&raw.sandbox, folder, problems),
        presets,
        compilers,
        flags,
        targets,
        environments,
        exclude,
        declared: functions.clone(),
        functions,
        search: search::resolve(&raw.search, problems),
        limits,
    }
}

fn presets(raw: &[Text], problems: &mut Problems) -> Vec<Preset> {
    raw.iter().filter_map(|text| environment::choose("presets", text, &Preset::ALL, problems)).collect()
}

/// As given, or else the file's name without its ending.
fn lab_name(raw: &RawMatrix, path: &Path) -> String {
    match &raw.name {
        Some(name) => name.value.clone(),
        None => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

/// What a matrix cannot do without.
fn require(raw: &RawMatrix, problems: &mut Problems) {
    let file = Place::new(0, 0..0);
    for (missing, what, example) in [
        (raw.compilers.is_empty() && raw.presets.is_empty(), "compiler", "[[compiler]]\nname = \"gcc\""),
        (
            raw.flags.is_empty() && raw.presets.is_empty(),
            "flags",
            "[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]",
        ),
        (raw.functions.is_empty(), "function", "[[function]]\nsignature = \"double f(double x)\""),
    ] {
        if missing {
            problems.add(
                Problem::new(file, format!("the matrix has no [[{what}]]")).help(format!("add\n{example}")),
            );
        }
    }
}

/// A baseline is `compiler/flags/target`, and `/environment` where any is declared; its tail may be left out where
/// one build is meant anyway. An implementation with a name stands in front.
fn check_baseline(baseline: &Text, raw: &RawMatrix, targets: &[TargetSpec], problems: &mut Problems) {
    let (implementation, cell) = BuildId::split(baseline.as_str());
    if !check_whose(baseline, implementation, raw, problems) {
        return;
    }
    let parts: Vec<&str> = cell.split('/').collect();
    let compilers: Vec<&str> = raw.compilers.iter().map(|entry| entry.name.as_str()).collect();
    let nameless = parts.len() == 1 && !compilers.contains(&cell);
    let environments: Vec<&str> = raw.environments.iter().map(|entry| entry.name.as_str()).collect();
    let most = if environments.is_empty() { 3 } else { 4 };
    if nameless || parts.len() > most || parts.iter().any(|part| part.is_empty()) {
        let problem =
            Problem::new(baseline.place, format!("`{}` is not the name of a build", baseline.as_str()));
        problems.add(problem.label("expected `compiler/flags/target`, such as \"gcc/O0/native\""));
        return;
    }
    let flags: Vec<&str> = raw.flags.iter().map(|entry| entry.name.as_str()).collect();
    let targets: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let mut start = baseline.value.len() - cell.len();
    let axes =
        [("compiler", compilers), ("flag set", flags), ("target", targets), ("environment", environments)];
    for (part, (kind, names)) in parts.iter().zip(axes) {
        if !names.contains(part) && !names.is_empty() {
            let place = baseline.part(start..start + part.len());
            let problem = Problem::new(place, format!("the baseline's {kind} `{part}` is not declared"));
            let list = format!("declared {kind}s");
            let problem = problem.meant(part, names.iter().copied(), "unknown", &list);
            problems.add(match *part {
                "native" => problem.help(
                    "`native` is implied only when no target is declared; add
[[target]]
name = \"native\"",
                ),
                _ => problem,
            });
        }
        start += part.len() + 1;
    }
}

/// Whether the implementation of a baseline is there; a problem is noted when it is not.
fn check_whose(baseline: &Text, name: &str, raw: &RawMatrix, problems: &mut Problems) -> bool {
    let names: Vec<&str> = raw.implementations.iter().map(|entry| entry.name.as_str()).collect();
    if !baseline.value.contains(':') {
        let Some(first) = names.first().filter(|_| !raw.has_unnamed()) else { return true };
        let problem = Problem::new(baseline.place, "the baseline does not say which implementation it is");
        let label = format!("write \"{first}:{}\"", baseline.as_str());
        problems
            .add(problem.label(label).help("a build without one is of [sources], which this matrix has not"));
        return false;
    }
    if !names.contains(&name) {
        let title = format!("the baseline's implementation `{name}` is not declared");
        let problem = Problem::new(baseline.part(0..name.len()), title);
        problems.add(problem.meant(name, names.iter().copied(), "unknown", "declared implementations"));
        return false;
    }
    true
}

/// Without sources and libraries a prototype has nothing behind it.
fn check_defined(functions: &[Function], problems: &mut Problems) {
    if let Some(function) = functions.iter().find(|f| matches!(f.callee, Callee::Signature(_))) {
        let title = format!("nothing defines `{}`: the matrix has no sources", function.name);
        let help = "add\n[sources]\nfiles = [\"src/*.c\"]\nor name the library that has it in `libs`";
        problems.add(Problem::new(Place::new(0, 0..0), title).help(help));
    }
}
