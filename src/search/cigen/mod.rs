//! CIGEN (Miao, Laguna, Rubio-González, ICS 2024) as phases: survey and strata (section 3.1),
//! clustering (3.2), dense samples, tightening, and last the evolution (3.3) beside the final
//! statistics. The evolution comes after the tightening because a maximum is sought in every range
//! that is reported, and a tight box wastes no member of a population.

mod course;
mod finale;
mod lines;
mod phases;
mod wide;

pub use course::Course;

use super::Task;
use super::agenda::{self, Agenda};
use super::ledger::Ledger;
use super::strategy::Strategy;
use super::unit::{Answer, Harvest, Unit};
use crate::model::{FunctionResult, StopReason};
use crate::ranges::{Range, Sides};

/// How often samples outside all ranges start a tightening of their own.
const STRAY_ROUNDS: usize = 2;
/// How often what a budget has left over is spent on finer strata. Each takes three quarters of it.
const ROUNDS: usize = 4;

/// Where a search is. Strata, tightening and finale come again while much of the budget is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
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
    /// Of ranges that will be joined, the worst input of each is tried on all builds.
    Parts,
    /// Ranges of many orthants are joined, and what they became is measured.
    Widen,
    Done,
}

impl Phase {
    fn next(self, course: Course) -> Phase {
        match self {
            Phase::Survey => Phase::Strata { round: 0 },
            Phase::Strata { round } if course.has_seams() => Phase::Seams { round, close: false },
            Phase::Seams { round, close: false } => Phase::Seams { round, close: true },
            Phase::Strata { round: 0 } | Phase::Seams { round: 0, .. } => Phase::Dense,
            Phase::Strata { round } | Phase::Seams { round, .. } => Phase::Tighten { round, strays: 1 },
            Phase::Dense => Phase::Tighten { round: 0, strays: 0 },
            Phase::Tighten { round, strays } if strays < STRAY_ROUNDS => {
                Phase::Tighten { round, strays: strays + 1 }
            }
            Phase::Tighten { round, .. } => Phase::Finale { round },
            Phase::Finale { round } if round < ROUNDS => Phase::Strata { round: round + 1 },
            Phase::Finale { .. } => Phase::Parts,
            Phase::Parts => Phase::Widen,
            Phase::Widen | Phase::Done => Phase::Done,
        }
    }
}

/// A unit of a phase, and what its answer is for.
type Step = agenda::Planned<Purpose>;

/// Some units of a phase, made when they are asked for.
type Steps = Box<dyn Iterator<Item = Step> + Send>;

/// What the answer to a unit is for. Comparisons and their tracks are named by their indices.
enum Purpose {
    /// Samples of several comparisons.
    Sampling(Vec<usize>),
    /// Uniform samples of a candidate range.
    Dense { comparison: usize, track: usize },
    /// New ranges of an orthant, in the place of a track if there is one.
    Tighten { comparison: usize, sides: Sides, track: Option<usize> },
    /// The statistics of a range that is reported.
    Measure { comparison: usize, track: usize },
    /// A higher maximum in a range that is reported.
    Climb { comparison: usize },
    /// Samples beside seams.
    Seams { comparison: usize },
    /// Samples of several comparisons that must be stored.
    Parts(Vec<usize>),
    /// The statistics of a range of several orthants.
    Wide { comparison: usize, wide: usize },
}

impl Purpose {
    fn concerns(&self, index: usize) -> bool {
        match self {
            Purpose::Sampling(all) | Purpose::Parts(all) => all.contains(&index),
            Purpose::Dense { comparison, .. }
            | Purpose::Tighten { comparison, .. }
            | Purpose::Measure { comparison, .. }
            | Purpose::Climb { comparison }
            | Purpose::Wide { comparison, .. }
            | Purpose::Seams { comparison } => *comparison == index,
        }
    }
}

/// What a round of tightening has made of one comparison, until all answers of the round are there.
#[derive(Clone, Default)]
struct Tightened {
    ranges: Vec<(Sides, Range)>,
    /// The tracks that the ranges stand for, as far as their answers are there.
    replaced: Vec<usize>,
}

