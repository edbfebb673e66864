//! The matrix as it is written: types are right and keys are known, nothing else is checked yet.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::harness::{HARNESS, RawHarness};
use super::implementation::{self, RawImplementation};
use super::keys::{Keys, Reader, type_name};
use super::limit::{self, LIMIT, RawLimit, RawRules};
use super::place::{At, Place, Text};
use super::problem::Problem;
use super::raw_domain::RawDomain;
use super::sandbox::{RawSandbox, SANDBOX};
use super::sources::RawSources;
use crate::model::{SEARCH_KEY_NAMES, SettingValue};

const TOP: &[&str] = &[
    "lab",
    "sources",
    "implementation",
    "compiler",
    "flags",
    "target",
    "environment",
    "exclude",
    "limit",
    "function",
    "functions",
    "search",
    "harness",
    "sandbox",
    "setup",
    "setup_headers",
];
const LAB: &[&str] = &["name", "baseline", "seed", "presets", "functions", "setup", "setup_headers"];
const SOURCES: &[&str] = &["files", "include", "defines", "libs", "library_path"];
const COMPILER: &[&str] = &["name", "command", "args", "optional"];
const FLAGS: &[&str] = &["name", "args", "fpenv"];
const TARGET: &[&str] = &["name", "triple", "compilers", "args", "runner", "fpenv", "optional"];
const ENVIRONMENT: &[&str] =
    &["name", "fpenv", "rounding", "x87_precision", "libm", "glibc_tunables", "optional"];
const EXCLUDE: &[&str] = &["implementation", "compiler", "flags", "target", "environment"];
const FUNCTION: &[&str] = &[
    "signature",
    "name",
    "params",
    "call",
    "calls",
    "body",
    "result",
    "results",
    "fields",
    "headers",
    "within",
    "domain",
    "max_bits",
    "allow",
    "expect",
    "tolerance",
];

/// The table a key belongs in, to answer a key in the wrong place.
pub(super) fn home_of(key: &str) -> Option<&'static str> {
    [
        ("[lab]", LAB),
        ("[sources]", SOURCES),
        ("[harness]", HARNESS),
        ("[sandbox]", SANDBOX),
        ("[search]", &SEARCH_KEY_NAMES),
        ("[[target]]", TARGET),
        ("[[environment]]", ENVIRONMENT),
        ("[[compiler]]", COMPILER),
        ("[[function]]", FUNCTION),
        ("[[limit]]", LIMIT),
    ]
    .into_iter()
    .find(|(_, keys)| keys.contains(&key))
    .map(|(table, _)| table)
}

#[derive(Default)]
pub(super) struct RawMatrix {
    pub name: Option<Text>,
    pub baseline: Option<Text>,
    pub presets: Vec<Text>,
    pub sources: Option<RawSources>,
    pub implementations: Vec<RawImplementation>,
    pub harness: Option<RawHarness>,
    pub sandbox: RawSandbox,
    pub compilers: Vec<RawCompiler>,
    pub flags: Vec<RawFlags>,
    pub targets: Vec<RawTarget>,
    pub environments: Vec<RawEnvironment>,
    pub exclude: Vec<RawExclude>,
    pub limits: Vec<RawLimit>,
    pub functions: Vec<RawFunction>,
    pub function_files: Vec<Text>,
    /// Keys of `[search]`, and `seed` of `[lab]`.
    pub search: Vec<(Text, At<SettingValue>)>,
    pub setup: Option<Text>,
    pub setup_headers: Vec<Text>,
}

impl RawMatrix {
    /// Whether there is an implementation without a name.
    pub fn has_unnamed(&self) -> bool {
        self.sources.is_some() || self.implementations.is_empty()
    }
}

pub(super) struct RawCompiler {
    pub name: Text,
    pub command: Option<Text>,
    pub args: Vec<Text>,
    pub optional: bool,
}

pub(super) struct RawFlags {
    pub name: Text,
    pub args: Vec<Text>,
    pub fpenv: Option<Text>,
}

pub(super) struct RawTarget {
    pub name: Text,
    pub place: Place,
    pub triple: Option<Text>,
    pub compilers: Option<At<Vec<(Text, Text)>>>,
    pub args: Vec<Text>,
    pub runner: Option<At<Vec<Text>>>,
    pub fpenv: Option<Text>,
    pub optional: bool,
}

pub(super) struct RawEnvironment {
    pub name: Text,
    pub fpenv: Option<Text>,
    pub rounding: Option<Text>,
    pub x87_precision: Option<Text>,
    pub libm: Option<Text>,
    pub glibc_tunables: Option<Text>,
    pub optional: bool,
}

pub(super) struct RawExclude {
    pub place: Place,
    pub implementation: Option<Text>,
    pub compiler: Option<Text>,
    pub flags: Option<Text>,
    pub target: Option<Text>,
    pub environment: Option<Text>,
}

