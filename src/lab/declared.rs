//! What is called is what was declared: each `signature` and the result of each `call` against the sources and the
//! headers. A contradiction is an error that shows both places; what could not be compared is a note.

use std::path::Path;

use super::error::LabError;
use super::notes::some;
use super::sources::relative;
use crate::c::{Found, Heading, Prototype, SourceIndex};
use crate::compile::{Claim, Prototypes, Settings, Verdict};
use crate::matrix::{Spot, point};
use crate::model::{Build, Callee, Experiment, Function, Implementation, nearest};
use crate::sandbox::is_stored;
use crate::toolchain::{Compilers, Family};

/// An implementation's functions as they are called there, and what its sources define.
pub type Indexed = (Vec<Option<Function>>, SourceIndex);

/// What reading the sources tells of the functions of an experiment.
#[derive(Default)]
pub struct Declared<'a> {
    /// Contradictions, each a whole message.
    wrong: Vec<String>,
    /// What a compiler has to say, with where the sources define what is called.
    open: Vec<(Claim<'a>, Option<(&'a Path, u64)>)>,
    /// Functions that nobody outside their source can call, or that no source defines, with the reason.
    pub unreachable: Vec<Unreachable>,
    /// Functions that were compared with nothing.
    unchecked: Vec<String>,
}

/// Why a function cannot be linked, if nothing else defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    pub implementation: String,
    pub function: String,
    pub why: String,
    pub is_static: bool,
}

impl<'a> Declared<'a> {
    /// Reads; runs nothing.
    pub fn read(experiment: &'a Experiment, indices: &'a [Indexed]) -> Declared<'a> {
        let mut declared = Declared::default();
        for (implementation, (called, index)) in experiment.implementations.iter().zip(indices) {
            for (function, called) in experiment.functions.iter().zip(called) {
                let Some(called) = called else { continue };
                let reading = Reading { experiment, implementation, index, function };
                match &called.callee {
                    Callee::Signature(prototype) => declared.signature(&reading, prototype),
                    Callee::Call(_) => {
                        let claim = Claim { function, implementation, source: reading.own_source() };
                        declared.open.push((claim, index.definition(called)));
                    }
                    Callee::Body(_) | Callee::Elsewhere => {}
                }
            }
        }
        declared
    }

    fn signature(&mut self, reading: &Reading<'a>, prototype: &str) {
        let (Some(name), Some(heading)) = (name_of(prototype), Heading::of_prototype(prototype)) else {
            return;
        };
        let Reading { implementation, function, .. } = *reading;
        let found = reading.found(&name);
        let place = found.first().map(|found| (found.path, found.line));
        let claim = |source| (Claim { function, implementation, source }, place);
        let has_headers = !implementation.headers(function).is_empty();
        match found.first() {
            Some(first) if found.iter().all(|found| heading.contradicts(found.heading)) => {
                self.wrong.push(reading.contradiction(prototype, &(first.path, first.line)));
            }
            Some(first) if !found.iter().any(|found| found.heading.is_known()) => {
                self.open.push(claim(Some(first.path)));
            }
            Some(_) if has_headers => self.open.push(claim(None)),
            Some(_) => {}
            None => {
                let unreachable = reading.unreachable(&name);
                match (has_headers, unreachable.is_static) {
                    (true, _) => self.open.push(claim(None)),
                    (false, true) => {}
                    (false, false) => self.unchecked.push(function.name.clone()),
                }
                self.unreachable.push(unreachable);
            }
        }
    }

    /// Asks a compiler of the plan about what reading left open.
    pub fn ask(&mut self, experiment: &Experiment, builds: (&[Build], usize), compilers: &Compilers) {
        let (builds, baseline) = builds;
        let open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return;
        }
        let usable = |build: &&Build| build.is_native() && build.environment.libm.is_none();
        let order = builds[baseline..].iter().chain(&builds[..baseline]).filter(usable);
        let mut found = order.filter_map(|build| Some((build, compilers.find(&build.command).ok()?)));
        let asked = found.find(|(_, compiler)| matches!(compiler.family, Family::Gcc | Family::Clang));
        let Some((build, compiler)) = asked else {
            return self.unchecked.extend(open.iter().map(|(claim, _)| claim.function.name.clone()));
        };
        let prototypes = Prototypes { build, compiler: &compiler, timeout: Settings::TIMEOUT };
        let claims: Vec<Claim> = open.iter().map(|(claim, _)| *claim).collect();
        for ((claim, defined), verdict) in open.iter().zip(prototypes.verdicts(&claims)) {
            match verdict {
                Verdict::Agrees => {}
                Verdict::Differs { place } => {
                    let place = place.or(defined.map(|(path, line)| (path.to_path_buf(), line)));
                    let shown = place.filter(|(path, _)| is_stored(path) && compilers.reach().may_read(path));
                    self.wrong.push(differs(experiment, claim, shown));
                }
                Verdict::Implicit { name } => self.wrong.push(implicit(claim, &name)),
                Verdict::Unknown => self.unchecked.push(claim.function.name.clone()),
            }
        }
    }

    /// The notes, or all contradictions as one error.
    pub fn finish(mut self) -> Result<Vec<String>, LabError> {
        self.unchecked.sort();
        self.unchecked.dedup();
        if !self.wrong.is_empty() {
            return Err(LabError::Declared(self.wrong.join("\n\n")));
        }
        if self.unchecked.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![format!(
            "not checked against a definition or a header: {}; `headers` that declare them let bitrift check what it calls",
            some(&self.unchecked)
        )])
    }
}

