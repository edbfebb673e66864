//! The files of an index on their way in, and those that they include.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::c::Source;

/// Most files for an experiment.
const MOST_FILES: usize = 4000;

/// Files on their way in.
pub struct Loader<'a> {
    include: &'a [PathBuf],
    may_read: &'a dyn Fn(&Path) -> bool,
    /// Where each file that was looked at is; None when it cannot be read.
    places: BTreeMap<PathBuf, Option<usize>>,
    /// Each with its path as the sources or an include named it.
    pub files: Vec<(PathBuf, Source)>,
}

impl<'a> Loader<'a> {
    pub fn new(include: &'a [PathBuf], may_read: &'a dyn Fn(&Path) -> bool) -> Loader<'a> {
        Loader { include, may_read, places: BTreeMap::new(), files: Vec::new() }
    }

    pub fn add(&mut self, path: &Path) -> Option<usize> {
        let real = path.canonicalize().ok()?;
        if let Some(known) = self.places.get(&real) {
            return *known;
        }
        // What the kernel writes may have no end.
        let is_stored = real.is_file() && !real.starts_with("/proc") && !real.starts_with("/sys");
        let is_read = is_stored && self.files.len() < MOST_FILES && (self.may_read)(&real);
        let text = if is_read { fs::read(&real).ok() } else { None };
        let place = text.map(|bytes| {
            self.files.push((path.into(), Source::new(String::from_utf8_lossy(&bytes))));
            self.files.len() - 1
        });
        self.places.insert(real, place);
        place
    }

    /// Where an included file is; None for those of the system.
    pub fn find(&self, name: &str, beside: Option<&Path>) -> Option<PathBuf> {
        let folders = beside.into_iter().chain(self.include.iter().map(PathBuf::as_path));
        folders.map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Breadth first; files that are added on the way are followed too.
    pub fn follow_includes(&mut self) {
        let mut at = 0;
        while at < self.files.len() {
            let (path, source) = &self.files[at];
            let paths: Vec<PathBuf> = source
                .definitions()
                .includes
                .iter()
                .filter_map(|name| self.find(name, path.parent()))
                .collect();
            for path in paths {
                self.add(&path);
            }
            at += 1;
        }
    }

    /// The files that others include.
    pub fn included(&self) -> BTreeSet<usize> {
        let found = self.files.iter().flat_map(|(path, source)| {
            source.definitions().includes.iter().filter_map(|name| self.find(name, path.parent()))
        });
        let places = found.filter_map(|path| self.places.get(&path.canonicalize().ok()?).copied().flatten());
        places.collect()
    }
}