pub(super) struct RawFunction {
    pub place: Place,
    pub signature: Option<Text>,
    pub name: Option<Text>,
    pub params: Option<At<Vec<Text>>>,
    pub call: Option<Text>,
    /// For each implementation, by name.
    pub calls: Vec<(Text, Text)>,
    pub body: Option<Text>,
    pub result: Option<Text>,
    pub results: Option<At<Vec<Text>>>,
    /// The fields of struct parameters.
    pub fields: Vec<(Text, Vec<Text>)>,
    pub headers: Vec<Text>,
    pub within: Option<Text>,
    pub domain: Vec<(Text, RawDomain)>,
    pub limit: RawRules,
}

/// Reads the whole matrix file.
pub(super) fn read_matrix(reader: &mut Reader<'_>, root: DeTable<'_>) -> RawMatrix {
    let mut top = Keys::open(reader, "", Place::new(reader.index, 0..0), root, TOP);
    let mut raw = RawMatrix::default();
    read_shared(reader, &mut top, &mut raw);
    if let Some((place, table)) = top.table(reader, "lab") {
        let mut lab = Keys::open(reader, "[lab]", place, table, LAB);
        raw.name = lab.text(reader, "name");
        raw.baseline = lab.text(reader, "baseline");
        raw.presets = list(lab.texts(reader, "presets"));
        if let Some(value) = lab.value("seed") {
            let key = Text::new(reader.file, reader.place(&value), "seed");
            raw.search.push((key, At { place: reader.place(&value), value: to_value(&value) }));
        }
        read_shared(reader, &mut lab, &mut raw);
    }
    if let Some((place, table)) = top.table(reader, "sources") {
        let mut keys = Keys::open(reader, "[sources]", place, table, SOURCES);
        raw.sources = Some(RawSources::read(reader, &mut keys));
    }
    if let Some((place, table)) = top.table(reader, "harness") {
        raw.harness = Some(RawHarness::read(reader, place, table));
    }
    if let Some((place, table)) = top.table(reader, "sandbox") {
        raw.sandbox = RawSandbox::read(reader, place, table);
    }
    for (place, table) in top.tables(reader, "implementation") {
        raw.implementations.extend(implementation::read(reader, place, table));
    }
    for (place, table) in top.tables(reader, "compiler") {
        raw.compilers.extend(read_compiler(reader, place, table));
    }
    for (place, table) in top.tables(reader, "flags") {
        raw.flags.extend(read_flags(reader, place, table));
    }
    for (place, table) in top.tables(reader, "target") {
        raw.targets.extend(read_target(reader, place, table));
    }
    for (place, table) in top.tables(reader, "environment") {
        raw.environments.extend(read_environment(reader, place, table));
    }
    for (place, table) in top.tables(reader, "exclude") {
        let mut keys = Keys::open(reader, "[[exclude]]", place, table, EXCLUDE);
        raw.exclude.push(RawExclude {
            place,
            implementation: keys.text(reader, "implementation"),
            compiler: keys.text(reader, "compiler"),
            flags: keys.text(reader, "flags"),
            target: keys.text(reader, "target"),
            environment: keys.text(reader, "environment"),
        });
    }
    for (place, table) in top.tables(reader, "limit") {
        raw.limits.push(limit::read(reader, place, table));
    }
    raw.functions = read_functions(reader, &mut top);
    if let Some((place, table)) = top.table(reader, "search") {
        let keys = Keys::open(reader, "[search]", place, table, &SEARCH_KEY_NAMES);
        for (key, value) in keys.into_entries() {
            raw.search.push((key, At { place: reader.place(&value), value: to_value(&value) }));
        }
    }
    raw
}

/// Reads a file that holds nothing but `[[function]]` entries.
pub(super) fn read_function_file(reader: &mut Reader<'_>, root: DeTable<'_>) -> Vec<RawFunction> {
    let place = Place::new(reader.index, 0..0);
    let mut top = Keys::open(reader, "a function file", place, root, &["function"]);
    read_functions(reader, &mut top)
}

/// Keys that may stand at the top of the file or in `[lab]`.
fn read_shared(reader: &mut Reader<'_>, keys: &mut Keys<'_>, raw: &mut RawMatrix) {
    raw.function_files.extend(list(keys.texts(reader, "functions")));
    if let Some(setup) = keys.text(reader, "setup") {
        if let Some(first) = &raw.setup {
            let problem = Problem::new(setup.place, "`setup` is given twice").label("again here");
            reader.problems.add(problem.also(first.place, "first here").help("put all statements into one"));
        }
        raw.setup = Some(setup);
    }
    raw.setup_headers.extend(list(keys.texts(reader, "setup_headers")));
}

pub(super) fn list(texts: Option<At<Vec<Text>>>) -> Vec<Text> {
    texts.map(|texts| texts.value).unwrap_or_default()
}

