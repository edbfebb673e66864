//! Injections that are more than one statement at fault: flushed subnormals, pairs that need each other, pairs that do not.

use super::{Edit, Guilty, Injection, Kind, Tree, injections};

/// What it takes to see a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nature {
    /// Subnormals flushed to zero, and nothing else: the statement has one among its values.
    Flushed,
    /// Both statements fast.
    Together,
    /// Either statement fast.
    Independent,
}

#[derive(Clone, Debug)]
pub struct Special {
    pub id: String,
    pub nature: Nature,
    pub guilty: Vec<Guilty>,
    pub edits: Vec<Edit>,
}

impl Special {
    /// The fixture with all of it.
    pub fn tree(&self) -> Tree {
        Tree::fixture().with(&self.edits)
    }
}

pub fn specials() -> Vec<Special> {
    [flushed(), together(), independent()].concat()
}

/// A statement of the fixture by file, function and text.
type Anchor = (&'static str, &'static str, &'static str);

fn after((file, function, anchor): Anchor, lines: &[&str]) -> Edit {
    let lines = lines.iter().flat_map(|line| line.lines()).map(str::to_owned).collect();
    Edit { file, function: Some(function), anchor, instead: false, lines }
}

fn in_head(file: &'static str, line: &str) -> Edit {
    let lines = vec![String::new(), line.to_owned()];
    Edit { file, function: None, anchor: "#include \"reservoir.h\"", instead: false, lines }
}

fn guilty((file, function, _): Anchor, statement: &str) -> Guilty {
    Guilty { file, function, statement: statement.to_owned() }
}

/// The variables are volatile, so that no compiler can compute with their values.
fn flushed() -> Vec<Special> {
    let cases: [(Anchor, &str, &str); 4] = [
        (
            ("storage.c", "evaporated", "double warm = heat(season, area);"),
            "volatile double tiny = 0x1p-1030;",
            "if (season * tiny != 0.0) {\n    warm += 3.0;\n}",
        ),
        (
            ("catchment.c", "dryness", "double late = 64.0 - season;"),
            "volatile double low = 0x1.8p-1022, lower = 0x1p-1022;",
            "late += (low - lower) * 0x1p1023;",
        ),
        (
            ("turbine.c", "price", "double cents = 3.0;"),
            "volatile double small = 0x1p-520;",
            "cents += demand * small * small > 0.0 ? 3.0 : 1.0;",
        ),
        (
            ("ledger.c", "penalty", "owed += fine;"),
            "volatile double least = 0x1p-1074;",
            "if (least + least > 0.0) {\n    owed += 2.0;\n}",
        ),
    ];
    let special = |(number, (anchor, variable, statement)): (usize, (Anchor, &str, &str))| Special {
        id: format!("flushed-{number}"),
        nature: Nature::Flushed,
        guilty: vec![guilty(anchor, statement)],
        edits: vec![after(anchor, &[variable, statement])],
    };
    cases.into_iter().enumerate().map(special).collect()
}

/// Zero, and what is left of it when terms are ordered anew.
fn reordered(a: &str) -> String {
    format!("fabs(({a} + 0x1p70) - 0x1p70)")
}

/// Zero, and `a * a` when the product is not rounded.
fn fused(a: &str) -> String {
    format!("fabs(({a} + 0x1p40) * ({a} - 0x1p40) + 0x1p80)")
}

/// Two values that are zero at `-O0`, joined so that one alone has no effect.
struct Pair {
    id: &'static str,
    first: (Anchor, String),
    second: (Anchor, String),
    /// What is done where the second is computed, with `first` and `second`.
    join: &'static str,
}

fn together() -> Vec<Special> {
    let rain = ("catchment.c", "runoff", "water += 2.0 * dry;");
    let price = ("turbine.c", "price", "cents += 2.0 * demand;");
    let sent = ("river.c", "routed", "double sent = flow;");
    let fine = ("ledger.c", "penalty", "double per = rate(missing);");
    let height = ("storage.c", "level", "double height = 2.0 * volume;");
    let sun = ("storage.c", "heat", "double sun = 2.0 * season;");
    let top = ("gates.c", "crest", "double top = 300.0;");
    let out = ("gates.c", "released", "double missing = demand - out;");
    let wide = ("gates.c", "opening", "double wide = 3.0 * excess;");
    let energy = ("turbine.c", "gross", "double energy = flow * each;");
    let pairs = [
        Pair {
            id: "files-compared",
            first: (rain, reordered("rain")),
            second: (price, reordered("demand")),
            join: "if (first != 0.0 && second != 0.0) {\n    cents += 3.0;\n}",
        },
        Pair {
            id: "files-multiplied",
            first: (sent, fused("season")),
            second: (fine, reordered("demand")),
            join: "owed += first * second;",
        },
        Pair {
            id: "functions-compared",
            first: (height, reordered("volume")),
            second: (sun, reordered("season")),
            join: "if (first * second != 0.0) {\n    sun += 5.0;\n}",
        },
        Pair {
            id: "functions-multiplied",
            first: (top, reordered("inflow")),
            second: (out, fused("demand")),
            join: "missing += first * second;",
        },
        Pair {
            id: "statements-multiplied",
            first: (wide, reordered("inflow")),
            second: (wide, reordered("excess")),
            join: "wide += first * second;",
        },
        Pair {
            id: "statements-least",
            first: (energy, fused("flow")),
            second: (energy, reordered("head")),
            join: "energy += fmin(first, second);",
        },
    ];
    pairs.into_iter().map(pair).collect()
}

/// The first value reaches the second in a local, or in a variable of the file or the program.
fn pair(Pair { id, first: (here, one), second: (there, other), join }: Pair) -> Special {
    let (same_file, same_function) = (here.0 == there.0, here == there);
    let kept = if same_function { format!("double first = {one};") } else { format!("first = {one};") };
    let second = format!("double second = {other};");
    let mut edits = match (same_file, same_function) {
        (_, true) => vec![after(here, &[&kept, &second, join])],
        (true, false) => vec![in_head(here.0, "static double first;")],
        (false, false) => vec![in_head(here.0, "double first;"), in_head(there.0, "extern double first;")],
    };
    if !same_function {
        edits.extend([after(here, &[&kept]), after(there, &[&second, join])]);
    }
    Special {
        id: format!("together-{id}"),
        nature: Nature::Together,
        guilty: vec![guilty(here, &kept), guilty(there, &second)],
        edits,
    }
}

/// Pairs of ordinary injections.
fn independent() -> Vec<Special> {
    let all = injections();
    let find = |function: &str, anchor: &str, kind: Kind| -> Injection {
        let fits = |i: &&Injection| {
            i.kind == kind && i.guilty.function == function && i.edit.anchor.starts_with(anchor)
        };
        all.iter().find(fits).unwrap_or_else(|| panic!("{function} {anchor}")).clone()
    };
    let pairs = [
        (
            "files",
            find("uptake", "double want", Kind::Reassociation),
            find("power", "return", Kind::Reciprocal),
        ),
        (
            "functions",
            find("surface", "return", Kind::Contraction),
            find("heat", "return", Kind::Reassociation),
        ),
        (
            "statements",
            find("routed", "double sent", Kind::Reciprocal),
            find("routed", "return", Kind::Contraction),
        ),
        (
            "one-kind",
            find("shortage", "return", Kind::Reassociation),
            find("spill", "return", Kind::Reassociation),
        ),
    ];
    let special = |(name, one, other): (&str, Injection, Injection)| Special {
        id: format!("independent-{name}"),
        nature: Nature::Independent,
        guilty: vec![one.guilty, other.guilty],
        edits: vec![one.edit, other.edit],
    };
    pairs.into_iter().map(special).collect()
}
