//! CIGEN (Miao, Laguna, Rubio-González, ICS 2024) as phases: survey and strata (section 3.1),
//! clustering (3.2), dense samples, tightening, and last the evolution (3.3) beside the final
//! statistics. The evolution comes after the tightening because a maximum is sought in every range
//! that is reported, and a tight box wastes no member of a population.

use std::collections::{BTreeMap, BTreeSet};

use super::Task;
use super::comparison::Comparison;
use super::finish::finish;
use super::probe::EXAMPLES;
use super::strategy::Strategy;
use super::survey::free_params;
use super::unit::{Answer, PlotSample, Unit};
use crate::model::{FaultKind, FaultRecord, FunctionResult, StopReason};
use crate::ranges::{Range, Sides};

/// How often samples outside all ranges start a tightening of their own.
const STRAY_ROUNDS: usize = 2;
/// How often what a budget has left over is spent on finer strata. Each takes three quarters of it.
const ROUNDS: usize = 4;

/// Where a search is. Strata, tightening and finale come again while much of the budget is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Survey,
    Strata { round: usize },
    Dense,
    Tighten { round: usize, strays: usize },
    Finale { round: usize },
    Done,
}

impl Phase {
    fn next(self) -> Phase {
        match self {
            Phase::Survey => Phase::Strata { round: 0 },
            Phase::Strata { round: 0 } => Phase::Dense,
            Phase::Strata { round } => Phase::Tighten { round, strays: 1 },
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
}

impl Purpose {
    fn concerns(&self, comparison: usize) -> bool {
        match self {
            Purpose::Sampling(all) => all.contains(&comparison),
            Purpose::Dense(c, _) | Purpose::Tighten(c, _) | Purpose::Measure(c, _) | Purpose::Evolve(c) => {
                *c == comparison
            }
        }
    }
}

pub struct Cigen {
    pub(super) task: Task,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) faults: BTreeMap<(usize, FaultKind), FaultRecord>,
    pub(super) nondeterministic: BTreeSet<usize>,
    pub(super) plot: Vec<PlotSample>,
    /// Inputs of the survey.
    pub(super) surveyed: u64,
    /// Every input of the domain has been evaluated.
    pub(super) complete: bool,
    phase: Phase,
    pub(super) purposes: Vec<Purpose>,
    /// Tightened ranges by comparison, until all of a round are there.
    pub(super) tightened: Vec<Vec<(Sides, Range)>>,
    /// The tracks they stand for.
    pub(super) replaced: Vec<Vec<usize>>,
    pub(super) free: usize,
}

impl Strategy for Cigen {
    fn next(&mut self, answers: Vec<Answer>) -> Vec<Unit> {
        self.absorb(answers);
        loop {
            let units = match self.phase {
                Phase::Survey => self.plan_survey(),
                Phase::Strata { round: 0 } => self.plan_strata(),
                Phase::Strata { round } => self.plan_finer_strata(round),
                Phase::Dense => self.plan_dense(),
                Phase::Tighten { round, strays } => self.plan_tighten(round, strays),
                Phase::Finale { .. } => self.plan_finale(),
                Phase::Done => return Vec::new(),
            };
            self.phase = self.phase.next();
            if !units.is_empty() {
                return units;
            }
        }
    }

    fn finish(mut self: Box<Self>) -> FunctionResult {
        if self.phase != Phase::Done || !self.purposes.is_empty() {
            self.stop_early();
        }
        finish(*self)
    }
}

impl Cigen {
    pub fn new(task: Task) -> Cigen {
        let comparisons: Vec<Comparison> = (1..task.builds.len()).map(Comparison::new).collect();
        Cigen {
            tightened: comparisons.iter().map(|_| Vec::new()).collect(),
            replaced: comparisons.iter().map(|_| Vec::new()).collect(),
            comparisons,
            faults: BTreeMap::new(),
            nondeterministic: BTreeSet::new(),
            plot: Vec::new(),
            surveyed: 0,
            complete: false,
            phase: Phase::Survey,
            purposes: Vec::new(),
            free: free_params(&task),
            task,
        }
    }

    /// Makes ranges of what is there when the driver stops between two phases.
    fn stop_early(&mut self) {
        let sampling = matches!(self.phase, Phase::Survey | Phase::Strata { round: 0 } | Phase::Dense);
        self.settle();
        for comparison in self.comparisons.iter_mut().filter(|c| c.is_open()) {
            comparison.stop = Some(StopReason::Deadline);
            if sampling {
                comparison.find_candidates(&self.task.settings);
            }
            comparison.cover_strays(&self.task.function, &self.task.settings);
        }
    }

    /// Puts the ranges of the last tightening in their places.
    pub(super) fn settle(&mut self) {
        for (c, comparison) in self.comparisons.iter_mut().enumerate() {
            let replaced = std::mem::take(&mut self.replaced[c]);
            comparison.settle(&replaced, std::mem::take(&mut self.tightened[c]));
        }
    }

    fn absorb(&mut self, answers: Vec<Answer>) {
        let purposes = std::mem::take(&mut self.purposes);
        for (purpose, answer) in purposes.into_iter().zip(answers) {
            self.nondeterministic.extend(&answer.nondeterministic);
            self.plot.extend(answer.plot);
            self.count_faults(&purpose, &answer.faults);
            if let Purpose::Tighten(c, sides) = &purpose {
                self.tightened[*c].extend(answer.ranges.into_iter().map(|range| (sides.clone(), range)));
            }
            for seen in answer.seen {
                let comparison = &mut self.comparisons[seen.variant - 1];
                if let Purpose::Dense(_, track) | Purpose::Measure(_, track) = purpose {
                    comparison.tracks[track].uniform.absorb(&seen.statistics);
                }
                // Samples of the last phase lie in their range by construction.
                let keep = !matches!(purpose, Purpose::Measure(..) | Purpose::Evolve(_));
                comparison.absorb(&self.task.function, seen, keep);
            }
        }
        self.close_comparisons();
    }

    /// Adds faults to the function's and to each comparison's own count. The baseline's faults in
    /// the units of one variant are no other variant's concern, so that adding a build changes
    /// nothing for the others.
    fn count_faults(&mut self, purpose: &Purpose, faults: &[FaultRecord]) {
        for fault in faults {
            for (c, comparison) in self.comparisons.iter_mut().enumerate() {
                let concerned = purpose.concerns(c);
                if concerned && fault.build == 0 {
                    comparison.faults[0] += fault.count;
                } else if concerned && fault.build == comparison.variant {
                    comparison.faults[1] += fault.count;
                }
            }
            let record = self.faults.entry((fault.build, fault.kind)).or_insert_with(|| FaultRecord {
                count: 0,
                examples: Vec::new(),
                ..fault.clone()
            });
            record.count += fault.count;
            let room = EXAMPLES.saturating_sub(record.examples.len());
            record.examples.extend(fault.examples.iter().take(room).cloned());
        }
    }

    fn close_comparisons(&mut self) {
        let most = u64::from(self.task.settings.max_faults.max(1));
        for comparison in &mut self.comparisons {
            let unstable = [0, comparison.variant].iter().any(|b| self.nondeterministic.contains(b));
            if unstable {
                comparison.stop = Some(StopReason::Nondeterministic);
            } else if comparison.is_open() && comparison.faults.iter().any(|&f| f >= most) {
                comparison.stop = Some(StopReason::Faults);
            }
        }
    }
}
