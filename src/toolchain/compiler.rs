//! Finding a compiler: its path, family, version, and an identity that changes when it does.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::package::debian_package;
use super::process::{Finished, Invocation, run, search_path};
use super::reach::ToolReach;
use super::wrapper::{Wrapping, named_files, named_programs, script, stamp};
use crate::sandbox::Folder;

/// How long `--version` may take.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// How long any other question may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Compilers that take the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    Gcc,
    Clang,
    Tcc,
    /// Spoken to with the arguments that gcc and clang share.
    Other,
}

impl Family {
    /// The family by the command's name alone, for a compiler that is not on this machine.
    pub fn guess(command: &str) -> Family {
        let name = command.rsplit('/').next().unwrap_or(command);
        let words: Vec<&str> = name.split(['-', '.', '_']).collect();
        if words.contains(&"clang") {
            Family::Clang
        } else if words.contains(&"tcc") {
            Family::Tcc
        } else if words.contains(&"gcc") || name == "cc" {
            Family::Gcc
        } else {
            Family::Other
        }
    }

    /// The family by what `--version` prints; None when it says nothing known.
    fn of_version(text: &str) -> Option<Family> {
        let first = text.lines().next().unwrap_or("");
        if text.contains("clang version") || text.contains("oneAPI DPC++/C++") {
            Some(Family::Clang)
        } else if first.starts_with("tcc version") {
            Some(Family::Tcc)
        } else if text.contains("Free Software Foundation") {
            Some(Family::Gcc)
        } else {
            None
        }
    }
}

/// A compiler on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    pub path: PathBuf,
    pub family: Family,
    /// The first line of `--version`.
    pub version: String,
    /// Whether that told the family, and not the name.
    pub told: bool,
    /// Changes when the program, its version, its place, or a program that it starts does.
    pub identity: String,
    /// Whether it is a script.
    pub wrapping: Wrapping,
    /// What it may read when it is asked something.
    pub reach: ToolReach,
}

impl Compiler {
    /// The programs behind gcc's driver, which packages bring apart from it.
    fn parts(&self) -> String {
        // What another script makes of the question is anybody's guess.
        if self.family != Family::Gcc || self.wrapping == Wrapping::Opaque {
            return String::new();
        }
        let path = |part: &str| {
            let (name, _) = self.ask(&[format!("-print-prog-name={part}")]).ok()?;
            // A name without a folder is one that the driver looks up in PATH.
            locate(name.trim())
        };
        ["cc1", "as"].iter().filter_map(|part| path(part)).map(|part| format!(" {}", stamp(&part))).collect()
    }

    /// What it prints when it is run with these arguments: standard output and standard error.
    /// The error is in its own words.
    pub(super) fn ask<S: AsRef<str>>(&self, args: &[S]) -> Result<(String, String), String> {
        let mut argv = vec![self.path.display().to_string()];
        argv.extend(args.iter().map(|arg| arg.as_ref().to_string()));
        let done = question(&self.path, &argv, &std::env::temp_dir(), (&self.reach, ANSWER_TIMEOUT));
        if done.success() {
            Ok((done.stdout, done.stderr))
        } else {
            Err(done.complaint(&argv[0], ANSWER_TIMEOUT))
        }
    }
}

/// The compilers of a lab, each asked once who it is, and what they and all other tools may read.
#[derive(Default)]
pub struct Compilers {
    reach: ToolReach,
    known: Mutex<BTreeMap<String, Result<Arc<Compiler>, Missing>>>,
}

impl Compilers {
    pub fn new(reach: ToolReach) -> Compilers {
        Compilers { reach, known: Mutex::default() }
    }

    pub fn reach(&self) -> &ToolReach {
        &self.reach
    }

    /// Looks a command up in PATH; one with a slash is a path.
    pub fn find(&self, command: &str) -> Result<Arc<Compiler>, Missing> {
        // What is kept is whole at every moment, whoever panicked.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(command) {
            return found.clone();
        }
        let found = find(command, &self.reach).map(Arc::new);
        known().entry(command.into()).or_insert(found).clone()
    }
}

/// A command that is not on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Missing {
    pub command: String,
    /// The Debian package that brings it, where one does.
    pub package: Option<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} not found", self.command)?;
        match &self.package {
            Some(package) => write!(f, "; Debian package {package}"),
            None => Ok(()),
        }
    }
}

/// Looks a command up in PATH (one with a slash is a path) and asks it who it is.
pub fn find(command: &str, reach: &ToolReach) -> Result<Compiler, Missing> {
    let missing = || Missing { command: command.into(), package: debian_package(command) };
    let path = locate(command).ok_or_else(missing)?;
    let text = version_text(command, &path, reach);
    let version = text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("").to_string();
    let told = Family::of_version(&text);
    let (told, family) = (told.is_some(), told.unwrap_or_else(|| Family::guess(command)));
    let script = script(&path);
    let wrapping = Wrapping::of(script.as_deref());
    let identity = identity(&path, &text, script.as_deref());
    let mut compiler = Compiler { identity, path, family, version, told, wrapping, reach: reach.clone() };
    compiler.identity.push_str(&compiler.parts());
    Ok(compiler)
}

/// The absolute path of an executable command, looked up in PATH; one with a slash is a path.
pub fn locate(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        return std::path::absolute(command).ok().filter(|p| is_executable(p));
    }
    if command.is_empty() {
        return None;
    }
    std::env::split_paths(&search_path())
        .filter(|p| p.is_absolute())
        .map(|p| p.join(command))
        .find(|p| is_executable(p))
}

