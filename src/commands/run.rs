//! `bitrift run`: compile, search every function, store and print what differs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use super::camps::camps;
use super::confirm::{Request, confirm};
use super::console::Console;
use super::failure::Failure;
use super::flushing;
use super::keeper::UnitKeeper;
use super::lab::{Lab, Wanted};
use super::sources::{definitions, digests};
use super::{RESULTS, usage};
use crate::cli::{Exit, RunArgs};
use crate::findings::{TruthHead, build_row, function_row, shortfalls, truth_file};
use crate::model::{
    BuildId, BuildRow, ConfirmFile, Event, EventSink, Experiment, Function, FunctionResult, FunctionRow,
    FunctionSamples, HostRow, RunFile, SCHEMA, StopReason, StrategyName, printable,
};
use crate::pool::FunctionJob;
use crate::report::plan::quoted;
use crate::report::table::{self, TableOptions};
use crate::search::{Task, unfit_for_exhaustive};
use crate::store::{
    Fingerprint, FolderState, FunctionTiming, Journal, JournalEntry, RunFolder, StoreError, Timing,
    latest_incomplete, run_json, utc_date, write_confirm,
};
use crate::toolchain::{cpu_model, libm_identity};

pub fn run(args: &RunArgs, console: &Console) -> Result<Exit, Failure> {
    let start = Instant::now();
    let sink = console.progress(args.quiet);
    let wanted = Wanted {
        matrix: &args.matrix,
        functions: &args.functions,
        adjust: &|experiment| {
            args.search.apply(&mut experiment.search)?;
            check_fit(experiment)
        },
        cache: args.cache.as_deref(),
        jobs: args.jobs,
    };
    let lab = Lab::open(&wanted, sink.as_ref())?;
    lab.check_functions()?;
    let opened = open_folder(args, &lab)?;
    let Searched { run, folder, .. } = search_and_store(&lab, opened, start, sink.as_ref())?;
    let confirmed = match args.no_confirm {
        true => Ok(None),
        false => confirmation(&lab, &run, folder.path(), sink.as_ref()).map(Some),
    };
    // The run is stored, so it is shown however its confirmation ended.
    let exit = report(args, console, &run, (&folder, confirmed.as_ref().ok().and_then(Option::as_ref)));
    confirmed.map_err(|failure| explain_confirmation(failure, args, &folder))?;
    exit
}

/// A run's folder with its journal, and what an interrupted run left in it.
pub(super) type Opened = (RunFolder, Journal, Vec<JournalEntry>);

/// A finished run.
pub(super) struct Searched {
    pub run: RunFile,
    pub samples: Vec<FunctionSamples>,
    pub folder: RunFolder,
}

/// Searches every function and stores the run.
pub(super) fn search_and_store(
    lab: &Lab,
    (folder, journal, done): Opened,
    start: Instant,
    sink: &dyn EventSink,
) -> Result<Searched, Failure> {
    let resumed = done.len();
    let search_start = Instant::now();
    let (entries, restarts, journal) = search(lab, journal, done, sink, &folder)?;
    let run = run_file(lab, &entries);
    let timing = Timing {
        date: utc_date(SystemTime::now()),
        jobs: lab.jobs,
        wall_s: start.elapsed().as_secs_f64(),
        cpu_s: usage::cpu_seconds(),
        compile_s: lab.compile_time.as_secs_f64(),
        search_s: search_start.elapsed().as_secs_f64(),
        compiled: lab.compiled,
        cached: lab.cached,
        resumed,
        worker_restarts: restarts,
        ..Timing::default()
    };
    let timing = timing.total(entries.iter().map(|e| e.timing.clone()).collect());
    let samples: Vec<FunctionSamples> = entries.into_iter().map(|e| e.samples).collect();
    folder.finish(journal, &run, &samples, &timing)?;
    Ok(Searched { run, samples, folder })
}

/// Plain executables asked for every witness; the answer stands beside the run.
fn confirmation(
    lab: &Lab,
    run: &RunFile,
    folder: &Path,
    sink: &dyn EventSink,
) -> Result<ConfirmFile, Failure> {
    let request = Request {
        run,
        experiment: &lab.experiment,
        plan: &lab.plan,
        cache: &lab.cache,
        jobs: lab.jobs,
        cancel: lab.cancel.clone(),
    };
    let file = confirm(&request, sink)?;
    write_confirm(folder, &file)?;
    Ok(file)
}

/// The run itself is whole: say how to get the rest.
fn explain_confirmation(failure: Failure, args: &RunArgs, folder: &RunFolder) -> Failure {
    if failure.exit != Exit::Interrupted {
        return failure;
    }
    let [place, matrix] = [folder.path(), &args.matrix].map(|p| quoted(&p.display().to_string()));
    Failure::interrupted(&format!(
        " while the witnesses were confirmed; the run is complete, and its witnesses are confirmed by \
         `bitrift confirm {place} --matrix {matrix}`"
    ))
}

