//! CIGEN (Miao, Laguna, Rubio-González, ICS 2024) as phases: survey and strata (section 3.1),
//! clustering (3.2), dense samples, tightening, and last the evolution (3.3) beside the final
//! statistics. The evolution comes after the tightening because a maximum is sought in every range
//! that is reported, and a tight box wastes no member of a population.

use super::Task;
use super::ledger::Ledger;
use super::strategy::Strategy;
use super::unit::{Answer, Unit};
use crate::model::{FunctionResult, StopReason};
use crate::ranges::{Range, Sides};

/// How often samples outside all ranges start a tightening of their own.
const STRAY_ROUNDS: usize = 2;
/// How often what a budget has left over is spent on finer strata. Each takes three quarters of it.
const ROUNDS: usize = 4;

/// Where a search is. Strata, tightening and finale come again while much of the budget is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Survey,
    Strata {
        round: usize,
    },
    /// First along lines through the whole domain, then close to the best samples.
    Seams {
        round: usize,
        close: bool,
    },
    Dense,
    Tighten {
        round: usize,
        strays: usize,
    },
    Finale {
        round: usize,
    },
    Done,
}

/// Which algorithm's phases a search goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// CIGEN's own, and the tightening.
    Cigen,
    /// The default: also special values from the sources, and seams.
    Auto,
}

impl Phase {
    fn next(self, course: Course) -> Phase {
        match self {
            Phase::Survey => Phase::Strata { round: 0 },
            Phase::Strata { round } if course == Course::Auto => Phase::Seams { round, close: false },
            Phase::Seams { round, close: false } => Phase::Seams { round, close: true },
            Phase::Strata { round: 0 } | Phase::Seams { round: 0, .. } => Phase::Dense,
            Phase::Strata { round } | Phase::Seams { round, .. } => Phase::Tighten { round, strays: 1 },
            Phase::Dense => Phase::Tighten { round: 0, strays: 0 },
            Phase::Tighten { round, strays } if strays < STRAY_ROUNDS => {
                Phase::Tighten { round, strays: strays + 1 }
            }
            Phase::Tighten { round, .. } => Phase::Finale { round },
            Phase::Finale { round } if round < ROUNDS => Phase::Strata { round: round + 1 },
            Phase::Finale { .. } | Phase::Done => Phase::Done,
        }
    }
}

/// What the answer to a unit is for. Numbers are indices of comparisons and of their tracks.
pub(super) enum Purpose {
    Sampling(Vec<usize>),
    Dense(usize, usize),
    Tighten(usize, Sides),
    Measure(usize, usize),
    Evolve(usize),
    Seams(usize),
}

impl Purpose {
    fn concerns(&self, comparison: usize) -> bool {
        match self {
            Purpose::Sampling(all) => all.contains(&comparison),
            Purpose::Dense(c, _)
            | Purpose::Tighten(c, _)
            | Purpose::Measure(c, _)
            | Purpose::Evolve(c)
            | Purpose::Seams(c) => *c == comparison,
        }
    }
}

pub struct Cigen {
    pub(super) course: Course,
    pub(super) ledger: Ledger,
    /// Every input of the domain has been evaluated.
    pub(super) complete: bool,
    phase: Phase,
    pub(super) purposes: Vec<Purpose>,
    /// Tightened ranges by comparison, until all of a round are there.
    pub(super) tightened: Vec<Vec<(Sides, Range)>>,
    /// The tracks they stand for.
    pub(super) replaced: Vec<Vec<usize>>,
}

impl Strategy for Cigen {
    fn next(&mut self, answers: Vec<Answer>) -> Vec<Unit> {
        self.absorb(answers);
        loop {
            let units = match self.phase {
                Phase::Survey => self.plan_survey(),
                Phase::Strata { round: 0 } => self.plan_strata(),
                Phase::Strata { round } => self.plan_finer_strata(round),
                Phase::Seams { round, close } => self.plan_seams(round, close),
                Phase::Dense => self.plan_dense(),
                Phase::Tighten { round, strays } => self.plan_tighten(round, strays),
                Phase::Finale { .. } => self.plan_finale(),
                Phase::Done => return Vec::new(),
            };
            self.phase = self.phase.next(self.course);
            if !units.is_empty() {
                return units;
            }
        }
    }

    fn finish(mut self: Box<Self>) -> FunctionResult {
        if self.phase != Phase::Done || !self.purposes.is_empty() {
            self.stop_early();
        }
        self.ledger.finish()
    }
}

impl Cigen {
    pub fn new(task: Task, course: Course) -> Cigen {
        let ledger = Ledger::new(task);
        Cigen {
            course,
            tightened: ledger.comparisons.iter().map(|_| Vec::new()).collect(),
            replaced: ledger.comparisons.iter().map(|_| Vec::new()).collect(),
            ledger,
            complete: false,
            phase: Phase::Survey,
            purposes: Vec::new(),
        }
    }

    /// Makes ranges of what is there when the driver stops between two phases.
    fn stop_early(&mut self) {
        let sampling = matches!(
            self.phase,
            Phase::Survey | Phase::Strata { round: 0 } | Phase::Seams { round: 0, .. } | Phase::Dense
        );
        self.settle();
        for comparison in self.ledger.comparisons.iter_mut().filter(|c| c.is_open()) {
            comparison.stop = Some(StopReason::Deadline);
            if sampling {
                comparison.find_candidates(&self.ledger.task.settings);
            }
            comparison.cover_strays(&self.ledger.task.function, &self.ledger.task.settings);
        }
    }

    /// Puts the ranges of the last tightening in their places.
    pub(super) fn settle(&mut self) {
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate() {
            let replaced = std::mem::take(&mut self.replaced[c]);
            comparison.settle(&replaced, std::mem::take(&mut self.tightened[c]));
        }
    }

    fn absorb(&mut self, answers: Vec<Answer>) {
        let purposes = std::mem::take(&mut self.purposes);
        for (purpose, answer) in purposes.into_iter().zip(answers) {
            self.ledger.note(&answer, |c| purpose.concerns(c));
            self.ledger.plot.extend(answer.plot);
            if let Purpose::Tighten(c, sides) = &purpose {
                self.tightened[*c].extend(answer.ranges.into_iter().map(|range| (sides.clone(), range)));
            }
            for seen in answer.seen {
                let comparison = &mut self.ledger.comparisons[seen.variant - 1];
                if let Purpose::Dense(_, track) | Purpose::Measure(_, track) = purpose {
                    comparison.tracks[track].uniform.absorb(&seen.statistics);
                }
                // Samples of the last phase lie in their range by construction.
                let keep = !matches!(purpose, Purpose::Measure(..) | Purpose::Evolve(_));
                comparison.absorb(&self.ledger.task.function, seen, keep);
            }
        }
        self.ledger.close_comparisons();
    }
}
