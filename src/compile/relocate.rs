//! Files of a matrix under a folder of their own, with their places among each other kept: what one
//! includes by a relative path is still found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::folders::include_folders;
use crate::model::{Build, Experiment, Libm, Sources};

/// Where the compilers of this machine keep their own headers.
const SYSTEM: [&str; 3] = ["/usr/include", "/usr/lib", "/usr/local/include"];

/// Which files go along, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// By their plain paths, as they are named.
    files: BTreeMap<PathBuf, PathBuf>,
    /// The folder that holds all of them.
    root: PathBuf,
    /// What it becomes.
    to: PathBuf,
}

impl Relocation {
    /// The sources of the builds and what is theirs of the headers that were read: those below an include
    /// folder, and all others but what the machine's compilers and libraries keep below /usr.
    pub fn new(
        experiment: &Experiment,
        builds: &[&Build],
        headers: &BTreeSet<PathBuf>,
        to: &str,
    ) -> Relocation {
        let of_build = |build: &&Build| &experiment.implementation(build).sources;
        let sources: Vec<&Sources> = builds.iter().map(of_build).collect();
        let files = || sources.iter().flat_map(|sources| &sources.files).chain(&experiment.harness.files);
        let named = files().chain([&experiment.path]);
        let own: Vec<PathBuf> = named.filter_map(|path| path.parent()).map(plain).collect();
        let mut told: Vec<PathBuf> =
            sources.iter().flat_map(|sources| &sources.include).map(|path| plain(path)).collect();
        let args = builds.iter().map(|build| &build.args).chain([&experiment.harness.args]);
        for folder in args.flat_map(|args| include_folders(args)) {
            let folder = plain(&folder);
            told.extend((!SYSTEM.iter().any(|system| folder == Path::new(system))).then_some(folder));
        }
        let is_own = |path: &Path| {
            let system = SYSTEM.iter().any(|s| path.starts_with(s));
            let below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
            below(&told) || !system && (below(&own) || !path.starts_with("/usr"))
        };
        let libraries = builds.iter().filter_map(|build| match &build.environment.libm {
            Some(Libm::File(path)) => Some(path),
            _ => None,
        });
        let all = headers.iter().filter(|path| is_own(&plain(path))).chain(files()).chain(libraries);
        let files: BTreeMap<PathBuf, PathBuf> = all.map(|path| (plain(path), path.clone())).collect();
        let mut root = files.keys().next().and_then(|p| p.parent()).map(PathBuf::from).unwrap_or_default();
        for file in files.keys() {
            while !file.starts_with(&root) && root.pop() {}
        }
        Relocation { files, root, to: to.into() }
    }

    /// Every file with its new place.
    pub fn files(&self) -> impl Iterator<Item = (&Path, PathBuf)> {
        self.files.iter().map(|(plain, named)| (named.as_path(), self.path(plain)))
    }

    /// The experiment with its sources in their new places.
    pub fn experiment(&self, experiment: &Experiment) -> Experiment {
        let mut moved = experiment.clone();
        for sources in moved.implementations.iter_mut().map(|i| &mut i.sources) {
            for path in sources.files.iter_mut().chain(&mut sources.include) {
                *path = self.path(path);
            }
        }
        moved.harness.files.iter_mut().for_each(|path| *path = self.path(path));
        moved.harness.args = experiment.harness.args.iter().map(|arg| self.arg(arg)).collect();
        for path in moved.functions.iter_mut().chain(&mut moved.declared).filter_map(|f| f.within.as_mut()) {
            *path = self.path(path);
        }
        moved
    }

    /// A build whose arguments name the new places.
    pub fn build(&self, build: &Build) -> Build {
        let mut moved = build.clone();
        moved.args = build.args.iter().map(|arg| self.arg(arg)).collect();
        if let Some(Libm::File(path)) = &mut moved.environment.libm {
            *path = self.path(path);
        }
        moved
    }

    /// The new place of a file that goes along, or of a folder that holds one; others stay.
    fn path(&self, path: &Path) -> PathBuf {
        let place = plain(path);
        match place.strip_prefix(&self.root) {
            Ok(rest) if self.files.keys().any(|file| file.starts_with(&place)) => {
                // Joining nothing would leave a slash behind.
                if rest.as_os_str().is_empty() { self.to.clone() } else { self.to.join(rest) }
            }
            _ => path.into(),
        }
    }

    /// The matrix made paths in arguments absolute, so a path begins at the first slash.
    fn arg(&self, arg: &str) -> String {
        let Some(at) = arg.find('/') else { return arg.into() };
        let (option, path) = arg.split_at(at);
        if ["-L", "-B", "--sysroot="].contains(&option) {
            // Libraries do not go along.
            return arg.into();
        }
        format!("{option}{}", self.path(Path::new(path)).display())
    }
}

/// Without `..` and `.`: a compiler prints the way it took to a header.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::samples;

    #[test]
    fn sources_and_their_headers_keep_their_places_and_the_systems_stay() {
        let mut experiment = samples::experiment(&["/lab/m/../src/a b.c", "/lab/src/deep/c.c"], Vec::new());
        experiment.path = "/lab/matrix.toml".into();
        experiment.implementations[0].sources.include =
            vec!["/lab/m/../include".into(), "/usr/include/gsl".into()];
        let build = samples::build(
            "gcc",
            &["-O2", "-I/opt/m/../x/include", "-L/opt/x", "-include", "/lab/src/pre.h"],
        );
        let headers =
            ["/usr/include/math.h", "/lab/src/../include/h.h", "/lab/src/pre.h", "/opt/x/include/x.h"];
        let headers = headers.iter().map(PathBuf::from).collect();
        let moved = Relocation::new(&experiment, &[&build], &headers, "files");
        let places: Vec<String> = moved.files().map(|(_, to)| to.display().to_string()).collect();
        let wanted =
            ["lab/include/h.h", "lab/src/a b.c", "lab/src/deep/c.c", "lab/src/pre.h", "opt/x/include/x.h"];
        assert_eq!(places, wanted.map(|place| format!("files/{place}")));
        assert_eq!(
            moved.build(&build).args,
            ["-O2", "-Ifiles/opt/x/include", "-L/opt/x", "-include", "files/lab/src/pre.h"]
        );
        let include = &moved.experiment(&experiment).implementations[0].sources.include;
        assert_eq!(*include, [PathBuf::from("files/lab/include"), "/usr/include/gsl".into()]);
    }

    #[test]
    fn one_folder_becomes_the_new_one_itself() {
        let mut experiment = samples::experiment(&["/lab/a.c"], Vec::new());
        experiment.implementations[0].sources.include = vec!["/lab".into()];
        let build = samples::build("gcc", &[]);
        let moved =
            Relocation::new(&experiment, &[&build], &BTreeSet::new(), "files").experiment(&experiment);
        let Sources { files, include, .. } = &moved.implementations[0].sources;
        assert_eq!(
            (files.as_slice(), include.as_slice()),
            (&["files/a.c".into()][..], &["files".into()][..])
        );
    }
}
