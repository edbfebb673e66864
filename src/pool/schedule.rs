//! Which piece of which search a thread does next. Knows nothing of processes.
//!
//! A search is planned in phases; a phase's units are independent, its end is a barrier. Units of
//! earlier jobs go first; a thread that finds none starts the next job. The answers of a phase reach
//! its plan in the order of its units, so the result does not depend on who did what when.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A search as the scheduler sees it.
pub(super) trait Plan: Send {
    type Unit: Send;
    type Answer: Send;

    /// The next phase, given the answers of the previous one; empty: done.
    fn next(&mut self, answers: Vec<Self::Answer>) -> Vec<Self::Unit>;
}

/// Why a search ended before its last phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Early {
    Deadline,
    /// A unit failed, in words.
    Failed(String),
}

/// What a thread should do.
pub(super) enum Turn<P: Plan> {
    /// Make the plan of a job and pass it to `begin`.
    Begin(usize),
    /// Do a unit and pass its answer to `answer`.
    Unit { job: usize, index: usize, unit: P::Unit },
    /// A job is over: hand its plan on.
    Finish { job: usize, plan: P, early: Option<Early> },
    /// Nothing is left.
    Done,
}

struct Running<P: Plan> {
    /// None while a thread plans.
    plan: Option<P>,
    units: VecDeque<(usize, P::Unit)>,
    answers: Vec<Option<P::Answer>>,
    /// Units being done.
    out: usize,
    early: Option<Early>,
    deadline: Option<Instant>,
}

struct State<P: Plan> {
    waiting: VecDeque<usize>,
    /// Jobs whose plan is being made.
    beginning: usize,
    running: BTreeMap<usize, Running<P>>,
    stopped: bool,
}

/// Jobs on their way through the threads.
pub(super) struct Schedule<P: Plan> {
    state: Mutex<State<P>>,
    changed: Condvar,
    /// Jobs begun and not finished, at most.
    width: usize,
}

