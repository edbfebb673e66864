//! All sources of an experiment, read once, and what they offer to each function under test.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::body::{LiteralKind, break_points, numbers};
use super::constant::Names;
use super::definitions::{Callable, Definitions};
use super::heading::Heading;
use super::loader::Loader;
use crate::c::Source;
use crate::c::number::Number;
use crate::c::token::{Token, tokens};
use crate::fp::Scalar;
use crate::model::{Callee, Function, Sources};

/// Most values for one function.
pub const MOST_LITERALS: usize = 64;
/// Farthest function: calls of calls.
const FARTHEST: usize = 6;
/// Most functions read for one function under test.
const MOST_FUNCTIONS: usize = 400;

/// A number a function under test may meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Literal {
    pub value: f64,
    pub kind: LiteralKind,
    /// Calls between the function under test and the function it stands in.
    pub distance: usize,
}

/// Where a function is: the file among the sources, and its own place in it.
type FunctionPlace = (usize, usize);

/// A function that a file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    pub path: &'a Path,
    /// Where its name stands, counted from 1.
    pub line: u64,
    /// Known in its own file only.
    pub is_static: bool,
    pub heading: &'a Heading,
}

/// What the sources define.
pub struct SourceIndex {
    sources: Vec<Source>,
    /// Where each was read, as the sources or an include named it.
    paths: Vec<PathBuf>,
    /// Where functions known in all files are.
    functions: BTreeMap<String, FunctionPlace>,
    /// Where functions of a name are, those of one file alone too; macros are none.
    named: BTreeMap<String, Vec<FunctionPlace>>,
    /// The file that first defines a name for others to include.
    shared: BTreeMap<String, usize>,
    /// Where headers of functions under test were found.
    headers: BTreeMap<String, usize>,
}

/// Names as one file sees them: its own, then those of headers.
struct FileNames<'a> {
    index: &'a SourceIndex,
    file: usize,
}

impl Names for FileNames<'_> {
    fn tokens_of(&self, name: &str) -> Option<&[Token]> {
        let own = self.index.definitions(self.file).and_then(|own| own.tokens_of(name));
        own.or_else(|| self.index.shared(name)?.tokens_of(name))
    }
}

/// The names that stand before a bracket in what is called.
fn called(function: &Function) -> Vec<String> {
    let text = match &function.callee {
        Callee::Signature(text) | Callee::Call(text) | Callee::Body(text) => text.as_str(),
        Callee::Elsewhere => "",
    };
    let pairs = tokens(text);
    let names = pairs.windows(2).filter(|pair| pair[1].is("(")).filter_map(|pair| pair[0].name());
    names.map(str::to_owned).collect()
}

impl SourceIndex {
    /// Reads the sources, and what they and the functions under test include. A file that cannot be read
    /// offers nothing, and neither does one that a compiler may not read: compiling says what is wrong with it.
    pub fn read(sources: &Sources, functions: &[Function], may_read: &dyn Fn(&Path) -> bool) -> SourceIndex {
        let mut loader = Loader::new(&sources.include, may_read);
        for path in sources.files.iter().filter(|path| is_c(path)) {
            loader.add(path);
        }
        let mut headers = BTreeMap::new();
        for header in functions.iter().flat_map(|f| &f.headers) {
            if let Some(file) = loader.find(header, None).and_then(|path| loader.add(&path)) {
                headers.insert(header.clone(), file);
            }
        }
        loader.follow_includes();
        SourceIndex::of(loader, headers)
    }

