//! What compilers and code under test may reach of this machine: what a matrix names, the project it is in, and nothing else of
//! the user's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::LabError;
use super::open::{Lab, Means};
use crate::model::{Experiment, Implementation, Libm};
use crate::sandbox::{Held, Project, Sandbox, is_of_system, is_too_wide, real};
use crate::toolchain::{ToolReach, with_folder};

/// What the tools of an experiment may read.
pub fn tool_reach(experiment: &Experiment, means: &Means) -> ToolReach {
    if means.no_sandbox {
        return ToolReach::off();
    }
    let project = Project::around(&experiment.path);
    let mut read = named(experiment, &project);
    read.extend(project.root().map(PathBuf::from));
    read.extend(experiment.sandbox.read.iter().cloned());
    let read = read.into_iter().flat_map(|path| project.without_history(path)).collect();
    let code = read_by_code(experiment, &project);
    ToolReach::new(read, project).with_code(code)
}

/// What a matrix names, with what belongs to that, wherever it is.
fn named(experiment: &Experiment, project: &Project) -> Vec<PathBuf> {
    let outside = |file: &&PathBuf| !project.names(file);
    let mut read: Vec<PathBuf> = sources(experiment).flat_map(|file| with_folder(file)).collect();
    read.extend(sources(experiment).filter(outside).filter_map(|file| surroundings(file)));
    read.extend(include(experiment).filter(|folder| !is_too_wide(folder)).cloned());
    read.extend(libraries(&experiment.implementations));
    read.extend(libms(experiment));
    read
}

/// What a matrix opens of the machine beside the system and its own project, in words: for who looks before anything runs.
pub fn opened(experiment: &Experiment, means: &Means) -> Vec<String> {
    if means.no_sandbox {
        return vec![UNCONFINED.into()];
    }
    let project = Project::around(&experiment.path);
    let elsewhere = |paths: Vec<PathBuf>| -> BTreeSet<PathBuf> {
        let places = paths.into_iter().filter(|path| !project.names(path)).map(|path| real(&path));
        places.filter(|place| !is_of_system(place)).collect()
    };
    let (given, mut seen) =
        (elsewhere(read_by_code(experiment, &project)), elsewhere(named(experiment, &project)));
    seen.retain(|path| !path.ancestors().any(|folder| given.contains(folder)));
    let told = |who: &str, paths: Vec<&PathBuf>| {
        let list: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let list = list.join(", ");
        (!paths.is_empty())
            .then(|| format!("{who} may read, outside the project, as the matrix says: {list}"))
    };
    let both = told("compilers and code under test", outermost(&given));
    both.into_iter().chain(told("compilers", outermost(&seen))).collect()
}

/// Those that lie in no other one.
fn outermost(paths: &BTreeSet<PathBuf>) -> Vec<&PathBuf> {
    let is_outermost = |path: &&PathBuf| !path.ancestors().skip(1).any(|folder| paths.contains(folder));
    paths.iter().filter(is_outermost).collect()
}

const UNCONFINED: &str = "nothing confines compilers and code under test (--no-sandbox)";

/// The same for code under test, beside the objects that it is in.
fn read_by_code(experiment: &Experiment, project: &Project) -> Vec<PathBuf> {
    let mut read = experiment.sandbox.read.clone();
    read.extend(libraries_alone(&experiment.implementations, project));
    read.extend(libms(experiment));
    read.into_iter().flat_map(|path| project.without_history(path)).collect()
}

/// Refuses what the matrix names in the project when a link leads it out of there: who may change the project could have any file of
/// the user's shown.
pub(super) fn check_links(experiment: &Experiment) -> Result<(), LabError> {
    let project = Project::around(&experiment.path);
    let read = &experiment.sandbox.read;
    let named = sources(experiment).chain(include(experiment)).chain(read).cloned();
    let named = named.chain(libraries(&experiment.implementations)).chain(libms(experiment));
    let is_allowed = |path: &Path| {
        let place = real(path);
        read.iter().any(|shown| !project.is_left_by(shown) && place.starts_with(real(shown)))
    };
    let mut left: Vec<PathBuf> = named.filter(|path| project.is_left_by(path) && !is_allowed(path)).collect();
    left.sort();
    left.dedup();
    if left.is_empty() { Ok(()) } else { Err(LabError::leads_out(&left)) }
}

fn sources(experiment: &Experiment) -> impl Iterator<Item = &PathBuf> {
    let files = experiment.implementations.iter().flat_map(|implementation| &implementation.sources.files);
    files.chain(&experiment.harness.files)
}

fn include(experiment: &Experiment) -> impl Iterator<Item = &PathBuf> {
    experiment.implementations.iter().flat_map(|implementation| &implementation.sources.include)
}

/// The folder around that of a source outside the project, where libraries keep the headers that their sources share: `src/a.c`
/// includes `../include/a.h`. A folder right below the root is nobody's project.
fn surroundings(source: &Path) -> Option<PathBuf> {
    let around = source.parent().and_then(Path::parent);
    let is_deep = |folder: &&Path| folder.components().count() > 2;
    around.filter(is_deep).filter(|folder| !is_too_wide(folder)).map(PathBuf::from)
}

