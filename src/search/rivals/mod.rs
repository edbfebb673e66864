//! The frame of the sequential algorithms: special values on all variants, then one walk for each
//! variant with the rest of its budget, then ranges around what was found. Nothing is tightened
//! and nothing is measured afterwards: the budget is the algorithm's own.

mod bgrt;
mod ga;
mod gene;
mod hsed;
mod keepsake;
mod layers;
mod lsga;
mod mcmc;
mod random;
mod walk;

pub use walk::{WalkUnit, run as run_walk};

use crate::model::{Budget, FunctionResult, StopReason};
use crate::search::Task;
use crate::search::agenda::{Agenda, Planned};
use crate::search::ledger::Ledger;
use crate::search::sample::{domain_size, specials, survey};
use crate::search::strategy::Strategy;
use crate::search::unit::{Answer, Harvest, Unit};

/// One part in so many of a budget goes to special values, at most.
const SPECIAL_SHARE: u64 = 20;
/// Inputs of one unit of special values, or of a domain that is searched completely.
const UNIT_INPUTS: u64 = 8192;
/// Most inputs of a domain that is searched completely instead of walked.
const MOST_LISTED: u64 = 1 << 18;

/// What CIGEN with the paper's parameters costs for so many free parameters, about.
pub fn evaluations_of_paper(free: usize) -> u64 {
    5000 << free.saturating_sub(1).min(8)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RivalPhase {
    Specials,
    Walk,
    Done,
}

pub struct Rival {
    ledger: Ledger,
    phase: RivalPhase,
    /// The units of the running phase, with the comparisons each is about.
    agenda: Agenda<Vec<usize>>,
    /// Every input of the domain is a special one.
    complete: bool,
}

impl Strategy for Rival {
    fn next_phase(&mut self) -> bool {
        self.ledger.close_comparisons();
        loop {
            self.agenda = match self.phase {
                RivalPhase::Specials => self.plan_specials(),
                RivalPhase::Walk => self.plan_walks(),
                RivalPhase::Done => return false,
            };
            self.phase = match self.phase {
                RivalPhase::Specials => RivalPhase::Walk,
                RivalPhase::Walk | RivalPhase::Done => RivalPhase::Done,
            };
            if !self.agenda.is_done() {
                return true;
            }
        }
    }

    fn next_unit(&mut self) -> Option<Unit> {
        self.agenda.next_unit()
    }

    fn absorb(&mut self, answer: Answer) {
        let Some(concerned) = self.agenda.answered() else { return };
        self.ledger.note(&answer.closing, |c| concerned.contains(&c));
        let seen = match answer.harvest {
            Harvest::Inputs { seen, plot } => {
                self.ledger.plot.extend(plot);
                seen
            }
            Harvest::Variant(seen) => vec![seen],
            // Nothing else was asked for.
            Harvest::Strata(_) | Harvest::Tighten { .. } | Harvest::Sweep { .. } => Vec::new(),
        };
        for seen in seen {
            self.ledger.absorb(seen, true);
        }
    }

    fn finish(mut self: Box<Self>) -> FunctionResult {
        self.ledger.close_comparisons();
        let stopped = self.phase != RivalPhase::Done || !self.agenda.is_done();
        for comparison in self.ledger.comparisons.iter_mut() {
            if stopped && comparison.is_open() {
                comparison.stop = Some(StopReason::Deadline);
            }
            // A walk that ran out of time is told from one that ran out of budget.
            comparison.note_pace(&self.ledger.task.settings);
            comparison.find_candidates(&self.ledger.task.settings);
            comparison.cover_strays(&self.ledger.task.function, &self.ledger.task.settings);
        }
        self.ledger.finish()
    }
}

impl Rival {
    pub fn new(task: Task) -> Rival {
        let ledger = Ledger::new(task);
        Rival { ledger, phase: RivalPhase::Specials, agenda: Agenda::empty(), complete: false }
    }

    /// Evaluations of each variant.
    fn total(&self) -> u64 {
        match self.ledger.task.settings.budget {
            Budget::Paper => evaluations_of_paper(self.ledger.free),
            Budget::Evaluations(total) => total,
        }
    }

    fn plan_specials(&mut self) -> Agenda<Vec<usize>> {
        let members = self.ledger.open();
        let task = &self.ledger.task;
        if members.is_empty() || task.function.coordinates.is_empty() {
            return Agenda::empty();
        }
        let total = self.total();
        self.complete = domain_size(task, total) <= total.min(MOST_LISTED);
        let inputs = if self.complete {
            survey(task, Some(total)).inputs
        } else {
            specials(task, usize::try_from(total / SPECIAL_SHARE).unwrap_or(usize::MAX))
        };
        let units = self.ledger.first_units(&members, inputs, UNIT_INPUTS);
        Agenda::new(units.map(move |unit| Planned { unit, purpose: members.clone() }))
    }

    fn plan_walks(&mut self) -> Agenda<Vec<usize>> {
        let total = self.total();
        let cut = total < evaluations_of_paper(self.ledger.free);
        let mut planned = Vec::new();
        if self.complete || self.ledger.free == 0 {
            return Agenda::empty();
        }
        for c in self.ledger.open() {
            let comparison = &mut self.ledger.comparisons[c];
            let task = &self.ledger.task;
            let allow = task.allowances(comparison.variant, comparison.allowance(&task.settings, 1));
            comparison.cut |= cut;
            let evaluations = total.saturating_sub(comparison.evaluations);
            if evaluations > 0 {
                let unit = Unit::Walk(WalkUnit { variant: comparison.variant, allow, evaluations });
                planned.push(Planned { unit, purpose: vec![c] });
            }
        }
        Agenda::new(planned.into_iter())
    }
}
