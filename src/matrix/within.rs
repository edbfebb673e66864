//! `within` of a function: the source at whose end it is called.

use std::path::{Path, PathBuf};

use super::place::Text;
use super::problem::{Problem, Problems};
use super::sources::plain;
use crate::model::Implementation;

/// The source that a text names: its path from the matrix file, or the end of the path that one source alone has.
pub(super) fn resolve(
    text: &Text,
    implementations: &[Implementation],
    folder: &Path,
    problems: &mut Problems,
) -> Option<PathBuf> {
    let sources: Vec<&PathBuf> = implementations.iter().flat_map(|i| &i.sources.files).collect();
    let full = plain(&folder.join(text.as_str()));
    if sources.contains(&&full) {
        return is_c(text, full, problems);
    }
    let ending: Vec<&&PathBuf> = sources.iter().filter(|path| path.ends_with(text.as_str())).collect();
    if let [one] = ending[..] {
        return is_c(text, one.to_path_buf(), problems);
    }
    let shown = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let names: Vec<String> = sources.iter().map(|path| shown(path)).collect();
    let name = text.as_str();
    let problem = match ending.len() {
        0 => Problem::new(text.place, format!("`{name}` is none of the sources")).meant(
            name,
            names.iter().map(String::as_str),
            "not among `files`",
            "sources",
        ),
        _ => Problem::new(text.place, format!("several sources end in `{name}`"))
            .label("which one?")
            .help(format!("sources: {}", names.join(", "))),
    };
    problems.add(problem);
    None
}

/// Calls are written in C, so only a source in C can have them at its end.
fn is_c(text: &Text, path: PathBuf, problems: &mut Problems) -> Option<PathBuf> {
    if path.extension().is_some_and(|ending| ending == "c" || ending == "i") {
        return Some(path);
    }
    let problem = Problem::new(text.place, format!("`{}` is not C", text.as_str()));
    problems.add(problem.label("expected a source that ends in .c or .i"));
    None
}
