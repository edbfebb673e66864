//! A source with the code of its own includes in place: static functions of a header or of an included `.c` are
//! part of the object too, and must be taken apart with it.
//!
//! What is put in place is compiled from the source's folder and reads all the same as it did from its own: includes
//! that stay get the whole path of the file that the compiler would have found, and a header that is to be read once
//! is there once. A header that finds its includes by where it lies stays where it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::include::IncludeFolders;
use crate::c::{Guard, Include, Includes, Source};
use crate::sandbox::is_stored;

/// Includes inside includes, at most.
const DEEPEST: usize = 64;
/// Files are put in place until the text has this many bytes: headers that are read time and again multiply.
const MOST_BYTES: usize = 8 << 20;

/// Starts the guards that stand in for `#pragma once`.
const ONCE: &str = "BITRIFT_ONCE_";

/// A text put together from files, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    pub text: String,
    /// For each stretch: its first line in the text, the file it comes from, and which line of that it starts with.
    stretches: Vec<(usize, PathBuf, usize)>,
    lines: usize,
}

impl Expanded {
    /// Reads a source; includes that define functions, or lead to some that do, are put in place. What the compiler may not read stays
    /// a name, also where no compiler looks: in a branch that is not compiled.
    pub fn read(path: &Path, folders: &IncludeFolders, may_read: MayRead<'_>) -> std::io::Result<Expanded> {
        let mut expander = Expander::new(path, folders, may_read);
        let source = expander.read(path)?;
        expander.add(path, &source, true);
        Ok(expander.whole)
    }

    /// Where a line of the text comes from.
    pub fn origin(&self, line: usize) -> Option<(&Path, usize)> {
        let stretch = self.stretches.iter().rev().find(|(first, ..)| *first <= line);
        stretch.map(|(first, path, start)| (path.as_path(), start + line - first))
    }

    /// A stretch of a file from one of its lines on; compilers are told unless it is the text's first.
    fn begin(&mut self, path: &Path, line: usize) {
        if !self.stretches.is_empty() {
            let name = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            self.push_line(&format!("#line {line} \"{name}\""));
        }
        self.stretches.push((self.lines + 1, path.to_path_buf(), line));
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.lines += text.matches('\n').count();
    }

    /// A line of its own.
    fn push_line(&mut self, text: &str) {
        self.end_line();
        self.push(text);
        self.push("\n");
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }
}

/// A file that was read.
struct File {
    text: String,
    includes: Includes,
    defines: bool,
}

impl File {
    fn new(bytes: &[u8]) -> File {
        // Comments of old libraries are often Latin-1.
        let text = String::from_utf8_lossy(bytes).into_owned();
        let includes = Includes::read(&text);
        let defines = !Source::new(&text).functions().is_empty();
        File { text, includes, defines }
    }
}

/// Whether a file may be read.
pub type MayRead<'f> = &'f dyn Fn(&Path) -> bool;

/// A text on its way.
struct Expander<'f> {
    folders: &'f IncludeFolders,
    may_read: MayRead<'f>,
    /// The folder of the source: the compiler looks beside the text as if that were there.
    home: PathBuf,
    whole: Expanded,
    /// By the paths they really have; None: it cannot be read.
    files: BTreeMap<PathBuf, Option<Rc<File>>>,
    /// Whether a file or one that it includes defines functions.
    leads: BTreeMap<PathBuf, bool>,
    /// Files around the place that is written.
    open: Vec<PathBuf>,
    /// Files with a guard that the compiler has seen at this place for certain: once more is nothing.
    seen: BTreeSet<PathBuf>,
    /// Numbers of files with `#pragma once`, for the guards that stand in for it.
    numbers: BTreeMap<PathBuf, usize>,
}

