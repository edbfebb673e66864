//! A compiler that is a script around another. What it does is known when it only starts another program with further
//! arguments; any other script may read what it likes, and nothing can be said of what it will do the next time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::compiler::locate;
use crate::sandbox::is_stored;

/// The longest script that is looked at.
const LONGEST: u64 = 64 << 10;
/// Shells whose language the judgement is about.
const SHELLS: [&str; 4] = ["sh", "dash", "bash", "ksh"];
/// Marks by which a shell reads files or runs something inside a line.
const READING: [&str; 8] = ["`", "$(", "<", ">", "|", ";", "&", "${!"];
/// Variables that tools are started with; all others are unset.
const SET: [&str; 9] =
    ["HOME", "PATH", "TMPDIR", "PWD", "OLDPWD", "LC_ALL", "SOURCE_DATE_EPOCH", "IFS", "SHELL"];

/// What kind of file a compiler's command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapping {
    /// A program of its own.
    Program,
    /// A script that does nothing but start another program with further arguments.
    Plain,
    /// Any other script.
    Opaque,
}

/// The text of a script; None for a program.
pub fn script(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(b"#!").then(|| String::from_utf8_lossy(&bytes).into_owned())
}

impl Wrapping {
    pub fn of(script: Option<&str>) -> Wrapping {
        match script {
            None => Wrapping::Program,
            Some(text) if is_plain(text) => Wrapping::Plain,
            Some(_) => Wrapping::Opaque,
        }
    }
}

fn is_plain(text: &str) -> bool {
    let joined = text.replace("\\\n", " ");
    let mut lines = joined.lines();
    let shell = lines.next().unwrap_or_default().trim_start_matches("#!").trim();
    let shell = shell.strip_prefix("/usr/bin/env ").unwrap_or(shell);
    let shell = shell.split_whitespace().next().and_then(|word| word.rsplit('/').next());
    shell.is_some_and(|name| SHELLS.contains(&name))
        && (text.len() as u64) < LONGEST
        && lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).all(is_plain_line)
}

/// `set -e`, or a program that is started.
fn is_plain_line(line: &str) -> bool {
    if READING.iter().any(|mark| line.contains(mark)) || !expands_only_arguments(line) {
        return false;
    }
    let mut words = line.split_whitespace();
    match words.next() {
        Some("set") => words.all(|word| word.starts_with('-')),
        Some("exec") => words.next().is_some(),
        // Of a command that the shell itself knows nothing is found.
        Some(command) => Path::new(command).is_absolute() && locate(command).is_some(),
        None => true,
    }
}

/// Whether every `$` of a line stands for the arguments, or for a default because its variable is never set.
fn expands_only_arguments(line: &str) -> bool {
    line.match_indices('$').all(|(at, _)| {
        let rest = &line[at + 1..];
        let default = || {
            let (name, _) = rest.strip_prefix('{')?.split_once(":-")?;
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            Some(is_name && !name.starts_with(|c: char| c.is_ascii_digit()) && !SET.contains(&name))
        };
        rest.starts_with('@') || rest.starts_with('*') || default().unwrap_or(false)
    })
}

/// The files that a text names by their whole path: arguments in a file of arguments, what a linker script brings in.
pub fn named_files(text: &str) -> BTreeSet<PathBuf> {
    let paths = words(text).filter(|word| word.starts_with('/')).map(PathBuf::from);
    paths.filter(|path| is_stored(path)).collect()
}

/// The programs that a script may start, by their names.
pub(super) fn named_programs(text: &str) -> BTreeSet<PathBuf> {
    words(text).filter(|word| !word.contains('/')).filter_map(locate).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_./+-".contains(c)));
    words.map(|word| word.trim_start_matches('-')).filter(|word| !word.is_empty())
}

/// What changes when a file does, for files too large to be read each time.
pub(super) fn stamp(path: &Path) -> String {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let stamp = fs::metadata(&real).ok().and_then(|meta| {
        let modified = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some((meta.len(), modified.as_nanos()))
    });
    format!("{} {stamp:?}", real.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_only_adds_arguments_is_plain() {
        for text in [
            "#!/bin/sh\nexec gcc \"$@\"\n",
            "#!/bin/sh\n# musl\nexec \"${REALGCC:-x86_64-linux-gnu-gcc}\" \"$@\" -specs \"/usr/lib/musl-gcc.specs\"\n",
            "#!/usr/bin/env bash\nset -eu\nexec gcc -O2 \\\n  \"$@\"\n",
        ] {
            assert_eq!(Wrapping::of(Some(text)), Wrapping::Plain, "{text}");
        }
    }

    #[test]
    fn a_script_that_may_read_something_is_opaque() {
        for text in [
            "#!/bin/sh\n. /etc/flags\nexec gcc $FLAGS \"$@\"\n",
            "#!/bin/sh\nexec gcc $(cat /etc/flags) \"$@\"\n",
            "#!/bin/sh\nread X < /etc/flags\nexec gcc \"$@\"\n",
            "#!/bin/sh\nexec \"$HOME/bin/gcc\" \"$@\"\n",
            "#!/bin/sh\nexec \"${HOME:-/x}/gcc\" \"$@\"\n",
            "#!/bin/sh\nsource /etc/flags\nexec gcc \"$@\"\n",
            "#!/bin/sh\nif test -e /tmp/x; then exec gcc -O0 \"$@\"; fi\nexec gcc \"$@\"\n",
            "#!/usr/bin/python3\nimport os\n",
        ] {
            assert_eq!(Wrapping::of(Some(text)), Wrapping::Opaque, "{text}");
        }
        assert_eq!(Wrapping::of(None), Wrapping::Program);
    }

    #[test]
    fn the_files_and_programs_of_a_text_are_found() {
        let text = "exec ${CC:-sh} \"$@\" -specs=/etc/passwd # /no/such";
        assert_eq!(named_files(text), [PathBuf::from("/etc/passwd")].into());
        assert!(named_programs(text).iter().any(|path| path.ends_with("sh")));
    }
}
