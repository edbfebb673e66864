//! Names of run folders under `results/`, and which folder a user means.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::shown;
use super::{RunFolder, StoreError, read};
use crate::model::printable;

/// Makes `root/0001-lab`, with the first number that is free. The number counts over all labs, so
/// the highest one is the latest run.
pub(super) fn create_next(root: &Path, lab: &str) -> Result<PathBuf, StoreError> {
    fs::create_dir_all(root).map_err(StoreError::io("create", root))?;
    let mut number = numbered(root)?.last().map_or(1, |(last, _)| last.saturating_add(1));
    loop {
        let path = root.join(format!("{number:04}-{}", file_name(lab)));
        // Making a folder is atomic: of two runs that start at once, one takes the next number.
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < u64::MAX => number += 1,
            Err(e) => return Err(StoreError::io("create", path)(e)),
        }
    }
}

/// The folder of a run that a user named: a path, a name under `root`, or its number; the latest
/// without a name. Nothing is read from it yet.
pub fn resolve(root: &Path, name: Option<&str>) -> Result<PathBuf, StoreError> {
    let Some(name) = name else {
        let latest = numbered(root)?.pop().map(|(_, path)| path);
        return latest.ok_or_else(|| StoreError::NoRuns { root: shown(root) });
    };
    let path = Path::new(name);
    if read::metadata(path)?.is_some() {
        return Ok(path.into());
    }
    // An absolute name replaces the root and `..` leaves it: both are paths, and not there.
    let plain = path.components().all(|c| matches!(c, std::path::Component::Normal(_)));
    let under = root.join(path);
    if plain && !name.is_empty() && read::metadata(&under)?.is_some() {
        return Ok(under);
    }
    if let Ok(number) = name.parse::<u64>() {
        let found = numbered(root)?.into_iter().rev().find(|&(n, _)| n == number);
        if let Some((_, path)) = found {
            return Ok(path);
        }
    }
    Err(StoreError::NoSuchRun { path: printable(name), root: shown(root) })
}

/// The latest run under `root` that has something left to do: it has a journal and no `run.json`, or its witnesses are
/// still to be confirmed.
pub fn latest_incomplete(root: &Path) -> Result<PathBuf, StoreError> {
    for (_, path) in numbered(root)?.into_iter().rev() {
        if RunFolder::is_unfinished(&path)? {
            return Ok(path);
        }
    }
    Err(StoreError::NothingToResume { root: shown(root) })
}

/// The folders under `root` that are named as runs are, by number, then by name.
fn numbered(root: &Path) -> Result<Vec<(u64, PathBuf)>, StoreError> {
    if read::metadata(root)?.is_none() {
        return Ok(Vec::new());
    }
    let mut runs = Vec::new();
    for entry in fs::read_dir(root).map_err(StoreError::io("list", root))? {
        let path = entry.map_err(StoreError::io("list", root))?.path();
        let number = path.file_name().and_then(|n| n.to_str()).and_then(|n| {
            let (digits, lab) = n.split_once('-')?;
            let plain = digits.len() >= 4 && digits.bytes().all(|b| b.is_ascii_digit()) && !lab.is_empty();
            plain.then(|| digits.parse::<u64>().ok()).flatten()
        });
        if let (Some(number), true) = (number, path.is_dir()) {
            runs.push((number, path));
        }
    }
    runs.sort();
    Ok(runs)
}

/// A lab's name as part of a file name: other characters than letters, digits, `.`, `_` and `-`
/// become `-`.
pub(super) fn file_name(lab: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = lab.chars().take(80).map(plain).collect();
    if name.is_empty() { "run".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path) -> Vec<String> {
        let name = |(_, path): (u64, PathBuf)| path.file_name().unwrap().to_str().unwrap().to_string();
        numbered(root).unwrap().into_iter().map(name).collect()
    }

    #[test]
    fn runs_count_up_over_all_labs() {
        let root = tempfile::tempdir().unwrap();
        for lab in ["quickstart", "gsl", "quickstart"] {
            create_next(root.path(), lab).unwrap();
        }
        fs::create_dir(root.path().join("notes")).unwrap();
        fs::write(root.path().join("0009-file"), "").unwrap();
        assert_eq!(names(root.path()), ["0001-quickstart", "0002-gsl", "0003-quickstart"]);
        assert!(resolve(root.path(), None).unwrap().ends_with("0003-quickstart"));
        assert!(resolve(root.path(), Some("2")).unwrap().ends_with("0002-gsl"));
        assert!(resolve(root.path(), Some("0002-gsl")).unwrap().ends_with("0002-gsl"));
    }

    #[test]
    fn more_than_9999_runs_still_sort_by_age() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("9999-a")).unwrap();
        assert!(create_next(root.path(), "a").unwrap().ends_with("10000-a"));
        assert!(resolve(root.path(), None).unwrap().ends_with("10000-a"));
    }

    #[test]
    fn a_lab_cannot_name_a_folder_elsewhere() {
        assert_eq!(file_name("../../etc"), "..-..-etc");
        assert_eq!(file_name("a\u{1b}[2J/b c"), "a--2J-b-c");
        assert_eq!(file_name(""), "run");
        let root = tempfile::tempdir().unwrap();
        let path = create_next(root.path(), "..").unwrap();
        assert_eq!(path.parent(), Some(root.path()));
    }

    #[test]
    fn a_name_cannot_leave_the_root() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("results");
        fs::create_dir(&inner).unwrap();
        for name in ["", "../elsewhere", "7", "nope"] {
            let error = resolve(&inner, Some(name)).unwrap_err();
            assert!(matches!(error, StoreError::NoSuchRun { .. }), "{name}: {error}");
        }
    }
}
