//! One `Pool::search` under way: what its threads share.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::ask::Response;
use super::confirm::{Recheck, confirm};
use super::coordinator::Pool;
use super::job::{Client, Finished, FunctionJob, FunctionTiming, PoolError};
use super::lane::{Cost, Halt, Lane, Piece};
use super::protocol::{Reply, Work};
use super::schedule::{Early, Plan, Schedule, Turn};
use crate::eval::{Call, EvalError};
use crate::fp::NanPolicy;
use crate::model::{
    ComparisonResult, Event, EventSink, FaultKind, FaultRecord, FunctionResult, Outcome, Outcomes, Results,
    SearchSettings, StopReason,
};
use crate::search::{Answer, Strategy, Task, Unit, create};

/// How long after its deadline a function waits for the units under way, most of which end by themselves at the deadline.
const LATE: Duration = Duration::from_secs(2);

impl Plan for Box<dyn Strategy> {
    type Unit = Unit;
    type Answer = Answer;

    fn next_phase(&mut self) -> bool {
        Strategy::next_phase(self.as_mut())
    }

    fn next_unit(&mut self) -> Option<Unit> {
        Strategy::next_unit(self.as_mut())
    }

    fn absorb(&mut self, answer: Answer) {
        Strategy::absorb(self.as_mut(), answer);
    }
}

/// A job as it can be run: without the builds that do not load.
struct Prepared<'j> {
    job: &'j FunctionJob,
    task: Task,
    objects: Vec<usize>,
    /// Index in the job's builds of each build that is left.
    kept: Vec<usize>,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    begun: Option<Instant>,
    evaluations: u64,
    timing: FunctionTiming,
    /// Builds whose code wrote to the pipe of a worker.
    garblers: BTreeSet<usize>,
}

