//! The guilty files: objects of both builds linked together in ever smaller sets.

use std::path::Path;

use super::delta::Parts;
use super::environment::row;
use super::error::ExplainError;
use super::inquiry::{Inquiry, Search};
use super::scene::Scene;
use crate::compile::{Mix, Part};
use crate::model::{Experiment, LayerRow, Standing, Suspect};

/// A set of files needed together.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileSet {
    /// Places among the experiment's sources.
    pub files: Parts,
    /// The matrix's own C, which calls the function, is among them.
    pub call: bool,
}

impl FileSet {
    fn new(parts: &Parts, sources: usize) -> FileSet {
        FileSet {
            files: parts.iter().copied().filter(|part| *part < sources).collect(),
            call: parts.contains(&sources),
        }
    }
}

/// The layer's answer and the sets it names.
pub fn files(inquiry: &Inquiry<'_>) -> Result<(LayerRow, Vec<FileSet>), ExplainError> {
    let sources = inquiry.scene.sources().files.len();
    let mix = |parts: &Parts| mixed(inquiry, &FileSet::new(parts, sources));
    // The last part is the matrix's own C.
    let found = match inquiry.search(sources + 1, mix)? {
        Search::Senseless(why) => {
            let text = format!("objects of the two builds cannot be told apart: {why}{}", inquiry.troubles());
            return Ok((row(Standing::Stopped, Vec::new(), text), Vec::new()));
        }
        Search::Found(found) => found,
    };
    let sets: Vec<FileSet> = found.sets.iter().map(|set| FileSet::new(set, sources)).collect();
    let causes: Vec<Vec<Suspect>> = sets.iter().map(|set| suspects(inquiry, set)).collect();
    let standing = if found.complete { Standing::Found } else { Standing::Likely };
    let text = format!("{}{}", words(&causes, found.complete, |s| s.file.clone()), inquiry.troubles());
    Ok((row(standing, causes, text), sets))
}

/// These files as the variant has them, all others as the reference has them.
pub fn mixed(inquiry: &Inquiry<'_>, set: &FileSet) -> Mix {
    let mut mix = inquiry.scene.innocent();
    let variant = &inquiry.scene.variant.build;
    for &file in &set.files {
        mix.sources[file] = Part::of(variant);
    }
    if set.call {
        mix.shims[inquiry.case.function] = variant.clone();
    }
    mix
}

fn suspects(inquiry: &Inquiry<'_>, set: &FileSet) -> Vec<Suspect> {
    let experiment = inquiry.scene.desk.experiment;
    let of = |file: String| Suspect { file, ..Suspect::default() };
    let files = set.files.iter().map(|&file| of(shown(&inquiry.scene, file)));
    let call = set.call.then(|| of(format!("call of {}", experiment.functions[inquiry.case.function].name)));
    files.chain(call).collect()
}

/// A source as messages name it: from the matrix's folder where it is below it.
pub fn shown(scene: &Scene<'_>, file: usize) -> String {
    shown_path(scene.desk.experiment, &scene.sources().files[file])
}

/// The same of any file.
pub fn shown_path(experiment: &Experiment, path: &Path) -> String {
    let folder = experiment.path.parent().unwrap_or(Path::new("/"));
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// Causes in words: what alone is enough, and what is needed together.
pub fn words(causes: &[Vec<Suspect>], complete: bool, name: impl Fn(&Suspect) -> String) -> String {
    let set = |set: &Vec<Suspect>| {
        let names: Vec<String> = set.iter().map(&name).collect();
        match names.len() {
            1 => names.concat(),
            _ => format!("{} together", names.join(" and ")),
        }
    };
    let sets: Vec<String> = causes.iter().map(set).collect();
    let more = if complete { "" } else { ", and others" };
    match sets.len() {
        1 => format!("{}{more}", sets.concat()),
        _ => format!("each alone: {}{more}", sets.join("; ")),
    }
}
