//! From a path to an `Experiment`: reads the file and those it names, collects what is wrong.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::MatrixError;
use super::keys::Reader;
use super::lab;
use super::place::{Place, SourceFile};
use super::problem::{Problem, Problems, render_plain};
use super::raw::{RawFunction, RawMatrix, read_function_file, read_matrix};
use super::sources::{plain, sibling_names};
use crate::model::{Declaration, Experiment, nearest};
use crate::sandbox::{Project, real};

/// The largest matrix file; a larger one is something else.
const LARGEST: u64 = 4 << 20;

/// Reads and checks a matrix file.
pub fn load(path: &Path) -> Result<Experiment, MatrixError> {
    let absolute = plain(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    let text = read(path).map_err(|(title, help)| {
        let elsewhere = || "start bitrift where the matrix file is, or give the file's path".to_string();
        let help = help.or_else(|| (!path.exists()).then(elsewhere));
        MatrixError::Unreadable { path: absolute.clone(), report: render_plain(&title, help.as_deref()) }
    })?;
    let mut files = vec![source_file(path, text, &absolute)];
    let mut problems = Problems::default();
    let raw = match parse(&files, &mut problems, read_matrix) {
        Some(raw) => raw,
        None => return Err(MatrixError::Syntax { path: absolute, report: problems.render(&files) }),
    };
    let raw = with_function_files(raw, (path, &absolute), &mut files, &mut problems);
    // What could not be read would only cause errors that mislead.
    let experiment = problems.is_empty().then(|| lab::resolve(&raw, &absolute, &mut problems));
    match experiment.filter(|_| problems.is_empty()) {
        Some(experiment) => Ok(with_places(experiment, &raw, &files)),
        None => {
            let count = problems.len();
            Err(MatrixError::Invalid { path: absolute, report: problems.render(&files), problems: count })
        }
    }
}

/// A file whose lines messages may show: one of the project, or beside a matrix that has none around it.
fn source_file(path: &Path, text: String, matrix: &Path) -> SourceFile {
    let project = Project::around(matrix);
    let is_beside = || real(path).parent() == matrix.parent().map(real).as_deref();
    let is_shown = if project.root().is_some() { project.holds(path) } else { is_beside() };
    SourceFile { name: path.display().to_string(), text, is_shown }
}

/// Every function with where it is declared: a later stage that reads the sources can point there.
fn with_places(mut experiment: Experiment, raw: &RawMatrix, files: &[SourceFile]) -> Experiment {
    let starts: Vec<Vec<usize>> = files.iter().map(SourceFile::line_starts).collect();
    for (function, raw) in experiment.functions.iter_mut().zip(&raw.functions) {
        let text = [&raw.signature, &raw.call, &raw.body].into_iter().flatten().next();
        let place = text.map_or(raw.place, |text| text.place);
        let Some((file, starts)) = files.get(place.file).zip(starts.get(place.file)) else { continue };
        let line = starts.partition_point(|start| *start <= place.start);
        let text = file.text[starts[line.max(1) - 1]..].lines().next().filter(|_| file.is_shown);
        let text = text.unwrap_or_default();
        function.declared = Some(Declaration { file: file.name.clone(), line, text: text.trim().to_owned() });
    }
    experiment.declared = experiment.functions.clone();
    experiment
}

/// Parses the last of the files; None, with a problem noted, when it is no TOML.
fn parse<T>(
    files: &[SourceFile],
    problems: &mut Problems,
    read: fn(&mut Reader<'_>, DeTable<'_>) -> T,
) -> Option<T> {
    let (index, file) = (files.len() - 1, files.last()?);
    match DeTable::parse(&file.text) {
        Ok(root) => Some(read(&mut Reader { file, index, problems }, root.into_inner())),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            problems
                .add(Problem::new(Place::new(index, span), "this is not valid TOML").label(error.message()));
            None
        }
    }
}

/// Adds the functions of the files that `functions` names, after the matrix's own.
fn with_function_files(
    mut raw: RawMatrix,
    (path, absolute): (&Path, &Path),
    files: &mut Vec<SourceFile>,
    problems: &mut Problems,
) -> RawMatrix {
    let folder = path.parent().unwrap_or(Path::new(""));
    let project = Project::around(absolute);
    for name in std::mem::take(&mut raw.function_files) {
        let full: PathBuf = folder.join(name.as_str());
        // What is wrong with a file is shown with its lines.
        if project.is_left_by(&plain(&std::path::absolute(&full).unwrap_or_else(|_| full.clone()))) {
            let title = format!("a link leads `{}` out of the project", name.as_str());
            let help = "name the place that it leads to: whoever may change the project could have any file of yours shown";
            problems.add(Problem::new(name.place, title).label("named here").help(help));
            continue;
        }
        match read(&full) {
            Ok(text) => files.push(source_file(&full, text, absolute)),
            Err((title, help)) => {
                let problem = Problem::new(name.place, title).label("named here");
                problems.add(match help {
                    Some(help) => problem.help(help),
                    None => problem,
                });
                continue;
            }
        }
        let before = problems.len();
        let functions: Option<Vec<RawFunction>> = parse(files, problems, read_function_file);
        if problems.len() == before && functions.as_ref().is_some_and(Vec::is_empty) {
            let problem = Problem::new(name.place, format!("`{}` has no [[function]]", name.as_str()));
            problems.add(problem.label("named here"));
        }
        raw.functions.extend(functions.into_iter().flatten());
    }
    raw
}

/// The text of a file, or why there is none and what may help.
fn read(path: &Path) -> Result<String, (String, Option<String>)> {
    let name = path.display();
    if path.is_dir() {
        let inside = path.join("matrix.toml");
        let help = inside.is_file().then(|| format!("did you mean `{}`?", inside.display()));
        return Err((format!("`{name}` is a folder, not a matrix file"), help));
    }
    // The kernel's own files may have no end.
    if std::fs::canonicalize(path).is_ok_and(|real| real.starts_with("/proc") || real.starts_with("/sys")) {
        return Err((format!("`{name}` is no file on a disk"), None));
    }
    let mut bytes = Vec::new();
    let reading = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    if let Err(error) = reading {
        return Err(match error.kind() {
            ErrorKind::NotFound => (format!("there is no file `{name}`"), similar(path)),
            _ => (format!("`{name}` cannot be read: {error}"), None),
        });
    }
    if bytes.len() as u64 > LARGEST {
        return Err((format!("`{name}` is larger than {} MiB; this is no matrix", LARGEST >> 20), None));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = bytes.get(at).copied().unwrap_or(0);
        let title = format!("`{name}` is not UTF-8 text: line {line} has the byte 0x{byte:02x}");
        (title, Some("save the file as UTF-8".into()))
    })
}

/// A file beside a missing one whose name is close.
fn similar(path: &Path) -> Option<String> {
    let absolute = std::path::absolute(path).ok()?;
    let names = sibling_names(&absolute);
    let wanted = path.file_name()?.to_string_lossy();
    let near = nearest(&wanted, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", path.with_file_name(near).display()))
}
