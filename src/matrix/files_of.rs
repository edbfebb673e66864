//! The files that a glob stands for. Each folder is looked into once, however many links lead there: a project whose links go in
//! circles has otherwise more paths than anybody can wait for.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use glob::{Pattern, PatternError};

/// Entries that are looked at; whoever means more has written something else than he meant.
const MOST: usize = 1_000_000;

/// Why there is no list.
#[derive(Debug)]
pub(super) enum Unlisted {
    Pattern(PatternError),
    /// A folder cannot be read.
    Folder(PathBuf, std::io::Error),
    TooMany,
}

/// The files whose path, from a folder on, fits a pattern. Sorted.
pub(super) fn files_of(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, Unlisted> {
    // As a whole, it says of each part what is wrong, and where.
    Pattern::new(pattern).map_err(Unlisted::Pattern)?;
    let path = Path::new(pattern);
    let start = if path.is_absolute() { Path::new("/") } else { folder };
    let parts: Vec<Component<'_>> = path.components().filter(|part| *part != Component::RootDir).collect();
    let mut walk = Walk { looked_at: 0 };
    let mut found = vec![start.to_path_buf()];
    for (place, part) in parts.iter().enumerate() {
        let text = part.as_os_str().to_string_lossy();
        let is_last = place + 1 == parts.len();
        found = match (part, text.contains(['*', '?', '['])) {
            (Component::Normal(_), true) if text == "**" => walk.below(&found)?,
            (Component::Normal(_), true) => walk.matching(&found, &text)?,
            _ => found.iter().map(|folder| folder.join(part)).filter(|path| path.exists()).collect(),
        };
        if !is_last {
            Met::default().only_new(&mut found);
        }
    }
    found.retain(|path| path.is_file());
    found.sort();
    Ok(found)
}

/// Folders that were met.
#[derive(Default)]
struct Met(BTreeSet<(u64, u64)>);

impl Met {
    /// Keeps the folders among some paths, each once.
    fn only_new(&mut self, found: &mut Vec<PathBuf>) {
        let folder = |path: &Path| fs::metadata(path).ok().filter(fs::Metadata::is_dir);
        found.retain(|path| folder(path).is_some_and(|about| self.0.insert((about.dev(), about.ino()))));
    }
}

struct Walk {
    looked_at: usize,
}

impl Walk {
    fn entries(&mut self, folder: &Path) -> Result<Vec<PathBuf>, Unlisted> {
        let failed = |error| Unlisted::Folder(folder.into(), error);
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            self.looked_at += 1;
            if self.looked_at > MOST {
                return Err(Unlisted::TooMany);
            }
            paths.push(folder.join(entry.map_err(failed)?.file_name()));
        }
        paths.sort();
        Ok(paths)
    }

    fn matching(&mut self, folders: &[PathBuf], part: &str) -> Result<Vec<PathBuf>, Unlisted> {
        let pattern = Pattern::new(part).map_err(Unlisted::Pattern)?;
        let fits =
            |path: &PathBuf| path.file_name().is_some_and(|name| pattern.matches(&name.to_string_lossy()));
        let mut found = Vec::new();
        for folder in folders {
            found.extend(self.entries(folder)?.into_iter().filter(fits));
        }
        Ok(found)
    }

    /// These folders and all below them.
    fn below(&mut self, folders: &[PathBuf]) -> Result<Vec<PathBuf>, Unlisted> {
        let (mut met, mut found) = (Met::default(), folders.to_vec());
        met.only_new(&mut found);
        let mut at = 0;
        while at < found.len() {
            let mut inside = self.entries(&found[at])?;
            met.only_new(&mut inside);
            found.extend(inside);
            at += 1;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.c", "b.h", "x/a.c", "x/y/d.c", "z/q[1].c"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    fn names(folder: &Path, pattern: &str) -> Vec<String> {
        let found = files_of(folder, pattern).unwrap();
        found.iter().map(|path| path.strip_prefix(folder).unwrap().display().to_string()).collect()
    }

    #[test]
    fn files_are_those_that_the_glob_crate_finds() {
        let folder = tree();
        let patterns = [
            "*.c",
            "a.c",
            "?.[ch]",
            "*/*.c",
            "**/*.c",
            "x/**/d.c",
            "./x/../*.c",
            "*",
            "nothing/*.c",
            "z/q[[]1].c",
        ];
        for pattern in patterns {
            let full = format!("{}/{pattern}", folder.path().display());
            let mut wanted: Vec<PathBuf> =
                glob::glob(&full).unwrap().flatten().filter(|path| path.is_file()).collect();
            wanted.sort();
            let lines =
                |paths: Vec<PathBuf>| paths.iter().filter_map(|p| p.canonicalize().ok()).collect::<Vec<_>>();
            assert_eq!(lines(files_of(folder.path(), pattern).unwrap()), lines(wanted.clone()), "{pattern}");
            assert_eq!(lines(files_of(Path::new("/no"), &full).unwrap()), lines(wanted), "{pattern}");
        }
    }

    #[test]
    fn links_in_circles_come_to_an_end() {
        let folder = tree();
        for name in ["l", "m", "n"] {
            std::os::unix::fs::symlink(".", folder.path().join(name)).unwrap();
        }
        let deep = format!("{}*.c", "*/".repeat(18));
        assert_eq!(names(folder.path(), &deep).len(), 4, "a folder by its first name: {deep}");
        assert_eq!(names(folder.path(), "**/*.c"), ["a.c", "x/a.c", "x/y/d.c", "z/q[1].c"]);
    }

    #[test]
    fn a_pattern_that_is_none_is_told() {
        assert!(matches!(files_of(Path::new("/"), "a[.c"), Err(Unlisted::Pattern(_))));
        assert!(files_of(Path::new("/"), "***").is_err());
    }
}
