//! The searches of a bench, one strategy and seed after the other, each finished row journalled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::built::Built;
use super::error::{LabError, Progress};
use super::search::host_row;
use crate::bench::OVER;
use crate::findings::{Truth, bench_row, function_row, score_function};
use crate::model::{
    BENCH_SCHEMA, BenchFile, BenchRow, Event, EventSink, Experiment, FunctionResult, FunctionRow, Reference,
    SearchSettings, StrategyName, TruthFile, TruthScore, printable,
};
use crate::pool::{FunctionJob, FunctionTiming};
use crate::store::{BenchPlace, Fingerprint, Journal, Opening, StoreError};

/// Where a row belongs: places of its strategy, its seed and its function.
type Key = (usize, usize, usize);

/// What is true of functions, by name.
pub type Truths = BTreeMap<String, Vec<Truth>>;

/// What a bench searches.
pub struct Bench<'a> {
    pub built: &'a Built<'a>,
    pub strategies: &'a [StrategyName],
    pub seeds: &'a [u64],
    /// Results are scored with the truth of their functions, where that is known.
    pub truths: Truths,
}

/// A bench that was searched, with its place and the journal it leaves.
pub struct Benched {
    pub file: BenchFile,
    journal: Journal<BenchRow>,
}

impl Benched {
    /// Writes the bench, beside it its report as Markdown, and removes the journal.
    pub fn store(self, place: &BenchPlace, markdown: &str) -> Result<(), LabError> {
        Ok(place.finish(self.journal, &self.file, markdown)?)
    }
}

/// Reads the truths of functions out of their files.
pub fn truths_of(files: Vec<TruthFile>) -> Result<Truths, LabError> {
    let read = |file: TruthFile| Ok((file.function.clone(), Truth::read(&file)?));
    files.into_iter().map(read).collect()
}

/// Where finished rows are put down.
struct BenchDesk<'j> {
    journal: &'j mut Journal<BenchRow>,
    rows: BTreeMap<Key, BenchRow>,
    error: Option<StoreError>,
}