/// Libraries that are named by their files, with what lies beside them, and folders of libraries.
fn libraries(implementations: &[Implementation]) -> Vec<PathBuf> {
    let sources = || implementations.iter().map(|implementation| &implementation.sources);
    let files = sources().flat_map(|sources| &sources.libs).filter(|lib| lib.contains('/'));
    let folders = sources().flat_map(|sources| &sources.library_path).filter(|folder| !is_too_wide(folder));
    files.flat_map(|file| with_folder(Path::new(file))).chain(folders.cloned()).collect()
}

/// The same without what else lies beside them: code under test needs the libraries, and those that they need in turn.
fn libraries_alone(implementations: &[Implementation], project: &Project) -> Vec<PathBuf> {
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name.ends_with(".so") || name.contains(".so.")) && !project.is_left_by(path)
    };
    let beside = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(is_library).collect::<Vec<_>>()
    };
    let sources = || implementations.iter().map(|implementation| &implementation.sources);
    let files =
        sources().flat_map(|sources| &sources.libs).filter(|lib| lib.contains('/')).map(PathBuf::from);
    let folders = files.clone().filter_map(|file| file.parent().map(PathBuf::from));
    let folders: BTreeSet<PathBuf> =
        folders.chain(sources().flat_map(|sources| sources.library_path.clone())).collect();
    // What is the system's is read anyway, and is much.
    let folders = folders.into_iter().filter(|folder| !is_of_system(&real(folder)));
    files.chain(folders.flat_map(beside)).collect()
}

/// Files that stand in for a libm.
fn libms(experiment: &Experiment) -> impl Iterator<Item = PathBuf> {
    experiment.environments.iter().filter_map(|environment| match &environment.libm {
        Some(Libm::File(path)) => Some(path.clone()),
        _ => None,
    })
}

impl Lab {
    /// How processes with code under test are confined: they read the libraries that the matrix names, and what `[sandbox]`
    /// says; the objects they load are added by whoever starts them.
    pub fn sandbox(&self) -> Sandbox {
        if self.no_sandbox {
            return Sandbox::off();
        }
        let mut read = read_by_code(&self.experiment, &Project::around(&self.experiment.path));
        read.push(self.cache.shelves());
        Sandbox::new(Held::here(), read)
    }

    /// What a user should know of it.
    pub(super) fn confinement(&self) -> Option<String> {
        if self.no_sandbox {
            return Some(UNCONFINED.into());
        }
        let gaps = Held::here().gaps();
        (!gaps.is_empty()).then(|| {
            let gaps = gaps.join("; ");
            format!(
                "this kernel cannot keep code under test from: {gaps}; see `bitrift doctor` and SECURITY.md"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Sources;

    #[test]
    fn a_source_brings_the_folder_around_its_own_unless_that_is_more_than_a_project() {
        let around = |source: &str| surroundings(Path::new(source));
        assert_eq!(around("/srv/code/src/a.c"), Some("/srv/code".into()));
        assert_eq!(around("/srv/code/a.c"), None, "/srv is nobody's project");
        assert_eq!(around("/home/x/src/a.c"), None, "nor is a home folder");
    }

    #[test]
    fn code_gets_libraries_and_not_what_lies_beside_them() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |name: &str| inside.path().join(name);
        for name in ["libv.so", "libw.so.1.2", "a.c", "notes.sober"] {
            fs::write(path(name), "").unwrap();
        }
        std::os::unix::fs::symlink(outside.path(), path("key.so")).unwrap();
        std::os::unix::fs::symlink("libw.so.1.2", path("libw.so")).unwrap();
        let project = Project::around(&path("matrix.toml"));
        let libs = vec![path("libv.so").display().to_string(), "m".into()];
        let sources = Sources { libs, library_path: vec![inside.path().into()], ..Sources::default() };
        let named = Implementation { sources, ..Implementation::named("", &[]).clone() };
        let found: BTreeSet<PathBuf> = libraries_alone(&[named], &project).into_iter().collect();
        assert_eq!(found, BTreeSet::from(["libv.so", "libw.so", "libw.so.1.2"].map(path)));
    }

    #[test]
    fn links_out_of_the_project_and_its_history_are_not_read() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |name: &str| inside.path().join(name);
        fs::create_dir(path(".git")).unwrap();
        fs::write(path("a.c"), "").unwrap();
        fs::write(outside.path().join("key"), "").unwrap();
        std::os::unix::fs::symlink(outside.path().join("key"), path("b.c")).unwrap();
        std::os::unix::fs::symlink("a.c", path("c.c")).unwrap();
        let project = Project::around(&path("matrix.toml"));
        let mut read = project.without_history(inside.path().into());
        read.sort();
        assert_eq!(read, [path("a.c"), path("c.c")]);
        // The same for a folder around the project; and its parts are as little read by other names.
        assert!(!project.without_history(inside.path().parent().unwrap().into()).contains(&path(".git")));
        std::os::unix::fs::symlink(".git", path("other")).unwrap();
        for name in [".git", ".git/config", "other"] {
            assert!(
                project.is_history(&path(name)) && project.without_history(path(name)).is_empty(),
                "{name}"
            );
        }
    }
}
