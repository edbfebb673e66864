//! What code under test leaves in its folders: removed before each piece of work, so that no function meets what another one left,
//! and one that fills the scratch folder takes no room from others.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::sandbox::remove_folder;

/// How names of what is ours begin: folders of helpers, programs of runners.
const OURS: [&str; 2] = ["bitrift-", "runner-"];

/// The folders of a process with code under test, and what stays in them.
pub(super) struct Leftovers {
    folders: Vec<PathBuf>,
    kept: BTreeSet<PathBuf>,
}

impl Leftovers {
    /// What is there already stays.
    pub(super) fn new(folders: Vec<PathBuf>) -> Leftovers {
        let mut leftovers = Leftovers { folders, kept: BTreeSet::new() };
        leftovers.kept = leftovers.entries();
        leftovers
    }

    fn entries(&self) -> BTreeSet<PathBuf> {
        let entries = self.folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Keeps what loading an object makes, which its functions may need: a table that a constructor or `setup` writes.
    pub(super) fn keep_of<T>(&mut self, load: impl FnOnce() -> T) -> T {
        let before = self.entries();
        let loaded = load();
        let made: Vec<PathBuf> = self.entries().difference(&before).cloned().collect();
        self.kept.extend(made);
        loaded
    }

    /// Removes the rest. What cannot be removed costs room and nothing else.
    pub(super) fn remove(&self) {
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            OURS.iter().any(|start| name.starts_with(start))
        };
        for path in self.entries().into_iter().filter(|path| !self.kept.contains(path) && !is_ours(path)) {
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
            let _ = if is_folder { remove_folder(&path) } else { fs::remove_file(&path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loading_made_and_what_is_ours_stays() {
        let (room, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |name: &str| room.path().join(name);
        fs::write(path("before"), "").unwrap();
        fs::write(other.path().join("kept"), "").unwrap();
        let mut leftovers = Leftovers::new(vec![room.path().into()]);
        fs::write(path("left"), "").unwrap();
        leftovers.keep_of(|| fs::write(path("table"), "").unwrap());
        fs::create_dir_all(path("deep/deeper")).unwrap();
        fs::write(path("deep/deeper/file"), "").unwrap();
        fs::create_dir(path("bitrift-1")).unwrap();
        std::os::unix::fs::symlink(other.path(), path("link")).unwrap();
        leftovers.remove();
        let names = ["before", "bitrift-1", "table"].map(path);
        assert_eq!(leftovers.entries(), BTreeSet::from(names));
        assert!(other.path().join("kept").exists(), "links are not followed");
    }
}
