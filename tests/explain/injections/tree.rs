//! The sources of the fixture in memory: edited, healed, and written out as a lab.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Guilty;

/// Lines that go behind a statement, or replace it.
#[derive(Clone, Debug)]
pub struct Edit {
    pub file: &'static str,
    /// The function whose statement `anchor` is; none for a line of the file's head.
    pub function: Option<&'static str>,
    pub anchor: &'static str,
    pub instead: bool,
    pub lines: Vec<String>,
}

/// Sources and headers by name.
#[derive(Clone, Debug)]
pub struct Tree {
    pub files: BTreeMap<String, String>,
}

/// Pragmas that take every licence from the block they open. The second one has a say only with clang's
/// `-ffp-contract=fast-honor-pragmas`: under plain `fast` its code generator fuses whatever it meets.
const PRECISE: [&str; 2] = ["#pragma float_control(precise, on)", "#pragma clang fp contract(off)"];

impl Tree {
    pub fn fixture() -> Tree {
        let folder = folder();
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".c") || name.ends_with(".h") {
                files.insert(name.clone(), fs::read_to_string(folder.join(&name)).unwrap());
            }
        }
        Tree { files }
    }

    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter(|(name, _)| name.ends_with(".c")).map(|(n, t)| (n.as_str(), t.as_str()))
    }

    /// The names of the functions that a source defines.
    pub fn functions(&self, file: &str) -> Vec<String> {
        let lines = self.files[file].lines();
        let heads = lines.filter(|line| opens_a_function(line));
        heads.map(|line| line.split_once('(').unwrap().0.rsplit(' ').next().unwrap().to_owned()).collect()
    }

    pub fn with(mut self, edits: &[Edit]) -> Tree {
        for edit in edits {
            let mut lines = self.lines(edit.file);
            let at = find(&lines, edit.function, |line| line.trim() == edit.anchor);
            let from = if edit.instead { at } else { at + 1 };
            let new = indented(&edit.lines, &lines[at]);
            lines.splice(from..=at, new);
            self.put(edit.file, &lines);
        }
        self
    }

    /// Makes one statement precise, and nothing else.
    pub fn healed(mut self, guilty: &Guilty) -> Tree {
        let at = self.line(guilty) - 1;
        let mut statement: Vec<String> = guilty.statement.lines().map(str::to_owned).collect();
        let length = statement.len();
        let mut new = Vec::new();
        if let Some(rest) = statement[0].strip_prefix("double ").map(str::to_owned) {
            // A block would hide the variable.
            new.push(format!("double {};", rest.split(' ').next().unwrap()));
            statement[0] = rest;
        }
        new.push("{".to_owned());
        new.extend(PRECISE.map(str::to_owned));
        new.append(&mut statement);
        new.push("}".to_owned());
        let mut lines = self.lines(guilty.file);
        let new = indented(&new, &lines[at]);
        lines.splice(at..at + length, new);
        self.put(guilty.file, &lines);
        self
    }

    /// The line of a statement's start, counted from 1.
    pub fn line(&self, guilty: &Guilty) -> usize {
        let head = guilty.statement.lines().next().unwrap();
        find(&self.lines(guilty.file), Some(guilty.function), |line| line.trim() == head) + 1
    }

    /// Writes sources, header and a matrix of one compiler, `clang` or `gcc`, at `O0` and `fast`.
    pub fn write_lab(&self, folder: &Path, compiler: &str) {
        for (name, text) in &self.files {
            fs::write(folder.join(name), text).unwrap();
        }
        fs::write(folder.join("matrix.toml"), matrix(compiler)).unwrap();
    }

    fn lines(&self, file: &str) -> Vec<String> {
        self.files[file].lines().map(str::to_owned).collect()
    }

    fn put(&mut self, file: &str, lines: &[String]) {
        self.files.insert(file.to_owned(), lines.join("\n") + "\n");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/explain")
}

/// The fixture's own matrix with one of its compilers.
fn matrix(compiler: &str) -> String {
    let text = fs::read_to_string(folder().join("matrix.toml")).unwrap();
    let mut table: toml::Table = toml::from_str(&text).unwrap();
    table["lab"]["baseline"] = format!("{compiler}/O0/native").into();
    let compilers = table["compiler"].as_array_mut().unwrap();
    compilers.retain(|c| c["name"].as_str() == Some(compiler));
    assert_eq!(compilers.len(), 1, "{compiler}");
    toml::to_string(&table).unwrap()
}

/// Lines as far to the right as another one.
fn indented(lines: &[String], like: &str) -> Vec<String> {
    let indent = " ".repeat(like.len() - like.trim_start().len());
    lines.iter().map(|line| format!("{indent}{line}")).collect()
}

fn opens_a_function(line: &str) -> bool {
    line.ends_with(')') && (line.starts_with("double ") || line.starts_with("static double "))
}

/// The one line of a function, or of the file, that is meant.
fn find(lines: &[String], function: Option<&str>, is: impl Fn(&str) -> bool) -> usize {
    let (mut from, mut to) = (0, lines.len());
    if let Some(name) = function {
        let opens = |line: &String| opens_a_function(line) && line.contains(&format!(" {name}("));
        from = lines.iter().position(opens).unwrap_or_else(|| panic!("no function {name}"));
        to = from + lines[from..].iter().position(|line| line == "}").unwrap();
    }
    let found: Vec<usize> = (from..to).filter(|&i| is(&lines[i])).collect();
    assert_eq!(found.len(), 1, "lines of {function:?}: {found:?}");
    found[0]
}
