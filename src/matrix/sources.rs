//! `[sources]`, and those of an `[[implementation]]`: globs become files, paths become absolute.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files_of::{Unlisted, files_of};
use super::keys::{Keys, Reader};
use super::place::{At, Text};
use super::problem::{Problem, Problems};
use super::raw::list;
use crate::c::is_identifier;
use crate::model::{Sources, nearest};

/// What a compiler driver takes as C or as its further stages.
const EXTENSIONS: [&str; 4] = ["c", "i", "s", "S"];

#[derive(Default)]
pub(super) struct RawSources {
    pub files: Option<At<Vec<Text>>>,
    pub include: Vec<Text>,
    pub defines: Vec<Text>,
    pub libs: Vec<Text>,
    pub library_path: Vec<Text>,
}

impl RawSources {
    pub fn read(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> RawSources {
        RawSources {
            files: keys.texts(reader, "files"),
            include: list(keys.texts(reader, "include")),
            defines: list(keys.texts(reader, "defines")),
            libs: list(keys.texts(reader, "libs")),
            library_path: list(keys.texts(reader, "library_path")),
        }
    }
}

/// Resolves the sources; `folder` is the matrix file's, absolute.
pub(super) fn resolve(raw: &RawSources, folder: &Path, problems: &mut Problems) -> Sources {
    let files = raw.files.as_ref().map(|list| files(list, folder, problems)).unwrap_or_default();
    for define in &raw.defines {
        check_define(define, problems);
    }
    Sources {
        files,
        include: raw.include.iter().filter_map(|text| include_folder(text, folder, problems)).collect(),
        defines: raw.defines.iter().map(|text| text.value.clone()).collect(),
        libs: raw.libs.iter().filter_map(|text| library(text, folder, problems)).collect(),
        library_path: raw
            .library_path
            .iter()
            .filter_map(|text| library_folder(text, folder, problems))
            .collect(),
    }
}

/// The files that a list of names and globs stands for, sorted.
pub(super) fn files(list: &At<Vec<Text>>, folder: &Path, problems: &mut Problems) -> Vec<PathBuf> {
    if list.value.is_empty() {
        let problem =
            Problem::new(list.place, "`files` is empty").label("expected at least one file or glob");
        problems.add(
            problem
                .help("for example `files = [\"src/*.c\"]`; leave `files` out if headers are all there is"),
        );
    }
    let mut files = Vec::new();
    // The same file by two ways would be linked twice.
    let mut seen = BTreeSet::new();
    for pattern in &list.value {
        match matches(pattern, folder) {
            Ok(found) => files.extend(
                found
                    .into_iter()
                    .filter(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()))),
            ),
            Err(problem) => problems.add(problem),
        }
    }
    files.sort();
    files
}

/// The files of a glob, which have to be there and to be C.
fn matches(pattern: &Text, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let text = pattern.as_str();
    let fail = |title: String| Problem::new(pattern.place, title);
    if text.trim().is_empty() {
        return Err(fail("a file name is empty".into()).label("expected a file or a glob"));
    }
    let paths = files_of(folder, text).map_err(|why| match why {
        Unlisted::Pattern(error) => fail(format!("`{text}` is not a valid glob")).label(error.msg),
        Unlisted::Folder(folder, error) => {
            fail(format!("`{text}` cannot be searched")).label(format!("{}: {error}", folder.display()))
        }
        Unlisted::TooMany => {
            fail(format!("`{text}` is about more files than anybody means")).label("name a folder")
        }
    })?;
    let found: Vec<PathBuf> = paths.iter().map(|path| plain(path)).collect();
    if found.is_empty() {
        return Err(nothing_matches(pattern, folder));
    }
    let is_c =
        |path: &&PathBuf| path.extension().and_then(|e| e.to_str()).is_some_and(|e| EXTENSIONS.contains(&e));
    if let Some(other) = found.iter().find(|path| !is_c(path)) {
        let name = other.file_name().unwrap_or_default().to_string_lossy();
        return Err(fail(format!("`{text}` matches `{name}`, which is not a C source"))
            .label("expected files that end in .c, .i, .s or .S")
            .help("headers are found through `include`; a glob such as `*.c` leaves them out"));
    }
    Ok(found)
}

