//! The guilty files taken apart, and mixes in which only chosen functions or statements of them are compiled as
//! the variant's flags ask, the rest of them precisely.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::expand::Expanded;
use super::file::{FileSet, shown, shown_path};
use super::include::IncludeFolders;
use super::inquiry::Inquiry;
use crate::c::{Dialect, Source};
use crate::compile::{Mix, Part};
use crate::model::{Build, Suspect};
use crate::toolchain::{Compilers, Family, locate};

/// A function: its file's place among the sources, its own in the file.
pub type FunctionAt = (usize, usize);
/// A statement of a function.
pub type StatementAt = (usize, usize, usize);

/// The files of a set that can be rewritten.
pub struct Texts {
    pub files: BTreeMap<usize, Source>,
    /// Where the lines of each come from.
    origins: BTreeMap<usize, Expanded>,
    pub dialect: Dialect,
}

/// What stays as the variant's flags make it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loose {
    pub functions: BTreeSet<FunctionAt>,
    /// None: every statement of those functions.
    pub statements: Option<BTreeSet<StatementAt>>,
}

/// Code that is needed together for a difference.
#[derive(Clone)]
pub struct Guilt {
    pub texts: Arc<Texts>,
    pub functions: BTreeSet<FunctionAt>,
    /// None: it could not be narrowed down further.
    pub statements: Option<BTreeSet<StatementAt>>,
}

impl Guilt {
    pub fn suspects(&self, inquiry: &Inquiry<'_>) -> Vec<Suspect> {
        match &self.statements {
            Some(all) => all.iter().map(|at| self.texts.statement_suspect(inquiry, at)).collect(),
            None => self.functions.iter().map(|at| self.texts.function_suspect(inquiry, at)).collect(),
        }
    }

    /// This code alone as the variant has it.
    pub fn alone(&self, inquiry: &Inquiry<'_>) -> Mix {
        let loose = Loose { functions: self.functions.clone(), statements: self.statements.clone() };
        self.texts.only(inquiry, &loose)
    }
}

/// Everything as the variant has it, only the guilty code precise.
pub fn cured(inquiry: &Inquiry<'_>, guilty: &[Guilt]) -> Mix {
    let mut mix = inquiry.scene.guilty();
    let files: BTreeSet<usize> = guilty.iter().flat_map(|guilt| guilt.texts.files.keys().copied()).collect();
    for file in files {
        let of_file: Vec<&Guilt> =
            guilty.iter().filter(|guilt| guilt.texts.files.contains_key(&file)).collect();
        let whole = of_file.iter().filter(|guilt| guilt.statements.is_none());
        let functions = whole.flat_map(|g| &g.functions).filter(|at| at.0 == file).map(|at| at.1).collect();
        let parts = of_file.iter().filter_map(|guilt| guilt.statements.as_ref()).flatten();
        let statements = parts.filter(|at| at.0 == file).map(|at| (at.1, at.2)).collect();
        if let Some(guilt) = of_file.first() {
            let text = guilt.texts.files[&file].precise(guilt.texts.dialect, &functions, &statements);
            mix.sources[file] = part(inquiry, guilt.texts.dialect, Some(text));
        }
    }
    mix
}

/// A source with another text, or as the variant has it.
fn part(inquiry: &Inquiry<'_>, dialect: Dialect, text: Option<String>) -> Part {
    let build = &inquiry.scene.variant.build;
    let Some(text) = text else { return Part::of(build) };
    let beside = if contracts(&build.args) { dialect.arguments_beside_contraction() } else { &[] };
    let more = beside.iter().map(ToString::to_string).collect();
    Part { text: Some(Arc::from(text)), more, ..Part::of(build) }
}

/// Whether arguments ask for multiplications and additions to be fused wherever they meet.
fn contracts(args: &[String]) -> bool {
    let says = |arg: &String| match arg.as_str() {
        "-ffast-math" | "-Ofast" | "-ffp-contract=fast" => Some(true),
        other if other.starts_with("-ffp-contract=") || other == "-fno-fast-math" => Some(false),
        _ => None,
    };
    args.iter().rev().find_map(says).unwrap_or(false)
}