/// A search of several functions.
pub(super) struct Run<'a> {
    pool: &'a Pool,
    jobs: Vec<Prepared<'a>>,
    sink: &'a dyn EventSink,
    client: &'a dyn Client,
    schedule: Schedule<Box<dyn Strategy>>,
    /// The first reason for which nothing can go on.
    broken: Mutex<Option<PoolError>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        pool: &'a Pool,
        jobs: &'a [FunctionJob],
        sink: &'a dyn EventSink,
        client: &'a dyn Client,
    ) -> Run<'a> {
        let errors = pool.load_errors();
        for (plan, error) in pool.objects.iter().zip(errors) {
            if let Some(error) = error {
                sink.send(Event::Note { text: format!("build {} is left out: {error}", plan.build) });
            }
        }
        let jobs: Vec<_> = jobs.iter().map(|job| prepare(job, errors)).collect();
        let schedule = Schedule::new(jobs.len(), 2 * pool.limits.jobs);
        Run { pool, jobs, sink, client, schedule, broken: Mutex::new(None) }
    }

    pub(super) fn finish(self) -> Result<(), PoolError> {
        std::thread::scope(|scope| {
            for _ in 0..self.pool.limits.jobs {
                scope.spawn(|| self.work());
            }
        });
        for text in self.pool.refusals() {
            self.sink.send(Event::Note { text });
        }
        match self.broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None if self.pool.is_cancelled() => Err(PoolError::Interrupted),
            None => Ok(()),
        }
    }

    /// A thread's life.
    fn work(&self) {
        let _stop = StopOnPanic(&self.schedule);
        let mut lane = Lane::new(self.pool);
        loop {
            match self.schedule.turn(&|| self.pool.is_cancelled()) {
                Turn::Begin(job) => self.begin(job),
                Turn::Unit { job, index, unit, deadline } => {
                    self.unit(&mut lane, (job, index), unit, deadline)
                }
                Turn::Finish { job, plan, early } => self.end(&mut lane, job, plan, early),
                Turn::Done => return,
            }
        }
    }

    fn give_up(&self, error: PoolError) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.get_or_insert(error);
        self.schedule.stop();
    }

    fn begin(&self, position: usize) {
        let job = &self.jobs[position];
        job.with(|progress| progress.begun = Some(Instant::now()));
        if job.kept.first() != Some(&0) || job.kept.len() < 2 {
            let result = FunctionResult { stop: StopReason::Missing, ..Default::default() };
            self.schedule.begin(position, None, None);
            self.hand_over(position, job.put_back(result), Vec::new());
            return;
        }
        let plan = create(&job.task);
        self.schedule.begin(position, Some(plan), self.allowance(&job.task.settings));
    }

    /// How long a function may take: its own deadline, and its part of what is left of the pool's time.
    fn allowance(&self, settings: &SearchSettings) -> Option<Duration> {
        // A negative or absurd number of seconds is no deadline.
        let own = settings.deadline_s.and_then(|s| Duration::try_from_secs_f64(s).ok());
        let part = self.pool.until.map(|until| {
            let waiting = u32::try_from(self.schedule.waiting()).unwrap_or(u32::MAX);
            until.saturating_duration_since(Instant::now()) / waiting.saturating_add(1)
        });
        own.into_iter().chain(part).min()
    }

    fn unit(
        &self,
        lane: &mut Lane<'_>,
        (position, index): (usize, usize),
        unit: Unit,
        deadline: Option<Instant>,
    ) {
        let job = &self.jobs[position];
        let name = &job.task.function.name;
        let long = unit.is_long();
        if long && let Some(answer) = self.client.recall(name, &unit) {
            job.with(|progress| {
                progress.evaluations += answer.evaluations();
                progress.timing.recalled += 1;
            });
            return self.schedule.answer(position, index, Ok(answer));
        }
        let time = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let work = Work::Unit { job: position, unit, time };
        let piece = Piece {
            function: job.job.function_index,
            arity: job.task.function.arity(),
            width: job.task.function.results.width(),
            objects: &job.objects,
            work: &work,
            task: Some(&job.task),
            until: deadline.and_then(|deadline| deadline.checked_add(LATE)),
        };
        let replaced = |reason| self.sink.send(Event::WorkerReplaced { function: name.clone(), reason });
        let begun = Instant::now();
        let mut cost = Cost::default();
        let reply = lane.perform(piece, &mut cost, &replaced);
        let answer = match reply {
            Ok(Reply::Answer(answer)) => Ok(*answer),
            Ok(_) => Err(Early::Failed("the worker answered something else".into())),
            Err(Halt::Failed(reason)) => Err(Early::Failed(reason)),
            // The flag ends every thread at its next turn.
            Err(Halt::Stopped) if self.pool.is_cancelled() => return,
            Err(Halt::Stopped) => Err(Early::Deadline),
            Err(Halt::Pool(error)) => return self.give_up(error),
        };
        if long && let (Ok(answer), Work::Unit { unit, .. }) = (&answer, &work) {
            self.client.keep(name, unit, answer);
        }
        let evaluations = job.with(|progress| {
            progress.evaluations += answer.as_ref().map_or(0, Answer::evaluations);
            progress.timing.units += 1;
            progress.timing.units_s += begun.elapsed().as_secs_f64();
            progress.timing.near_timeouts += cost.near;
            progress.timing.replaced += cost.replaced;
            let place = |object| job.objects.iter().position(|known| known == object);
            progress.garblers.extend(cost.garblers.iter().filter_map(place));
            progress.evaluations
        });
        self.sink.send(Event::SearchProgress { function: name.clone(), evaluations });
        self.schedule.answer(position, index, answer);
    }

    /// Confirms the result of a job, asks what its client wants to know about it and hands it over.
    fn end(&self, lane: &mut Lane<'_>, position: usize, plan: Box<dyn Strategy>, early: Option<Early>) {
        let job = &self.jobs[position];
        let mut result = plan.finish();
        if let Some(early) = early {
            let stop = match early {
                Early::Deadline => StopReason::Deadline,
                Early::Failed(reason) => {
                    let text = format!("function {} was given up: {reason}", job.task.function.name);
                    self.sink.send(Event::Note { text });
                    forget_all(&mut result);
                    StopReason::Lost
                }
            };
            stop_early(&mut result, stop);
        }
        match confirm(&mut result, &mut Fresh { lane, job, pool: self.pool }) {
            Ok(close) => job.with(|progress| progress.timing.near_timeouts += close),
            Err(EvalError::Stopped) => return,
            Err(error) => {
                let name = &job.task.function.name;
                self.sink.send(Event::Note { text: format!("function {name} is not confirmed: {error}") });
            }
        }
        result.faults.extend(job.garbled());
        result.faults.sort_by_key(|record| (record.build, record.kind));
        let result = job.put_back(result);
        let questions = self.client.questions(position, &result);
        let ask = |(object, question)| self.pool.ask_with(&mut lane.helpers, object, &question);
        // The only error is an interrupt: the function is not done then.
        if let Ok(responses) = questions.into_iter().map(ask).collect() {
            self.hand_over(position, result, responses);
        }
    }

    fn hand_over(&self, position: usize, result: FunctionResult, responses: Vec<Response>) {
        let job = &self.jobs[position];
        let timing = job.with(|progress| {
            progress.timing.wall_s = progress.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
            progress.timing.clone()
        });
        let witnesses = result.comparisons.iter().filter_map(|c| c.witness.as_ref());
        self.sink.send(Event::FunctionFinished {
            function: job.task.function.name.clone(),
            max_bits: witnesses.map(|w| w.bits).fold(0.0, f64::max),
            ranges: result.comparisons.iter().map(|c| c.ranges.len()).sum(),
            faults: result.faults.iter().map(|f| f.count).sum(),
        });
        self.client.finished(position, Finished { result, timing, responses });
    }
}

