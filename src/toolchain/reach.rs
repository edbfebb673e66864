//! What tools may read beside the system's own files. They write nothing but the folder of their own run, so that no tool can
//! put its work in the place of another's.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compiler::is_executable;
use super::process::{Invocation, search_path};
use super::wrapper::{named_files, script};
use crate::sandbox::{Cage, Held, Project, is_of_system, is_too_wide, real};

/// What the tools of a lab may read. The default is what no matrix has a say in: the system, and the folders of PATH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolReach {
    /// None: all that the user may.
    read: Option<Arc<[PathBuf]>>,
    /// Where these are, links followed.
    real: Arc<[PathBuf]>,
    /// What programs with code under test may read when they are asked something.
    code: Arc<[PathBuf]>,
    /// Out of which no link leads.
    project: Project,
}

impl Default for ToolReach {
    fn default() -> ToolReach {
        ToolReach::new(Vec::new(), Project::default())
    }
}

impl ToolReach {
    /// These files and folders too, whatever they are. What arguments name by links that lead out of the project is left out.
    pub fn new(read: Vec<PathBuf>, project: Project) -> ToolReach {
        let path = search_path();
        let commands = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let commands = commands.flat_map(|folder| around(&folder));
        let commands = commands.flat_map(|folder| project.without_history(folder));
        let mut read: Vec<PathBuf> = commands.chain(read).collect();
        read.sort();
        read.dedup();
        let real = read.iter().map(|path| real(path)).collect();
        ToolReach { read: Some(read.into()), real, code: Arc::default(), project }
    }

    /// The same with what programs with code under test may read.
    pub fn with_code(self, read: Vec<PathBuf>) -> ToolReach {
        ToolReach { code: read.into(), ..self }
    }

    /// The same and these.
    pub fn and(&self, more: Vec<PathBuf>) -> ToolReach {
        let real = self.real.iter().cloned().chain(more.iter().map(|path| real(path))).collect();
        let read = self.read.as_ref().map(|read| read.iter().cloned().chain(more).collect());
        ToolReach { read, real, ..self.clone() }
    }

    /// All that the user may.
    pub fn off() -> ToolReach {
        ToolReach { read: None, real: Arc::default(), code: Arc::default(), project: Project::default() }
    }

    pub fn is_off(&self) -> bool {
        self.read.is_none()
    }

    /// Whether every tool may read a file, as far as that does not depend on which tool it is and what it was told.
    pub fn may_read(&self, path: &Path) -> bool {
        let place = real(path);
        self.is_off() || is_of_system(&place) || self.real.iter().any(|shown| place.starts_with(shown))
    }

    /// Whether this tool may, told this.
    pub fn lets_read(&self, program: &Path, argv: &[String], path: &Path) -> bool {
        let place = real(path);
        let own = self.installation(program).into_iter().chain(self.named(argv));
        self.may_read(path) || own.into_iter().any(|shown| place.starts_with(real(&shown)))
    }

    /// The cage of one run; None when there is to be none.
    pub(super) fn cage(&self, invocation: &Invocation<'_>) -> io::Result<Option<Cage>> {
        let Some(shared) = &self.read else { return Ok(None) };
        let mut read = shared.to_vec();
        read.extend(self.installation(invocation.program));
        read.extend(self.named(invocation.argv));
        Cage::tool(Held::here(), read, invocation.own).map(Some).map_err(cannot)
    }

    /// The same for a program with code under test, and the emulator that runs it.
    pub(super) fn cage_of_code(&self, invocation: &Invocation<'_>) -> io::Result<Option<Cage>> {
        if self.is_off() {
            return Ok(None);
        }
        let mut read = self.code.to_vec();
        read.push(invocation.program.to_path_buf());
        read.extend(self.named(invocation.argv));
        Cage::code(Held::here(), read, invocation.own).map(Some).map_err(cannot)
    }

    /// What the arguments name.
    fn named(&self, argv: &[String]) -> impl Iterator<Item = PathBuf> {
        let named = argv.iter().skip(1).flat_map(|arg| named_in(arg));
        named
            .filter(|path| !self.project.is_left_by(path))
            .flat_map(|path| self.project.without_history(path))
    }