fn nothing_matches(pattern: &Text, folder: &Path) -> Problem {
    let text = pattern.as_str();
    let relative = "files are looked up from the matrix file's folder";
    if text.contains(['*', '?', '[']) {
        let problem = Problem::new(pattern.place, format!("`{text}` matches no file"));
        return problem.label("no file matches").help(relative);
    }
    let full = folder.join(text);
    if full.is_dir() {
        return Problem::new(pattern.place, format!("`{text}` is a folder"))
            .label(format!("write \"{}/*.c\"", text.trim_end_matches('/')));
    }
    let label = match (full.file_name(), sibling_names(&full)) {
        (Some(name), names) => nearest(&name.to_string_lossy(), names.iter().map(String::as_str))
            .map_or("not found".into(), |near| format!("did you mean `{near}`?")),
        (None, _) => "not found".into(),
    };
    Problem::new(pattern.place, format!("there is no file `{text}`")).label(label).help(relative)
}

/// The files beside a path, sorted.
pub(super) fn sibling_names(path: &Path) -> Vec<String> {
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Without `.` steps; `..` stays, because a link before it may lead elsewhere.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect()
}

fn include_folder(text: &Text, folder: &Path, problems: &mut Problems) -> Option<PathBuf> {
    existing_folder(text, ("an include folder", "-I"), folder, problems)
}

fn library_folder(text: &Text, folder: &Path, problems: &mut Problems) -> Option<PathBuf> {
    existing_folder(text, ("a folder of libraries", "-L"), folder, problems)
}

/// A folder, written without the option that it becomes.
fn existing_folder(
    text: &Text,
    (noun, option): (&str, &str),
    folder: &Path,
    problems: &mut Problems,
) -> Option<PathBuf> {
    let path = plain(&folder.join(text.as_str()));
    if let Some(rest) = text.value.strip_prefix(option) {
        let problem = Problem::new(text.place, format!("{noun} is written without `{option}`"));
        problems.add(problem.label(format!("write \"{}\"", rest.trim())));
        None
    } else if path.is_dir() {
        Some(path)
    } else {
        let problem =
            Problem::new(text.place, format!("there is no folder `{}`", text.as_str())).label("not found");
        problems.add(problem.help("folders are looked up from the matrix file's folder"));
        None
    }
}

fn check_define(define: &Text, problems: &mut Problems) {
    let text = define.as_str();
    if let Some(rest) = text.strip_prefix("-D") {
        let problem = Problem::new(define.place, "a define is written without `-D`");
        problems.add(problem.label(format!("write {:?}", rest.trim())));
        return;
    }
    let name = text.split('=').next().unwrap_or("");
    // A macro may have parameters: "MAX(a,b)=...".
    let word = name.split('(').next().unwrap_or("");
    if !is_identifier(word) {
        let problem = Problem::new(define.place, format!("`{name}` cannot be defined"));
        problems.add(problem.label("expected `NAME` or `NAME=value`"));
    }
}

/// A name as after `-l`, or the path of a library file.
fn library(lib: &Text, folder: &Path, problems: &mut Problems) -> Option<String> {
    let text = lib.as_str();
    let label = if let Some(rest) = text.strip_prefix("-l") {
        format!("write \"{}\"", rest.trim())
    } else if text.is_empty() || text.starts_with('-') || text.contains(' ') && !text.contains('/') {
        "expected a name such as \"m\", as after `-l`".into()
    } else if text.contains('/') {
        let path = plain(&folder.join(text));
        if !path.is_file() {
            problems.add(nothing_matches(lib, folder));
            return None;
        }
        return Some(path.to_string_lossy().into_owned());
    } else {
        return Some(text.into());
    };
    let help = "a library file is given by its path, such as \"./lib/libv.so.1\"";
    problems.add(Problem::new(lib.place, "a library is given by its name alone").label(label).help(help));
    None
}
