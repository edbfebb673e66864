//! Which files could come in a header's place. A new header in an include folder can shadow one that
//! an object was made with; nothing the compiler reported would have changed.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::key::{Hash, KeyBuilder};

/// The most entries of one folder tree that are looked at, nearest first.
const ENTRY_LIMIT: usize = 20_000;

/// Files by name, under one folder.
type Listing = BTreeMap<OsString, Vec<PathBuf>>;

/// Listings of folders, each made once.
#[derive(Default)]
pub struct Folders {
    known: Mutex<BTreeMap<PathBuf, Arc<Listing>>>,
}

impl Folders {
    /// A hash of the files in the folders that are named like one of the headers but are none of them.
    pub fn rivals(&self, folders: &[PathBuf], headers: &[PathBuf]) -> Hash {
        let mut rivals: Vec<PathBuf> = Vec::new();
        for listing in folders.iter().map(|f| self.listing(f)) {
            let named = headers.iter().filter_map(|h| listing.get(h.file_name().unwrap_or(OsStr::new(""))));
            rivals.extend(named.flatten().filter(|p| headers.binary_search(p).is_err()).cloned());
        }
        rivals.sort();
        rivals.dedup();
        let names: Vec<&[u8]> = rivals.iter().map(|p| p.as_os_str().as_encoded_bytes()).collect();
        KeyBuilder::new("rivals").add_all(&names).finish()
    }

    fn listing(&self, folder: &Path) -> Arc<Listing> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(folder.into()).or_insert_with(|| Arc::new(list(folder))).clone()
    }
}

/// Breadth first, in sorted order, so that the limit cuts the same entries every time. Hidden
/// folders and links to folders are not entered.
fn list(folder: &Path) -> Listing {
    let mut listing = Listing::new();
    let mut queue = VecDeque::from([folder.to_path_buf()]);
    let mut seen = 0;
    while let Some(folder) = queue.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> =
            entries.flatten().filter_map(|e| Some((e.file_name(), e.file_type().ok()?))).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in entries {
            seen += 1;
            if seen > ENTRY_LIMIT {
                return listing;
            }
            let path = folder.join(&name);
            if !kind.is_dir() {
                listing.entry(name).or_default().push(path);
            } else if !name.as_encoded_bytes().starts_with(b".") {
                queue.push_back(path);
            }
        }
    }
    listing
}

/// The folders where arguments make a compiler look for headers.
pub fn include_folders(args: &[String]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        for option in ["-I", "-isystem", "-iquote", "-idirafter"] {
            if let Some(value) = arg.strip_prefix(option) {
                let value = if value.is_empty() { rest.next().map(String::as_str) } else { Some(value) };
                folders.extend(value.map(PathBuf::from));
                break;
            }
        }
    }
    // Searched before the system's own headers.
    folders.push("/usr/local/include".into());
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_with_a_headers_name_is_a_rival() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        fs::create_dir_all(root.join("sub/.hidden")).unwrap();
        fs::write(root.join("sub/a.h"), "").unwrap();
        let headers = [root.join("sub/a.h"), PathBuf::from("/usr/include/math.h")];
        let rivals = || Folders::default().rivals(std::slice::from_ref(&root), &headers);
        let before = rivals();
        fs::write(root.join("other.h"), "").unwrap();
        fs::write(root.join("sub/.hidden/math.h"), "").unwrap();
        assert_eq!(rivals(), before);
        fs::write(root.join("math.h"), "").unwrap();
        assert_ne!(rivals(), before);
    }

    #[test]
    fn the_folders_of_arguments_are_found() {
        let args = ["-O2", "-I/a", "-I", "/b", "-isystem", "/c", "-iquote/d", "-DI=3"].map(String::from);
        let found = include_folders(&args);
        assert_eq!(found, ["/a", "/b", "/c", "/d", "/usr/local/include"].map(PathBuf::from));
    }
}
