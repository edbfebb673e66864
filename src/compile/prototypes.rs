//! What a matrix says of types, held against what headers and sources say, by the word of a compiler.
//!
//! A file apart from the shims includes the headers and asks whether types are compatible: a shim declares a function
//! under another name, so that no compiler ever sees the two declarations side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::source_args;
use super::shim::{Call, all_headers, name_in_prototype, parameters};
use super::spellings::function_types;
use crate::model::{Build, Callee, Function, Implementation, Sources};
use crate::sandbox::Folder;
use crate::toolchain::{Compiler, End, Family, Invocation, run};

/// What stands in front of a number in the compiler's messages about it.
const MARK: &str = "bitrift declaration ";
const FILE: &str = "bitrift_declarations.c";

/// A function as a matrix declares it for an implementation.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    pub function: &'a Function,
    pub implementation: &'a Implementation,
    /// The source that defines it, to be included in place of headers.
    pub source: Option<&'a Path>,
}

/// What a compiler says to a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Agrees,
    /// The place of the other declaration, where the compiler names one.
    Differs {
        place: Option<(PathBuf, u64)>,
    },
    /// No header declares what an expression calls, so that C takes the result for an int.
    Implicit {
        name: String,
    },
    /// Nothing declares it, or the headers do not compile here.
    Unknown,
}

/// Asks the compiler of a build, in the build's own language.
pub struct Prototypes<'a> {
    pub build: &'a Build,
    pub compiler: &'a Compiler,
    pub timeout: Duration,
}

impl Prototypes<'_> {
    /// A verdict for each claim. Claims with the same headers are one question.
    pub fn verdicts(&self, claims: &[Claim<'_>]) -> Vec<Verdict> {
        let mut verdicts = vec![Verdict::Unknown; claims.len()];
        if !matches!(self.compiler.family, Family::Gcc | Family::Clang) {
            return verdicts;
        }
        let mut groups: BTreeMap<(&str, Vec<String>), Vec<usize>> = BTreeMap::new();
        for (number, claim) in claims.iter().enumerate() {
            groups.entry((&claim.implementation.name, includes(claim))).or_default().push(number);
        }
        for ((_, includes), numbers) in groups {
            let sources = &claims[numbers[0]].implementation.sources;
            let text: String = numbers.iter().filter_map(|&n| question(n, &claims[n])).collect();
            let Some(said) = self.ask(sources, &format!("{}{text}", includes.concat())) else { continue };
            for &number in &numbers {
                verdicts[number] = said.verdict(number, &claims[number]);
                if let Verdict::Differs { place } = &mut verdicts[number] {
                    *place = self.place(sources, &includes.concat(), &claims[number]);
                }
            }
        }
        verdicts
    }

    /// Where the other declaration of a function stands: a compiler names it when it refuses a second one.
    fn place(&self, sources: &Sources, includes: &str, claim: &Claim<'_>) -> Option<(PathBuf, u64)> {
        let Some(Callee::Signature(prototype)) = claim.implementation.callee(claim.function) else {
            return None;
        };
        let (before, name, after) = name_in_prototype(prototype)?;
        let said = self.words(sources, &format!("{includes}{before} ({name}){after};\n"))?;
        let line = said.lines().find(|line| line.contains(": note: previous d"))?;
        let mut parts = line.splitn(3, ':');
        Some((PathBuf::from(parts.next()?), parts.next()?.parse().ok()?))
    }

    fn ask(&self, sources: &Sources, text: &str) -> Option<Said> {
        Said::read(&self.words(sources, text)?)
    }

    /// What the compiler prints about a text.
    fn words(&self, sources: &Sources, text: &str) -> Option<String> {
        let folder = Folder::temporary().ok()?;
        fs::write(folder.path().join(FILE), text).ok()?;
        let mut argv = source_args(sources, self.build, self.compiler.family);
        argv.extend(["-fsyntax-only", "-Werror=implicit-function-declaration"].map(String::from));
        if self.compiler.family == Family::Clang {
            argv.push("-ferror-limit=0".into());
        }
        argv.push(FILE.into());
        let done = run(&Invocation {
            program: &self.compiler.path,
            argv: &argv,
            cwd: folder.path(),
            own: folder.path(),
            tmp: folder.path(),
            reach: &self.compiler.reach,
            timeout: self.timeout,
            cancel: None,
        });
        matches!(done.end, End::Exited(_)).then_some(done.stderr)
    }
}

/// The lines that declare what a claim is about: those of its headers, or its source.
fn includes(claim: &Claim<'_>) -> Vec<String> {
    let headers = all_headers(&Call::of(claim.function, claim.implementation));
    let headers = headers.into_iter().map(|header| format!("#include <{header}>\n"));
    let source = claim.source.map(|path| format!("#include \"{}\"\n", path.display()));
    source.into_iter().chain(headers).collect()
}

