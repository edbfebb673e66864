//! `bitrift gate`: every accepted witness again, then a search, both against the lock file.

use std::path::Path;
use std::time::Instant;

use super::console::Console;
use super::failure::Failure;
use super::{RESULTS, wanted};
use crate::cli::{Exit, FunctionGlobs, GateArgs};
use crate::fp::Tolerance;
use crate::lab::{Decided, Destination, Lab, Terms, check_search, load};
use crate::model::{EventSink, Experiment, GateVerdict, LockFile, PartialGate, printable, tolerate_nothing};
use crate::report::gate::{self as page, GatePage};
use crate::store::{StoreError, read_lock, read_values};

pub fn run(args: &GateArgs, console: &Console) -> Result<Exit, Failure> {
    let start = Instant::now();
    let lock_name = &printable(&args.lock.display().to_string());
    let mut lock = read_lock(&args.lock)?.ok_or(StoreError::NoLock { path: lock_name.clone() })?;
    let partial = narrow(&mut lock, &args.functions);
    let (tolerance, strict, time) = (args.tolerance, args.strict, args.time);
    let values = &read_values(&args.lock)?;
    let terms =
        Terms { lock: &lock, partial, values, matrix_equality: None, lock_name, tolerance, strict, time };
    let sink = console.progress(args.quiet);
    // Without a verdict there is nothing to go on with.
    let done = decide(args, &terms, start, sink.as_ref()).map_err(|failure| {
        failure.advising(|| " before the verdict; nothing is stored, start the gate again".into())
    })?;
    if args.json {
        console.print(&done.beside.gate_json(&done.gate))?;
    } else {
        let page = GatePage {
            gate: &done.gate,
            matrix: &args.matrix.path().display().to_string(),
            lock: &args.lock.display().to_string(),
            folder: &done.beside.folder().display().to_string(),
            is_latest: args.out.is_none(),
            replay_s: done.replay_s,
        };
        console.print(&page::render(&page, console.style))?;
    }
    Ok(match done.gate.verdict {
        GateVerdict::Green => Exit::Done,
        GateVerdict::Red => Exit::GateFailed,
        GateVerdict::Incomplete => Exit::Unevaluated,
    })
}

/// Leaves the functions in a lock that were asked for; says which, where they are not all.
fn narrow(lock: &mut LockFile, wanted: &FunctionGlobs) -> Option<PartialGate> {
    let of = lock.functions.len();
    lock.functions.retain(|name, _| wanted.matches(name));
    let functions: Vec<String> = lock.functions.keys().cloned().collect();
    (!wanted.is_empty()).then_some(PartialGate { functions, of })
}

/// A gate judges by its lock: of functions that the lock does not know there is nothing to be green about.
fn check_lock_has_some(terms: &Terms<'_>, wanted: &Experiment) -> Result<(), Failure> {
    if terms.partial.is_none() || !terms.lock.functions.is_empty() {
        return Ok(());
    }
    let names: Vec<String> =
        wanted.functions.iter().map(|function| format!("`{}`", printable(&function.name))).collect();
    Err(Failure::usage(format!(
        "nothing of {} is about what --function names: the matrix has {}, the lock does not; `bitrift run` and then \
         `bitrift accept` take them into it",
        terms.lock_name,
        names.join(", ")
    )))
}

fn decide(
    args: &GateArgs,
    terms: &Terms<'_>,
    start: Instant,
    sink: &dyn EventSink,
) -> Result<Decided, Failure> {
    let means = wanted::means(&args.means)?;
    let mut experiment = load(args.matrix.path(), &means)?;
    let own = experiment.functions.iter().map(|function| function.name.as_str());
    let names = own.chain(terms.lock.functions.keys().map(String::as_str));
    wanted::check_globs(&args.functions, names, "of the matrix and the lock")?;
    experiment.functions.retain(|function| args.functions.matches(&function.name));
    check_lock_has_some(terms, &experiment)?;
    args.search.apply(&mut experiment.search)?;
    if args.search.bitwise {
        tolerate_nothing(&mut experiment.limits);
    }
    let asked = experiment.search.equality(Tolerance::default());
    let terms = &Terms { matrix_equality: Some(asked), ..terms.clone() };
    terms.search_as_accepted(&mut experiment);
    args.search.apply(&mut experiment.search)?;
    check_search(&experiment)?;
    terms.check_experiment(&experiment)?;
    let lab = Lab::new(experiment, means)?;
    let to = Destination {
        root: Path::new(RESULTS),
        out: args.out.as_deref(),
        overwrite: args.overwrite,
        resume: false,
        confirm: false,
    };
    Ok(lab.build_all(sink)?.gate(terms, &to, start, sink)?)
}