    /// A program, and what is installed with it. What a script starts by its whole path belongs to it; one of the project could
    /// name anything.
    fn installation(&self, program: &Path) -> Vec<PathBuf> {
        let script = script(program).filter(|_| !self.project.holds(program));
        let started = script.map(|text| named_files(&text)).unwrap_or_default();
        let started = started.into_iter().filter(|file| is_executable(file));
        let mut found = vec![program.to_path_buf()];
        for program in [program.to_path_buf()].into_iter().chain(started) {
            let path = real(&program);
            if let Some(folder) = path.parent().filter(|folder| folder.ends_with("bin")) {
                found.extend(around(folder));
            }
            found.push(path);
        }
        found.into_iter().flat_map(|path| self.project.without_history(path)).collect()
    }
}

fn cannot(error: io::Error) -> io::Error {
    io::Error::other(format!("its sandbox cannot be made: {error}"))
}

/// A file with its folder: what lies beside it may belong to it. The file alone where that is too wide.
pub fn with_folder(file: &Path) -> Vec<PathBuf> {
    let folder = file.parent().filter(|folder| !is_too_wide(folder));
    folder.map(PathBuf::from).into_iter().chain([file.to_path_buf()]).collect()
}

/// A folder of commands with what is installed beside it.
fn around(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    found.retain(|folder| !is_too_wide(folder));
    let Some(parent) = folder.parent().filter(|_| folder.ends_with("bin")) else { return found };
    let is_hidden = parent.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    match is_too_wide(parent) || (is_hidden && parent.parent().is_some_and(is_too_wide)) {
        // ~/.local and ~/.cargo have more in them than programs.
        true if is_hidden => {
            found.extend(["lib", "lib64", "libexec", "include"].map(|part| parent.join(part)));
        }
        true => {}
        false => found.push(parent.to_path_buf()),
    }
    found
}

/// Files and folders that an argument names by their whole path: `-I/x`, `-specs=/x`, `-Wl,-T,/x`, `@/x`.
fn named_in(arg: &str) -> Vec<PathBuf> {
    let is_named = |path: &PathBuf| path.exists() && !(path.is_dir() && is_too_wide(path));
    if arg.starts_with("-D") || arg.starts_with("-U") {
        return Vec::new();
    }
    // A path of its own may have any sign in it.
    if arg.starts_with('/') && Path::new(arg).exists() {
        return Some(PathBuf::from(arg)).filter(is_named).into_iter().collect();
    }
    let parts = arg.split([',', '=', '@']);
    parts.filter_map(|part| part.find('/').map(|at| PathBuf::from(&part[at..]))).filter(is_named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_brings_its_folder_unless_that_is_a_home_folder() {
        assert_eq!(with_folder(Path::new("/root/x.c")), [Path::new("/root/x.c")]);
        assert_eq!(with_folder(Path::new("/root/p/x.c")), [Path::new("/root/p"), Path::new("/root/p/x.c")]);
    }

    #[test]
    fn commands_bring_their_installation_and_not_the_rest_of_a_home_folder() {
        let shown = |folder: &str| -> Vec<String> {
            around(Path::new(folder)).iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(shown("/srv/gcc-14/bin"), ["/srv/gcc-14/bin", "/srv/gcc-14"]);
        assert_eq!(shown("/home/x/tools"), ["/home/x/tools"]);
        assert_eq!(shown("/home/x/bin"), ["/home/x/bin"]);
        let local = shown("/home/x/.local/bin");
        assert_eq!(local[..2], ["/home/x/.local/bin", "/home/x/.local/lib"]);
        assert!(!local.contains(&"/home/x/.local".to_string()), "{local:?}");
        assert!(shown("/root").is_empty());
    }

    #[test]
    fn the_paths_of_an_argument_are_found() {
        for (arg, path) in [
            ("-I/usr/include", Some("/usr/include")),
            ("/etc/passwd", Some("/etc/passwd")),
            ("-Wl,-T,/etc/passwd", Some("/etc/passwd")),
            ("--sysroot=/usr", Some("/usr")),
            ("-I/", None),
            ("-DX=/etc/passwd", None),
            ("-I/no/such", None),
            ("-O2", None),
        ] {
            assert_eq!(named_in(arg), path.map(PathBuf::from).into_iter().collect::<Vec<_>>(), "{arg}");
        }
    }

    #[test]
    fn tools_may_read_the_system_and_what_they_were_given() {
        let (given, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let reach = ToolReach::new(vec![given.path().into()], Project::default());
        let link = given.path().join("link");
        std::os::unix::fs::symlink(other.path(), &link).unwrap();
        assert!(reach.may_read(Path::new("/usr/include/math.h")) && reach.may_read(given.path()));
        assert!(!reach.may_read(other.path()) && !reach.may_read(&link.join("x")));
        assert!(reach.and(vec![other.path().into()]).may_read(&link));
        assert!(ToolReach::off().may_read(other.path()));
    }
}