    fn of(loader: Loader<'_>, headers: BTreeMap<String, usize>) -> SourceIndex {
        let included = loader.included();
        let (mut functions, mut shared) = (BTreeMap::new(), BTreeMap::new());
        let mut named: BTreeMap<String, Vec<FunctionPlace>> = BTreeMap::new();
        let (paths, sources): (Vec<PathBuf>, Vec<Source>) = loader.files.into_iter().unzip();
        for (at, source) in sources.iter().enumerate() {
            let own = source.definitions();
            for (place, function) in own.functions.iter().enumerate() {
                if function.heading.is_some() {
                    named.entry(function.name.clone()).or_default().push((at, place));
                }
                if !function.is_local || included.contains(&at) {
                    functions.entry(function.name.clone()).or_insert((at, place));
                }
            }
            if included.contains(&at) {
                for name in own.macros.keys().chain(own.constants.keys()).chain(own.tables.keys()) {
                    shared.entry(name.clone()).or_insert(at);
                }
            }
        }
        SourceIndex { sources, paths, functions, named, shared, headers }
    }

    /// What a file defines; None for a file that does not exist.
    fn definitions(&self, file: usize) -> Option<&Definitions> {
        self.sources.get(file).map(Source::definitions)
    }

    /// What the file defines that first defines a name for others to include.
    fn shared(&self, name: &str) -> Option<&Definitions> {
        self.definitions(*self.shared.get(name)?)
    }

    fn callable(&self, (file, place): FunctionPlace) -> Option<&Callable> {
        self.definitions(file)?.functions.get(place)
    }

    /// The file and line where the sources define a function under test; of an expression or of statements,
    /// the first function it calls that they define.
    pub fn definition(&self, function: &Function) -> Option<(&Path, u64)> {
        let file = self.seen_from(function);
        let place = called(function).iter().find_map(|name| self.function(file, name))?;
        Some((self.paths.get(place.0)?, self.callable(place)?.line))
    }

    /// Whether the name of something that a function under test calls stands anywhere in the sources: it may be defined
    /// there in a way that is not understood.
    pub fn mentions(&self, function: &Function) -> bool {
        let is_in = |name: &str, text: &str| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            text.match_indices(name).any(|(at, _)| {
                !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
            })
        };
        let names = called(function);
        self.sources.iter().any(|source| names.iter().any(|name| is_in(name, source.text())))
    }

    /// Every definition of a function of this name, in the order of the files; macros are none.
    pub fn found(&self, name: &str) -> Vec<Found<'_>> {
        let found = |place: &FunctionPlace| {
            let Callable { line, is_local, heading, .. } = self.callable(*place)?;
            let (path, heading) = (self.paths.get(place.0)?, heading.as_ref()?);
            Some(Found { path, line: *line, is_static: *is_local, heading })
        };
        self.named.get(name).into_iter().flatten().filter_map(found).collect()
    }

    /// The names of all functions that are defined.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    /// The file that stands for a function under test: the source that it is called in, else its first header.
    fn seen_from(&self, function: &Function) -> usize {
        let within = function.within.as_ref();
        if let Some(file) = within.and_then(|path| self.paths.iter().position(|known| known == path)) {
            return file;
        }
        let header = function.headers.iter().find_map(|header| self.headers.get(header));
        // A file that does not exist: all that is known is shared.
        header.copied().unwrap_or(usize::MAX)
    }

    /// Values worth trying, the most promising first, without duplicates (a value stands for its negative).
    pub fn values(&self, function: &Function) -> Vec<f64> {
        let mut seen = BTreeSet::new();
        let literals = self.literals(function).into_iter().map(|literal| literal.value);
        literals.filter(|value| seen.insert(value.abs().to_bits())).take(MOST_LITERALS).collect()
    }

    /// Every literal in reach of a function under test: those that are compared with before others, near
    /// ones before far ones.
    pub fn literals(&self, function: &Function) -> Vec<Literal> {
        let mut found = Vec::new();
        for (distance, numbers) in self.walk(function) {
            for (kind, number) in numbers {
                let values = meanings(number, function);
                found.extend(values.into_iter().map(|value| Literal { value, kind, distance }));
            }
        }
        found.sort_by_key(|l| (l.kind == LiteralKind::Other, l.distance, l.kind));
        found
    }

    /// The numbers of the call and of every function in reach, breadth first.
    fn walk(&self, function: &Function) -> Vec<(usize, Vec<(LiteralKind, Number)>)> {
        let outside = self.seen_from(function);
        let text = match &function.callee {
            Callee::Signature(prototype) => prototype.split('(').next().unwrap_or_default(),
            Callee::Call(text) | Callee::Body(text) => text.as_str(),
            Callee::Elsewhere => "",
        };
        let call =
            Callable { name: String::new(), is_local: true, line: 0, heading: None, body: tokens(text) };
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = VecDeque::from([(outside, &call, 0)]);
        while let Some((file, function, distance)) = open.pop_front() {
            let names = FileNames { index: self, file };
            found.push((distance, numbers(&function.body, &names)));
            for name in function.body.iter().filter_map(Token::name) {
                if let Some(table) = self.table(file, name).filter(|_| seen.insert((file, name))) {
                    let entries = break_points(table, &names).into_iter();
                    found.push((distance, entries.map(|n| (LiteralKind::BreakPoint, n)).collect()));
                }
                let Some(place) = self.function(file, name) else { continue };
                let (home, Some(next)) = (place.0, self.callable(place)) else { continue };
                let fresh = seen.len() < MOST_FUNCTIONS && seen.insert((home, next.name.as_str()));
                if fresh && distance < FARTHEST {
                    // The function the call names is where the user looks, so it counts as near as the call.
                    open.push_back((home, next, distance + usize::from(!std::ptr::eq(function, &call))));
                }
            }
        }
        found
    }

    fn table(&self, file: usize, name: &str) -> Option<&[Token]> {
        let own = self.definitions(file).and_then(|own| own.tables.get(name));
        own.or_else(|| self.shared(name)?.tables.get(name)).map(Vec::as_slice)
    }

    /// A function as a file sees it: its own before that of another.
    fn function(&self, file: usize, name: &str) -> Option<FunctionPlace> {
        let own = self.definitions(file).and_then(|own| own.functions.iter().position(|f| f.name == name));
        own.map(|place| (file, place)).or_else(|| self.functions.get(name).copied())
    }
}