/// A strategy that needs every input can take only functions with few enough.
pub(super) fn check_fit(experiment: &Experiment) -> Result<(), Failure> {
    if experiment.search.strategy != StrategyName::Exhaustive {
        return Ok(());
    }
    let why = |f: &Function| Some(format!("\n  {}: {}", f.name, unfit_for_exhaustive(f)?));
    let unfit: Vec<String> = experiment.functions.iter().filter_map(why).collect();
    if unfit.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`exhaustive` takes functions with one free parameter of at most 2^32 values; these have more:{}\n\
         choose others with --function, or narrow their domains in {}",
        unfit.concat(),
        printable(&experiment.path.display().to_string())
    )))
}

fn report(
    args: &RunArgs,
    console: &Console,
    run: &RunFile,
    (folder, confirm): (&RunFolder, Option<&ConfirmFile>),
) -> Result<Exit, Failure> {
    let place = printable(&folder.path().display().to_string());
    if args.json {
        console.print(&run_json(run))?;
    } else {
        // Without --out this run is the latest.
        let name = args.out.as_ref().map(|_| place.as_str());
        let options = TableOptions { run: name, confirm, ..TableOptions::default() };
        let table = table::render(run, options, console.style);
        console.print(&format!("{table}\nstored in {place}\n"))?;
    }
    let short = shortfalls(run);
    if !args.strict || short.is_empty() {
        return Ok(Exit::Done);
    }
    let list: String = short.iter().map(|line| format!("\n  {line}")).collect();
    Err(Failure::new(Exit::Unevaluated, format!("not everything could be evaluated (--strict):{list}")))
}

/// A new folder for a run, at `out` or under `results`.
pub(super) fn new_folder(lab: &Lab, out: Option<&Path>, overwrite: bool) -> Result<Opened, Failure> {
    let experiment = &lab.experiment;
    let folder = match out {
        Some(out) => RunFolder::create(out, overwrite)?,
        None => RunFolder::create_next(Path::new(RESULTS), &experiment.name)?,
    };
    let journal = folder.start_journal(&fingerprint(lab), experiment.functions.len())?;
    Ok((folder, journal, Vec::new()))
}

fn fingerprint(lab: &Lab) -> Fingerprint {
    let Experiment { name, search, functions, .. } = &lab.experiment;
    Fingerprint::of(name, search, functions, &lab.artifacts)
}

fn open_folder(args: &RunArgs, lab: &Lab) -> Result<Opened, Failure> {
    let root = Path::new(RESULTS);
    let resume = match (args.resume, &args.out) {
        (false, _) => None,
        (true, None) => Some(latest_incomplete(root)?),
        (true, Some(out)) => match RunFolder::state(out)? {
            FolderState::Absent | FolderState::Empty => None,
            _ => Some(out.clone()),
        },
    };
    if let Some(path) = resume {
        let folder = RunFolder::open(&path)?;
        let (journal, done) = folder.resume_journal(&fingerprint(lab))?;
        return Ok((folder, journal, done));
    }
    new_folder(lab, args.out.as_deref(), args.overwrite)
}

