//! A build whose compiler is there: its command lines, and its objects as requests.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::command::{CommandLine, Lines, ShimLine, SourceLine};
use super::folders::include_folders;
use super::material::Material;
use super::mix::Part;
use super::object::{ObjectRequest, Origin};
use crate::model::Build;
use crate::toolchain::{Compiler, Missing};

pub struct Ready<'a> {
    pub build: &'a Build,
    pub compiler: Arc<Compiler>,
    /// Compiles the matrix's harness.
    pub support: Arc<Compiler>,
    pub lines: Lines<'a>,
    /// Where headers are looked for.
    folders: Vec<PathBuf>,
}

impl<'a> Ready<'a> {
    /// `find` gives the compiler of a command.
    pub fn new(
        material: &'a Material<'a>,
        build: &'a Build,
        find: impl Fn(&str) -> Result<Arc<Compiler>, Missing>,
    ) -> Result<Ready<'a>, Missing> {
        let compiler = find(&build.command)?;
        let mut folders = material.sources.include.clone();
        folders.extend(include_folders(&build.args));
        let lines = Lines::new(material, build, compiler.family);
        let support =
            lines.support.first().map_or_else(|| Ok(compiler.clone()), |s| find(&s.line.argv[0]))?;
        Ok(Ready { build, compiler, support, lines, folders })
    }

    /// The object of a source, with the text and the arguments that a part has in place of the build's own, and
    /// with some shims at its end.
    pub fn source(&self, number: usize, part: &Part, within: &[usize]) -> ObjectRequest {
        let source = &self.lines.sources[number];
        let shims = &self.lines.material.shims;
        // A file that cannot be read is the compiler's to complain about.
        let own = || fs::read(&source.path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = match (&part.text, within) {
            (Some(text), []) => Some(text.to_string()),
            (None, []) => None,
            (Some(text), _) => Some(format!("{text}{}", shims.tail(within))),
            (None, _) => own().map(|text| text + &shims.tail(within)),
        };
        let line = source_line(source, part, text.as_ref().map(|_| shims.names(within)));
        let origin = match text {
            Some(text) => Origin::Text {
                name: source.text_name(),
                text: named(&source.path.display().to_string(), &text),
            },
            None => Origin::File(source.path.clone()),
        };
        let mut request = self.request(line, &source.object, origin);
        // Quoted includes look beside the source first.
        request.folders.extend(source.path.parent().map(PathBuf::from));
        ObjectRequest { echo: part.echo, ..request }
    }

    /// The object of a file of the matrix's harness, made by the compiler that its line names.
    pub fn support(&self, number: usize) -> ObjectRequest {
        let SourceLine { path, object, line, .. } = &self.lines.support[number];
        let mut folders = include_folders(&line.argv);
        folders.extend(path.parent().map(PathBuf::from));
        let (line, origin) = (line.clone(), Origin::File(path.clone()));
        let compiler = self.support.clone();
        ObjectRequest { compiler, line, origin, object: object.clone(), folders, echo: None }
    }

    /// The object of a generated file.
    pub fn generated(&self, file: &ShimLine) -> ObjectRequest {
        let ShimLine { shim, object, line } = file;
        let origin = Origin::Text { name: format!("{}.c", shim.stem), text: shim.text.clone() };
        self.request(line.clone(), object, origin)
    }

    fn request(&self, line: CommandLine, object: &str, origin: Origin) -> ObjectRequest {
        let (compiler, folders) = (self.compiler.clone(), self.folders.clone());
        ObjectRequest { compiler, line, origin, object: object.into(), folders, echo: None }
    }
}

/// The line of a source, with the part's own arguments; `text` is there when another text stands in for the file,
/// and says what that has beside it.
fn source_line(source: &SourceLine, part: &Part, text: Option<String>) -> CommandLine {
    let mut line = text.map_or_else(|| source.line.clone(), |more| source.line_of_text(&more));
    let behind = line.argv.iter().position(|arg| arg == "-c").unwrap_or(1);
    line.argv.splice(behind..behind, part.more.iter().cloned());
    line
}

/// A text that names the file it stands for in messages and `__FILE__`.
fn named(path: &str, text: &str) -> String {
    format!("#line 1 \"{}\"\n{text}", path.replace('\\', "\\\\").replace('"', "\\\""))
}