fn read_compiler(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> Option<RawCompiler> {
    let mut keys = Keys::open(reader, "[[compiler]]", place, table, COMPILER);
    Some(RawCompiler {
        command: keys.text(reader, "command"),
        args: list(keys.texts(reader, "args")),
        optional: keys.boolean(reader, "optional").unwrap_or(false),
        name: keys.required(reader, "name", "`name = \"gcc\"`")?,
    })
}

fn read_flags(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> Option<RawFlags> {
    let mut keys = Keys::open(reader, "[[flags]]", place, table, FLAGS);
    Some(RawFlags {
        args: list(keys.texts(reader, "args")),
        fpenv: keys.text(reader, "fpenv"),
        name: keys.required(reader, "name", "`name = \"O3-fast\"`")?,
    })
}

fn read_target(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> Option<RawTarget> {
    let mut keys = Keys::open(reader, "[[target]]", place, table, TARGET);
    let compilers = named_texts(reader, &mut keys, "compilers", "the command of");
    Some(RawTarget {
        place,
        triple: keys.text(reader, "triple"),
        compilers,
        args: list(keys.texts(reader, "args")),
        runner: keys.texts(reader, "runner"),
        fpenv: keys.text(reader, "fpenv"),
        optional: keys.boolean(reader, "optional").unwrap_or(false),
        name: keys.required(reader, "name", "`name = \"aarch64\"`")?,
    })
}

/// A table of strings, such as a command for each compiler; `what` stands in front of a name.
fn named_texts(
    reader: &mut Reader<'_>,
    keys: &mut Keys<'_>,
    key: &'static str,
    what: &str,
) -> Option<At<Vec<(Text, Text)>>> {
    let (place, table) = keys.table(reader, key)?;
    let entries = Keys::open_any(reader, key, place, table).into_entries();
    let texts = entries.into_iter().filter_map(|(name, value)| {
        let what = format!("{what} `{}`", name.as_str());
        Some((name, reader.text(&what, &value, "a string")?))
    });
    Some(At { value: texts.collect(), place })
}

fn read_environment(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> Option<RawEnvironment> {
    let mut keys = Keys::open(reader, "[[environment]]", place, table, ENVIRONMENT);
    Some(RawEnvironment {
        fpenv: keys.text(reader, "fpenv"),
        rounding: keys.text(reader, "rounding"),
        x87_precision: keys.text(reader, "x87_precision"),
        libm: keys.text(reader, "libm"),
        glibc_tunables: keys.text(reader, "glibc_tunables"),
        optional: keys.boolean(reader, "optional").unwrap_or(false),
        name: keys.required(reader, "name", "`name = \"musl\"`")?,
    })
}

fn read_functions(reader: &mut Reader<'_>, top: &mut Keys<'_>) -> Vec<RawFunction> {
    let tables = top.tables(reader, "function");
    tables.into_iter().map(|(place, table)| read_function(reader, place, table)).collect()
}

fn read_function(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> RawFunction {
    let mut keys = Keys::open(reader, "[[function]]", place, table, FUNCTION);
    let domain = keys.table(reader, "domain").map(|(place, table)| {
        let entries = Keys::open_any(reader, "`domain`", place, table).into_entries();
        entries.into_iter().filter_map(|(param, value)| {
            let domain = RawDomain::read(reader, param.as_str(), &value)?;
            Some((param, domain))
        })
    });
    let domain = domain.map(Iterator::collect).unwrap_or_default();
    let calls = named_texts(reader, &mut keys, "calls", "the call in");
    RawFunction {
        place,
        signature: keys.text(reader, "signature"),
        name: keys.text(reader, "name"),
        params: keys.texts(reader, "params"),
        call: keys.text(reader, "call"),
        calls: calls.map(|calls| calls.value).unwrap_or_default(),
        body: keys.text(reader, "body"),
        result: keys.text(reader, "result"),
        results: keys.texts(reader, "results"),
        fields: read_fields(reader, &mut keys),
        headers: list(keys.texts(reader, "headers")),
        within: keys.text(reader, "within"),
        domain,
        limit: limit::read_rules(reader, &mut keys),
    }
}

fn read_fields(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Vec<(Text, Vec<Text>)> {
    let Some((place, table)) = keys.table(reader, "fields") else { return Vec::new() };
    let mut parameters = Keys::open_any(reader, "`fields`", place, table);
    let names = parameters.names();
    names.into_iter().map(|name| (name.clone(), list(parameters.texts(reader, name.as_str())))).collect()
}

pub(super) fn to_value(value: &Spanned<DeValue<'_>>) -> SettingValue {
    match value.get_ref() {
        DeValue::String(text) => SettingValue::Text(text.to_string()),
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or(SettingValue::Other("an integer that is too large"), SettingValue::Integer),
        DeValue::Float(float) => {
            float.as_str().parse().map_or(SettingValue::Other("a float"), SettingValue::Float)
        }
        DeValue::Boolean(boolean) => SettingValue::Boolean(*boolean),
        DeValue::Array(items) => SettingValue::List(items.iter().map(to_value).collect()),
        other => SettingValue::Other(type_name(other)),
    }
}
