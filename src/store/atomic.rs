//! Writing a file so that a reader, or a machine that loses power, sees it whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::StoreError;

const PREFIX: &str = ".bitrift-";
const SUFFIX: &str = ".tmp";

/// Replaces `path` with `bytes`: a temporary file beside it, synced, then renamed.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same for what is written piece by piece.
pub(super) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), StoreError> {
    // The parent of a plain name is the empty path.
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fail = |source| StoreError::Io { what: "write", path: path.into(), source };
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    // A temporary file is private by default; results are as readable as any other file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(fail)?;
    fill(file.as_file_mut()).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(path).map_err(|e| fail(e.error))?;
    sync_folder(folder)
}

/// Whether a file is a temporary one of ours, left by a process that was killed.
pub(super) fn is_leftover(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
}

/// Removes what killed processes left in a folder that no other process writes to.
pub(super) fn sweep(folder: &Path) -> Result<(), StoreError> {
    for entry in std::fs::read_dir(folder).map_err(StoreError::io("list", folder))? {
        let path = entry.map_err(StoreError::io("list", folder))?.path();
        if is_leftover(&path) {
            std::fs::remove_file(&path).map_err(StoreError::io("remove", path))?;
        }
    }
    Ok(())
}

/// Makes renames and removals in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let open = File::open(folder).and_then(|f| f.sync_all());
    open.map_err(StoreError::io("sync", folder))
}
