//! `[harness]`: C beside the code under test, compiled in the same way for all builds of a target.

use std::path::Path;

use toml::de::DeTable;

use super::args;
use super::keys::{Keys, Reader};
use super::place::{At, Place, Text};
use super::problem::{Problem, Problems};
use super::raw::list;
use super::sources;
use crate::model::{Harness, Implementation};

pub(super) const HARNESS: &[&str] = &["files", "args"];

pub(super) struct RawHarness {
    place: Place,
    files: Option<At<Vec<Text>>>,
    args: Vec<Text>,
}

impl RawHarness {
    pub fn read(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> RawHarness {
        let mut keys = Keys::open(reader, "[harness]", place, table, HARNESS);
        RawHarness { place, files: keys.texts(reader, "files"), args: list(keys.texts(reader, "args")) }
    }
}

/// The harness of a matrix. A file that an implementation has too would be linked twice.
pub(super) fn resolve(
    raw: Option<&RawHarness>,
    implementations: &[Implementation],
    folder: &Path,
    problems: &mut Problems,
) -> Harness {
    let Some(raw) = raw else { return Harness::default() };
    let Some(list) = &raw.files else {
        let problem = Problem::new(raw.place, "[harness] needs `files`").label("no `files` here");
        problems.add(problem.help("for example `files = [\"harness/generate.c\"]`"));
        return Harness::default();
    };
    args::check(&raw.args, problems);
    let files = sources::files(list, folder, problems);
    let tested = |file: &&std::path::PathBuf| implementations.iter().any(|i| i.sources.files.contains(file));
    if let Some(file) = files.iter().find(tested) {
        let name = file.strip_prefix(folder).unwrap_or(file).display();
        let problem = Problem::new(list.place, format!("`{name}` is in [harness] and among the sources"));
        problems.add(problem.label("compiled twice, it could not be linked").help(
            "code under test belongs in [sources], code that must not change with the flags in [harness]",
        ));
    }
    Harness { files, args: args::resolve(&raw.args, folder) }
}
