//! The exact command lines of a build. The same lines are printed by a plan and executed by the
//! compiler, in a folder of their own, so that output names are stable and the two cannot differ.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::harness::{RUNNER, abi_args, harness, linker};
use super::material::Material;
use super::shim::Shim;
use super::support;
use crate::model::{Build, Experiment, FpEnvPolicy, Libm, Sources};
use crate::toolchain::{Family, PROBE_FILE};

/// The linked object's name in command lines.
pub const SHARED_OBJECT: &str = "bitrift.so";
/// The probe program's name in command lines.
pub const PROBE_PROGRAM: &str = "bitrift_probe";
/// The program that shows what tcc leaves undefined.
pub const CHECK_PROGRAM: &str = "bitrift_check";

/// One command line and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub what: String,
    pub argv: Vec<String>,
}

/// The command lines of a build, in the order they are executed: the floating-point probe, the
/// harness of a build that is a program of its own, the matrix's own harness, the sources, the shims, the link. Pure; nothing
/// is run.
pub fn command_lines(experiment: &Experiment, build: &Build, family: Family) -> Vec<CommandLine> {
    let material = Material::of(experiment, experiment.implementation(build));
    let lines = Lines::new(&material, build, family);
    let files = lines.shim_files();
    let objects = lines.objects(files.iter().map(|file| file.object.as_str()));
    lines
        .probe()
        .into_iter()
        .chain(lines.harness.iter().map(|s| s.line.clone()))
        .chain(lines.support.iter().map(|s| s.line.clone()))
        .chain((0..lines.sources.len()).map(|number| lines.source(number)))
        .chain(lines.setup.iter().chain(&files).map(|s| s.line.clone()))
        .chain([lines.link(&objects, lines.linkages()[0])])
        .chain(lines.check(&objects))
        .collect()
}

/// A user's source file and the line that compiles it.
pub struct SourceLine {
    pub path: PathBuf,
    /// Of the compiler in the line.
    pub family: Family,
    pub object: String,
    pub line: CommandLine,
}

impl SourceLine {
    /// The name of the file that a text in place of the source's own is compiled from.
    pub fn text_name(&self) -> String {
        format!("{}.c", self.object.trim_end_matches(".o"))
    }

    /// The line that compiles such a text; `more` says what it has beside the source.
    pub fn line_of_text(&self, more: &str) -> CommandLine {
        let mut line = self.line.clone();
        line.what.push_str(more);
        line.argv.pop();
        // Quoted includes look beside the source first, and the text lies elsewhere.
        let beside = self.path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        match self.family {
            // It knows no folder for quoted includes alone.
            Family::Tcc => line.argv.push(format!("-I{beside}")),
            _ => line.argv.extend(["-iquote".to_string(), beside]),
        }
        line.argv.push(self.text_name());
        line
    }
}

/// A generated file and the line that compiles it.
pub struct ShimLine {
    pub shim: Shim,
    pub object: String,
    pub line: CommandLine,
}

/// What the objects of a build become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// An object to load.
    Shared,
    /// A program with all its libraries inside: it needs no loader of its target.
    Static,
    Dynamic,
}

/// Everything a build runs, with the parts that the link is made of.
pub struct Lines<'a> {
    pub material: &'a Material<'a>,
    build: &'a Build,
    family: Family,
    libs: Vec<String>,
    /// The runner and its table; empty when the build is loaded.
    pub harness: Vec<ShimLine>,
    /// The files of the matrix's `[harness]`.
    pub support: Vec<SourceLine>,
    pub sources: Vec<SourceLine>,
    pub setup: Option<ShimLine>,
}

