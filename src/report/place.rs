//! A source file as another program finds it.

/// A path from the top of a repository, or an absolute one.
pub(super) struct Place {
    path: String,
}

impl Place {
    /// `file` as a run stores it; `root` is the matrix's folder in the repository, empty at its top.
    pub fn new(file: &str, root: &str) -> Place {
        let root = root.trim_start_matches("./").trim_matches('/');
        let path = match file.starts_with('/') || root.is_empty() || root == "." {
            true => file.into(),
            false => format!("{root}/{file}"),
        };
        Place { path }
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn is_absolute(&self) -> bool {
        self.path.starts_with('/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_stands_before_relative_paths_only() {
        let path = |file: &str, root: &str| Place::new(file, root).path().to_owned();
        assert_eq!(path("src/a.c", ""), "src/a.c");
        assert_eq!(path("src/a.c", "."), "src/a.c");
        assert_eq!(path("src/a.c", "./lab/x/"), "lab/x/src/a.c");
        assert_eq!(path("/usr/a.c", "lab"), "/usr/a.c");
    }
}
