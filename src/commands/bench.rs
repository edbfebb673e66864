//! `bitrift bench`: every strategy with every seed on every function, at equal evaluations; what
//! they found side by side. A stored bench is reported again without searching.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::RESULTS;
use super::bench_search::{Bench, Key, Score};
use super::console::Console;
use super::failure::Failure;
use super::lab::{Lab, Wanted};
use crate::cli::{BenchArgs, Exit};
use crate::findings::{Truth, build_row, score_function};
use crate::model::{
    BENCH_SCHEMA, BenchFile, BenchRow, FunctionRow, HostRow, Reference, StrategyName, TruthScore,
    UnknownStrategy, printable,
};
use crate::report::bench::BenchReport;
use crate::report::plan::quoted;
use crate::store::{
    BenchPlace, Fingerprint, Opening, StoreError, bench_json, read_bench, read_reference, read_truths,
};
use crate::toolchain::{cpu_model, libm_identity};

/// Words of a command line that change nothing of what a bench holds.
const PASSING: [&str; 6] = ["--resume", "--overwrite", "--quiet", "-q", "--json", "--markdown"];

/// What stands beside a bench.
struct Beside {
    reference: Option<Reference>,
    /// With its name.
    against: Option<(String, BenchFile)>,
}

pub fn run(args: &BenchArgs, console: &Console) -> Result<Exit, Failure> {
    let beside = Beside {
        reference: args.reference.as_deref().map(read_reference).transpose()?,
        against: args.against.as_deref().map(other_bench).transpose()?,
    };
    if args.matrix.extension().is_some_and(|e| e == "json") {
        return again(args, console, beside);
    }
    let strategies: Vec<StrategyName> = match &args.strategies {
        Some(given) => given.0.iter().map(|name| name.parse()).collect::<Result<_, UnknownStrategy>>()?,
        // A sweep knows no budget, so it is compared only when it is asked for.
        None => StrategyName::ALL.into_iter().filter(|name| *name != StrategyName::Exhaustive).collect(),
    };
    let sink = console.brief_progress(args.quiet);
    let wanted = Wanted {
        matrix: &args.matrix,
        functions: &args.functions,
        adjust: &|experiment| {
            args.tuning.apply(&mut experiment.search);
            Ok(())
        },
        cache: args.cache.as_deref(),
        jobs: args.jobs,
    };
    let lab = Lab::open(&wanted, sink.as_ref())?;
    lab.check_functions()?;
    let truths = args.truth.as_deref().map(known_truths).transpose()?.unwrap_or_default();
    let score: &Score<'_> = &|row| truths.get(&row.name).and_then(|truths| worst(truths, row));
    let literals = lab.literals();
    let bench =
        Bench { lab: &lab, strategies: &strategies, seeds: &args.seeds.0, literals: &literals, score };
    let experiment = &lab.experiment;
    let print =
        Fingerprint::of_bench(&experiment.name, &experiment.search, &experiment.functions, &lab.artifacts);
    let place = BenchPlace::new(args.out.as_deref(), Path::new(RESULTS), &experiment.name);
    let opening = Opening { resume: args.resume, overwrite: args.overwrite };
    let (mut journal, done) = place.open(opening, &print, bench.size())?;
    let done = bench.keyed(done).map_err(|more| wider(&place, more))?;
    let rows = match bench.search(&mut journal, done, sink.as_ref()) {
        Ok(rows) => rows,
        Err(stopped) => {
            if stopped.done == 0 {
                place.abandon(journal);
            }
            return Err(stopped.explained(&args.matrix));
        }
    };
    let file = bench_file(&bench, &print, rows, beside.reference.clone());
    let report = BenchReport { file: &file, against: named(&beside), all: args.all };
    place.finish(journal, &file, &report.markdown())?;
    print_report(args, console, &report)?;
    if !args.json && !args.markdown {
        let shown = |path: &Path| printable(&path.display().to_string());
        console.print(&format!("\nstored in {} and {}\n", shown(&place.json()), shown(&place.markdown())))?;
    }
    Ok(Exit::Done)
}