/// An array of a negative size where types are not compatible.
fn question(number: usize, claim: &Claim<'_>) -> Option<String> {
    let Claim { function, implementation, .. } = claim;
    let interface = &function.interface;
    let name = format!("bitrift_{number}");
    let text = match implementation.callee(function)? {
        Callee::Signature(prototype) => {
            let (_, target, _) = name_in_prototype(prototype)?;
            let same =
                |ty: String| format!("__builtin_types_compatible_p(__typeof__({target}), __typeof__({ty}))");
            let all: Vec<String> = function_types(interface).into_iter().map(same).collect();
            format!("typedef char {name}[({}) ? 1 : -1];", all.join(" || "))
        }
        Callee::Call(expression) => {
            let ty = format!("{name}_type");
            let declared = &interface.returns;
            let strict = format!("__builtin_types_compatible_p({ty}, {declared})");
            let head = format!("void {name}_of({})", parameters(interface));
            // The expression on one line: its lines must not be taken for others.
            let expression = expression.lines().collect::<Vec<_>>().join(" ");
            format!(
                "{head};\n#line 1 \"{MARK}{number}\"\n{head} {{ typedef __typeof__(({expression})) {ty}; typedef char \
                 {name}[({strict} || {}) ? 1 : -1]; typedef char {name}_strict[{strict} ? 1 : -1]; }}",
                harmless(&ty, interface.returns_scalar().map(|slot| (slot.c_type.as_str(), slot.ty)))
            )
        }
        Callee::Body(_) | Callee::Elsewhere => return None,
    };
    Some(format!("#line 1 \"{MARK}{number}\"\n{text}\n"))
}

/// A conversion that loses nothing: of an integer to a float, and to an integer that is as large.
fn harmless(ty: &str, declared: Option<(&str, crate::fp::Scalar)>) -> String {
    let Some((c_type, scalar)) = declared else { return "0".into() };
    let floats =
        ["float", "double", "long double", "float _Complex", "double _Complex", "long double _Complex"];
    let one_of = |float: &&str| format!("__builtin_types_compatible_p({ty}, {float})");
    let is_integer = format!("!({})", floats.iter().map(one_of).collect::<Vec<_>>().join(" || "));
    match scalar.is_float() {
        true => is_integer,
        false => format!("({is_integer} && sizeof({ty}) <= sizeof({c_type}))"),
    }
}

/// What a compiler said about all claims of a file.
#[derive(Default)]
struct Said {
    /// Arrays of a negative size, by their names.
    refused: BTreeSet<String>,
    undeclared: BTreeSet<String>,
    /// Functions that nothing declares.
    implicit: BTreeSet<String>,
    /// Claims with other errors.
    broken: BTreeSet<usize>,
}

impl Said {
    /// None when something else than a claim is wrong: then nothing that follows it can be trusted.
    fn read(words: &str) -> Option<Said> {
        let mut said = Said::default();
        for line in words.lines() {
            let Some((place, message)) =
                line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))
            else {
                continue;
            };
            let number: usize = place.strip_prefix(MARK)?.split(':').next()?.parse().ok()?;
            let quoted = message.split('\'').nth(1).unwrap_or_default().to_string();
            if message.contains("negative") {
                said.refused.insert(quoted);
            } else if message.contains("implicit") {
                said.implicit.insert(quoted);
            } else if message.contains("undeclared") {
                said.undeclared.insert(quoted);
            } else {
                said.broken.insert(number);
            }
        }
        Some(said)
    }

    fn verdict(&self, number: usize, claim: &Claim<'_>) -> Verdict {
        let refused = |tail: &str| self.refused.contains(&format!("bitrift_{number}{tail}"));
        let has_word = |text: &str, names: &BTreeSet<String>| {
            let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            words.find(|word| names.contains(*word)).map(String::from)
        };
        match claim.implementation.callee(claim.function) {
            _ if self.broken.contains(&number) => Verdict::Unknown,
            _ if refused("") => Verdict::Differs { place: None },
            Some(Callee::Signature(prototype)) => match name_in_prototype(prototype) {
                Some((_, name, _)) if !self.undeclared.contains(name) => Verdict::Agrees,
                _ => Verdict::Unknown,
            },
            Some(Callee::Call(text)) => match has_word(text, &self.implicit) {
                Some(name) if refused("_strict") => Verdict::Implicit { name },
                _ if has_word(text, &self.undeclared).is_some() => Verdict::Unknown,
                _ => Verdict::Agrees,
            },
            _ => Verdict::Unknown,
        }
    }
}