/// The versioned commands of a compiler on this machine, such as gcc-11 and gcc-12, oldest first.
pub fn versions_of(name: &str) -> Vec<String> {
    let folders: Vec<PathBuf> = std::env::split_paths(&search_path()).filter(|p| p.is_absolute()).collect();
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let version = |entry: fs::DirEntry| {
        let file = entry.file_name().into_string().ok()?;
        let version = file.strip_prefix(name)?.strip_prefix('-')?.parse::<u32>().ok()?;
        is_executable(&entry.path()).then_some(version)
    };
    let mut versions: Vec<u32> = entries.filter_map(version).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.into_iter().map(|version| format!("{name}-{version}")).collect()
}

/// The command of a compiler: without a version where there is one, else the newest.
pub fn newest(name: &str) -> Option<String> {
    if locate(name).is_some() { Some(name.into()) } else { versions_of(name).pop() }
}

/// What to say of a tool that is not on this machine; None when it is.
pub fn missing_tool(command: &str) -> Option<Missing> {
    let missing = || Missing { command: command.into(), package: debian_package(command) };
    locate(command).is_none().then(missing)
}

pub(super) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// What `--version` prints, or what went wrong: a compiler that cannot say its version may still
/// compile, and if not its builds fail with its own words.
fn version_text(command: &str, path: &Path, reach: &ToolReach) -> String {
    let argv = [command.to_string(), "--version".into()];
    let done = question(path, &argv, &std::env::temp_dir(), (reach, VERSION_TIMEOUT));
    if done.success() && !done.stdout.trim().is_empty() {
        done.stdout
    } else {
        done.complaint(command, VERSION_TIMEOUT)
    }
}

/// Asks a tool something, in a folder that it may not write: its own is made for the question, and goes with it.
pub(super) fn question(
    program: &Path,
    argv: &[String],
    cwd: &Path,
    (reach, timeout): (&ToolReach, Duration),
) -> Finished {
    let own = match Folder::temporary() {
        Ok(own) => own,
        Err(e) => return Finished::not_started(&e),
    };
    let own = own.path();
    run(&Invocation { program, argv, cwd, own, tmp: own, reach, timeout, cancel: None })
}

/// A script counts by its text and by the files that its text names, a program by its stamp.
fn identity(path: &Path, version: &str, script: Option<&str>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&part.len().to_le_bytes()).update(part);
    };
    add(version.as_bytes());
    match script {
        None => add(stamp(path).as_bytes()),
        Some(text) => {
            add(path.as_os_str().as_encoded_bytes());
            add(text.as_bytes());
            let named = named_files(text).into_iter().chain(named_programs(text));
            named.for_each(|file| add(stamp(&file).as_bytes()));
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str) -> Result<Compiler, Missing> {
        find(command, &ToolReach::default())
    }

    #[test]
    fn the_compilers_of_this_machine_are_known_by_their_families() {
        for (command, family) in [("gcc", Family::Gcc), ("clang-16", Family::Clang), ("tcc", Family::Tcc)] {
            let first = found(command).unwrap_or_else(|m| panic!("{m}: apt-get install {command}"));
            assert_eq!(first.family, family);
            assert!(
                first.path.is_absolute() && first.version.contains(|c: char| c.is_ascii_digit()),
                "{first:?}"
            );
            assert_eq!(found(command).unwrap(), first);
            // By its path it is the same program.
            let by_path = found(first.path.to_str().unwrap()).unwrap();
            assert_eq!((by_path.family, &by_path.path), (family, &first.path));
        }
    }

    #[test]
    fn a_missing_compiler_names_the_package_that_brings_it() {
        assert_eq!(found("gcc-3").unwrap_err().to_string(), "gcc-3 not found; Debian package gcc-3");
        assert_eq!(found("no-such-compiler").unwrap_err().to_string(), "no-such-compiler not found");
        for command in ["", "/nonexistent/gcc", "/tmp", "/etc/passwd"] {
            assert!(found(command).is_err(), "{command}");
        }
    }

    #[test]
    fn versions_are_found_and_the_newest_stands_for_a_compiler_without_a_plain_name() {
        assert!(versions_of("clang").contains(&"clang-16".to_string()), "{:?}", versions_of("clang"));
        assert_eq!(newest("gcc").as_deref(), Some("gcc"));
        assert!(newest("clang").is_some());
        assert_eq!(newest("no-such-compiler"), None);
    }

    #[test]
    fn families_are_guessed_from_names() {
        for (command, family) in [
            ("clang-16", Family::Clang),
            ("/opt/llvm/bin/clang", Family::Clang),
            ("aarch64-linux-gnu-gcc-12", Family::Gcc),
            ("musl-gcc", Family::Gcc),
            ("cc", Family::Gcc),
            ("x86_64-tcc", Family::Tcc),
            ("icx", Family::Other),
        ] {
            assert_eq!(Family::guess(command), family, "{command}");
        }
    }

    #[test]
    fn a_changed_program_has_another_identity() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cc");
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            found(path.to_str().unwrap()).unwrap()
        };
        let first = write("#!/bin/sh\necho 'mycc 1.0'\n");
        assert_eq!((first.version.as_str(), first.family), ("mycc 1.0", Family::Gcc));
        let second = write("#!/bin/sh\n# patched\necho 'mycc 1.0'\n");
        assert_ne!(first.identity, second.identity);
    }
}
