//! The project that a matrix belongs to, and which of its paths lead out of it. Whoever may change the project, such as the author of
//! a pull request, must not choose by a link what of the rest of the machine is read.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::files::is_of_system;

/// The repository that a matrix is in, or else its folder; nothing where that is more than anybody means by a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project(Option<PathBuf>);

impl Project {
    pub fn around(matrix: &Path) -> Project {
        let folder = matrix.parent();
        let repository = folder.and_then(|f| f.ancestors().find(|folder| folder.join(".git").exists()));
        let fit = [repository, folder].into_iter().flatten().find(|folder| !is_too_wide(folder));
        Project(fit.map(PathBuf::from))
    }

    pub fn root(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Whether a path is in it by its words alone, `..` in them taken back.
    pub fn names(&self, path: &Path) -> bool {
        self.0.as_ref().is_some_and(|root| in_words(path).starts_with(in_words(root)))
    }

    /// Whether a file is in it, links followed.
    pub fn holds(&self, path: &Path) -> bool {
        self.0.as_ref().is_some_and(|root| real(path).starts_with(real(root)))
    }

    /// Whether a path is in what the repository keeps beside its files: a checkout has tokens there.
    pub fn is_history(&self, path: &Path) -> bool {
        self.history().is_some_and(|history| real(path).starts_with(history))
    }

    fn history(&self) -> Option<PathBuf> {
        let history = self.0.as_ref()?.join(".git");
        history.exists().then(|| real(&history))
    }

    /// A path, or what lies in it beside that and beside links out of the project.
    pub fn without_history(&self, path: PathBuf) -> Vec<PathBuf> {
        let Some(history) = self.history() else { return vec![path] };
        let place = real(&path);
        if place.starts_with(&history) {
            return Vec::new();
        }
        if !history.starts_with(&place) {
            return vec![path];
        }
        let Ok(entries) = fs::read_dir(&path) else { return Vec::new() };
        let entries = entries.flatten().map(|entry| entry.path());
        entries
            .filter(|entry| !self.is_left_by(entry))
            .flat_map(|entry| self.without_history(entry))
            .collect()
    }

    /// Whether a path of the project leads out of it by a link. A path that leaves it by `..` is the matrix's own word.
    pub fn is_left_by(&self, path: &Path) -> bool {
        // What is the system's is shown anyway; what the kernel says of processes is no file.
        let is_shown = |place: &Path| is_of_system(place) && !place.starts_with("/proc");
        let leads_out = |part: &Path| !self.holds(part) && !is_shown(&real(part));
        // A link on the way counts too: what follows it may climb back by names alone.
        path.ancestors().any(|part| self.names(part) && leads_out(part))
    }
}

/// Whether a folder is more than anybody means by what lies in it: the root, a home folder, one that has home folders in it, or
/// one for everybody's temporary files.
pub fn is_too_wide(folder: &Path) -> bool {
    let folder = real(folder);
    let temporary = [Path::new("/tmp"), Path::new("/var/tmp"), Path::new("/dev/shm"), &std::env::temp_dir()];
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let is_home = folder == Path::new("/root") || folder.parent() == Some(Path::new("/home"));
    let has_homes = ["/root", "/home"].iter().any(|home| Path::new(home).starts_with(&folder));
    temporary.iter().any(|wide| real(wide) == folder)
        || is_home
        || has_homes
        || home.is_some_and(|home| real(&home).starts_with(&folder))
}

/// Whether a path leads to a file that lies on a disk. The kernel's own files look like others and may never end: reading
/// `/proc/kmsg` waits for the next message.
pub fn is_stored(path: &Path) -> bool {
    let real = fs::canonicalize(path);
    real.is_ok_and(|real| real.is_file() && !real.starts_with("/proc") && !real.starts_with("/sys"))
}

/// A path without links, as far as it leads to something.
pub fn real(path: &Path) -> PathBuf {
    let parent = || Some(real(path.parent()?).join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(parent).unwrap_or_else(|| path.into())
}

/// A path without `.` and `..`.
fn in_words(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut words, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(words.pop()),
            part => words.push(part),
        }
        words
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_folders_what_holds_them_and_temporary_folders_are_too_wide_and_what_is_below_is_not() {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        let wide = ["/", "/root", "/home", "/home/x", "/tmp", "/var/tmp", "/dev/shm"].map(Path::new);
        for folder in wide.into_iter().chain([home.as_path(), &std::env::temp_dir()]) {
            assert!(is_too_wide(folder), "{folder:?}");
        }
        for folder in ["/usr/bin", "/home/x/project", "/opt", "/tmp/project"] {
            assert!(!is_too_wide(Path::new(folder)), "{folder}");
        }
    }

    #[test]
    fn a_path_that_leaves_the_project_by_its_words_is_no_link_out_of_it() {
        let desk = tempfile::tempdir().unwrap();
        let path = |name: &str| desk.path().join(name);
        for folder in ["lab", "code", "far/deep/er"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        for file in ["code/a.c", "far/a.c", "lab/a.c"] {
            fs::write(path(file), "").unwrap();
        }
        std::os::unix::fs::symlink(path("far/deep/er"), path("lab/link")).unwrap();
        std::os::unix::fs::symlink("a.c", path("lab/b.c")).unwrap();
        let lab = Project::around(&path("lab/matrix.toml"));
        let is_left_by = |name: &str| lab.is_left_by(&path(name));
        assert!(!is_left_by("lab/../code/a.c") && !is_left_by("lab/./../code/../code/a.c"));
        assert!(!is_left_by("lab/b.c") && !is_left_by("far/a.c"));
        assert!(is_left_by("lab/link") && is_left_by("lab/../lab/link"));
        assert!(is_left_by("lab/link/../../a.c"), "a link on the way");
        assert!(lab.names(&path("lab/../lab/x")) && !lab.names(&path("lab/../code")));
    }

    #[test]
    fn the_repository_around_a_matrix_is_its_project_and_a_temporary_folder_is_none() {
        let desk = tempfile::tempdir().unwrap();
        let path = |name: &str| desk.path().join(name);
        fs::create_dir_all(path("repo/.git")).unwrap();
        fs::create_dir_all(path("repo/lab")).unwrap();
        assert_eq!(Project::around(&path("repo/lab/m.toml")).root(), Some(path("repo").as_path()));
        assert_eq!(Project::around(&path("other/m.toml")).root(), Some(path("other").as_path()));
        assert_eq!(Project::around(&std::env::temp_dir().join("m.toml")), Project::default());
    }
}
