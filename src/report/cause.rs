//! Causes of findings in words, for every report that names them.

use std::fmt::Write;

use super::number::plural;
use crate::model::{
    CauseRow, Cost, ExplainFile, Explained, FixRow, Layer, LayerRow, Standing, Suspect, printable,
};

/// What is to blame of two builds that are not of the same code; no part of the environment.
pub(super) const IMPLEMENTATION: &str = "implementation";

/// `a.c:3:9 in f`, `f in a.c`, `a.c`, or what of the environment is to blame.
pub(super) fn place(suspect: &Suspect) -> String {
    let Suspect { environment, file, function, line, column, .. } = suspect;
    let [environment, file, function] = [environment, file, function].map(|word| printable(word));
    match (environment.is_empty(), *line > 0, function.is_empty()) {
        (false, ..) if environment == IMPLEMENTATION => environment,
        (false, ..) => format!("environment: {environment}"),
        (_, true, true) => format!("{file}:{line}:{column}"),
        (_, true, false) => format!("{file}:{line}:{column} in {function}"),
        (_, false, false) => format!("{function} in {file}"),
        (_, false, true) => file,
    }
}

/// What is guilty: `or` between what is enough alone, `and` between what is needed together.
pub(super) fn places(cause: &CauseRow) -> String {
    let set = |set: &Vec<Suspect>| set.iter().map(place).collect::<Vec<_>>().join(" and ");
    cause.causes.iter().map(set).collect::<Vec<_>>().join(" or ")
}

/// The same with flags and pass, as it is stored.
pub(super) fn line(cause: &CauseRow) -> String {
    let certainty = if cause.certain { "" } else { " (likely)" };
    printable(&cause.text) + certainty
}

/// What a layer says of the first finding of a cause; None when it was not asked.
pub(super) fn layer<'a>(file: &'a ExplainFile, cause: &CauseRow, layer: Layer) -> Option<&'a LayerRow> {
    file.findings.get(cause.findings.first()?)?.layers.get(&layer)
}

/// The flags or the passes that a layer names, a text for each set that is enough alone.
pub(super) fn named(file: &ExplainFile, cause: &CauseRow, which: Layer) -> Vec<String> {
    let name = |s: &Suspect| [&s.flag, &s.pass].into_iter().find(|n| !n.is_empty()).map(|n| printable(n));
    let set = |set: &Vec<Suspect>| set.iter().filter_map(name).collect::<Vec<_>>().join(" ");
    let sets = layer(file, cause, which).map(|row| row.causes.iter().map(set)).into_iter().flatten();
    sets.filter(|names| !names.is_empty()).collect()
}

/// `41 findings explained: 3 causes`, with what is not.
pub(super) fn count(file: &ExplainFile) -> String {
    let open = file.findings.values().filter(|row| row.explained != Explained::Yes).count();
    let explained = plural(file.findings.len() - open, "finding");
    let mut text = format!("{explained} explained: {}", plural(file.causes.len(), "cause"));
    if open > 0 {
        let _ = write!(text, ", {open} not explained");
    }
    text
}

pub(super) fn fix_words(fix: &FixRow) -> String {
    format!("{}; {}", fix.what, fix_effect(fix))
}

/// What a patch changes, in numbers.
pub(super) fn fix_effect(fix: &FixRow) -> String {
    let FixRow { cured, of, ns, .. } = fix;
    let mut text = format!("takes away {cured} of {}", plural(*of, "finding"));
    if let Some((without, with)) = ns {
        let _ = write!(text, "; {without:.1} ns a call become {with:.1}");
    }
    text
}

pub(super) fn explained_word(explained: Explained) -> &'static str {
    match explained {
        Explained::Yes => "explained",
        Explained::No => "open",
        Explained::Gone => "gone",
        Explained::SourceChanged => "changed",
        Explained::Unavailable => "unavailable",
    }
}

pub(super) fn standing_word(standing: Standing) -> &'static str {
    match standing {
        Standing::Found => "found",
        Standing::Likely => "likely",
        Standing::Nothing => "nothing",
        Standing::Stopped => "stopped",
    }
}

pub(super) fn spent(cost: Cost) -> String {
    let Cost { compiles, links, evaluations } = cost;
    format!("{compiles} compiles, {links} links, {evaluations} evaluations")
}
