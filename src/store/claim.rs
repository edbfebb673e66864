//! One process owns the folder of a run while it writes there.
//!
//! The lock is on the folder itself: nothing renames it, it leaves no file behind, and it is taken before anybody
//! looks at what the folder holds.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::shown;
use super::{StoreError, read};

/// A folder may vanish between making and locking it as often as this.
const ATTEMPTS: usize = 100;

/// A folder that no other bitrift writes to while this lives.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    is_new: bool,
    _lock: File,
}

impl Claim {
    /// Takes a folder, which is made when it is not there.
    pub fn take(path: &Path) -> Result<Claim, StoreError> {
        let mut is_new = false;
        for _ in 0..ATTEMPTS {
            match read::metadata(path)? {
                Some(meta) if !meta.is_dir() => return Err(StoreError::NotAFolder { path: shown(path) }),
                Some(_) => {}
                None => {
                    fs::create_dir_all(path).map_err(StoreError::io("create", path))?;
                    is_new = true;
                }
            }
            let lock = match File::open(path) {
                Ok(lock) => lock,
                // Its owner had nothing to keep and removed it.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                Err(e) => return Err(StoreError::io("open", path)(e)),
            };
            match lock.try_lock() {
                Ok(()) if is_at(&lock, path) => return Ok(Claim { path: path.into(), is_new, _lock: lock }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { path: shown(path) }),
                // Some network file systems lock no folders; there the journal's lock has to do.
                Err(TryLockError::Error(_)) => {
                    return Ok(Claim { path: path.into(), is_new, _lock: lock });
                }
            }
        }
        Err(StoreError::Busy { path: shown(path) })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.is_new {
            // Refuses when the folder holds anything.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Whether an open file or folder is the one at a path. What was removed or replaced takes writes in silence.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let known = |meta: fs::Metadata| (meta.dev(), meta.ino());
    file.metadata().ok().map(known).is_some_and(|open| fs::metadata(path).ok().map(known) == Some(open))
}
