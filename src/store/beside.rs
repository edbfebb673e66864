//! Files beside `run.json`: samples, and what later commands found out about a run. Each may be missing.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::OwnFile;
use super::{RunFolder, StoreError, atomic, read};
use crate::model::{
    CONFIRM_SCHEMA, ConfirmFile, EXPLAIN_SCHEMA, ExplainFile, FunctionSamples, RunFile, SPEED_SCHEMA,
    SpeedFile, StoredConfirm,
};

/// The stored samples of a run, by function; none when the file is not there.
pub fn read_samples(folder: &Path) -> Result<Vec<FunctionSamples>, StoreError> {
    let path = RunFolder::samples_path(folder);
    if read::metadata(&path)?.is_none() {
        return Ok(Vec::new());
    }
    let bytes = read::read_bounded(&path)?;
    let lines = bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let line = |(index, line): (usize, &[u8])| {
        serde_json::from_slice(line).map_err(|e| StoreError::Line {
            path: path.display().to_string(),
            line: index + 1,
            message: crate::model::printable(&e.to_string()),
        })
    };
    lines.map(line).collect()
}

/// What plain executables said; `run` is the run of the folder.
pub fn read_confirm(folder: &Path, run: &RunFile) -> Result<Option<ConfirmFile>, StoreError> {
    let path = OwnFile::Confirm.of(folder);
    let file: Option<StoredConfirm> = read_optional(&path, CONFIRM_SCHEMA)?;
    file.map(|file| file.typed(run).map_err(|misfit| read::unfit(&path, misfit))).transpose()
}

pub fn write_confirm(folder: &Path, file: &ConfirmFile) -> Result<(), StoreError> {
    write_json(&OwnFile::Confirm.of(folder), file)
}

pub fn read_speed(folder: &Path) -> Result<Option<SpeedFile>, StoreError> {
    read_optional(&OwnFile::Speed.of(folder), SPEED_SCHEMA)
}

pub fn write_speed(folder: &Path, file: &SpeedFile) -> Result<(), StoreError> {
    write_json(&OwnFile::Speed.of(folder), file)
}

pub fn read_explain(folder: &Path) -> Result<Option<ExplainFile>, StoreError> {
    read_optional(&OwnFile::Explain.of(folder), EXPLAIN_SCHEMA)
}

pub fn write_explain(folder: &Path, file: &ExplainFile) -> Result<(), StoreError> {
    write_json(&OwnFile::Explain.of(folder), file)
}

/// The text of `explain.json`.
pub fn explain_json(file: &ExplainFile) -> String {
    // Plain data with names as keys always has a text.
    serde_json::to_string_pretty(file).unwrap_or_default() + "\n"
}

/// The text of `speed.json`.
pub fn speed_json(file: &SpeedFile) -> String {
    // Plain data with names as keys always has a text.
    serde_json::to_string_pretty(file).unwrap_or_default() + "\n"
}

/// Where the page of a run goes when nothing else is said.
pub fn page_path(folder: &Path) -> PathBuf {
    OwnFile::Page.of(folder)
}

/// A rendered report: whole or not at all, like everything else.
pub fn write_text(path: &Path, text: &str) -> Result<(), StoreError> {
    atomic::write(path, text.as_bytes())
}

/// The same for a report that is written piece by piece.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), StoreError> {
    atomic::write_with(path, fill)
}

fn read_optional<T: DeserializeOwned>(path: &Path, schema: &str) -> Result<Option<T>, StoreError> {
    match read::metadata(path)? {
        None => Ok(None),
        Some(_) => read::read_json(path, schema).map(Some),
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| StoreError::Io {
        what: "write",
        path: path.into(),
        source: e.into(),
    })?;
    atomic::write(path, format!("{text}\n").as_bytes())
}