/// Searches what the journal does not hold yet. Entries come back in the order of the matrix.
fn search(
    lab: &Lab,
    journal: Journal,
    done: Vec<JournalEntry>,
    sink: &dyn EventSink,
    folder: &RunFolder,
) -> Result<(Vec<JournalEntry>, u64, Journal), Failure> {
    let functions = &lab.experiment.functions;
    sink.send(Event::SearchStarted { functions: functions.len(), resumed: done.len() });
    let mut entries: BTreeMap<usize, JournalEntry> = BTreeMap::new();
    for entry in done {
        if let Some((index, _)) = lab.function(&entry.row.name) {
            entries.insert(index, entry);
        }
    }
    let (literals, sources) = (lab.literals(), definitions(lab));
    let (mut jobs, mut missing_of) = (Vec::new(), Vec::new());
    for (index, function) in functions.iter().enumerate().filter(|(i, _)| !entries.contains_key(i)) {
        let (have, missing) = lab.cast(index);
        if have.is_empty() {
            continue;
        }
        let builds = have.iter().map(|&b| lab.build_id(b).clone()).collect();
        let task = Task {
            function: function.clone(),
            builds,
            settings: lab.experiment.search.clone(),
            literals: literals[index].clone(),
        };
        let objects = have.iter().filter_map(|&b| lab.object(b)).collect();
        jobs.push(FunctionJob { function_index: index, task, builds: objects });
        missing_of.push(missing);
    }
    let keeper = UnitKeeper::new(folder, sink);
    let (rows, host) = (build_rows(lab), host_row());
    let desk = Mutex::new(Desk { journal, entries, restarts: 0, error: None });
    let on_done = |job: usize, result: FunctionResult, timing: crate::pool::FunctionTiming| {
        let FunctionJob { function_index, task, .. } = &jobs[job];
        let mut row = function_row(&task.function, &task.builds, &result, missing_of[job].clone());
        // Interrupted: a resumed run does the function again, so that it has all of its row.
        let Some(camps) = camps(lab, &jobs[job], &result, &row) else { return };
        row.camps = camps;
        row.source = sources[*function_index].clone();
        if flushing::note(lab, &jobs[job], &result, &mut row).is_none() {
            return;
        }
        let mut cost = FunctionTiming::new(
            &task.function.name,
            timing.wall_s,
            timing.units_s,
            result.evaluations,
            timing.near_timeouts,
        );
        cost.recalled = timing.recalled;
        let samples = FunctionSamples::new(&task.function, &task.builds, &result);
        let head = TruthHead { lab: &lab.experiment.name, host: host.clone(), builds: &rows };
        let truth = truth_file(&head, &task.function, &row, &result);
        let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.restarts += timing.replaced;
        let kept = truth.map_or(Ok(()), |truth| folder.write_truth(&truth));
        desk.keep(*function_index, JournalEntry { row, samples, timing: cost });
        // Last, so that a kill between any two of these costs no more than the last of them.
        if let Err(error) = kept.and_then(|()| keeper.forget(&task.function.name)) {
            desk.error.get_or_insert(error);
        }
    };
    let searched = lab.pool.search_keeping(&jobs, sink, &keeper, &on_done);
    sink.send(Event::SearchFinished);
    let mut desk = desk.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = desk.error {
        return Err(error.into());
    }
    if let Err(error) = searched {
        return Err(explain_stop(error.into(), desk, functions.len(), folder));
    }
    for (index, function) in functions.iter().enumerate() {
        desk.entries.entry(index).or_insert_with(|| {
            let mut entry = absent(function, lab.cast(index).1);
            entry.row.source = sources[index].clone();
            entry
        });
    }
    Ok((desk.entries.into_values().collect(), desk.restarts, desk.journal))
}

/// Where finished functions are put down.
struct Desk {
    journal: Journal,
    entries: BTreeMap<usize, JournalEntry>,
    restarts: u64,
    error: Option<StoreError>,
}

impl Desk {
    fn keep(&mut self, index: usize, entry: JournalEntry) {
        if let Err(error) = self.journal.append(&entry) {
            self.error.get_or_insert(error);
        }
        self.entries.insert(index, entry);
    }
}

/// What to say of a search that ended early. A folder that would hold nothing is not left behind.
fn explain_stop(failure: Failure, desk: Desk, of: usize, folder: &RunFolder) -> Failure {
    let done = desk.entries.len();
    let nothing = done == 0 && !folder.has_units();
    if nothing {
        folder.abandon(desk.journal);
    }
    match (failure.exit, nothing) {
        (Exit::Interrupted, true) => Failure::interrupted(" before a function was done; nothing is stored"),
        (Exit::Interrupted, false) => {
            let place = printable(&folder.path().display().to_string());
            Failure::interrupted(&format!(
                " with {done} of {of} functions done; go on with the same command and --resume --out {place}"
            ))
        }
        _ => failure,
    }
}

/// The entry of a function that the baseline has not got.
fn absent(function: &crate::model::Function, missing: BTreeMap<BuildId, String>) -> JournalEntry {
    let result = FunctionResult { stop: StopReason::Missing, ..FunctionResult::default() };
    JournalEntry {
        row: function_row(function, &[], &result, missing),
        samples: FunctionSamples::new(function, &[], &result),
        timing: FunctionTiming::new(&function.name, 0.0, 0.0, 0, 0),
    }
}

fn run_file(lab: &Lab, entries: &[JournalEntry]) -> RunFile {
    let experiment = &lab.experiment;
    let functions: Vec<FunctionRow> = entries.iter().map(|e| e.row.clone()).collect();
    RunFile {
        schema: SCHEMA.into(),
        bitrift: env!("CARGO_PKG_VERSION").into(),
        name: experiment.name.clone(),
        seed: experiment.search.seed,
        strategy: experiment.search.strategy,
        budget: experiment.search.budget,
        nan: experiment.search.nan,
        host: host_row(),
        baseline: lab.plan.baseline_build().id.clone(),
        builds: build_rows(lab),
        sources: digests(&lab.experiment, &lab.plan.builds, &lab.headers),
        functions,
    }
}

fn host_row() -> HostRow {
    HostRow { cpu: cpu_model(), libm: libm_identity() }
}

pub(super) fn build_rows(lab: &Lab) -> Vec<BuildRow> {
    lab.plan.builds.iter().zip(&lab.artifacts).map(|(b, a)| build_row(b, a)).collect()
}