/// The inputs a number may stand for. A hexadecimal integer is often the bits of a float, or the upper half
/// of a double's: `ix >= 0x42b17218` is how a math library says x >= 88.72.
fn meanings(number: Number, function: &Function) -> Vec<f64> {
    let is_pattern = number.is_pattern && number.integer.is_some_and(|bits| bits >= 0x10_0000);
    let has = |wanted: &dyn Fn(Scalar) -> bool| function.coordinates.iter().any(|p| wanted(p.ty));
    let mut values = Vec::new();
    if let Some(bits) = number.integer.filter(|_| is_pattern) {
        match u32::try_from(bits) {
            Ok(half) => {
                if has(&|ty| ty == Scalar::F32) {
                    values.push(f64::from(f32::from_bits(half)));
                }
                values.push(f64::from_bits(bits << 32));
            }
            Err(_) => values.push(f64::from_bits(bits)),
        }
    }
    if !is_pattern || has(&|ty| !ty.is_float()) {
        values.push(number.value);
    }
    values.retain(|value| value.is_finite());
    values
}

fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "c" || ending == "h" || ending == "i")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::model::{Coordinate, Domain};

    fn function(callee: Callee, types: &[Scalar]) -> Function {
        let param = |ty: &Scalar| Coordinate {
            name: "x".into(),
            ty: *ty,
            domain: Domain::all(*ty),
            domain_text: String::new(),
        };
        Function::of_scalars("f", types.iter().map(param).collect(), Scalar::F64, callee)
    }

    fn index(files: &[(&str, &str)]) -> SourceIndex {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let sources = files.iter().filter(|(name, _)| name.ends_with(".c"));
        let sources = Sources {
            files: sources.map(|(name, _)| folder.path().join(name)).collect(),
            include: vec![folder.path().into()],
            ..Sources::default()
        };
        SourceIndex::read(&sources, &[], &|_| true)
    }

    fn values(index: &SourceIndex, call: &str) -> Vec<f64> {
        index.values(&function(Callee::Call(call.into()), &[Scalar::F64]))
    }

    const AIRY: &str = r#"
        #include <limits_of_lab.h>
        #include "inner.c"
        static double aif_data[3] = { -0.03, 0.05, -0.001 };
        static double zeros[4] = { 2.5, 4.25, 5.5, 6.75 };
        static int helper(double x) { return x > LAB_TOP; }
        int airy_e(const double x, double *result)
        {
            if (x < -1.0) return helper(x) + zeros[2];
            else if (x <= 1.0) { *result = 0.375 + aif_data[0]; return 0; }
            else return included(x);
        }
        double airy(double x) { EVAL(airy_e(x, &result)); }
    "#;
    const OTHER: &str = "static int helper(double x) { return x > 99.0; } double other(double x) { return helper(x) + airy(x); }";
    const FILES: [(&str, &str); 4] = [
        ("airy.c", AIRY),
        ("other.c", OTHER),
        ("limits_of_lab.h", "#define LAB_TOP (2 * LAB_HALF)\n#define LAB_HALF 354.5"),
        ("inner.c", "static double included(double x) { return x == 12.0; }"),
    ];

    #[test]
    fn thresholds_are_followed_through_calls_names_and_includes_nearest_first() {
        let index = index(&FILES);
        assert_eq!(
            values(&index, "airy(x) + 17.0"),
            [-1.0, 2.5, 4.25, 5.5, 6.75, 709.0, 12.0, 17.0, 0.375, 0.0]
        );
    }

    #[test]
    fn a_local_function_hides_that_of_another_file() {
        let index = index(&FILES);
        assert_eq!(values(&index, "other(x)")[0], 99.0);
        assert!(!values(&index, "airy(x)").contains(&99.0));
        let signature = function(Callee::Signature("double other(double x)".into()), &[Scalar::F64]);
        assert_eq!(index.values(&signature), values(&index, "other(x)"));
    }

    #[test]
    fn a_definition_is_found_by_signature_and_by_the_first_call_that_the_sources_define() {
        let index = index(&FILES);
        let found = |callee| {
            let (path, line) = index.definition(&function(callee, &[Scalar::F64]))?;
            Some((path.file_name()?.to_str()?.to_owned(), line))
        };
        let airy = Some(("airy.c".to_owned(), 13));
        assert_eq!(found(Callee::Signature("double airy(double x)".into())), airy);
        assert_eq!(found(Callee::Call("fabs(x) + airy (x) + other(x)".into())), airy);
        assert_eq!(found(Callee::Body("double y[2]; airy_e(x, y); return y[0];".into())).unwrap().1, 7);
        assert_eq!(found(Callee::Signature("double included(double x)".into())).unwrap().0, "inner.c");
        assert_eq!(found(Callee::Call("airy + sin(x)".into())), None);
    }

    #[test]
    fn bit_patterns_are_the_floats_they_stand_for() {
        let index = index(&[("f.c", "float f(float x) { return ix >= 0x42b17218 ? x : 0x3ff00000; }")]);
        let float = function(Callee::Call("f(x)".into()), &[Scalar::F32]);
        let double = function(Callee::Call("f(x)".into()), &[Scalar::F64]);
        assert_eq!(index.values(&float)[0], f64::from(f32::from_bits(0x42b1_7218)));
        assert_eq!(index.values(&double), [f64::from_bits(0x42b1_7218 << 32), 1.0]);
    }

    #[test]
    fn there_are_never_too_many_and_recursion_ends() {
        let many: String = (0..500).map(|i| format!("if (x < {i}.5) return f(x);")).collect();
        let index = index(&[("f.c", &format!("double f(double x) {{ {many} }}"))]);
        let found = values(&index, "f(x)");
        assert_eq!((found.len(), found[0], found[63]), (MOST_LITERALS, 0.5, 63.5));
    }

    #[test]
    fn sources_that_are_not_there_offer_nothing() {
        let sources = Sources { files: vec!["/nowhere/f.c".into()], ..Sources::default() };
        assert!(values(&SourceIndex::read(&sources, &[], &|_| true), "f(x)").is_empty());
    }
}
