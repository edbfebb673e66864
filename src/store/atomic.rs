//! Writing a file so that a reader, or a machine that loses power, sees it whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

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

/// Removes what killed processes left in a folder: temporary files of at least this age. In a folder that no other
/// process writes to that may be none.
pub(super) fn sweep(folder: &Path, age: Duration) -> Result<(), StoreError> {
    for entry in std::fs::read_dir(folder).map_err(StoreError::io("list", folder))? {
        let path = entry.map_err(StoreError::io("list", folder))?.path();
        if is_leftover(&path) && is_older(&path, age) {
            super::files::remove(&path)?;
        }
    }
    Ok(())
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = std::fs::symlink_metadata(path).and_then(|meta| meta.modified());
    age.is_zero() || modified.is_ok_and(|then| then.elapsed().is_ok_and(|passed| passed >= age))
}

/// Makes renames and removals in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let open = File::open(folder).and_then(|f| f.sync_all());
    open.map_err(StoreError::io("sync", folder))
}
