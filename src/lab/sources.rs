//! The sources of a run: where functions are defined, as a report names it, and whether files changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::open::Lab;
use crate::compile::Relocation;
use crate::model::{Build, Experiment, RunFile, SourceRow};
use crate::sandbox::is_stored;

/// For each function of the experiment the file and line of its definition, where the sources have one.
pub fn definitions(lab: &Lab) -> Vec<Option<SourceRow>> {
    let root = lab.experiment.path.parent().unwrap_or(Path::new("/"));
    let row = |function| {
        let (path, line) = lab.indexed(function).find_map(|(index, function)| index.definition(function))?;
        Some(SourceRow { file: relative(path, root), line })
    };
    (0..lab.experiment.functions.len()).map(row).collect()
}

/// A digest of each source and of the headers that belong to them, by the name a report gives it. The machine's own
/// headers are its compiler's business.
pub fn digests(
    experiment: &Experiment,
    builds: &[Build],
    headers: &BTreeSet<PathBuf>,
) -> BTreeMap<String, String> {
    let root = experiment.path.parent().unwrap_or(Path::new("/"));
    let builds: Vec<&Build> = builds.iter().collect();
    let own = Relocation::new(experiment, &builds, headers, "");
    own.files().filter_map(|(path, _)| Some((relative(path, root), digest(path)?))).collect()
}

fn digest(path: &Path) -> Option<String> {
    if !is_stored(path) {
        return None;
    }
    let content = std::fs::read(path).ok()?;
    Some(blake3::hash(&content).to_hex()[..16].to_string())
}

/// The sources, headers and libraries of a run that are not as they were, by name.
pub fn changed(run: &RunFile, experiment: &Experiment) -> Vec<String> {
    let root = experiment.path.parent().unwrap_or(Path::new("/"));
    let differs = |(name, then): &(&String, &String)| digest(&root.join(name)).as_ref() != Some(*then);
    let libraries = run.builds.iter().flat_map(|build| &build.libraries);
    let changed = run.sources.iter().chain(libraries).filter(differs);
    let changed: BTreeSet<String> = changed.map(|(name, _)| name.clone()).collect();
    changed.into_iter().collect()
}

/// Below the matrix's folder its path from there, elsewhere the whole path; `/` on every system.
pub(super) fn relative(path: &Path, root: &Path) -> String {
    let plain = |path: &Path| path.components().all(|c| c != std::path::Component::ParentDir);
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let path = match path.strip_prefix(root) {
        Ok(inside) if plain(inside) => inside.to_path_buf(),
        // An include such as ../common.h may lead out of the folder and back.
        _ => {
            let (path, root) = (real(path), real(root));
            path.strip_prefix(&root).map_or(path.clone(), Path::to_path_buf)
        }
    };
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_matrix_where_it_is_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("lab");
        for name in ["lab/src/a.c", "lab/src/in/b.h", "other.c"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(relative(&root.join("src/a.c"), &root), "src/a.c");
        assert_eq!(relative(&root.join("src/in/../a.c"), &root), "src/a.c");
        let outside = folder.path().canonicalize().unwrap().join("other.c");
        assert_eq!(relative(&root.join("../other.c"), &root), outside.to_str().unwrap());
    }
}
