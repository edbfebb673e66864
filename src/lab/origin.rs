//! Where a run comes from: the matrix it was made with, found again from the run's folder.

use std::path::{Component, Path, PathBuf};

use crate::model::{Experiment, ORIGIN_SCHEMA, OriginFile};
use crate::store::Fingerprint;

/// The origin of a run of an experiment that is stored in a folder.
pub(super) fn of(experiment: &Experiment, folder: &Path, print: &Fingerprint, confirm: bool) -> OriginFile {
    OriginFile {
        schema: ORIGIN_SCHEMA.into(),
        matrix: from(&whole(folder), &whole(&experiment.path)),
        matrix_absolute: std::path::absolute(&experiment.path).unwrap_or_else(|_| experiment.path.clone()),
        confirm,
        fingerprint: print.parts().clone(),
    }
}

/// The matrix of a run in a folder: beside it as it was, else where it was; None when it is at neither place.
pub fn matrix_of(origin: &OriginFile, folder: &Path) -> Option<PathBuf> {
    let there = origin.matrix_absolute.clone();
    match folder.join(&origin.matrix).canonicalize().ok().filter(|path| path.is_file()) {
        // Spelled as it was then: sources are cached by their paths.
        Some(beside) if there.canonicalize().is_ok_and(|path| path == beside) => Some(there),
        None => Some(there).filter(|path| path.is_file()),
        beside => beside,
    }
}

/// A path without links and without `..`; one that is not there stays as it is written.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.into())
}

/// The way from one folder to a file, both with whole paths.
fn from(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_file_goes_up_to_what_is_shared() {
        let way = |folder: &str, file: &str| from(Path::new(folder), Path::new(file)).display().to_string();
        assert_eq!(way("/a/results/0001-x", "/a/matrix.toml"), "../../matrix.toml");
        assert_eq!(way("/tmp/out", "/home/me/m.toml"), "../../home/me/m.toml");
        assert_eq!(way("/a", "/a/m.toml"), "m.toml");
    }

    #[test]
    fn a_matrix_is_found_when_it_moved_with_the_run_or_the_run_moved_alone() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir_all(at("a/out")).unwrap();
        std::fs::write(at("a/m.toml"), "").unwrap();
        let origin = OriginFile {
            matrix: "../m.toml".into(),
            matrix_absolute: whole(&at("a/m.toml")),
            ..OriginFile::default()
        };
        assert_eq!(matrix_of(&origin, &at("a/out")), Some(whole(&at("a/m.toml"))));
        std::fs::create_dir_all(at("b/c/out")).unwrap();
        assert_eq!(matrix_of(&origin, &at("b/c/out")), Some(whole(&at("a/m.toml"))));
        std::fs::rename(at("a"), at("moved")).unwrap();
        assert_eq!(matrix_of(&origin, &at("moved/out")), Some(whole(&at("moved/m.toml"))));
        assert_eq!(matrix_of(&origin, &at("b/c/out")), None);
    }
}
