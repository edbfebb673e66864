//! Files beside `run.json`: samples, and what later commands found out about a run. Each may be missing. Each carries
//! the digest of the run it is about and is refused beside another; one of a version that wrote no digest is taken.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::shown;
use super::files::OwnFile;
use super::fold::fold;
use super::{RunFolder, StoreError, atomic, read};
use crate::model::{
    CONFIRM_SCHEMA, ConfirmFile, EXPLAIN_SCHEMA, ExplainFile, FunctionSamples, GATE_SCHEMA, GateFile,
    ORIGIN_SCHEMA, OriginFile, RunFile, SPEED_SCHEMA, SpeedFile, StoredConfirm, StoredGate,
};

/// A temporary file that has been there this long belongs to a process that was killed.
const STRAY: Duration = Duration::from_secs(60);

/// The files beside one run, which is known by the digest of its `run.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    folder: PathBuf,
    run: String,
}

/// A file with the digest of the run it is about.
#[derive(Serialize)]
pub(super) struct Bound<'a, T> {
    #[serde(flatten)]
    pub file: &'a T,
    pub run: &'a str,
}

/// The digest alone; nothing where a version wrote none.
#[derive(Deserialize)]
struct Binding {
    #[serde(default)]
    run: String,
}

impl Beside {
    pub(super) fn new(folder: &Path, run: String) -> Beside {
        Beside { folder: folder.into(), run }
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The stored samples of the run, by function; none when the file is not there.
    pub fn samples(&self) -> Result<Vec<FunctionSamples>, StoreError> {
        let path = RunFolder::samples_path(&self.folder);
        if read::metadata(&path)?.is_none() {
            return Ok(Vec::new());
        }
        let bytes = read::read_bounded(&path)?;
        let lines = bytes.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        let line = |(index, line): (usize, &[u8])| {
            let broken = |e: serde_json::Error| StoreError::Line {
                path: path.display().to_string(),
                line: index + 1,
                message: crate::model::printable(&e.to_string()),
            };
            let binding: Binding = serde_json::from_slice(line).map_err(broken)?;
            self.check(&path, &binding)?;
            serde_json::from_slice(line).map_err(broken)
        };
        lines.map(line).collect()
    }

    /// What plain executables said; `run` is the run of the folder.
    pub fn confirm(&self, run: &RunFile) -> Result<Option<ConfirmFile>, StoreError> {
        let file: Option<StoredConfirm> = self.read(OwnFile::Confirm, CONFIRM_SCHEMA)?;
        let unfit = |misfit| read::unfit(&OwnFile::Confirm.of(&self.folder), misfit);
        file.map(|file| file.typed(run).map_err(unfit)).transpose()
    }

    pub fn write_confirm(&self, file: &ConfirmFile) -> Result<(), StoreError> {
        self.write(OwnFile::Confirm, &self.json(file))
    }

    /// The verdict, if the run was a gate's.
    pub fn gate(&self, run: &RunFile) -> Result<Option<GateFile>, StoreError> {
        let file: Option<StoredGate> = self.read(OwnFile::Gate, GATE_SCHEMA)?;
        let unfit = |misfit| read::unfit(&OwnFile::Gate.of(&self.folder), misfit);
        file.map(|file| file.typed(run).map_err(unfit)).transpose()
    }

    pub fn write_gate(&self, file: &GateFile) -> Result<(), StoreError> {
        self.write(OwnFile::Gate, &self.gate_json(file))
    }

    /// The text of `gate.json`.
    pub fn gate_json(&self, file: &GateFile) -> String {
        fold(&self.json(file))
    }

    pub fn speed(&self) -> Result<Option<SpeedFile>, StoreError> {
        self.read(OwnFile::Speed, SPEED_SCHEMA)
    }

    pub fn write_speed(&self, file: &SpeedFile) -> Result<(), StoreError> {
        self.write(OwnFile::Speed, &self.json(file))
    }

    pub fn explain(&self) -> Result<Option<ExplainFile>, StoreError> {
        self.read(OwnFile::Explain, EXPLAIN_SCHEMA)
    }

    pub fn write_explain(&self, file: &ExplainFile) -> Result<(), StoreError> {
        self.write(OwnFile::Explain, &self.json(file))
    }

    /// Where the run came from; None when a version stored it that did not say.
    pub fn origin(&self) -> Result<Option<OriginFile>, StoreError> {
        self.read(OwnFile::Origin, ORIGIN_SCHEMA)
    }

    /// The text of a file that is stored beside the run.
    pub fn json(&self, file: &impl Serialize) -> String {
        pretty(&Bound { file, run: &self.run })
    }

    fn read<T: DeserializeOwned>(&self, file: OwnFile, schema: &str) -> Result<Option<T>, StoreError> {
        let path = file.of(&self.folder);
        if read::metadata(&path)?.is_none() {
            return Ok(None);
        }
        let text = read::read_text(&path, schema)?;
        let broken = |e: serde_json::Error| read::broken(&path, &text, &e);
        let binding: Binding = serde_json::from_str(&text).map_err(broken)?;
        self.check(&path, &binding)?;
        serde_json::from_str(&text).map(Some).map_err(broken)
    }

    /// Refuses a file that is about another run.
    fn check(&self, path: &Path, Binding { run }: &Binding) -> Result<(), StoreError> {
        match run.is_empty() || *run == self.run {
            true => Ok(()),
            false => Err(StoreError::OtherRun { path: shown(path) }),
        }
    }

    fn write(&self, file: OwnFile, text: &str) -> Result<(), StoreError> {
        if !self.folder.is_dir() {
            return Err(StoreError::Vanished { path: shown(&self.folder) });
        }
        if read::run_digest(&self.folder).ok().as_ref() != Some(&self.run) {
            return Err(StoreError::Replaced { path: shown(&self.folder) });
        }
        atomic::sweep(&self.folder, STRAY)?;
        atomic::write(&file.of(&self.folder), text.as_bytes())
    }
}

/// JSON for people, too.
pub(super) fn pretty(value: &impl Serialize) -> String {
    // Plain data with names as keys always has a text.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
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
