//! A build whose compiler is there: its command lines, and its objects as requests.

use std::path::PathBuf;
use std::sync::Arc;

use super::command::{CommandLine, Lines, ShimLine, SourceLine};
use super::folders::include_folders;
use super::material::Material;
use super::mix::Part;
use super::object::{ObjectRequest, Origin};
use crate::model::Build;
use crate::toolchain::Compiler;

pub struct Ready<'a> {
    pub build: &'a Build,
    pub compiler: Arc<Compiler>,
    pub lines: Lines<'a>,
    /// Where headers are looked for.
    folders: Vec<PathBuf>,
}

impl<'a> Ready<'a> {
    pub fn new(material: &'a Material<'a>, build: &'a Build, compiler: Arc<Compiler>) -> Ready<'a> {
        let mut folders = material.sources.include.clone();
        folders.extend(include_folders(&build.args));
        Ready { build, lines: Lines::new(material, build, compiler.family), compiler, folders }
    }

    /// The object of a source, with the text and the arguments that a part has in place of the build's own.
    pub fn source(&self, number: usize, part: &Part) -> ObjectRequest {
        let source = &self.lines.sources[number];
        let name = format!("{}.c", source.object.trim_end_matches(".o"));
        let line = source_line(source, part, &name);
        let origin = match &part.text {
            Some(text) => Origin::Text { name, text: named(&source.path.display().to_string(), text) },
            None => Origin::File(source.path.clone()),
        };
        let mut request = self.request(line, &source.object, origin);
        // Quoted includes look beside the source first.
        request.folders.extend(source.path.parent().map(PathBuf::from));
        ObjectRequest { echo: part.echo, ..request }
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

/// The line of a source, with the part's own arguments and text.
fn source_line(source: &SourceLine, part: &Part, name: &str) -> CommandLine {
    let mut line = source.line.clone();
    if part.text.is_some() {
        line.argv.pop();
        // Quoted includes look beside the source first, and the new text lies elsewhere.
        let beside = source.path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        line.argv.extend(["-iquote".to_string(), beside, name.to_string()]);
    }
    let behind = line.argv.iter().position(|arg| arg == "-c").unwrap_or(1);
    line.argv.splice(behind..behind, part.more.iter().cloned());
    line
}

/// A text that names the file it stands for in messages and `__FILE__`.
fn named(path: &str, text: &str) -> String {
    format!("#line 1 \"{}\"\n{text}", path.replace('\\', "\\\\").replace('"', "\\\""))
}