impl<'f> Expander<'f> {
    fn new(path: &Path, folders: &'f IncludeFolders, may_read: MayRead<'f>) -> Expander<'f> {
        Expander {
            folders,
            may_read,
            home: path.parent().map(Path::to_path_buf).unwrap_or_default(),
            whole: Expanded::default(),
            files: BTreeMap::new(),
            leads: BTreeMap::new(),
            open: Vec::new(),
            seen: BTreeSet::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Writes a file; `certain` when no condition decides whether the compiler sees it.
    fn add(&mut self, path: &Path, file: &File, certain: bool) {
        self.whole.begin(path, 1);
        let once: &[Range<usize>] = match &file.includes.guard {
            // In the text of a source it would be a warning and nothing else.
            Guard::Pragma(places) if !self.open.is_empty() => places,
            _ => &[],
        };
        let mut at = 0;
        for include in &file.includes.list {
            self.copy(file, at..include.range.start, once);
            self.include(path, file, include, certain && !include.is_conditional);
            at = include.range.end;
        }
        self.copy(file, at..file.text.len(), once);
        self.whole.end_line();
    }

    /// A stretch of a file without what says that it is to be read once.
    fn copy(&mut self, file: &File, range: Range<usize>, once: &[Range<usize>]) {
        let mut at = range.start;
        for place in once.iter().filter(|place| range.start <= place.start && place.end <= range.end) {
            self.whole.push(&file.text[at..place.start]);
            at = place.end;
        }
        self.whole.push(&file.text[at..range.end]);
    }

    /// Writes an include, or what it stands for.
    fn include(&mut self, path: &Path, file: &File, include: &Include, certain: bool) {
        let found = self.folders.find(path, include);
        let found = found.and_then(|found| Some((fs::canonicalize(&found).ok()?, found)));
        let Some((real, found)) = found else {
            return self.whole.push(&file.text[include.range.clone()]);
        };
        let file_found = self.file(&real);
        let is_guarded = file_found.as_ref().is_some_and(|found| found.includes.guard != Guard::None);
        let is_open = self.open.contains(&real);
        if self.seen.contains(&real) || is_open && is_guarded {
            return;
        }
        let room = !is_open && self.open.len() < DEEPEST && self.whole.text.len() < MOST_BYTES;
        let content = file_found.filter(|found| room && !found.includes.is_bound);
        match content.filter(|_| self.leads_to_functions(&found, &real)) {
            Some(content) => {
                self.place(&found, real, &content, certain);
                self.whole.begin(path, include.line);
            }
            None => self.leave(path, file, include, &found),
        }
    }

    /// Puts a file in place. A guard of ours stands in for `#pragma once`.
    fn place(&mut self, path: &Path, real: PathBuf, file: &File, certain: bool) {
        let is_once = matches!(file.includes.guard, Guard::Pragma(_));
        if is_once {
            let next = self.numbers.len();
            let number = *self.numbers.entry(real.clone()).or_insert(next);
            self.whole.push_line(&format!("#ifndef {ONCE}{number}\n#define {ONCE}{number}"));
        }
        self.open.push(real);
        self.add(path, file, certain);
        if is_once {
            self.whole.push_line("#endif");
        }
        if let Some(real) = self.open.pop().filter(|_| certain && file.includes.guard != Guard::None) {
            self.seen.insert(real);
        }
    }

    /// Leaves an include in the text, where it is to find what it found in its own folder.
    fn leave(&mut self, path: &Path, file: &File, include: &Include, found: &Path) {
        let found = found.display().to_string();
        if include.is_angled || path.parent() == Some(&self.home) || found.contains('"') {
            return self.whole.push(&file.text[include.range.clone()]);
        }
        self.whole.push(&file.text[include.range.start..include.name_range.start]);
        self.whole.push(&format!("\"{found}\""));
    }

    /// A file that lies on a disk and may be read: others may have no end.
    fn read(&self, path: &Path) -> std::io::Result<File> {
        if !is_stored(path) || !(self.may_read)(path) {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        let mut bytes = Vec::new();
        let most = MOST_BYTES as u64;
        fs::File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        Ok(File::new(&bytes))
    }

    fn file(&mut self, real: &Path) -> Option<Rc<File>> {
        if let Some(known) = self.files.get(real) {
            return known.clone();
        }
        let file = self.read(real).ok().map(Rc::new);
        self.files.insert(real.to_path_buf(), file.clone());
        file
    }

    /// Whether a file or one that it includes defines functions.
    fn leads_to_functions(&mut self, path: &Path, real: &Path) -> bool {
        if !self.leads.contains_key(real) {
            let mut asked = BTreeSet::new();
            let leads = self.looks_further(path, real, &mut asked);
            // A file that was met on the way may have been cut off in a circle, but none leads further than all.
            let known = asked.into_iter().filter(|file| !leads || file == real);
            self.leads.extend(known.map(|file| (file, leads)));
        }
        self.leads.get(real).copied().unwrap_or(false)
    }

    fn looks_further(&mut self, path: &Path, real: &Path, asked: &mut BTreeSet<PathBuf>) -> bool {
        if let Some(&known) = self.leads.get(real) {
            return known;
        }
        let Some(file) = self.file(real).filter(|_| asked.insert(real.to_path_buf())) else { return false };
        file.defines
            || file.includes.list.iter().any(|include| {
                let found = self.folders.find(path, include);
                let real = found.as_ref().and_then(|found| fs::canonicalize(found).ok());
                found.zip(real).is_some_and(|(found, real)| self.looks_further(&found, &real, asked))
            })
    }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
