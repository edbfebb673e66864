//! `bitrift explain` against statements of known guilt, one at a time, with the real compilers: the right file,
//! function and statement, few compiles, and no wrong name that is called certain.

use std::collections::BTreeSet;
use std::process::Command;

use crate::injections::{
    Compiler, Guilty, Injection, Kind, Lab, Mode, Nature, Special, Tree, injections, specials,
};
use rayon::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

/// A lab whose files are written anew for every injection: what stays the same is compiled once.
struct Bench {
    folder: TempDir,
    compiler: &'static str,
}

impl Bench {
    fn new(compiler: &'static str) -> Bench {
        crate::common::need_compilers();
        Bench { folder: TempDir::new().unwrap(), compiler }
    }

    fn bitrift(&self, words: &[&str]) -> Value {
        let done = Command::new(crate::common::BITRIFT)
            .args(words)
            .current_dir(self.folder.path())
            .env("BITRIFT_CACHE", self.folder.path().join("cache"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{words:?}: {error}");
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}\n{error}"))
    }

    /// A new run of a tree.
    fn run(&self, tree: &Tree) -> Value {
        tree.write_lab(self.folder.path(), self.compiler);
        let _ = std::fs::remove_dir_all(self.folder.path().join("run"));
        self.bitrift(&["run", "--quiet", "--json", "--no-confirm", "--budget", "3000", "--out", "run"])
    }

    /// Runs a tree and explains the finding with the most bits.
    fn explain(&self, tree: &Tree, layer: &str) -> Value {
        let id = worst(&self.run(tree)).expect("a finding");
        let file = self.bitrift(&["explain", "run", &id, "--layer", layer, "--json", "--quiet"]);
        file["findings"][&id].clone()
    }
}

/// The id of the range with the most bits.
fn worst(run: &Value) -> Option<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let comparisons = list(&run["functions"]).into_iter().flat_map(|f| list(&f["comparisons"]));
    let ranges = comparisons.flat_map(|c| list(&c["ranges"]));
    let bits = |range: &Value| range["max_bits"].as_f64().unwrap_or(0.0);
    let worst = ranges.max_by(|a, b| bits(a).total_cmp(&bits(b)))?;
    worst["id"].as_str().map(String::from)
}

/// The suspects of a layer: sets that are each enough.
fn causes(row: &Value, layer: &str) -> Vec<Vec<Value>> {
    let sets = row["layers"][layer]["causes"].as_array().cloned().unwrap_or_default();
    sets.iter().map(|set| set.as_array().cloned().unwrap_or_default()).collect()
}

