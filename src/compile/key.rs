//! Content hashes: of files, remembered while a file's stamp stays the same, and of whole requests.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// A blake3 hash.
pub type Hash = [u8; 32];

/// Hashes a request part by part; parts cannot run into each other.
pub struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    /// Keys of different kinds never meet. The number changes with the meaning of entries.
    pub fn new(kind: &str) -> KeyBuilder {
        let mut builder = KeyBuilder(blake3::Hasher::new());
        builder.add("bitrift cache 1").add(kind);
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

/// Content hashes of files, read once.
#[derive(Default)]
pub struct Files {
    known: Mutex<HashMap<PathBuf, (Stamp, Hash)>>,
}

impl Files {
    /// The hash of a regular file's content; None when it cannot be read.
    pub fn hash(&self, path: &Path) -> Option<Hash> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let stamp =
            (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((old, hash)) = known().get(path)
            && *old == stamp
        {
            return Some(*hash);
        }
        let hash = *blake3::hash(&fs::read(path).ok()?).as_bytes();
        known().insert(path.into(), (stamp, hash));
        Some(hash)
    }
}

/// Whether a file was written at or after a moment: what was compiled may not be what it holds now.
pub fn touched_since(path: &Path, start: SystemTime) -> bool {
    fs::metadata(path).and_then(|m| m.modified()).is_ok_and(|t| t >= start)
}

/// Files that arguments name by their full path (`@/x`, `-specs=/x`, `-Wl,-T,/x`): their content
/// counts too.
pub fn files_in_args(args: &[String]) -> Vec<PathBuf> {
    let is_file = |part: &str| part.starts_with('/') && Path::new(part).is_file();
    let files = |arg: &String| -> Vec<PathBuf> {
        match is_file(arg) {
            // A path may have any sign in it.
            true => vec![arg.into()],
            false => arg.split([',', '=', '@']).filter(|part| is_file(part)).map(PathBuf::from).collect(),
        }
    };
    args.iter().flat_map(files).collect()
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

    #[test]
    fn arguments_show_the_files_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let names = ["flags", "spec", "script", "a@b=c,d.so"];
        names.iter().for_each(|n| fs::write(path(n), "").unwrap());
        let [flags, spec, script, odd] = names.map(path);
        let args = [
            "-O2".into(),
            format!("@{flags}"),
            format!("-specs={spec}"),
            format!("-Wl,-T,{script}"),
            odd.clone(),
        ];
        assert_eq!(files_in_args(&args), [flags, spec, script, odd].map(PathBuf::from));
        assert!(files_in_args(&["-I/usr".into(), "-DX=/nope".into()]).is_empty());
    }
}
