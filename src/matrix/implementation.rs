//! `[[implementation]]`: code of its own for the functions under test, and how they are called there.

use std::path::Path;

use toml::de::DeTable;

use super::function::expression;
use super::keys::{Keys, Reader};
use super::names::{Unique, check_headers, check_name};
use super::place::{At, Place, Text};
use super::problem::{Problem, Problems};
use super::raw::{RawMatrix, list};
use super::sources::{self, RawSources};
use crate::model::{Function, Implementation};

const IMPLEMENTATION: &[&str] = &[
    "name",
    "files",
    "include",
    "defines",
    "libs",
    "library_path",
    "headers",
    "setup",
    "compilers",
    "flags",
];

pub(super) struct RawImplementation {
    pub place: Place,
    pub name: Text,
    pub sources: RawSources,
    pub headers: Vec<Text>,
    pub setup: Option<Text>,
    pub compilers: Option<At<Vec<Text>>>,
    pub flags: Option<At<Vec<Text>>>,
}

pub(super) fn read(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> Option<RawImplementation> {
    let mut keys = Keys::open(reader, "[[implementation]]", place, table, IMPLEMENTATION);
    Some(RawImplementation {
        place,
        sources: RawSources::read(reader, &mut keys),
        headers: list(keys.texts(reader, "headers")),
        setup: keys.text(reader, "setup"),
        compilers: keys.texts(reader, "compilers"),
        flags: keys.texts(reader, "flags"),
        name: keys.required(reader, "name", "`name = \"gsl\"`")?,
    })
}

/// All implementations: `[sources]` first, unless named ones are all there is.
pub(super) fn resolve(
    raw: &RawMatrix,
    functions: &[Function],
    folder: &Path,
    problems: &mut Problems,
) -> Vec<Implementation> {
    let mut implementations = Vec::new();
    if raw.has_unnamed() {
        let nothing = RawSources::default();
        let own = raw.sources.as_ref().unwrap_or(&nothing);
        implementations.push(Implementation {
            sources: sources::resolve(own, folder, problems),
            setup: raw.setup.as_ref().map(|setup| setup.value.clone()),
            setup_headers: values(&raw.setup_headers),
            ..Implementation::default()
        });
    } else {
        check_unnamed(raw, problems);
    }
    let mut unique = Unique::default();
    for entry in &raw.implementations {
        unique.add("implementations", entry.name.as_str(), entry.name.place, "", problems);
        implementations.push(named(entry, raw, folder, problems));
    }
    calls(raw, functions, &mut implementations, problems);
    implementations
}

fn named(
    entry: &RawImplementation,
    raw: &RawMatrix,
    folder: &Path,
    problems: &mut Problems,
) -> Implementation {
    check_name("implementation", &entry.name, problems);
    check_headers(&entry.headers, problems);
    let RawSources { files, libs, .. } = &entry.sources;
    if files.is_none() && libs.is_empty() && entry.headers.is_empty() {
        let problem =
            Problem::new(entry.place, format!("the implementation `{}` has no code", entry.name.as_str()));
        problems.add(
            problem.label("expected `files`, `libs` or `headers`").help("for example `libs = [\"gsl\"]`"),
        );
    }
    let compilers: Vec<&str> = raw.compilers.iter().map(|c| c.name.as_str()).collect();
    let flags: Vec<&str> = raw.flags.iter().map(|f| f.name.as_str()).collect();
    // Presets bring names of their own.
    let known = raw.presets.is_empty();
    let mut globs = |list: &Option<At<Vec<Text>>>, kind: &str, names: &[&str]| {
        let list = list.as_ref()?;
        if list.value.is_empty() {
            let title = format!("no {kind} is named here, so that there would be no build");
            problems.add(Problem::new(list.place, title).label("leave it out for all of them"));
        }
        list.value.iter().for_each(|text| check_crossed(text, kind, known.then_some(names), problems));
        Some(values(&list.value))
    };
    let (compilers, flags) =
        (globs(&entry.compilers, "compiler", &compilers), globs(&entry.flags, "flag set", &flags));
    let headers = values(&entry.headers);
    Implementation {
        name: entry.name.value.clone(),
        sources: sources::resolve(&entry.sources, folder, problems),
        setup: entry.setup.as_ref().map(|setup| setup.value.clone()),
        setup_headers: headers.clone(),
        headers,
        compilers,
        flags,
        ..Implementation::default()
    }
}

/// A name or glob of an axis, which has to match something.
fn check_crossed(text: &Text, kind: &str, names: Option<&[&str]>, problems: &mut Problems) {
    match (glob::Pattern::new(text.as_str()), names) {
        (Err(error), _) => {
            let problem = Problem::new(text.place, format!("`{}` is not a valid glob", text.as_str()));
            problems.add(problem.label(error.msg));
        }
        (Ok(pattern), Some(names)) if !names.iter().any(|name| pattern.matches(name)) => {
            let problem = Problem::new(text.place, format!("no {kind} matches `{}`", text.as_str()));
            let names = names.iter().copied();
            problems.add(problem.meant(
                text.as_str(),
                names,
                "matches nothing",
                &format!("declared {kind}s"),
            ));
        }
        _ => {}
    }
}

/// What belongs to `[sources]` has no place where that is not.
fn check_unnamed(raw: &RawMatrix, problems: &mut Problems) {
    let whose = "is for [sources], which this matrix has not";
    if let Some(setup) = &raw.setup {
        let problem = Problem::new(setup.place, format!("this `setup` {whose}")).label("nobody runs it");
        problems.add(problem.help("an [[implementation]] has a `setup` of its own"));
    }
    for function in &raw.functions {
        for (key, text) in [("call", &function.call), ("body", &function.body)] {
            if let Some(text) = text {
                let name = raw.implementations.first().map_or("gsl", |first| first.name.as_str());
                let problem = Problem::new(text.place, format!("`{key}` {whose}")).label("nobody calls it");
                problems.add(problem.help(format!("write `calls = {{ {name} = \"f(x)\" }}`")));
            }
        }
    }
}

/// Gives every implementation the calls that functions have for it.
fn calls(
    raw: &RawMatrix,
    functions: &[Function],
    implementations: &mut [Implementation],
    problems: &mut Problems,
) {
    // A function that could not be read has its own problem.
    let readable = raw.functions.len() == functions.len();
    for (n, (name, text)) in
        raw.functions.iter().enumerate().flat_map(|(n, f)| f.calls.iter().map(move |c| (n, c)))
    {
        let callee = expression("calls", text, problems);
        let found = implementations.iter_mut().find(|i| !i.name.is_empty() && i.name == name.value);
        match (found, callee) {
            (None, _) => problems.add(unknown(name, raw)),
            (Some(implementation), Some(callee)) if readable => {
                implementation.calls.insert(functions[n].name.clone(), callee);
            }
            _ => {}
        }
    }
}

fn unknown(name: &Text, raw: &RawMatrix) -> Problem {
    let names: Vec<&str> = raw.implementations.iter().map(|entry| entry.name.as_str()).collect();
    let problem = Problem::new(name.place, format!("no [[implementation]] is named `{}`", name.as_str()));
    if names.is_empty() {
        let example = format!("add\n[[implementation]]\nname = \"{}\"\nlibs = [\"...\"]", name.as_str());
        return problem.label("the matrix declares none").help(example);
    }
    problem.meant(
        name.as_str(),
        names.iter().copied(),
        "not a declared implementation",
        "declared implementations",
    )
}

fn values(texts: &[Text]) -> Vec<String> {
    texts.iter().map(|text| text.value.clone()).collect()
}
