//! What arguments make a tool open beside sources, headers and libraries: files and folders that they name.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::key::{Files, Hash, KeyBuilder};
use crate::sandbox::is_stored;
use crate::toolchain::named_files;

/// Entries of one folder that are looked at. Of a folder with more nobody knows what a tool takes from it.
const MOST_ENTRIES: usize = 20_000;
/// Bytes of one folder that are read; what lies beyond counts by its stamp.
const MOST_BYTES: u64 = 64 << 20;
/// A file up to this size may be a text that names further files: arguments, specs, a linker script.
const LONGEST_TEXT: u64 = 64 << 10;
/// How deep such texts are followed.
const DEEPEST: usize = 4;

/// Options whose folder is searched for headers or libraries: these are known by the files that were found.
const SEARCHED: [&str; 6] = ["-isystem", "-iquote", "-idirafter", "-I", "-L", "-o"];
/// Heads of arguments whose paths are words to the tool and not opened.
const WORDS: [&str; 8] = [
    "-D",
    "-U",
    "-Wl,-rpath",
    "-Wl,-soname",
    "-fdebug-prefix-map=",
    "-ffile-prefix-map=",
    "-fmacro-prefix-map=",
    "-fprofile-prefix-map=",
];

/// Digests of what arguments name, each made once.
#[derive(Default)]
pub struct Opened {
    known: Mutex<HashMap<PathBuf, Option<Hash>>>,
}

impl Opened {
    /// Adds the content of everything that arguments name by its full path. False when something is too large to be
    /// known: then nothing is known of the result either.
    pub fn add(&self, files: &Files, args: &[String], key: &mut KeyBuilder) -> bool {
        paths_in_args(args).into_iter().all(|path| {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&path).copied();
            // A file is looked at each time: it has a stamp, a folder has none.
            let digest = match known {
                Some(digest) if path.is_dir() => digest,
                _ => digest(files, &path),
            };
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(path, digest);
            digest.map(|digest| key.add(digest)).is_some()
        })
    }
}

/// Files and folders that arguments name by their full path (`@/x`, `-specs=/x`, `-Wl,-T,/x`, `-B/x`).
fn paths_in_args(args: &[String]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if let Some(option) = SEARCHED.iter().find(|option| arg.starts_with(**option)) {
            if arg == option {
                rest.next();
            }
        } else if !WORDS.iter().any(|head| arg.starts_with(head)) {
            // A path of its own may have any sign in it.
            if arg.starts_with('/') && Path::new(arg).exists() {
                paths.push(arg.into());
                continue;
            }
            let parts = arg.split([',', '=', '@']);
            let absolute = parts.filter_map(|part| part.find('/').map(|at| PathBuf::from(&part[at..])));
            paths.extend(absolute.filter(|path| path.exists()));
        }
    }
    paths
}

/// Of a file its content and that of the files its text names; of a folder everything below it.
fn digest(files: &Files, path: &Path) -> Option<Hash> {
    let mut key = KeyBuilder::new("opened");
    if path.is_dir() {
        add_folder(files, path, &mut key)?;
    } else {
        add_file(files, path, DEEPEST, &mut key);
    }
    Some(key.finish())
}

/// Adds a file, and what it names where it is a text.
pub fn add_file(files: &Files, path: &Path, depth: usize, key: &mut KeyBuilder) {
    key.add(path.as_os_str().as_encoded_bytes()).add(files.hash(path).unwrap_or_default());
    let is_short = is_stored(path) && fs::metadata(path).is_ok_and(|meta| meta.len() <= LONGEST_TEXT);
    if depth == 0 || !is_short {
        return;
    }
    let Some(text) = fs::read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else { return };
    for named in named_files(&text).iter().filter(|named| *named != path) {
        add_file(files, named, depth - 1, key);
    }
}

/// Everything below a folder, in the order of names. Links to folders are not followed.
fn add_folder(files: &Files, folder: &Path, key: &mut KeyBuilder) -> Option<()> {
    let mut left = vec![folder.to_path_buf()];
    let (mut entries, mut bytes) = (0, 0);
    while let Some(folder) = left.pop() {
        let Ok(list) = fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            entries += 1;
            if entries > MOST_ENTRIES {
                return None;
            }
            key.add(path.as_os_str().as_encoded_bytes());
            let Ok(meta) = fs::metadata(&path) else { continue };
            let is_link = path.is_symlink();
            if meta.is_dir() && !is_link {
                left.push(path);
            } else if meta.is_file() {
                bytes += meta.len();
                match bytes <= MOST_BYTES {
                    true => key.add(files.hash(&path).unwrap_or_default()),
                    false => key.add(format!("{} {} {}", meta.len(), meta.mtime(), meta.mtime_nsec())),
                };
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(args: &[String]) -> Option<Hash> {
        let mut key = KeyBuilder::new("test");
        Opened::default().add(&Files::default(), args, &mut key).then(|| key.finish())
    }

    #[test]
    fn arguments_show_the_files_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let names = ["flags", "spec", "script"];
        names.iter().for_each(|n| fs::write(path(n), "").unwrap());
        let [flags, spec, script] = names.map(path);
        let args = ["-O2".into(), format!("@{flags}"), format!("-specs={spec}"), format!("-Wl,-T,{script}")];
        assert_eq!(paths_in_args(&args), [flags, spec, script].map(PathBuf::from));
        let others =
            ["-I/usr", "-DX=/nope", "-L", "/usr", "-D", "-Wl,-rpath=/usr", "-ffile-prefix-map=/usr=x"];
        assert!(paths_in_args(&others.map(String::from)).is_empty());
        assert_eq!(paths_in_args(&["-B/usr".into()]), [PathBuf::from("/usr")]);
    }

    #[test]
    fn a_folder_counts_by_what_is_below_it_and_a_text_by_what_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::create_dir_all(path("tools/deep")).unwrap();
        fs::write(path("inner"), "-O1").unwrap();
        fs::write(path("outer"), format!("@{}", path("inner"))).unwrap();
        for (args, file) in
            [([format!("-B{}", path("tools"))], "tools/deep/as"), ([format!("@{}", path("outer"))], "inner")]
        {
            let before = key(&args).unwrap();
            assert_eq!(key(&args), Some(before));
            fs::write(path(file), "something else").unwrap();
            assert_ne!(key(&args), Some(before), "{file}");
        }
    }

    #[test]
    fn of_a_folder_that_is_too_large_nothing_is_known() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..=MOST_ENTRIES {
            fs::File::create(folder.path().join(n.to_string())).unwrap();
        }
        assert_eq!(key(&[format!("-B{}", folder.path().display())]), None);
    }
}