pub struct Cigen {
    course: Course,
    ledger: Ledger,
    /// Every input of the domain has been evaluated.
    complete: bool,
    /// The next one.
    phase: Phase,
    /// The units of the phase under way.
    agenda: Agenda<Purpose>,
    /// One for each comparison.
    tightened: Vec<Tightened>,
}

impl Strategy for Cigen {
    fn next_phase(&mut self) -> bool {
        self.ledger.close_comparisons();
        loop {
            let planned: Vec<Steps> = match self.phase {
                Phase::Survey => self.plan_survey(),
                Phase::Strata { round: 0 } => self.plan_strata(),
                Phase::Strata { round } => self.plan_finer_strata(round),
                Phase::Seams { round, close } => self.plan_seams(round, close),
                Phase::Dense => self.plan_dense(),
                Phase::Tighten { round, strays } => self.plan_tighten(round, strays),
                Phase::Finale { .. } => self.plan_finale(),
                Phase::Parts => self.plan_parts(),
                Phase::Widen => self.plan_wide(),
                Phase::Done => return false,
            };
            self.phase = self.phase.next(self.course);
            self.agenda = Agenda::new(planned.into_iter().flatten());
            if !self.agenda.is_done() {
                return true;
            }
        }
    }

    fn next_unit(&mut self) -> Option<Unit> {
        self.agenda.next_unit()
    }

    fn absorb(&mut self, answer: Answer) {
        let Some(purpose) = self.agenda.answered() else { return };
        self.ledger.note(&answer.closing, |c| purpose.concerns(c));
        let seen = match answer.harvest {
            Harvest::Inputs { seen, plot } => {
                // Of too many samples the first stay.
                let at = if matches!(purpose, Purpose::Parts(_)) { 0 } else { self.ledger.plot.len() };
                self.ledger.plot.splice(at..at, plot);
                seen
            }
            Harvest::Strata(seen) => seen,
            Harvest::Variant(seen) => vec![seen],
            Harvest::Tighten { seen, ranges } => {
                if let Purpose::Tighten { comparison, sides, track } = &purpose {
                    let ranges = ranges.into_iter().map(|range| (sides.clone(), range));
                    self.tightened[*comparison].ranges.extend(ranges);
                    self.tightened[*comparison].replaced.extend(track);
                }
                vec![seen]
            }
            // A sweep is never asked for.
            Harvest::Sweep { .. } => Vec::new(),
        };
        // Samples of the last phase lie in their range by construction.
        let keep = !matches!(purpose, Purpose::Measure { .. } | Purpose::Climb { .. });
        for seen in seen {
            if let Purpose::Wide { comparison, wide } = purpose {
                self.ledger.comparisons[comparison].measure_wide(wide, seen);
                continue;
            }
            if let Purpose::Dense { track, .. } | Purpose::Measure { track, .. } = purpose {
                let comparison = self.ledger.comparison(seen.variant);
                comparison.tracks[track].uniform.absorb(&seen.statistics);
            }
            self.ledger.absorb(seen, keep);
        }
    }

    fn finish(mut self: Box<Self>) -> FunctionResult {
        self.ledger.close_comparisons();
        if self.phase != Phase::Done || !self.agenda.is_done() {
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
            tightened: vec![Tightened::default(); ledger.comparisons.len()],
            ledger,
            complete: false,
            phase: Phase::Survey,
            agenda: Agenda::empty(),
        }
    }

    /// Makes ranges of what is there when the driver stops before the last answer.
    fn stop_early(&mut self) {
        let sampling = matches!(
            self.phase,
            Phase::Survey | Phase::Strata { round: 0 } | Phase::Seams { round: 0, .. } | Phase::Dense
        );
        self.adopt_tightened();
        for comparison in self.ledger.comparisons.iter_mut().filter(|c| c.is_open()) {
            comparison.stop = Some(StopReason::Deadline);
            if sampling {
                comparison.find_candidates(&self.ledger.task.settings);
            }
            comparison.cover_strays(&self.ledger.task.function, &self.ledger.task.settings);
        }
    }

    /// Puts the ranges of the last tightening in their places.
    fn adopt_tightened(&mut self) {
        for (comparison, tightened) in self.ledger.comparisons.iter_mut().zip(&mut self.tightened) {
            let Tightened { ranges, replaced } = std::mem::take(tightened);
            comparison.adopt(&replaced, ranges);
        }
    }
}