impl Bench<'_> {
    /// Searches what a stored bench does not hold yet. `command` and `reference` stand in the file as they are.
    pub fn run(
        &self,
        place: &BenchPlace,
        opening: Opening,
        (command, reference): (String, Option<Reference>),
        sink: &dyn EventSink,
    ) -> Result<Benched, LabError> {
        let Experiment { name, search, functions, .. } = &self.built.lab.experiment;
        let print = Fingerprint::of_bench(name, search, functions, &self.built.panel.artifacts);
        let (mut journal, done) = place.open(opening, &print, self.size())?;
        if let Some(text) = journal.complaint() {
            sink.send(Event::Note { text });
        }
        let done = self.keyed(done).map_err(|more| wider(place, more))?;
        let mut desk = BenchDesk { journal: &mut journal, rows: done, error: None };
        let searched = self.search(&mut desk, sink);
        let rows = desk.rows;
        match searched {
            Ok(()) => {
                let file = self.file(&print, rows, command, reference);
                Ok(Benched { file, journal })
            }
            Err(error) => {
                if rows.is_empty() {
                    place.abandon(journal);
                }
                let progress = Progress::Benching { done: rows.len(), of: self.size() };
                Err(if error.is_interrupt() { LabError::Interrupted(progress) } else { error })
            }
        }
    }

    /// Whether the baseline and some variant have a function.
    fn is_searchable(&self, function: usize) -> bool {
        self.built.cast(function).0.len() > 1
    }

    fn searchable(&self) -> Vec<usize> {
        (0..self.built.lab.experiment.functions.len()).filter(|&f| self.is_searchable(f)).collect()
    }

    /// How many searches it takes.
    fn size(&self) -> usize {
        self.strategies.len() * self.seeds.len() * self.searchable().len()
    }

    /// Rows by their places, or what of them was not asked for.
    fn keyed(&self, rows: Vec<BenchRow>) -> Result<BTreeMap<Key, BenchRow>, BTreeSet<String>> {
        let (mut keyed, mut more) = (BTreeMap::new(), BTreeSet::new());
        for row in rows {
            let strategy = self.strategies.iter().position(|s| *s == row.strategy);
            let seed = self.seeds.iter().position(|s| *s == row.seed);
            let function = self.built.lab.function(&row.function).map(|(place, _)| place);
            match (strategy, seed, function) {
                (Some(strategy), Some(seed), Some(function)) => {
                    keyed.insert((strategy, seed, function), row);
                }
                (None, _, _) => _ = more.insert(format!("strategy {}", row.strategy)),
                (_, None, _) => _ = more.insert(format!("seed {}", row.seed)),
                (_, _, None) => _ = more.insert(format!("function {}", row.function)),
            }
        }
        if more.is_empty() { Ok(keyed) } else { Err(more) }
    }

    /// Searches what has no row yet.
    fn search(&self, desk: &mut BenchDesk<'_>, sink: &dyn EventSink) -> Result<(), LabError> {
        let functions = self.searchable();
        let rounds = self.strategies.len() * self.seeds.len();
        for round in 0..rounds {
            // Seed after seed, so that an interrupted bench has something of every strategy.
            let (seed, strategy) = (round / self.strategies.len(), round % self.strategies.len());
            let start = Instant::now();
            self.round(strategy, seed, &functions, desk, sink)?;
            let rows = functions.iter().filter_map(|&f| desk.rows.get(&(strategy, seed, f)));
            let text = summary(rows, start.elapsed().as_secs_f64());
            let name = format!("{}, seed {}", self.strategies[strategy], self.seeds[seed]);
            sink.send(Event::Note { text: format!("[{}/{rounds}] {name}: {text}", round + 1) });
        }
        Ok(())
    }

    /// Every function with one strategy and seed.
    fn round(
        &self,
        strategy: usize,
        seed: usize,
        functions: &[usize],
        desk: &mut BenchDesk<'_>,
        sink: &dyn EventSink,
    ) -> Result<(), LabError> {
        let open: Vec<usize> =
            functions.iter().copied().filter(|&f| !desk.rows.contains_key(&(strategy, seed, f))).collect();
        if open.is_empty() {
            return Ok(());
        }
        let resumed = functions.len() - open.len();
        sink.send(Event::SearchStarted { functions: functions.len(), resumed });
        let settings = SearchSettings {
            strategy: self.strategies[strategy],
            seed: self.seeds[seed],
            ..self.built.lab.experiment.search.clone()
        };
        let literals = self.built.lab.literals();
        let job = |&f: &usize| self.built.job(f, &self.built.cast(f).0, &settings, &literals[f]);
        let jobs: Vec<FunctionJob> = open.iter().map(job).collect();
        let shared = Mutex::new(desk);
        let on_done = |job: usize, result: FunctionResult, timing: FunctionTiming| {
            let FunctionJob { function_index, task, .. } = &jobs[job];
            let row = BenchRow {
                wall_s: timing.wall_s,
                busy_s: timing.units_s,
                truth: self.score(&function_row(&task.function, &task.builds, &result, BTreeMap::new())),
                ..bench_row(&task.function, &task.builds, &settings, &result)
            };
            let mut desk = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = desk.journal.append(&row) {
                desk.error.get_or_insert(error);
            }
            desk.rows.insert((strategy, seed, *function_index), row);
        };
        let searched = self.built.panel.pool.search(&jobs, sink, &on_done);
        sink.send(Event::SearchFinished);
        let desk = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = desk.error.take() {
            return Err(error.into());
        }
        Ok(searched?)
    }

    /// How a result's worst comparison compares with the truth of its function, where that is known: the least of
    /// each number.
    fn score(&self, row: &FunctionRow) -> Option<TruthScore> {
        let counts = score_function(self.truths.get(&row.name)?, row);
        let scores = counts.into_iter().map(|count| TruthScore {
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

    fn file(
        &self,
        print: &Fingerprint,
        rows: BTreeMap<Key, BenchRow>,
        command: String,
        reference: Option<Reference>,
    ) -> BenchFile {
        let lab = self.built.lab;
        let experiment = &lab.experiment;
        let name = |f: usize| experiment.functions[f].name.clone();
        let (searched, missing): (Vec<usize>, Vec<usize>) =
            (0..experiment.functions.len()).partition(|&f| self.is_searchable(f));
        BenchFile {
            schema: BENCH_SCHEMA.into(),
            bitrift: env!("CARGO_PKG_VERSION").into(),
            name: experiment.name.clone(),
            command,
            budget: experiment.search.budget,
            strategies: self.strategies.to_vec(),
            seeds: self.seeds.to_vec(),
            host: host_row(),
            jobs: lab.jobs,
            baseline: lab.plan.baseline_build().id.clone(),
            builds: self.built.build_rows(),
            settings: settings(&experiment.search),
            fingerprint: print.parts().clone(),
            functions: searched.into_iter().map(name).collect(),
            missing: missing.into_iter().map(name).collect(),
            rows: rows.into_values().collect(),
            reference,
        }
    }
}

/// The settings that are the same for every row and have no field of their own.
fn settings(search: &SearchSettings) -> BTreeMap<String, serde_json::Value> {
    let all = serde_json::to_value(search).unwrap_or_default();
    let all = all.as_object().cloned().unwrap_or_default();
    all.into_iter().filter(|(key, _)| !["strategy", "seed", "budget"].contains(&key.as_str())).collect()
}

/// Rows that were not asked for would be lost: refuse.
fn wider(place: &BenchPlace, more: BTreeSet<String>) -> StoreError {
    let more = printable(&more.into_iter().collect::<Vec<_>>().join(", "));
    StoreError::BenchWider { path: printable(&place.json().display().to_string()), more }
}

/// A round in a line: `125 / 127 / 133 / 163 over 48 / 32 / 8 / 0 bits, 2,400,000 evaluations, 12.3 s`.
fn summary<'r>(rows: impl Iterator<Item = &'r BenchRow> + Clone, seconds: f64) -> String {
    let over = OVER.map(|limit| rows.clone().filter(|row| row.max_bits > limit).count().to_string());
    let evaluations: u64 = rows.map(|row| row.evaluations).sum();
    format!(
        "{} over {} bits, {evaluations} evaluations, {seconds:.1} s",
        over.join(" / "),
        OVER.map(|b| b.to_string()).join(" / ")
    )
}
