//! Content hashes: of files, remembered while a file's stamp stays the same, and of whole requests.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::sandbox::is_stored;

/// A blake3 hash.
pub type Hash = [u8; 32];

/// Hashes a request part by part; parts cannot run into each other.
pub struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    /// Keys of different kinds never meet. The number changes with the meaning of entries.
    pub fn new(kind: &str) -> KeyBuilder {
        let mut builder = KeyBuilder(blake3::Hasher::new());
        builder.add("bitrift cache 2").add(kind);
        builder
    }

    pub fn add(&mut self, part: impl AsRef<[u8]>) -> &mut KeyBuilder {
        let part = part.as_ref();
        self.0.update(&part.len().to_le_bytes()).update(part);
        self
    }

    pub fn add_all<T: AsRef<[u8]>>(&mut self, parts: &[T]) -> &mut KeyBuilder {
        self.add(parts.len().to_le_bytes());
        for part in parts {
            self.add(part);
        }
        self
    }

    pub fn finish(&self) -> Hash {
        *self.0.finalize().as_bytes()
    }
}

/// What changes when a file does.
type Stamp = (u64, u64, i64, i64, i64, i64);

/// What is known of a file's content.
#[derive(Clone, Copy)]
struct FileContent {
    stamp: Stamp,
    hash: Hash,
    has_directive: bool,
}

/// Contents of files, each read once.
#[derive(Default)]
pub struct Files {
    known: Mutex<HashMap<PathBuf, FileContent>>,
}

impl Files {
    /// The hash of a regular file's content; None when it cannot be read.
    pub fn hash(&self, path: &Path) -> Option<Hash> {
        self.content(path).map(|content| content.hash)
    }

    /// Whether a source makes the assembler read a file, of which the compiler knows nothing.
    pub fn has_directive(&self, path: &Path) -> bool {
        self.content(path).is_some_and(|content| content.has_directive)
    }

    fn content(&self, path: &Path) -> Option<FileContent> {
        let meta = fs::metadata(path).ok().filter(|_| is_stored(path))?;
        let stamp =
            (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = known().get(path).filter(|old| old.stamp == stamp) {
            return Some(*old);
        }
        let bytes = fs::read(path).ok()?;
        let hash = *blake3::hash(&bytes).as_bytes();
        // Headers of the system ask for other headers of the system, which come and go with its packages.
        let has_directive = has_directive(&bytes) && (!path.starts_with("/usr") || reads_files(&bytes));
        let content = FileContent { stamp, hash, has_directive };
        known().insert(path.into(), content);
        Some(content)
    }
}

/// Whether C asks for files that no list of headers names: inline assembly takes the bytes of one with `.incbin`, its lines
/// with `.include`, and `__has_include` asks whether there is one.
pub fn has_directive(text: &[u8]) -> bool {
    reads_files(text) || has_word(text, b"__has_include")
}

fn reads_files(text: &[u8]) -> bool {
    has_word(text, b"incbin") || has_word(text, b".include")
}

fn has_word(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|found| found == word)
}

/// Whether a file was written at or after a moment: what was compiled may not be what it holds now.
pub fn touched_since(path: &Path, start: SystemTime) -> bool {
    fs::metadata(path).and_then(|m| m.modified()).is_ok_and(|t| t >= start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let key = |parts: &[&str]| KeyBuilder::new("test").add_all(parts).finish();
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["a", ""]), key(&["a"]));
        assert_ne!(KeyBuilder::new("a").finish(), KeyBuilder::new("b").finish());
    }

    #[test]
    fn a_changed_file_has_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.h");
        let files = Files::default();
        assert_eq!(files.hash(&path), None);
        fs::write(&path, "one").unwrap();
        let one = files.hash(&path).unwrap();
        assert_eq!(files.hash(&path), Some(one));
        fs::write(&path, "two!").unwrap();
        assert_ne!(files.hash(&path), Some(one));
        assert_eq!(files.hash(folder.path()), None);
    }
}
