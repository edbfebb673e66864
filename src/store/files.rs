//! The files and folders of a run by name, so that whoever replaces a run removes all of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::StoreError;

/// One table makes the enum, its names and the list of all, so that no file can be left out of one of them.
macro_rules! own_files {
    ($($variant:ident => $name:literal,)*) => {
        /// What bitrift keeps in a run folder.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum OwnFile {
            $($variant,)*
        }

        impl OwnFile {
            pub const ALL: &[OwnFile] = &[$(OwnFile::$variant,)*];

            fn name(self) -> &'static str {
                match self {
                    $(OwnFile::$variant => $name,)*
                }
            }
        }
    };
}

own_files! {
    Run => "run.json",
    Origin => "origin.json",
    Timing => "timing.json",
    Samples => "samples.jsonl",
    Journal => "journal.jsonl",
    Confirm => "confirm.json",
    Explain => "explain.json",
    Speed => "speed.json",
    Page => "report.html",
    Gate => "gate.json",
    Truth => "truth",
    Units => "units",
}

impl OwnFile {
    pub fn of(self, folder: &Path) -> PathBuf {
        folder.join(self.name())
    }

    /// Removes it from a folder, with everything in it where it is a folder itself.
    pub fn remove(self, folder: &Path) -> Result<(), StoreError> {
        remove(&self.of(folder))
    }

    /// Moves it to another folder of the same file system, which has no such file; it may not be there.
    pub fn promote(self, from: &Path, to: &Path) -> Result<(), StoreError> {
        match fs::rename(self.of(from), self.of(to)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("replace", self.of(to))(e)),
            _ => Ok(()),
        }
    }
}

/// Removes a file or a folder that may not be there.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path)(e)),
        _ => Ok(()),
    }
}
