//! The folder that shows one finding without bitrift.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{StoreError, atomic, error::shown, read};

/// The script of such a folder: a folder that has one is replaced, any other that holds something is not.
pub const REPRO_SCRIPT: &str = "run.sh";

/// Writes generated texts, and copies of files to their places below the folder. The script comes last:
/// a folder without it is not whole.
pub fn write_repro(
    folder: &Path,
    texts: &BTreeMap<&str, String>,
    copies: &BTreeMap<PathBuf, PathBuf>,
) -> Result<(), StoreError> {
    let script = folder.join(REPRO_SCRIPT);
    if read::metadata(folder)?.is_some() && read::metadata(&script)?.is_none() {
        let mut entries = fs::read_dir(folder).map_err(StoreError::io("list", folder))?;
        if entries.next().is_some() {
            return Err(StoreError::NotARepro { path: shown(folder) });
        }
    }
    fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
    for (to, from) in copies {
        let to = folder.join(to);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
        }
        let content = fs::read(from).map_err(StoreError::io("read", from))?;
        fs::write(&to, content).map_err(StoreError::io("write", &to))?;
    }
    for (name, text) in texts.iter().filter(|(name, _)| **name != REPRO_SCRIPT) {
        let path = folder.join(name);
        fs::write(&path, text).map_err(StoreError::io("write", &path))?;
    }
    if let Some(text) = texts.get(REPRO_SCRIPT) {
        atomic::write(&script, text.as_bytes())?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
            .map_err(StoreError::io("write", &script))?;
    }
    Ok(())
}
