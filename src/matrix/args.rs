//! Arguments of compilers, flag sets, targets and runners: one string each, and paths in them as
//! the matrix means them. What the arguments do is the compiler's business.

use std::path::Path;

use super::place::Text;
use super::problem::{Problem, Problems};
use super::sources::plain;

/// Options that take a path, joined or as the next argument. Longer names come before their heads.
const WITH_PATH: [&str; 10] =
    ["-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "--sysroot", "-I", "-L", "-B"];

/// Options that take a path after `=`.
const WITH_EQUALS: [&str; 6] =
    ["--sysroot=", "-specs=", "--specs=", "-fprofile-use=", "-fprofile-instr-use=", "-fauto-profile="];

/// Commands are run directly, never by a shell, so each string is one argument.
pub(super) fn check(args: &[Text], problems: &mut Problems) {
    for arg in args {
        let words: Vec<&str> = arg.value.split_whitespace().collect();
        if arg.value.trim().is_empty() {
            problems.add(Problem::new(arg.place, "an argument is empty").label("leave it out"));
        } else if words.len() > 1 && words.iter().all(|word| word.starts_with('-')) {
            let list: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            let problem = Problem::new(arg.place, "several arguments in one string");
            problems
                .add(problem.label(format!("write {}", list.join(", "))).help("no shell splits arguments"));
        }
    }
}

/// The arguments with relative paths made absolute: tools run in a folder of their own, and a path
/// in a matrix is meant from the matrix file. What is not there stays as it is written.
pub(super) fn resolve(args: &[Text], folder: &Path) -> Vec<String> {
    let mut resolved = Vec::new();
    let mut expects_path = false;
    for arg in args {
        let arg = arg.as_str();
        let path = if expects_path { Some(("", arg)) } else { split(arg) };
        expects_path = path.is_some_and(|(_, path)| path.is_empty());
        resolved.push(match path.and_then(|(option, path)| Some((option, from_matrix(path, folder)?))) {
            Some((option, path)) => format!("{option}{path}"),
            None => arg.to_string(),
        });
    }
    resolved
}

/// An option and its path, which is empty when it is the next argument.
fn split(arg: &str) -> Option<(&str, &str)> {
    let heads = ["@"].iter().chain(&WITH_EQUALS).chain(&WITH_PATH);
    heads.into_iter().find(|head| arg.starts_with(**head)).map(|head| arg.split_at(head.len()))
}

fn from_matrix(path: &str, folder: &Path) -> Option<String> {
    let full = folder.join(path);
    let relative = !path.is_empty() && Path::new(path).is_relative();
    (relative && full.exists()).then(|| plain(&full).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::place::{Place, SourceFile};

    fn resolved(args: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inc")).unwrap();
        std::fs::write(folder.path().join("f.h"), "").unwrap();
        let file = SourceFile { name: "matrix.toml".into(), text: String::new(), is_shown: true };
        let texts: Vec<Text> = args.iter().map(|a| Text::new(&file, Place::new(0, 0..0), a)).collect();
        let root = folder.path().display().to_string();
        resolve(&texts, folder.path()).iter().map(|arg| arg.replace(&root, "/m")).collect()
    }

    #[test]
    fn a_relative_path_is_meant_from_the_matrix_file() {
        assert_eq!(
            resolved(&["-Iinc", "-I", "inc", "-Linc", "-isystem", "inc", "-isysteminc", "-iquote", "./inc"]),
            [
                "-I/m/inc",
                "-I",
                "/m/inc",
                "-L/m/inc",
                "-isystem",
                "/m/inc",
                "-isystem/m/inc",
                "-iquote",
                "/m/inc"
            ]
        );
        assert_eq!(
            resolved(&[
                "-include",
                "f.h",
                "-imacros",
                "f.h",
                "-idirafter",
                "inc",
                "@f.h",
                "-fprofile-use=inc"
            ]),
            [
                "-include",
                "/m/f.h",
                "-imacros",
                "/m/f.h",
                "-idirafter",
                "/m/inc",
                "@/m/f.h",
                "-fprofile-use=/m/inc"
            ]
        );
    }

    #[test]
    fn what_is_absolute_or_not_there_or_no_path_stays_as_written() {
        let args = ["-I/usr/include", "-Inowhere", "-include", "math.h", "-DX=inc", "-O2", "f.h", "-I"];
        assert_eq!(resolved(&args), args);
    }
}