impl<'a> Lines<'a> {
    pub fn new(material: &'a Material<'a>, build: &'a Build, family: Family) -> Lines<'a> {
        let mut lines = Lines {
            material,
            build,
            family,
            libs: material.shelf.args(family),
            harness: Vec::new(),
            support: Vec::new(),
            sources: Vec::new(),
            setup: None,
        };
        if !build.is_loaded() {
            lines.harness = harness(material).into_iter().map(|file| lines.harness_line(file)).collect();
        }
        let mut taken = BTreeSet::new();
        lines.support = support::lines(material, build, &mut taken);
        let source = |path: &PathBuf| {
            let stem = object_stem(path, &mut taken);
            let shown = path.strip_prefix(material.folder).unwrap_or(path).display();
            let line = lines.compile(format!("compile {shown}"), path, &stem);
            SourceLine { path: path.clone(), family, object: format!("{stem}.o"), line }
        };
        lines.sources = material.sources.files.iter().map(source).collect();
        lines.setup = material.setup.clone().map(|file| lines.shim_line(file));
        lines
    }

    fn compile(&self, what: String, source: &Path, stem: &str) -> CommandLine {
        let mut argv = source_args(self.material.sources, self.build, self.family);
        argv.extend(object_args(self.build, self.family, stem));
        argv.extend(["-o".into(), format!("{stem}.o"), source.display().to_string()]);
        CommandLine { what, argv }
    }

    fn shim_line(&self, shim: Shim) -> ShimLine {
        let line = self.compile(shim.what.clone(), Path::new(&format!("{}.c", shim.stem)), &shim.stem);
        ShimLine { object: format!("{}.o", shim.stem), line, shim }
    }

    fn harness_line(&self, shim: Shim) -> ShimLine {
        let mut argv = head(self.build, self.family);
        argv.extend(abi_args(&self.build.args));
        argv.extend(["-O2", "-w", "-fPIC"].map(String::from));
        argv.extend(dependency_args(self.family, &shim.stem));
        argv.extend(["-o".into(), format!("{}.o", shim.stem), format!("{}.c", shim.stem)]);
        let line = CommandLine { what: shim.what.clone(), argv };
        ShimLine { object: format!("{}.o", shim.stem), line, shim }
    }

    /// The line of a source. One that has shims at its end is compiled from a text of its own.
    fn source(&self, number: usize) -> CommandLine {
        let source = &self.sources[number];
        let within = self.material.shims.within(number);
        if within.is_empty() {
            source.line.clone()
        } else {
            source.line_of_text(&self.material.shims.names(&within))
        }
    }

    /// Objects that come before those of the sources at a link.
    pub fn before_sources(&self) -> usize {
        self.harness.len() + self.support.len()
    }

    /// The file of some shims.
    pub fn shims(&self, members: &[usize]) -> ShimLine {
        self.shim_line(self.material.shims.file(members))
    }

    /// The members of each file of shims, in link order.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        self.material.shims.files(self.build)
    }

    fn shim_files(&self) -> Vec<ShimLine> {
        self.groups().iter().map(|members| self.shims(members)).collect()
    }

    /// Every object's name, in link order, with those of shims.
    fn objects<'b>(&'b self, shims: impl Iterator<Item = &'b str>) -> Vec<&'b str> {
        let harness = self.harness.iter().map(|s| s.object.as_str());
        let harness = harness.chain(self.support.iter().map(|s| s.object.as_str()));
        let sources = self.sources.iter().map(|s| s.object.as_str());
        harness.chain(sources).chain(self.setup.iter().map(|s| s.object.as_str())).chain(shims).collect()
    }

    /// The program that shows what an executable built with exactly these arguments starts with; None
    /// when that is given, or the runner shows it.
    pub fn probe(&self) -> Option<CommandLine> {
        if self.build.fpenv != FpEnvPolicy::Probed || !self.build.is_native() {
            return None;
        }
        let mut argv = head(self.build, self.family);
        argv.extend(self.build.args.iter().cloned());
        argv.extend(["-o", PROBE_PROGRAM, PROBE_FILE].map(String::from));
        argv.extend(self.libs.iter().cloned());
        Some(CommandLine { what: "probe".into(), argv })
    }

    /// What to make of the objects, the first that the linker can.
    pub fn linkages(&self) -> &'static [Linkage] {
        match (&self.build.environment.libm, self.build.is_native()) {
            _ if self.build.is_loaded() => &[Linkage::Shared],
            (Some(Libm::Musl), _) => &[Linkage::Static],
            (_, true) => &[Linkage::Dynamic],
            (_, false) => &[Linkage::Static, Linkage::Dynamic],
        }
    }

    /// The name of what the link leaves.
    pub fn product(&self) -> &'static str {
        if self.harness.is_empty() { SHARED_OBJECT } else { RUNNER }
    }

    pub fn link(&self, objects: &[&str], linkage: Linkage) -> CommandLine {
        if linkage != Linkage::Shared {
            return self.link_program(objects, linkage);
        }
        let (args, libs) = link_args(&self.build.args, Linkage::Shared);
        let lto = args.iter().any(|a| a.starts_with("-flto"));
        let mut argv = head(self.build, self.family);
        argv.extend(args);
        argv.push("-shared".into());
        if lto && self.family != Family::Tcc {
            // The code is made at link time.
            argv.extend(position_independent(self.family));
        }
        // A function of the sources that is named like one of the C library is called, not the latter.
        argv.push("-Wl,-Bsymbolic".into());
        if self.family != Family::Tcc {
            argv.push("-Wl,-z,defs".into());
        }
        argv.extend(["-o", SHARED_OBJECT].map(String::from));
        argv.extend(objects.iter().map(ToString::to_string));
        argv.extend(libs);
        argv.extend(self.libs.iter().cloned());
        CommandLine { what: "link".into(), argv }
    }

    /// A program keeps every argument: it is to start as one of the user's would.
    fn link_program(&self, objects: &[&str], linkage: Linkage) -> CommandLine {
        let libm = self.build.environment.libm.as_ref();
        let (args, libs) = link_args(&self.build.args, linkage);
        let mut argv = head(self.build, self.family);
        match linker(self.build) {
            // The objects are made, and another compiler's arguments may mean nothing to it.
            Some(linker) => argv = vec![linker.into()],
            None => argv.extend(args),
        }
        if linkage == Linkage::Static {
            argv.push("-static".into());
        }
        if self.family != Family::Tcc {
            // The runner comes first: its `main` counts, also when a source has one.
            argv.push("-Wl,-z,muldefs".into());
        }
        argv.extend(["-o", RUNNER].map(String::from));
        argv.extend(objects.iter().map(ToString::to_string));
        if let Some(Libm::File(path)) = libm {
            argv.push(path.display().to_string());
        }
        argv.extend(libs);
        argv.extend(self.libs.iter().cloned());
        argv.push("-lm".into());
        CommandLine { what: "link".into(), argv }
    }

    /// tcc links a shared object whatever it lacks: linking a program too makes it say what.
    pub fn check(&self, objects: &[&str]) -> Option<CommandLine> {
        if self.family != Family::Tcc {
            return None;
        }
        let (args, libs) = link_args(&self.build.args, Linkage::Shared);
        let mut argv = head(self.build, self.family);
        argv.extend(args);
        argv.extend(["-o", CHECK_PROGRAM, PROBE_FILE].map(String::from));
        argv.extend(objects.iter().map(ToString::to_string));
        argv.extend(libs);
        argv.extend(self.libs.iter().cloned());
        Some(CommandLine { what: "check".into(), argv })
    }
}

