//! Where the functions under test are defined, as a report names it.

use std::path::Path;

use super::lab::Lab;
use crate::model::SourceRow;

/// For each function of the experiment the file and line of its definition, where the sources have one.
pub fn definitions(lab: &Lab) -> Vec<Option<SourceRow>> {
    let root = lab.experiment.path.parent().unwrap_or(Path::new("/"));
    let mine = lab.mine();
    let row = |function| {
        let (path, line) = mine.definition(function)?;
        Some(SourceRow { file: relative(path, root), line })
    };
    lab.experiment.functions.iter().map(row).collect()
}

/// Below the matrix's folder its path from there, elsewhere the whole path; `/` on every system.
fn relative(path: &Path, root: &Path) -> String {
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
