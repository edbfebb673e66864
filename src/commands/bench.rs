//! `bitrift bench`: every strategy with every seed on every function, at equal evaluations; what
//! they found side by side. A stored bench is reported again without searching.

use std::path::Path;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{BenchArgs, Exit};
use crate::lab::{Bench, Lab, LabError, Progress, truths_of};
use crate::model::{BenchFile, Reference, StrategyName, UnknownStrategy, printable};
use crate::report::bench::BenchReport;
use crate::report::plan::quoted;
use crate::store::{BenchPlace, Opening, StoreError, bench_json, read_bench, read_reference, read_truths};

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
    if args.matrix.path().extension().is_some_and(|e| e == "json") {
        return again(args, console, beside);
    }
    let strategies: Vec<StrategyName> = match &args.strategies {
        Some(given) => given.0.iter().map(|name| name.parse()).collect::<Result<_, UnknownStrategy>>()?,
        // A sweep knows no budget, so it is compared only when it is asked for.
        None => StrategyName::ALL.into_iter().filter(|name| *name != StrategyName::Exhaustive).collect(),
    };
    let sink = console.brief_progress(args.quiet);
    let means = wanted::means(&args.means)?;
    let mut experiment = wanted::experiment(args.matrix.path(), &args.functions, &means)?;
    args.tuning.apply(&mut experiment.search);
    let place = BenchPlace::new(args.out.as_deref(), Path::new(RESULTS), &experiment.name);
    let lab = Lab::new(experiment, means)?;
    let built = lab.build_all(sink.as_ref())?;
    built.check_functions()?;
    let truths = args.truth.as_deref().map(read_truths).transpose()?.unwrap_or_default();
    let truths = truths_of(truths)?;
    let bench = Bench { built: &built, strategies: &strategies, seeds: &args.seeds.0, truths };
    let opening = Opening { resume: args.resume, overwrite: args.overwrite };
    let said = (command_line(), beside.reference.clone());
    let benched = bench
        .run(&place, opening, said, sink.as_ref())
        .map_err(|error| stopped(error, args.matrix.path()))?;
    let file = benched.file.clone();
    let report = BenchReport { file: &file, against: named(&beside), all: args.all };
    benched.store(&place, &report.markdown())?;
    print_report(args, console, &report)?;
    if !args.json && !args.markdown {
        let shown = |path: &Path| printable(&path.display().to_string());
        console.print(&format!("\nstored in {} and {}\n", shown(&place.json()), shown(&place.markdown())))?;
    }
    Ok(Exit::Done)
}

/// An interrupted bench names its matrix: several may be under way.
fn stopped(error: LabError, matrix: &Path) -> Failure {
    let LabError::Interrupted(Progress::Benching { done, of }) = error else { return error.into() };
    if done == 0 {
        return error.into();
    }
    let matrix = printable(&matrix.display().to_string());
    Failure::interrupted(&format!(
        " with {done} of {of} searches of {matrix} done; go on with the same command and --resume"
    ))
}

/// Reports a stored bench.
fn again(args: &BenchArgs, console: &Console, beside: Beside) -> Result<Exit, Failure> {
    if args.resume || args.overwrite || args.out.is_some() || args.strategies.is_some() {
        return Err(Failure::usage(
            "a stored bench is only reported again; give its matrix to search, or --markdown to print Markdown",
        ));
    }
    let mut file = read_bench(args.matrix.path())?;
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

fn other_bench(path: &Path) -> Result<(String, BenchFile), StoreError> {
    Ok((path.display().to_string(), read_bench(path)?))
}

fn named(beside: &Beside) -> Option<(&str, &BenchFile)> {
    beside.against.as_ref().map(|(name, file)| (name.as_str(), file))
}

fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = words.filter(|word| !PASSING.contains(&word.as_str())).map(|word| quoted(&word));
    std::iter::once("bitrift".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}