/// What every source and shim is compiled with, before what makes an object of it.
pub(super) fn source_args(sources: &Sources, build: &Build, family: Family) -> Vec<String> {
    let mut argv = head(build, family);
    argv.extend(build.args.iter().cloned());
    argv.extend(sources.include.iter().map(|p| format!("-I{}", p.display())));
    argv.extend(sources.defines.iter().map(|d| format!("-D{d}")));
    argv
}

fn head(build: &Build, family: Family) -> Vec<String> {
    let mut argv = vec![build.command.clone()];
    if family == Family::Clang {
        argv.extend(build.triple.as_ref().map(|t| format!("--target={t}")));
    }
    argv
}

/// What every object needs to be loaded, and how its headers become known. After the user's own
/// arguments, because an object that cannot be loaded serves nobody.
fn object_args(build: &Build, family: Family, stem: &str) -> Vec<String> {
    let mut args = if build.plain { Vec::new() } else { position_independent(family) };
    args.extend(dependency_args(family, stem));
    args
}

/// Compile, and say which headers were read.
pub(super) fn dependency_args(family: Family, stem: &str) -> Vec<String> {
    match family {
        // Its -MD leaves the system's headers out.
        Family::Tcc => vec!["-c".into(), "-vv".into()],
        Family::Gcc | Family::Clang | Family::Other => {
            vec!["-c".into(), "-MD".into(), "-MF".into(), format!("{stem}.d")]
        }
    }
}

fn position_independent(family: Family) -> Vec<String> {
    let mut args = vec!["-fPIC".into()];
    if family == Family::Gcc {
        // Without it gcc inlines less than in an executable, and results differ from those of one.
        args.push("-fno-semantic-interposition".into());
    }
    args
}

/// The build's arguments for a link, and the libraries among them, which belong behind the objects.
/// Left out: what the language of inputs is; of a shared object also what asks for a program and what
/// would pull in crtfastmath.o, which changes the registers of the process that loads the object.
fn link_args(args: &[String], linkage: Linkage) -> (Vec<String>, Vec<String>) {
    let shared = linkage == Linkage::Shared;
    let (mut kept, mut libs) = (Vec::new(), Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "-ffast-math" | "-funsafe-math-optimizations" | "-mdaz-ftz" if shared => {}
            "-static" | "-pie" | "-static-pie" | "-no-pie" if shared => {}
            // Under -flto the level still counts.
            "-Ofast" if shared => kept.push("-O3".into()),
            "-x" => drop(rest.next()),
            language if language.starts_with("-x") => {}
            "-l" => {
                libs.push(arg.clone());
                libs.extend(rest.next().cloned());
            }
            lib if lib.starts_with("-l") => libs.push(arg.clone()),
            _ => kept.push(arg.clone()),
        }
    }
    (kept, libs)
}

/// A plain, unique name for a source's object: no spaces, no leading dash.
pub(super) fn object_stem(source: &Path, taken: &mut BTreeSet<String>) -> String {
    let name = source.file_stem().unwrap_or_default().to_string_lossy();
    let mut stem: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+') { c } else { '_' })
        .take(150)
        .collect();
    // A leading dash would be an option, and bitrift_ is kept for generated files.
    if stem.is_empty() || stem.starts_with(['-', '.']) || stem.starts_with("bitrift") {
        stem.insert(0, '_');
    }
    let mut unique = stem.clone();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{stem}-{number}");
        number += 1;
    }
    unique
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