/// Reports a stored bench.
fn again(args: &BenchArgs, console: &Console, beside: Beside) -> Result<Exit, Failure> {
    if args.resume || args.overwrite || args.out.is_some() || args.strategies.is_some() {
        return Err(Failure::usage(
            "a stored bench is only reported again; give its matrix to search, or --markdown to print Markdown",
        ));
    }
    let mut file = read_bench(&args.matrix)?;
    file.reference = beside.reference.clone().or(file.reference);
    let report = BenchReport { file: &file, against: named(&beside), all: args.all };
    print_report(args, console, &report)?;
    Ok(Exit::Done)
}

fn print_report(args: &BenchArgs, console: &Console, report: &BenchReport<'_>) -> Result<(), Failure> {
    console.print(&match (args.json, args.markdown) {
        (true, _) => bench_json(report.file),
        (false, true) => report.markdown(),
        (false, false) => report.terminal(console.style),
    })
}

/// The truths of functions, by name.
fn known_truths(folder: &Path) -> Result<BTreeMap<String, Vec<Truth>>, Failure> {
    let mut known = BTreeMap::new();
    for file in read_truths(folder)? {
        let truths = Truth::read(&file).map_err(|error| Failure::usage(error.to_string()))?;
        known.insert(file.function, truths);
    }
    Ok(known)
}

/// How a function's worst comparison compares with the truth: the least of each number.
fn worst(truths: &[Truth], row: &FunctionRow) -> Option<TruthScore> {
    let scores = score_function(truths, row).into_iter().map(|count| TruthScore {
        true_max_bits: count.true_bits,
        covered: count.recall(),
        filled: count.tightness(),
        density: count.gain().unwrap_or(1.0),
    });
    scores.reduce(|a, b| TruthScore {
        true_max_bits: a.true_max_bits.max(b.true_max_bits),
        covered: a.covered.min(b.covered),
        filled: a.filled.min(b.filled),
        density: a.density.min(b.density),
    })
}

fn other_bench(path: &Path) -> Result<(String, BenchFile), StoreError> {
    Ok((path.display().to_string(), read_bench(path)?))
}

fn named(beside: &Beside) -> Option<(&str, &BenchFile)> {
    beside.against.as_ref().map(|(name, file)| (name.as_str(), file))
}

/// Rows that were not asked for would be lost: refuse.
fn wider(place: &BenchPlace, more: BTreeSet<String>) -> Failure {
    let more = printable(&more.into_iter().collect::<Vec<_>>().join(", "));
    StoreError::BenchWider { path: printable(&place.json().display().to_string()), more }.into()
}

fn bench_file(
    bench: &Bench<'_>,
    print: &Fingerprint,
    rows: BTreeMap<Key, BenchRow>,
    reference: Option<Reference>,
) -> BenchFile {
    let lab = bench.lab;
    let experiment = &lab.experiment;
    let name = |f: usize| experiment.functions[f].name.clone();
    let (searched, missing): (Vec<usize>, Vec<usize>) =
        (0..experiment.functions.len()).partition(|&f| bench.is_searchable(f));
    BenchFile {
        schema: BENCH_SCHEMA.into(),
        bitrift: env!("CARGO_PKG_VERSION").into(),
        name: experiment.name.clone(),
        command: command_line(),
        budget: experiment.search.budget,
        strategies: bench.strategies.to_vec(),
        seeds: bench.seeds.to_vec(),
        host: HostRow { cpu: cpu_model(), libm: libm_identity() },
        jobs: lab.jobs,
        baseline: lab.plan.baseline_build().id.clone(),
        builds: lab.plan.builds.iter().zip(&lab.artifacts).map(|(b, a)| build_row(b, a)).collect(),
        settings: settings(bench),
        fingerprint: print.parts().clone(),
        functions: searched.into_iter().map(name).collect(),
        missing: missing.into_iter().map(name).collect(),
        rows: rows.into_values().collect(),
        reference,
    }
}

/// The settings that are the same for every row and have no field of their own.
fn settings(bench: &Bench<'_>) -> BTreeMap<String, serde_json::Value> {
    let all = serde_json::to_value(&bench.lab.experiment.search).unwrap_or_default();
    let all = all.as_object().cloned().unwrap_or_default();
    all.into_iter().filter(|(key, _)| !["strategy", "seed", "budget"].contains(&key.as_str())).collect()
}

fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = words.filter(|word| !PASSING.contains(&word.as_str())).map(|word| quoted(&word));
    std::iter::once("bitrift".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}
