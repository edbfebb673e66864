//! `[sandbox]`: what compilers and code under test may read beside the project and the system.

use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::keys::{Keys, Reader};
use super::place::{Place, Text};
use super::problem::{Problem, Problems};
use super::raw::list;
use super::sources::{plain, sibling_names};
use crate::model::{SandboxSettings, nearest};

pub(super) const SANDBOX: &[&str] = &["read"];

#[derive(Default)]
pub(super) struct RawSandbox {
    read: Vec<Text>,
}

impl RawSandbox {
    pub fn read(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> RawSandbox {
        let mut keys = Keys::open(reader, "[sandbox]", place, table, SANDBOX);
        RawSandbox { read: list(keys.texts(reader, "read")) }
    }
}

pub(super) fn resolve(raw: &RawSandbox, folder: &Path, problems: &mut Problems) -> SandboxSettings {
    SandboxSettings { read: raw.read.iter().filter_map(|text| existing(text, folder, problems)).collect() }
}

/// A file or a folder that is there.
fn existing(text: &Text, folder: &Path, problems: &mut Problems) -> Option<PathBuf> {
    let fail = |title: String| Problem::new(text.place, title);
    let help = "paths are looked up from the matrix file's folder";
    let name = text.as_str();
    if name.trim().is_empty() {
        problems.add(fail("a path is empty".into()).label("expected a file or a folder").help(help));
        return None;
    }
    let path = plain(&folder.join(name));
    if ["/proc", "/sys"].iter().any(|kernel| path.starts_with(kernel)) {
        let title = format!("`{name}` is not a place for files: the kernel writes what is there");
        problems.add(
            fail(title)
                .label("cannot be let in")
                .help("what code may see of the kernel and of CPUs it sees anyway"),
        );
        return None;
    }
    if path.exists() {
        return Some(path);
    }
    let title = format!("there is no file or folder `{name}`");
    problems.add(if name.contains(['*', '?']) {
        fail(title).label("globs are not expanded here").help("name the folder that the files are in")
    } else if name.starts_with('~') {
        fail(title).label("`~` is not expanded here").help("write the whole path")
    } else {
        let wanted = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = sibling_names(&path);
        let near = nearest(&wanted, names.iter().map(String::as_str));
        fail(title)
            .label(near.map_or("not found".into(), |near| format!("did you mean `{near}`?")))
            .help(help)
    });
    None
}