fn is_certain(row: &Value, layer: &str) -> bool {
    row["layers"][layer]["standing"] == "found"
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// Whether a suspect is a guilty statement: its line lies among those of the statement.
fn is(suspect: &Value, tree: &Tree, guilty: &Guilty) -> bool {
    let first = tree.line(guilty) as u64;
    let lines = first..first + guilty.statement.lines().count() as u64;
    text(&suspect["file"]) == guilty.file
        && text(&suspect["function"]) == guilty.function
        && suspect["line"].as_u64().is_some_and(|line| lines.contains(&line))
}

/// Whether a suspect is the right one.
type Fits<'a> = &'a dyn Fn(&Value) -> bool;

/// How one injection was explained.
struct Explained {
    id: String,
    function: bool,
    statement: bool,
    /// A name that is wrong and said to be certain.
    wrong: Option<String>,
    compiles: u64,
    row: Value,
}

fn explained(bench: &Bench, injection: &Injection) -> Explained {
    let tree = injection.tree();
    let row = bench.explain(&tree, "statement");
    let guilty = &injection.guilty;
    let [files, functions, statements] = ["file", "function", "statement"].map(|layer| causes(&row, layer));
    let only = |sets: &[Vec<Value>], fits: &dyn Fn(&Value) -> bool| matches!(sets, [set] if matches!(set.as_slice(), [one] if fits(one)));
    let file = |s: &Value| text(&s["file"]) == guilty.file;
    let function = |s: &Value| file(s) && text(&s["function"]) == guilty.function;
    let statement = |s: &Value| is(s, &tree, guilty);
    let layers: [(&str, &[Vec<Value>], Fits<'_>); 3] = [
        ("file", &files, &file),
        ("function", &functions, &function),
        ("statement", &statements, &statement),
    ];
    let wrong = layers.iter().find(|(layer, sets, fits)| is_certain(&row, layer) && !only(sets, fits));
    Explained {
        id: injection.id.clone(),
        function: only(&files, &file) && only(&functions, &function),
        statement: only(&statements, &statement),
        wrong: wrong.map(|(layer, sets, _)| format!("{layer}: {sets:?}")),
        compiles: ["file", "function", "statement"]
            .iter()
            .filter_map(|layer| row["layers"][layer]["cost"]["compiles"].as_u64())
            .sum(),
        row,
    }
}

/// Explains injections on two benches at a time.
fn explain_all(compiler: &'static str, chosen: &[Injection]) -> Vec<Explained> {
    let half = chosen.len().div_ceil(2).max(1);
    let part = |part: &[Injection]| {
        let bench = Bench::new(compiler);
        part.iter().map(|injection| explained(&bench, injection)).collect::<Vec<_>>()
    };
    chosen.par_chunks(half).flat_map_iter(part).collect()
}

fn complain(all: &[Explained], is_fine: impl Fn(&Explained) -> bool) -> String {
    let bad = all.iter().filter(|e| !is_fine(e));
    bad.map(|e| format!("{}: {:#}\n", e.id, e.row["layers"])).collect()
}

/// What results/explain.md shows.
fn table(chosen: &[Injection], all: &[Explained]) -> String {
    let mut text = String::from(
        "| kind | injections | function | statement | compiles, mean | most |\n|---|---|---|---|---|---|\n",
    );
    for kind in [Kind::Reassociation, Kind::Contraction, Kind::Reciprocal] {
        let of: Vec<&Explained> =
            chosen.iter().zip(all).filter(|(i, _)| i.kind == kind).map(|(_, e)| e).collect();
        let count = |fits: fn(&Explained) -> bool| of.iter().filter(|e| fits(e)).count();
        let mean = of.iter().map(|e| e.compiles).sum::<u64>() as f64 / of.len() as f64;
        let most = of.iter().map(|e| e.compiles).max().unwrap_or(0);
        let (functions, statements) = (count(|e| e.function), count(|e| e.statement));
        text += &format!("| {kind:?} | {} | {functions} | {statements} | {mean:.1} | {most} |\n", of.len());
    }
    text
}

#[test]
fn every_injection_is_found_with_clang_down_to_its_statement() {
    // Every second one, or all of them: BITRIFT_INJECTIONS=1. Kinds take turns by three.
    let step = std::env::var("BITRIFT_INJECTIONS").ok().and_then(|step| step.parse().ok()).unwrap_or(2);
    let chosen: Vec<Injection> = injections().into_iter().step_by(step).collect();
    assert!(chosen.len() >= 100, "{}", chosen.len());
    let all = explain_all("clang", &chosen);
    assert!(all.iter().all(|e| e.wrong.is_none()), "{}", complain(&all, |e| e.wrong.is_none()));
    assert!(all.iter().all(|e| e.function), "{}", complain(&all, |e| e.function));
    let right = all.iter().filter(|e| e.statement).count();
    assert!(right * 100 >= all.len() * 95, "{right} of {}\n{}", all.len(), complain(&all, |e| e.statement));
    let compiles: u64 = all.iter().map(|e| e.compiles).sum();
    let average = compiles as f64 / all.len() as f64;
    assert!(average <= 20.0, "{average} compiles on average");
    println!("{}", table(&chosen, &all));
}

#[test]
fn injections_are_found_with_gcc_down_to_their_function() {
    // Kinds take turns by three: this step meets all of them.
    let chosen: Vec<Injection> = injections().into_iter().step_by(13).collect();
    let all = explain_all("gcc", &chosen);
    assert!(all.iter().all(|e| e.wrong.is_none()), "{}", complain(&all, |e| e.wrong.is_none()));
    assert!(all.iter().all(|e| e.function), "{}", complain(&all, |e| e.function));
}

fn special(nature: Nature) -> Vec<Special> {
    specials().into_iter().filter(|s| s.nature == nature).collect()
}

#[test]
fn a_difference_that_is_only_flushing_is_the_environments() {
    let bench = Bench::new("clang");
    for special in special(Nature::Flushed) {
        let row = bench.explain(&special.tree(), "statement");
        let suspects = causes(&row, "environment");
        assert_eq!(suspects.len(), 1, "{}: {row:#}", special.id);
        assert_eq!(suspects[0][0]["environment"], "flushing", "{}: {row:#}", special.id);
        assert!(row["layers"]["file"].is_null(), "{}: {row:#}", special.id);
    }
}

/// Whether sets of suspects are sets of guilty statements, in any order.
fn are(sets: &[Vec<Value>], tree: &Tree, wanted: &[Vec<&Guilty>]) -> bool {
    let number = |suspect: &Value| {
        let all: Vec<&Guilty> = wanted.iter().flatten().copied().collect();
        all.iter().position(|guilty| is(suspect, tree, guilty))
    };
    let found: Option<BTreeSet<BTreeSet<usize>>> =
        sets.iter().map(|set| set.iter().map(number).collect::<Option<BTreeSet<usize>>>()).collect();
    let mut next = 0;
    let numbered = wanted.iter().map(|set| {
        next += set.len();
        (next - set.len()..next).collect::<BTreeSet<usize>>()
    });
    found == Some(numbered.collect())
}

#[test]
fn statements_that_need_each_other_are_one_cause() {
    let bench = Bench::new("clang");
    for special in special(Nature::Together) {
        let tree = special.tree();
        let row = bench.explain(&tree, "statement");
        let wanted = [special.guilty.iter().collect()];
        assert!(are(&causes(&row, "statement"), &tree, &wanted), "{}: {row:#}", special.id);
    }
}

/// The input of a finding.
fn input(run: &Value, id: &str) -> [f64; 2] {
    let comparisons =
        run["functions"].as_array().unwrap().iter().flat_map(|f| f["comparisons"].as_array().unwrap());
    let mut ranges = comparisons.flat_map(|c| c["ranges"].as_array().unwrap());
    let range = ranges.find(|range| range["id"] == id).unwrap();
    [0, 1].map(|at| range["witness"]["inputs"][at]["dec"].as_str().unwrap().parse().unwrap())
}

#[test]
fn statements_that_are_each_enough_are_causes_of_their_own() {
    let (bench, lab) = (Bench::new("clang"), Lab::open(Compiler::Clang));
    let mut at_once = 0;
    for special in special(Nature::Independent) {
        let tree = special.tree();
        let run = bench.run(&tree);
        let file = bench.bitrift(&[
            "explain",
            "run",
            "--layer",
            "statement",
            "--json",
            "--quiet",
            "--function",
            "season_income",
        ]);
        for (id, row) in file["findings"].as_object().unwrap().iter().filter(|(id, _)| !id.ends_with(".max"))
        {
            let inputs = [input(&run, id)];
            let plain = lab.all(&tree, Mode::Plain, &inputs);
            // An input may meet one of them alone: the truth is what differs there with the other one precise.
            let meets = |guilty: &&Guilty| {
                let others: Vec<&Guilty> = special.guilty.iter().filter(|other| other != guilty).collect();
                lab.healed(&tree, &others, &inputs) != plain
            };
            let wanted: Vec<Vec<&Guilty>> =
                special.guilty.iter().filter(meets).map(|guilty| vec![guilty]).collect();
            assert!(!wanted.is_empty(), "{}: {id}", special.id);
            assert!(
                are(&causes(row, "statement"), &tree, &wanted),
                "{}: {id}: {wanted:?} {row:#}",
                special.id
            );
            assert!(is_certain(row, "statement"), "{}: {id}: {row:#}", special.id);
            at_once += usize::from(wanted.len() == 2);
        }
    }
    assert!(at_once >= 2, "{at_once}");
}
