//! The searches of a bench, one strategy and seed after the other, each finished row journalled.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::failure::Failure;
use super::lab::Lab;
use crate::bench::OVER;
use crate::cli::Exit;
use crate::findings::{bench_row, function_row};
use crate::model::{
    BenchRow, Event, EventSink, FunctionResult, FunctionRow, SearchSettings, StrategyName, TruthScore,
    printable,
};
use crate::pool::{FunctionJob, FunctionTiming};
use crate::search::Task;
use crate::store::{Journal, StoreError};

/// Where a row belongs: places of its strategy, its seed and its function.
pub type Key = (usize, usize, usize);

/// How a result compares with the truth of its function, where that is known. It sees the whole
/// result with its ranges, of which a row keeps only the number.
pub type Score<'a> = dyn Fn(&FunctionRow) -> Option<TruthScore> + Sync + 'a;

/// What a bench searches.
pub struct Bench<'a> {
    pub lab: &'a Lab,
    pub strategies: &'a [StrategyName],
    pub seeds: &'a [u64],
    /// Numbers of the sources worth trying, for each function.
    pub literals: &'a [Vec<f64>],
    pub score: &'a Score<'a>,
}

/// A bench that ended early.
pub struct Stopped {
    failure: Failure,
    /// Searches that are kept.
    pub done: usize,
    of: usize,
}

impl Stopped {
    /// What to say of it.
    pub fn explained(self, matrix: &Path) -> Failure {
        let Stopped { failure, done, of } = self;
        match (failure.exit, done) {
            (Exit::Interrupted, 0) => Failure::interrupted(" before a search was done; nothing is stored"),
            (Exit::Interrupted, _) => {
                let matrix = printable(&matrix.display().to_string());
                Failure::interrupted(&format!(
                    " with {done} of {of} searches of {matrix} done; go on with the same command and --resume"
                ))
            }
            _ => failure,
        }
    }
}

/// Where finished rows are put down.
struct Desk<'j> {
    journal: &'j mut Journal<BenchRow>,
    rows: BTreeMap<Key, BenchRow>,
    error: Option<StoreError>,
}

impl Bench<'_> {
    /// Whether the baseline and some variant have a function.
    pub fn is_searchable(&self, function: usize) -> bool {
        self.lab.cast(function).0.len() > 1
    }

    fn searchable(&self) -> Vec<usize> {
        (0..self.lab.experiment.functions.len()).filter(|&f| self.is_searchable(f)).collect()
    }

    /// How many searches it takes.
    pub fn size(&self) -> usize {
        self.strategies.len() * self.seeds.len() * self.searchable().len()
    }

    /// Rows by their places, or what of them was not asked for.
    pub fn keyed(&self, rows: Vec<BenchRow>) -> Result<BTreeMap<Key, BenchRow>, BTreeSet<String>> {
        let (mut keyed, mut more) = (BTreeMap::new(), BTreeSet::new());
        for row in rows {
            let strategy = self.strategies.iter().position(|s| *s == row.strategy);
            let seed = self.seeds.iter().position(|s| *s == row.seed);
            let function = self.lab.function(&row.function).map(|(place, _)| place);
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
    pub fn search(
        &self,
        journal: &mut Journal<BenchRow>,
        done: BTreeMap<Key, BenchRow>,
        sink: &dyn EventSink,
    ) -> Result<BTreeMap<Key, BenchRow>, Stopped> {
        let functions = self.searchable();
        let of = self.size();
        let rounds = self.strategies.len() * self.seeds.len();
        let mut desk = Desk { journal, rows: done, error: None };
        for round in 0..rounds {
            // Seed after seed, so that an interrupted bench has something of every strategy.
            let (seed, strategy) = (round / self.strategies.len(), round % self.strategies.len());
            let start = Instant::now();
            let searched = self.round(strategy, seed, &functions, &mut desk, sink);
            if let Err(failure) = searched {
                return Err(Stopped { failure, done: desk.rows.len(), of });
            }
            let rows = functions.iter().filter_map(|&f| desk.rows.get(&(strategy, seed, f)));
            let text = summary(rows, start.elapsed().as_secs_f64());
            let name = format!("{}, seed {}", self.strategies[strategy], self.seeds[seed]);
            sink.send(Event::Note { text: format!("[{}/{rounds}] {name}: {text}", round + 1) });
        }
        Ok(desk.rows)
    }

    /// Every function with one strategy and seed.
    fn round(
        &self,
        strategy: usize,
        seed: usize,
        functions: &[usize],
        desk: &mut Desk<'_>,
        sink: &dyn EventSink,
    ) -> Result<(), Failure> {
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
            ..self.lab.experiment.search.clone()
        };
        let jobs: Vec<FunctionJob> = open.iter().map(|&f| self.job(f, &settings)).collect();
        let shared = Mutex::new(desk);
        let on_done = |job: usize, result: FunctionResult, timing: FunctionTiming| {
            let FunctionJob { function_index, task, .. } = &jobs[job];
            let row = BenchRow {
                wall_s: timing.wall_s,
                busy_s: timing.units_s,
                truth: (self.score)(&function_row(&task.function, &task.builds, &result, BTreeMap::new())),
                ..bench_row(&task.function, &task.builds, &settings, &result)
            };
            let mut desk = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = desk.journal.append(&row) {
                desk.error.get_or_insert(error);
            }
            desk.rows.insert((strategy, seed, *function_index), row);
        };
        let searched = self.lab.pool.search(&jobs, sink, &on_done);
        sink.send(Event::SearchFinished);
        let desk = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = desk.error.take() {
            return Err(error.into());
        }
        Ok(searched?)
    }

    fn job(&self, index: usize, settings: &SearchSettings) -> FunctionJob {
        let lab = self.lab;
        let (have, _) = lab.cast(index);
        let builds = have.iter().map(|&b| lab.build_id(b).clone()).collect();
        let function = lab.experiment.functions[index].clone();
        let task =
            Task { function, builds, settings: settings.clone(), literals: self.literals[index].clone() };
        let objects = have.iter().filter_map(|&b| lab.object(b)).collect();
        FunctionJob { function_index: index, task, builds: objects }
    }
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
