//! Reading `run.json` and other stored JSON, however damaged or hostile the file is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use super::error::shown;
use super::fold::fold;
use super::{Beside, FolderState, RunFolder, StoreError, check, locate};
use crate::model::{Misfit, RunFile, SCHEMA, StoredRun, printable};

/// More than this is no run of ours, and would only fill the memory.
const LARGEST: u64 = 1 << 30;

/// The run in a folder.
pub fn read_run(folder: &Path) -> Result<RunFile, StoreError> {
    let path = shown(folder);
    match RunFolder::state(folder)? {
        FolderState::Absent => {
            let root = folder.parent().map(shown).filter(|p| !p.is_empty());
            Err(StoreError::NoSuchRun { path, root: root.unwrap_or_else(|| ".".into()) })
        }
        FolderState::Empty | FolderState::Foreign => Err(StoreError::NotARun { path }),
        FolderState::Incomplete => {
            let (done, total) = RunFolder::progress(folder)?;
            Err(StoreError::Incomplete { path, done, total })
        }
        FolderState::Complete => read_run_file(&RunFolder::run_path(folder)),
    }
}

/// The run in a folder, and the files beside it, known by its digest.
pub fn open_run(folder: &Path) -> Result<(RunFile, Beside), StoreError> {
    // The digest first: if the run is replaced between the two, nothing beside it fits.
    let digest = run_digest(folder);
    let run = read_run(folder)?;
    Ok((run, Beside::new(folder, digest?)))
}

/// The digest by which files beside a run know it.
pub(super) fn run_digest(folder: &Path) -> Result<String, StoreError> {
    read_bounded(&RunFolder::run_path(folder)).map(|bytes| digest_of(&bytes))
}

/// The digest of the text of a run.
pub(super) fn digest_of(text: &[u8]) -> String {
    blake3::hash(text).to_hex()[..32].to_string()
}

/// The text of `run.json`: the same bytes for the same run.
pub fn run_json(run: &RunFile) -> String {
    // Plain data with string keys and finite numbers always has a JSON text.
    fold(&serde_json::to_string_pretty(run).unwrap_or_default())
}

fn read_run_file(path: &Path) -> Result<RunFile, StoreError> {
    let run: StoredRun = read_json(path, SCHEMA)?;
    let run = run.typed().map_err(|misfit| unfit(path, misfit))?;
    check::shape(&run).map_err(|(at, message)| StoreError::Shape { path: shown(path), at, message })?;
    Ok(run)
}

/// A text that is no number of its type, or a list that does not fit its function.
pub(super) fn unfit(path: &Path, Misfit { at, message }: Misfit) -> StoreError {
    StoreError::Shape { path: shown(path), at: printable(&at), message: printable(&message) }
}

/// A JSON file of this schema.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path, schema: &str) -> Result<T, StoreError> {
    let text = read_text(path, schema)?;
    serde_json::from_str(&text).map_err(|e| broken(path, &text, &e))
}

/// The text of a JSON file of a schema; nothing but its schema is looked at.
pub(super) fn read_text(path: &Path, expected: &str) -> Result<String, StoreError> {
    let bytes = read_bounded(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|e| {
        let offset = e.valid_up_to();
        StoreError::NotUtf8 { path: shown(path), offset, byte: bytes.get(offset).copied().unwrap_or(0) }
    })?;
    // serde would take a list for a struct.
    if !text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        let message = "expected an object with the fields of a run".into();
        return Err(StoreError::Shape { path: shown(path), at: ".".into(), message });
    }
    // The schema first: a newer file may differ in every other field.
    let head: Head = serde_json::from_str(text).map_err(|e| broken(path, text, &e))?;
    match head.schema {
        Some(serde_json::Value::String(schema)) => check_schema(path, &schema, expected)?,
        Some(other) => return Err(foreign(path, &other.to_string(), expected)),
        None => return Err(foreign(path, "missing", expected)),
    }
    Ok(text.into())
}

#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

pub(super) fn broken(path: &Path, text: &str, error: &serde_json::Error) -> StoreError {
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Eof => StoreError::Truncated { path: shown(path), line, column },
        Category::Data => {
            let at = printable(&locate::path_at(text, line, column));
            StoreError::Shape { path: shown(path), at, message: printable(&error.to_string()) }
        }
        Category::Syntax | Category::Io => {
            StoreError::Syntax { path: shown(path), message: printable(&error.to_string()) }
        }
    }
}

/// Accepts `expected`; tells a later version of it from something else.
pub(super) fn check_schema(path: &Path, found: &str, expected: &str) -> Result<(), StoreError> {
    if found == expected {
        return Ok(());
    }
    let split = |schema: &str| {
        let (name, version) = schema.rsplit_once('/')?;
        Some((name.to_string(), version.parse::<u64>().ok()?))
    };
    match (split(found), split(expected)) {
        (Some((name, version)), Some((ours, known))) if name == ours && version > known => {
            let expected = expected.into();
            Err(StoreError::Newer { path: shown(path), found: printable(found), expected })
        }
        // As JSON, so that a hostile schema cannot reach the terminal unescaped.
        _ => Err(foreign(path, &serde_json::Value::from(found).to_string(), expected)),
    }
}

fn foreign(path: &Path, found: &str, expected: &str) -> StoreError {
    let found = match found.char_indices().nth(60) {
        Some((cut, _)) => format!("{}...", &found[..cut]),
        None => found.into(),
    };
    StoreError::Foreign { path: shown(path), found: printable(&found), expected: expected.into() }
}

/// The whole of a regular file of a sane size.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>, StoreError> {
    check_regular(path)?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    // One more than allowed, for a file that grows while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(StoreError::io("read", path))?;
    if bytes.len() as u64 > LARGEST {
        return Err(StoreError::Enormous { path: shown(path) });
    }
    Ok(bytes)
}

/// Refuses folders, and pipes and devices, which could block or never end.
pub(super) fn check_regular(path: &Path) -> Result<(), StoreError> {
    let meta = fs::metadata(path).map_err(StoreError::io("read", path))?;
    if meta.is_dir() {
        return Err(StoreError::IsAFolder { path: shown(path) });
    }
    // What the kernel writes looks like files too, and may never end.
    let is_stored =
        fs::canonicalize(path).is_ok_and(|real| !real.starts_with("/proc") && !real.starts_with("/sys"));
    if !meta.is_file() || !is_stored {
        return Err(StoreError::NotAFile { path: shown(path) });
    }
    if meta.len() > LARGEST {
        return Err(StoreError::Enormous { path: shown(path) });
    }
    Ok(())
}

/// Metadata of a path that may not be there. Broken links count as not there.
pub(super) fn metadata(path: &Path) -> Result<Option<fs::Metadata>, StoreError> {
    match fs::metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(StoreError::io("read", path)(e)),
    }
}