impl<P: Plan> Schedule<P> {
    pub(super) fn new(jobs: usize, width: usize) -> Schedule<P> {
        let waiting = (0..jobs).collect();
        let state = State { waiting, beginning: 0, running: BTreeMap::new(), stopped: false };
        Schedule { state: Mutex::new(state), changed: Condvar::new(), width: width.max(1) }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No thread gets another turn.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Waits for something to do; `cancelled` is asked from time to time.
    pub(super) fn turn(&self, cancelled: &dyn Fn() -> bool) -> Turn<P> {
        let mut state = self.lock();
        loop {
            if state.stopped || cancelled() {
                return Turn::Done;
            }
            if let Some(turn) = state.find(self.width) {
                return turn;
            }
            if state.waiting.is_empty() && state.running.is_empty() && state.beginning == 0 {
                self.changed.notify_all();
                return Turn::Done;
            }
            let waited = self.changed.wait_timeout(state, Duration::from_millis(50));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How many jobs nobody has begun.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// The plan of a job whose `Begin` a thread took; None: the job is dealt with.
    pub(super) fn begin(&self, job: usize, plan: Option<P>, deadline: Option<Duration>) {
        let mut state = self.lock();
        state.beginning -= 1;
        if let Some(plan) = plan {
            // A deadline too far off to be a point in time is none.
            let deadline = deadline.and_then(|time| Instant::now().checked_add(time));
            let running = Running {
                plan: None,
                units: VecDeque::new(),
                answers: Vec::new(),
                out: 0,
                early: None,
                deadline,
            };
            state.running.insert(job, running);
            drop(state);
            self.advance(job, plan, Vec::new());
        }
        self.changed.notify_all();
    }

    /// The answer of a unit, or why the job cannot go on.
    pub(super) fn answer(&self, job: usize, index: usize, answer: Result<P::Answer, Early>) {
        let mut state = self.lock();
        let Some(running) = state.running.get_mut(&job) else { return };
        running.out -= 1;
        match answer {
            Ok(answer) => running.answers[index] = Some(answer),
            Err(early) => running.cut(early),
        }
        if let Some((plan, answers)) = running.phase_end() {
            drop(state);
            self.advance(job, plan, answers);
        }
        self.changed.notify_all();
    }

    /// Plans the next phase, without the lock: planning may take long.
    fn advance(&self, job: usize, mut plan: P, answers: Vec<P::Answer>) {
        let units = plan.next(answers);
        let mut state = self.lock();
        if let Some(running) = state.running.get_mut(&job) {
            running.answers = units.iter().map(|_| None).collect();
            running.units = units.into_iter().enumerate().collect();
            running.plan = Some(plan);
        }
        self.changed.notify_all();
    }
}

impl<P: Plan> State<P> {
    fn find(&mut self, width: usize) -> Option<Turn<P>> {
        let now = Instant::now();
        let mut over = None;
        for (&job, running) in &mut self.running {
            if running.deadline.is_some_and(|deadline| now >= deadline) {
                running.cut(Early::Deadline);
            }
            if let Some((index, unit)) = running.units.pop_front() {
                running.out += 1;
                return Some(Turn::Unit { job, index, unit });
            }
            if running.out == 0 && running.plan.is_some() {
                over = Some(job);
                break;
            }
        }
        if let Some((job, Running { plan: Some(plan), early, .. })) =
            over.and_then(|job| Some((job, self.running.remove(&job)?)))
        {
            return Some(Turn::Finish { job, plan, early });
        }
        if self.running.len() + self.beginning >= width {
            return None;
        }
        let job = self.waiting.pop_front()?;
        self.beginning += 1;
        Some(Turn::Begin(job))
    }
}

impl<P: Plan> Running<P> {
    /// Ends the job early; the first reason stays.
    fn cut(&mut self, early: Early) {
        // A plan that had no more units is complete, whatever the clock says now.
        let complete = self.plan.is_some() && self.answers.is_empty();
        if !complete && self.early.is_none() {
            self.early = Some(early);
        }
        if self.early.is_some() {
            self.units.clear();
        }
    }

    /// Plan and answers when the last unit of a phase is in; a job cut short plans no more.
    fn phase_end(&mut self) -> Option<(P, Vec<P::Answer>)> {
        if self.out > 0 || !self.units.is_empty() || self.early.is_some() {
            return None;
        }
        let plan = self.plan.take()?;
        Some((plan, self.answers.drain(..).flatten().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Three phases; a phase's units are made from the sum of the answers before it.
    struct Sums {
        seed: u64,
        phase: u64,
        log: Vec<Vec<u64>>,
    }

    impl Plan for Sums {
        type Unit = u64;
        type Answer = u64;

        fn next(&mut self, answers: Vec<u64>) -> Vec<u64> {
            self.phase += 1;
            let base: u64 =
                self.seed + answers.iter().enumerate().map(|(i, a)| (i as u64 + 1) * a).sum::<u64>();
            self.log.push(answers);
            if self.phase > 3 { Vec::new() } else { (0..5).map(|i| base + i).collect() }
        }
    }

    type Outcome = (usize, Vec<Vec<u64>>, Option<Early>);

    fn run(threads: usize, deadline: Option<Duration>, work: fn(u64) -> Result<u64, Early>) -> Vec<Outcome> {
        let schedule = Schedule::<Sums>::new(7, 3);
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        match schedule.turn(&|| false) {
                            Turn::Begin(job) => {
                                let plan = Sums { seed: job as u64, phase: 0, log: Vec::new() };
                                schedule.begin(job, Some(plan), deadline);
                            }
                            Turn::Unit { job, index, unit } => schedule.answer(job, index, work(unit)),
                            Turn::Finish { job, plan, early } => {
                                results.lock().unwrap().push((job, plan.log, early));
                            }
                            Turn::Done => break,
                        }
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap();
        results.sort_by_key(|r| r.0);
        results
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let work = |unit: u64| {
            std::thread::sleep(Duration::from_micros(unit * 37 % 500));
            Ok(unit % 101)
        };
        let one = run(1, None, work);
        assert_eq!(one.len(), 7);
        assert!(one.iter().all(|(_, log, early)| log.len() == 4 && early.is_none()));
        assert_eq!(one, run(4, None, work));
    }

    #[test]
    fn a_failed_unit_ends_its_job_and_no_other() {
        let failing = |unit: u64| if unit == 4 { Err(Early::Failed("no".into())) } else { Ok(1000) };
        for (job, _, early) in run(2, None, failing) {
            // Units of the first phase are job .. job + 5.
            let hit = job <= 4;
            assert_eq!(early.is_some(), hit, "job {job}");
        }
    }

    #[test]
    fn a_deadline_ends_a_job_between_units() {
        let slow = |unit: u64| {
            std::thread::sleep(Duration::from_millis(3));
            Ok(unit)
        };
        let results = run(2, Some(Duration::from_millis(10)), slow);
        assert_eq!(results.len(), 7);
        assert!(results.iter().all(|(_, log, early)| *early == Some(Early::Deadline) && log.len() < 4));
        assert!(run(2, Some(Duration::MAX), slow).iter().all(|(.., early)| early.is_none()));
    }
}
