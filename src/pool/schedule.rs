//! Which piece of which search a thread does next. Knows nothing of processes.
//!
//! A search is planned in phases; a phase's units are independent, its end is a barrier. Units of
//! earlier jobs go first; a thread that finds none starts the next job. The answers of a phase reach
//! its plan in the order of its units, so the result does not depend on who did what when. Units are made
//! a few ahead of the answers, so that a phase takes no more room the more units it has.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Units of a job that are made and whose answers its plan has not taken in, at most. So many that a unit which takes
/// long keeps nobody waiting for its answer, so few that those behind it take little room.
const AHEAD: usize = 256;

/// A search as the scheduler sees it.
pub(super) trait Plan: Send {
    type Unit: Send;
    type Answer: Send;

    /// Plans the next phase, given that all units of the one before are answered; false: done.
    fn next_phase(&mut self) -> bool;

    /// The next unit of the phase; None: it has no more.
    fn next_unit(&mut self) -> Option<Self::Unit>;

    /// Takes in an answer, in the order of units.
    fn absorb(&mut self, answer: Self::Answer);
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
    /// Do a unit, by the deadline of its job, and pass its answer to `answer`.
    Unit { job: usize, index: usize, unit: P::Unit, deadline: Option<Instant> },
    /// A job is over: hand its plan on.
    Finish { job: usize, plan: P, early: Option<Early> },
    /// Nothing is left.
    Done,
}

struct Running<P: Plan> {
    /// None while a thread plans or lets the plan take in answers.
    plan: Option<P>,
    /// Units that nobody has taken.
    units: VecDeque<(usize, P::Unit)>,
    /// Answers whose turn has not come, by the number of their unit.
    answers: BTreeMap<usize, P::Answer>,
    /// Units that were made, and answers that the plan has taken in.
    made: usize,
    absorbed: usize,
    /// Units being done.
    out: usize,
    /// The plan has no more phases.
    complete: bool,
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
            state.running.insert(job, Running::new(plan, deadline));
            drop(state);
            self.advance(job);
        }
        self.changed.notify_all();
    }

    /// The answer of a unit, or why the job cannot go on.
    pub(super) fn answer(&self, job: usize, index: usize, answer: Result<P::Answer, Early>) {
        let mut state = self.lock();
        let Some(running) = state.running.get_mut(&job) else { return };
        running.out -= 1;
        // A unit that saw its deadline pass has cut its work short.
        running.look_at(Instant::now());
        match answer {
            Ok(answer) => drop(running.answers.insert(index, answer)),
            Err(early) => running.cut(early),
        }
        drop(state);
        self.advance(job);
        self.changed.notify_all();
    }

    /// Lets the plan of a job take in the answers whose turn has come and makes its next units, without the lock:
    /// planning may take long. Whoever has the plan goes on until nothing is left to do with it.
    fn advance(&self, job: usize) {
        let mut state = self.lock();
        while let Some((mut plan, answers, room)) = state.running.get_mut(&job).and_then(Running::take) {
            drop(state);
            let absorbed = answers.len();
            answers.into_iter().for_each(|answer| plan.absorb(answer));
            let (units, complete) = room.map_or((Vec::new(), false), |room| room.fill(&mut plan));
            state = self.lock();
            if let Some(running) = state.running.get_mut(&job) {
                running.put_back(plan, absorbed, units, complete);
            }
            self.changed.notify_all();
        }
    }
}

impl<P: Plan> State<P> {
    fn find(&mut self, width: usize) -> Option<Turn<P>> {
        let now = Instant::now();
        let mut over = None;
        for (&job, running) in &mut self.running {
            running.look_at(now);
            if let Some((index, unit)) = running.units.pop_front() {
                running.out += 1;
                return Some(Turn::Unit { job, index, unit, deadline: running.deadline });
            }
            if running.is_over() {
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

/// Room for further units of a job.
struct Room {
    units: usize,
    /// Everything is answered: the phase is over when it has no more units.
    answered: bool,
}

impl Room {
    /// Units as far as there is room, of the next phase when this one is over; and whether there is none.
    fn fill<P: Plan>(self, plan: &mut P) -> (Vec<P::Unit>, bool) {
        let units = |plan: &mut P| std::iter::from_fn(|| plan.next_unit()).take(self.units).collect();
        let of_phase: Vec<P::Unit> = units(plan);
        if !of_phase.is_empty() || !self.answered {
            return (of_phase, false);
        }
        if plan.next_phase() { (units(plan), false) } else { (Vec::new(), true) }
    }
}

impl<P: Plan> Running<P> {
    fn new(plan: P, deadline: Option<Instant>) -> Running<P> {
        Running {
            plan: Some(plan),
            units: VecDeque::new(),
            answers: BTreeMap::new(),
            made: 0,
            absorbed: 0,
            out: 0,
            complete: false,
            early: None,
            deadline,
        }
    }

    fn look_at(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.cut(Early::Deadline);
        }
    }

    /// Ends the job early; the first reason stays.
    fn cut(&mut self, early: Early) {
        // A plan that had no more units is complete, whatever the clock says now.
        if !self.complete && self.early.is_none() {
            self.early = Some(early);
        }
        if self.early.is_some() {
            self.units.clear();
        }
    }

    /// The plan with the answers that it should take in now, and the room for further units. None when there is
    /// nothing to do with it, or another thread has it. A job cut short takes in answers, and plans no more.
    fn take(&mut self) -> Option<(P, Vec<P::Answer>, Option<Room>)> {
        let ready = (self.absorbed..).take_while(|index| self.answers.contains_key(index)).count();
        let waiting = self.made - self.absorbed - ready;
        let plans = !self.complete && self.early.is_none();
        if ready == 0 && !(plans && waiting == 0) {
            return None;
        }
        let plan = self.plan.take()?;
        let turn = self.absorbed..self.absorbed + ready;
        let answers = turn.filter_map(|index| self.answers.remove(&index)).collect();
        let room = plans.then(|| Room { units: AHEAD - waiting.min(AHEAD), answered: waiting == 0 });
        Some((plan, answers, room))
    }

    fn put_back(&mut self, plan: P, absorbed: usize, units: Vec<P::Unit>, complete: bool) {
        self.plan = Some(plan);
        self.absorbed += absorbed;
        self.complete |= complete;
        if self.early.is_none() {
            let first = self.made;
            self.made += units.len();
            self.units.extend(units.into_iter().enumerate().map(|(i, unit)| (first + i, unit)));
        }
    }

    /// Whether nothing will come any more.
    fn is_over(&self) -> bool {
        let absorbed = self.plan.is_some() && !self.answers.contains_key(&self.absorbed);
        self.out == 0 && absorbed && (self.complete || self.early.is_some())
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