/// A function of an implementation that is being looked at.
struct Reading<'a> {
    experiment: &'a Experiment,
    implementation: &'a Implementation,
    index: &'a SourceIndex,
    function: &'a Function,
}

impl<'a> Reading<'a> {
    /// The source at whose end the function is called.
    fn own_source(&self) -> Option<&'a Path> {
        let files = &self.implementation.sources.files;
        self.function.within.as_deref().filter(|path| files.iter().any(|file| file == path))
    }

    /// The definitions that a call from outside, or from the function's own source, can mean.
    fn found(&self, name: &str) -> Vec<Found<'a>> {
        let all = self.index.found(name).into_iter();
        match self.own_source() {
            Some(path) => all.filter(|found| found.path == path).collect(),
            None => all.filter(|found| !found.is_static).collect(),
        }
    }

    fn shown(&self, path: &Path) -> String {
        shown(self.experiment, path)
    }

    fn contradiction(&self, prototype: &str, (path, line): &(&Path, u64)) -> String {
        let title = format!("`{}` is not defined as it is declared", self.function.name);
        let spots = [
            declared_at(self.function, &format!("declared `{prototype}`")),
            spot(self.experiment, path, *line, "defined here"),
        ];
        point(
            &title,
            &spots,
            "called so, it would compute with noise: let the signature say what the source defines",
        )
    }

    /// Why no call from outside finds a function in the sources.
    fn unreachable(&self, name: &str) -> Unreachable {
        let at = self.function.declared.as_ref();
        let at = at.map(|at| format!(" ({}:{})", at.file, at.line)).unwrap_or_default();
        let of_static = self.index.found(name).into_iter().find(|found| found.is_static);
        let why = match &of_static {
            Some(Found { path, line, .. }) => {
                let source = self.shown(path);
                format!(
                    "`{name}`{at} is static in {source}:{line}, where only that file can call it; add `within = \
                     \"{source}\"` to its [[function]]"
                )
            }
            None => {
                let near = nearest(name, self.index.names());
                let near = near.and_then(|near| Some((near, self.index.found(near).into_iter().next()?)));
                let near = near.map(|(near, found)| {
                    let place = format!("{}:{}", self.shown(found.path), found.line);
                    format!("did you mean `{near}` ({place})? Otherwise ")
                });
                format!(
                    "no source of {} defines `{name}`{at}; {}name the source that does in `files`, or its library in `libs`",
                    self.implementation.shown(),
                    near.unwrap_or_default()
                )
            }
        };
        Unreachable {
            implementation: self.implementation.name.clone(),
            function: self.function.name.clone(),
            why,
            is_static: of_static.is_some(),
        }
    }
}

/// The name of the function that a prototype declares.
fn name_of(prototype: &str) -> Option<String> {
    Some(Prototype::read(prototype)?.head.last()?.text.to_string())
}

fn shown(experiment: &Experiment, path: &Path) -> String {
    relative(path, experiment.path.parent().unwrap_or(Path::new("/")))
}

/// Where the matrix declares a function.
fn declared_at(function: &Function, label: &str) -> Spot {
    let at = function.declared.clone();
    let (file, line, text) = at.map_or((String::new(), 1, String::new()), |at| (at.file, at.line, at.text));
    Spot { file, line, text, label: label.into() }
}

/// A line of a source or header.
fn spot(experiment: &Experiment, path: &Path, line: u64, label: &str) -> Spot {
    let content =
        std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let line = usize::try_from(line).unwrap_or(1).max(1);
    let text = content.lines().nth(line - 1).unwrap_or_default().trim().to_string();
    Spot { file: shown(experiment, path), line, text, label: label.into() }
}

fn differs(experiment: &Experiment, claim: &Claim<'_>, place: Option<(std::path::PathBuf, u64)>) -> String {
    let Claim { function, implementation, .. } = claim;
    let other = place.map(|(path, line)| spot(experiment, &path, line, "declared here"));
    let (title, label, help) = match implementation.callee(function) {
        Some(Callee::Signature(prototype)) => (
            format!("`{}` is not declared by its header as the matrix declares it", function.name),
            format!("declared `{prototype}`"),
            "called so, it would compute with noise: let the signature say what the header declares",
        ),
        _ => (
            format!("the call of `{}` does not give a `{}`", function.name, function.interface.returns),
            format!("taken for `{}`", function.interface.returns),
            "say the type of the expression in `result`, such as `result = \"float\"`, or convert it in the call",
        ),
    };
    let spots: Vec<Spot> = [declared_at(function, &label)].into_iter().chain(other).collect();
    point(&title, &spots, help)
}

fn implicit(claim: &Claim<'_>, name: &str) -> String {
    let title = format!("nothing declares `{name}`, which the call of `{}` uses", claim.function.name);
    let label = format!("C takes it for `int {name}()`");
    let help = "its result would be noise: name the header that declares it in `headers`";
    point(&title, &[declared_at(claim.function, &label)], help)
}
