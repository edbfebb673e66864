//! The search of a lab's functions: each becomes a complete row as it finishes, and goes to whoever keeps rows.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::built::Built;
use super::error::{LabError, Progress};
use super::keeper::UnitKeeper;
use super::same_code::is_same_code;
use super::{camps, flushing, held, sources};
use crate::findings::{TruthHead, function_row, truth_file};
use crate::model::{
    BuildId, BuildRow, EventSink, FunctionResult, FunctionRow, FunctionSamples, HeldValue, HostRow,
    SourceRow, StopReason, TruthFile,
};
use crate::pool::{Client, Finished, FunctionJob, FunctionTiming, Question, Response};
use crate::search::{Answer, Unit};
use crate::toolchain::{cpu_model, libm_identity};

/// A function that was searched.
#[derive(Clone, Debug)]
pub struct Searched {
    /// What was found, as bits: comparisons with the baseline, each with its ranges, and every sample.
    pub result: FunctionResult,
    /// The baseline, then the variants: what the numbers of builds in the result stand for.
    pub builds: Vec<BuildId>,
    /// All that a run file says of it.
    pub row: FunctionRow,
    /// As many of the samples as a run keeps.
    pub samples: FunctionSamples,
    /// What the search cost on this machine.
    pub timing: FunctionTiming,
    /// Exact counts, when every input was evaluated.
    pub truth: Option<TruthFile>,
}

impl Built<'_> {
    /// Searches one function, by its place in the experiment. One that the baseline has not got has the stop reason
    /// [`StopReason::Missing`].
    pub fn search_function(&self, function: usize, sink: &dyn EventSink) -> Result<Searched, LabError> {
        let found = Mutex::new(None);
        let keep = |_, searched| *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(searched);
        let searches = Searches::new(self, [function], None, &keep);
        searches.run(sink)?;
        let absent = searches.absent().pop().map(|(_, searched)| searched);
        let found = found.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A search that was not interrupted finishes every job.
        found.or(absent).ok_or(LabError::Interrupted(Progress::Begun))
    }
}

/// Searches of some functions of a lab on their way.
pub(super) struct Searches<'a> {
    built: &'a Built<'a>,
    jobs: Vec<FunctionJob>,
    /// Functions that the baseline has not got.
    left_out: Vec<usize>,
    /// For each job why builds have not got its function.
    missing: Vec<BTreeMap<BuildId, String>>,
    /// For each function of the experiment.
    sources: Vec<Option<SourceRow>>,
    builds: Vec<BuildRow>,
    host: HostRow,
    keeper: Option<&'a UnitKeeper<'a>>,
    /// Takes each function as it finishes, from any thread.
    on_done: &'a (dyn Fn(usize, Searched) + Sync),
}

impl<'a> Searches<'a> {
    /// Searches of these functions of the experiment.
    pub fn new(
        built: &'a Built<'a>,
        functions: impl IntoIterator<Item = usize>,
        keeper: Option<&'a UnitKeeper<'a>>,
        on_done: &'a (dyn Fn(usize, Searched) + Sync),
    ) -> Searches<'a> {
        let literals = built.lab.literals();
        let (mut jobs, mut missing, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for index in functions {
            let (have, lacking) = built.cast(index);
            if have.is_empty() {
                left_out.push(index);
                continue;
            }
            jobs.push(built.job(index, &have, &built.lab.experiment.search, &literals[index]));
            missing.push(lacking);
        }
        let (sources, builds) = (sources::definitions(built.lab), built.build_rows());
        Searches { built, jobs, left_out, missing, sources, builds, host: host_row(), keeper, on_done }
    }

    pub fn run(&self, sink: &dyn EventSink) -> Result<(), LabError> {
        Ok(self.built.panel.pool.search_for(&self.jobs, sink, self)?)
    }

    /// What there is to say of the functions that the baseline has not got.
    pub fn absent(&self) -> Vec<(usize, Searched)> {
        let result = FunctionResult { stop: StopReason::Missing, ..FunctionResult::default() };
        let absent = |&index: &usize| {
            let function = &self.built.lab.experiment.functions[index];
            let row = function_row(function, &[], &result, self.built.cast(index).1);
            let searched = Searched {
                row: FunctionRow { source: self.sources[index].clone(), ..row },
                samples: FunctionSamples::new(function, &[], &result),
                timing: FunctionTiming::default(),
                truth: None,
                builds: Vec::new(),
                result: result.clone(),
            };
            (index, searched)
        };
        self.left_out.iter().map(absent).collect()
    }

    /// The whole row of a finished function, from its result and the responses to its questions.
    fn row(
        &self,
        position: usize,
        result: &FunctionResult,
        mut responses: Vec<Response>,
    ) -> (FunctionRow, Vec<HeldValue>) {
        let (panel, job) = (&self.built.panel, &self.jobs[position]);
        let (task, missing) = (&job.task, self.missing[position].clone());
        let mut row = function_row(&task.function, &task.builds, result, missing);
        row.source = self.sources[job.function_index].clone();
        for comparison in &mut row.comparisons {
            comparison.tolerance = self.built.lab.equality(&task.function.name, &comparison.build).tolerance;
        }
        row.same_code = is_same_code(self.built.lab, job.function_index, &row, &self.builds);
        let of_held = if held::is_asked(job, result) { responses.pop() } else { None };
        let (of_row, kept) = held::held(job, result, of_held.as_ref()).unzip();
        row.held = of_row;
        let of_camps = camps::questions(job, result).len().min(responses.len());
        let of_flushing = responses.split_off(of_camps);
        row.camps = camps::camps(&self.built.lab.plan.builds, job, result, &row, responses);
        for (comparison, verdicts) in flushing::verdicts(panel, job, result, &of_flushing) {
            let ranges = &mut row.comparisons[comparison].ranges;
            for (range, verdict) in ranges.iter_mut().zip(verdicts) {
                range.without_flushing = verdict;
            }
        }
        (row, kept.unwrap_or_default())
    }
}

impl Client for Searches<'_> {
    fn recall(&self, function: &str, unit: &Unit) -> Option<Answer> {
        self.keeper.and_then(|keeper| keeper.recall(function, unit))
    }

    fn keep(&self, function: &str, unit: &Unit, answer: &Answer) {
        if let Some(keeper) = self.keeper {
            keeper.keep(function, unit, answer);
        }
    }

    /// First those of the camps, then those of flushing, then the one about results that are held.
    fn questions(&self, position: usize, result: &FunctionResult) -> Vec<(usize, Question)> {
        let job = &self.jobs[position];
        let mut questions = camps::questions(job, result);
        questions.extend(flushing::questions(&self.built.panel, job, result));
        questions.extend(held::questions(job, result));
        questions
    }

    fn finished(&self, position: usize, finished: Finished) {
        let Finished { result, timing, responses } = finished;
        let (row, held) = self.row(position, &result, responses);
        let FunctionJob { function_index, task, .. } = &self.jobs[position];
        let name = &self.built.lab.experiment.name;
        let head = TruthHead { lab: name, host: self.host.clone(), builds: &self.builds };
        let searched = Searched {
            samples: FunctionSamples { held, ..FunctionSamples::new(&task.function, &task.builds, &result) },
            truth: truth_file(&head, &task.function, &row, &result),
            builds: task.builds.clone(),
            result,
            row,
            timing,
        };
        (self.on_done)(*function_index, searched);
    }
}

/// This machine, as a run file names it.
pub(super) fn host_row() -> HostRow {
    HostRow { cpu: cpu_model(), libm: libm_identity() }
}