/// A thread that panics lets no other wait for it.
struct StopOnPanic<'s>(&'s Schedule<Box<dyn Strategy>>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// When a process is lost is a matter of luck, and what was found by then would differ from run to run.
fn forget_all(result: &mut FunctionResult) {
    for comparison in &mut result.comparisons {
        let variant = comparison.variant;
        *comparison = ComparisonResult { variant, ..ComparisonResult::default() };
    }
    (result.evaluations, result.constant) = (0, None);
    result.samples.clear();
    result.faults.clear();
}

/// A search that was cut short says so wherever it would have said that it is complete, and why wherever its strategy
/// knows only that it was.
fn stop_early(result: &mut FunctionResult, stop: StopReason) {
    result.stop = stop;
    for comparison in &mut result.comparisons {
        if matches!(comparison.stop, StopReason::Complete | StopReason::Deadline) {
            comparison.stop = stop;
        }
    }
}

fn prepare<'j>(job: &'j FunctionJob, errors: &[Option<String>]) -> Prepared<'j> {
    let loads = |object: usize| errors.get(object).is_some_and(Option::is_none);
    let kept: Vec<usize> = (0..job.builds.len()).filter(|&k| loads(job.builds[k])).collect();
    let mut task = job.task.clone();
    task.builds = kept.iter().filter_map(|&k| job.task.builds.get(k).cloned()).collect();
    let objects = kept.iter().map(|&k| job.builds[k]).collect();
    Prepared { job, task, objects, kept, progress: Mutex::default() }
}

impl Prepared<'_> {
    fn with<T>(&self, look: impl FnOnce(&mut Progress) -> T) -> T {
        look(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A list of one entry for each variant that was kept, as one for every variant.
    fn spread<T: Copy + Default>(&self, of_kept: &[T], variants: usize) -> Vec<T> {
        let mut all = vec![T::default(); variants];
        for (&build, &value) in self.kept.iter().skip(1).zip(of_kept) {
            all[build - 1] = value;
        }
        all
    }

    /// Builds whose code wrote to the pipe of a worker: a fault for which no input can be named.
    fn garbled(&self) -> Vec<FaultRecord> {
        let record =
            |&build: &usize| FaultRecord { build, kind: FaultKind::Garbled, count: 1, examples: Vec::new() };
        self.with(|progress| progress.garblers.iter().map(record).collect())
    }

    /// Counts builds as the caller does, and adds the comparisons that could not be made.
    fn put_back(&self, mut result: FunctionResult) -> FunctionResult {
        if self.kept.len() == self.job.builds.len() {
            return result;
        }
        for comparison in &mut result.comparisons {
            comparison.variant = self.kept[comparison.variant];
        }
        for fault in &mut result.faults {
            fault.build = self.kept[fault.build];
        }
        let variants = self.job.builds.len() - 1;
        for sample in &mut result.samples {
            sample.bits = self.spread(&sample.bits, variants);
            if !sample.worst.is_empty() {
                sample.worst = self.spread(&sample.worst, variants);
            }
        }
        let baseline_loads = self.kept.first() == Some(&0);
        let missing = (1..self.job.builds.len()).filter(|k| !baseline_loads || !self.kept.contains(k));
        result.comparisons.extend(missing.map(|variant| ComparisonResult {
            variant,
            stop: StopReason::Missing,
            ..Default::default()
        }));
        result.comparisons.sort_by_key(|comparison| comparison.variant);
        result
    }
}

/// Re-runs inputs in helpers that no unit of a search runs in.
struct Fresh<'r, 'p> {
    lane: &'r mut Lane<'p>,
    job: &'r Prepared<'r>,
    pool: &'r Pool,
}

impl Fresh<'_, '_> {
    fn run(
        &mut self,
        build: usize,
        inputs: &[u64],
        alone: bool,
        stretch: u32,
    ) -> Result<(Outcomes, u64), EvalError> {
        let call = Call {
            function: self.job.job.function_index,
            arity: self.job.task.function.arity(),
            width: self.job.task.function.results.width(),
            alone,
            fresh: true,
            timeout: stretch * self.pool.limits.timeout,
        };
        let object = self.job.objects[build];
        let plan = (object, &self.pool.objects[object]);
        let mut out = Outcomes::new(call.width);
        let mut go_on = || !self.pool.is_cancelled();
        let near = self.lane.helpers.run(plan, call, inputs, &mut out, &mut go_on)?.near;
        Ok((out, near))
    }
}

impl Recheck for Fresh<'_, '_> {
    fn together(&mut self, build: usize, inputs: &[u64]) -> Result<Outcomes, EvalError> {
        Ok(self.run(build, inputs, false, 1)?.0)
    }

    fn alone(&mut self, build: usize, input: &[u64]) -> Result<(Outcome, bool), EvalError> {
        let (outcomes, near) = self.run(build, input, true, 2)?;
        let outcome = outcomes.firsts().first().copied().ok_or(EvalError::Stopped)?;
        Ok((outcome, near > 0))
    }

    fn rule(&self) -> (Results, NanPolicy) {
        let Task { function, settings, .. } = &self.job.task;
        (function.results.clone(), settings.nan)
    }
}
