//! `truth/NAME.json`: what is true of a function whose every input was evaluated.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::shown;
use super::files::OwnFile;
use super::{RunFolder, StoreError, atomic, beside, read};
use crate::model::{TRUTH_SCHEMA, TruthFile};

impl RunFolder {
    /// Stores the truth of one function.
    pub fn write_truth(&self, truth: &TruthFile) -> Result<(), StoreError> {
        let folder = OwnFile::Truth.of(self.work());
        match fs::create_dir(&folder) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(StoreError::io("create", &folder)(e))
            }
            _ => {
                let path = folder.join(format!("{}.json", truth.function));
                atomic::write(&path, beside::pretty(truth).as_bytes())
            }
        }
    }
}

/// One truth file.
pub fn read_truth(path: &Path) -> Result<TruthFile, StoreError> {
    let text = read::read_text(path, TRUTH_SCHEMA)?;
    serde_json::from_str(&text).map_err(|e| read::broken(path, &text, &e))
}

/// Every truth file of a folder, by the name of the file.
pub fn read_truths(folder: &Path) -> Result<Vec<TruthFile>, StoreError> {
    if !folder.is_dir() {
        return Err(StoreError::NotAFolder { path: shown(folder) });
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(StoreError::io("list", folder))? {
        let path = entry.map_err(StoreError::io("list", folder))?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read_truth(path)).collect()
}