impl Texts {
    /// Why the files cannot be rewritten is said in words.
    pub fn read(inquiry: &Inquiry<'_>, set: &FileSet) -> Result<Texts, String> {
        let dialect = dialect(&inquiry.scene.variant.build, inquiry.scene.desk.mixer.compilers())?;
        let (mut files, mut origins) = (BTreeMap::new(), BTreeMap::new());
        let sources = inquiry.scene.sources();
        let args = &inquiry.scene.variant.build.args;
        let folders = IncludeFolders::new(args, &sources.include);
        let compilers = inquiry.scene.desk.mixer.compilers();
        let program = locate(&inquiry.scene.variant.build.command).unwrap_or_default();
        let argv = [&[String::new()], &args[..]].concat();
        let may_read = |path: &Path| compilers.reach().lets_read(&program, &argv, path);
        for &file in &set.files {
            let whole = Expanded::read(&sources.files[file], &folders, &may_read);
            let whole = whole.map_err(|e| format!("{}: {e}", shown(&inquiry.scene, file)))?;
            files.insert(file, Source::new(&whole.text));
            origins.insert(file, whole);
        }
        Ok(Texts { files, origins, dialect })
    }

    /// Every function that can be rewritten.
    pub fn functions(&self) -> Vec<FunctionAt> {
        let of = |(&file, parsed): (&usize, &Source)| {
            let fit = parsed.functions().iter().enumerate().filter(|(_, f)| f.obstacle.is_none());
            fit.map(|(function, _)| (file, function)).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(of).collect()
    }

    /// Functions that cannot, with the reason.
    pub fn obstacles(&self) -> Vec<String> {
        let all = self.files.values().flat_map(|parsed| parsed.functions());
        all.filter_map(|f| Some(format!("{}: {}", f.name, f.obstacle.as_ref()?))).collect()
    }

    /// The statements of some functions.
    pub fn statements(&self, functions: &BTreeSet<FunctionAt>) -> Vec<StatementAt> {
        let of = |&(file, function): &FunctionAt| {
            let count = self.files[&file].functions()[function].statements.len();
            (0..count).map(move |statement| (file, function, statement))
        };
        functions.iter().flat_map(of).collect()
    }

    /// The text of a file in which only what is loose is not precise; None when that is all of it.
    fn loosened(&self, file: usize, loose: &Loose) -> Option<String> {
        let parsed = &self.files[&file];
        let all = self.functions();
        let precise: BTreeSet<usize> =
            all.iter().filter(|at| at.0 == file && !loose.functions.contains(at)).map(|at| at.1).collect();
        let statements: BTreeSet<(usize, usize)> = match &loose.statements {
            None => BTreeSet::new(),
            Some(kept) => {
                let own = self.statements(&loose.functions);
                own.into_iter()
                    .filter(|at| at.0 == file && !kept.contains(at))
                    .map(|at| (at.1, at.2))
                    .collect()
            }
        };
        if precise.is_empty() && statements.is_empty() {
            return None;
        }
        Some(parsed.precise(self.dialect, &precise, &statements))
    }

    /// Loose code as the variant has it, the rest of these files precise, all other files the reference's.
    pub fn only(&self, inquiry: &Inquiry<'_>, loose: &Loose) -> Mix {
        let mut mix = inquiry.scene.innocent();
        for &file in self.files.keys() {
            mix.sources[file] = part(inquiry, self.dialect, self.loosened(file, loose));
        }
        mix
    }

    /// Where a line of a file's text comes from.
    pub fn origin(&self, file: usize, line: usize) -> Option<(&Path, usize)> {
        self.origins.get(&file)?.origin(line)
    }

    pub fn function_suspect(&self, inquiry: &Inquiry<'_>, &(file, function): &FunctionAt) -> Suspect {
        let experiment = inquiry.scene.desk.experiment;
        let found = &self.files[&file].functions()[function];
        let place = self.origin(file, found.line);
        Suspect {
            file: place.map_or_else(|| shown(&inquiry.scene, file), |(path, _)| shown_path(experiment, path)),
            function: found.name.clone(),
            ..Suspect::default()
        }
    }

    pub fn statement_suspect(&self, inquiry: &Inquiry<'_>, at: &StatementAt) -> Suspect {
        let &(file, function, statement) = at;
        let place = &self.files[&file].functions()[function].statements[statement];
        let line = self.origin(file, place.line).map_or(place.line, |(_, line)| line);
        Suspect {
            line: line as u64,
            column: place.column as u64,
            text: place.text.clone(),
            ..self.function_suspect(inquiry, &(file, function))
        }
    }
}

/// How the variant's compiler is told to be precise.
fn dialect(build: &Build, compilers: &Compilers) -> Result<Dialect, String> {
    let family = compilers.find(&build.command).map_err(|missing| missing.to_string())?.family;
    match family {
        Family::Clang => Ok(Dialect::Clang),
        Family::Gcc => Ok(Dialect::Gcc),
        Family::Tcc | Family::Other => {
            Err(format!("{} has no switch that makes one function precise", build.command))
        }
    }
}
