//! A source with the code of its own includes in place: static functions of a header or of an included `.c` are
//! part of the object too, and must be taken apart with it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::c::Source;

/// Includes inside includes, at most.
const DEEPEST: usize = 4;

/// A text put together from files, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    pub text: String,
    /// For each stretch: its first line in the text, the file it comes from, and which line of that it starts with.
    stretches: Vec<(usize, PathBuf, usize)>,
    lines: usize,
}

impl Expanded {
    /// Reads a source; includes in quotes that define functions are put in place. `folders` are looked into after
    /// the folder of the file that includes.
    pub fn read(path: &Path, folders: &[PathBuf]) -> std::io::Result<Expanded> {
        let mut whole = Expanded::default();
        whole.add(path, &fs::read_to_string(path)?, folders, 0);
        Ok(whole)
    }

    /// Where a line of the text comes from.
    pub fn origin(&self, line: usize) -> Option<(&Path, usize)> {
        let stretch = self.stretches.iter().rev().find(|(first, ..)| *first <= line);
        stretch.map(|(first, path, start)| (path.as_path(), start + line - first))
    }

    fn add(&mut self, path: &Path, text: &str, folders: &[PathBuf], depth: usize) {
        self.begin(path, 1, depth > 0);
        for (at, line) in text.split_inclusive('\n').enumerate() {
            let included =
                include(line).and_then(|name| find(path, name, folders)).filter(|_| depth < DEEPEST);
            let content = included.as_ref().and_then(|file| fs::read_to_string(file).ok());
            match (included, content.filter(|content| !Source::new(content).functions().is_empty())) {
                (Some(file), Some(content)) => {
                    self.add(&file, &content, folders, depth + 1);
                    self.begin(path, at + 2, true);
                }
                _ => self.push(line),
            }
        }
        if !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    /// A stretch of a file from one of its lines on; compilers are told unless it is the text's first.
    fn begin(&mut self, path: &Path, line: usize, told: bool) {
        if told {
            let name = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            self.push(&format!("#line {line} \"{name}\"\n"));
        }
        self.stretches.push((self.lines + 1, path.to_path_buf(), line));
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.lines += line.matches('\n').count();
    }
}

/// The name in `#include "name"`.
fn include(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split('"').next()
}

fn find(from: &Path, name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let beside = from.parent().unwrap_or(Path::new("/"));
    std::iter::once(beside)
        .chain(folders.iter().map(PathBuf::as_path))
        .map(|f| f.join(name))
        .find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_code_stands_in_place_and_lines_keep_their_origin() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("types.h", "typedef double real;\n");
        write("inner.h", "#include \"types.h\"\nstatic double half(double x) {\n  return x / 2;\n}");
        write(
            "main.c",
            "#include \"types.h\"\n# include \"inner.h\"\ndouble f(double x) {\n  return half(x);\n}\n",
        );
        let main = folder.path().join("main.c");
        let whole = Expanded::read(&main, &[]).unwrap();
        let at = |words: &str| {
            let line = whole.text.lines().position(|l| l.contains(words)).unwrap() + 1;
            let (path, line) = whole.origin(line).unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), line)
        };
        assert_eq!(at("return x / 2"), ("inner.h".into(), 3));
        assert_eq!(at("return half"), ("main.c".into(), 4));
        assert!(whole.text.contains("#include \"types.h\""));
        assert_eq!(Source::new(&whole.text).functions().len(), 2);
    }
}
