//! Jobs on their way through threads: order, deadlines, failures, how far ahead units are made.

use super::*;
use std::sync::Mutex;

/// Three phases; a phase's units are made from the sum of the answers before it.
struct Sums {
    seed: u64,
    phase: u64,
    /// Units of a phase, and how many of them are left.
    size: u64,
    left: u64,
    base: u64,
    log: Vec<Vec<u64>>,
}

impl Sums {
    fn new(seed: u64, size: u64) -> Sums {
        Sums { seed, phase: 0, size, left: 0, base: 0, log: vec![Vec::new()] }
    }
}

impl Plan for Sums {
    type Unit = u64;
    type Answer = u64;

    fn next_phase(&mut self) -> bool {
        self.phase += 1;
        let answers = self.log.last().unwrap();
        self.base = self.seed + answers.iter().zip(1..).map(|(a, i)| i * a).sum::<u64>();
        if self.phase > 3 {
            return false;
        }
        self.left = self.size;
        self.log.push(Vec::new());
        true
    }

    fn next_unit(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        Some(self.base + self.size - 1 - self.left)
    }

    fn absorb(&mut self, answer: u64) {
        self.log.last_mut().unwrap().push(answer);
    }
}

type Outcome = (usize, Vec<Vec<u64>>, Option<Early>);

fn run(threads: usize, deadline: Option<Duration>, work: fn(u64) -> Result<u64, Early>) -> Vec<Outcome> {
    run_phases_of(5, threads, deadline, work)
}

fn run_phases_of(
    size: u64,
    threads: usize,
    deadline: Option<Duration>,
    work: fn(u64) -> Result<u64, Early>,
) -> Vec<Outcome> {
    let schedule = Schedule::<Sums>::new(7, 3);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    match schedule.turn(&|| false) {
                        Turn::Begin(job) => {
                            schedule.begin(job, Some(Sums::new(job as u64, size)), deadline);
                        }
                        Turn::Unit { job, index, unit, .. } => schedule.answer(job, index, work(unit)),
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

#[test]
fn a_deadline_keeps_the_answers_that_are_there() {
    let slow = |unit: u64| {
        std::thread::sleep(Duration::from_micros(100));
        Ok(unit)
    };
    for (job, log, early) in run_phases_of(1_000_000, 2, Some(Duration::from_millis(20)), slow) {
        assert_eq!((early, log.len()), (Some(Early::Deadline), 2), "job {job}");
        let units = log[1].len() as u64;
        assert_eq!(log[1], (job as u64..job as u64 + units).collect::<Vec<u64>>());
    }
}

#[test]
fn units_are_made_a_few_ahead_of_answers() {
    let mut running = Running::new(Sums::new(0, 1_000_000), None);
    let advance = |running: &mut Running<Sums>| {
        let (mut plan, answers, room) = running.take().unwrap();
        let absorbed = answers.len();
        answers.into_iter().for_each(|answer| plan.absorb(answer));
        let (units, complete) = room.unwrap().fill(&mut plan);
        running.put_back(plan, absorbed, units, complete);
    };
    advance(&mut running);
    assert_eq!(running.units.len(), AHEAD);
    // The first unit takes long: its answer comes last.
    let taken: Vec<(usize, u64)> = running.units.drain(..).collect();
    for &(index, unit) in &taken[1..] {
        running.answers.insert(index, unit);
        assert!(running.take().is_none());
    }
    running.answers.insert(0, taken[0].1);
    advance(&mut running);
    assert_eq!((running.answers.len(), running.absorbed, running.units.len()), (0, AHEAD, AHEAD));
}
