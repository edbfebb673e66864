//! What a search knows of a function so far, whichever strategy plans it: a comparison for each
//! variant, faults, unstable builds and samples for plots. Evaluates and plans nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::Task;
use super::comparison::Comparison;
use super::finish::finish;
use super::probe::EXAMPLES;
use super::survey::free_params;
use super::unit::{Answer, Crowd, PlotSample};
use crate::model::{Budget, FaultKind, FaultRecord, FunctionResult, StopReason};

/// More evaluations than the paper's parameters ask for in practice.
const PAPER_MOST: u64 = 1 << 21;

pub struct Ledger {
    pub task: Task,
    /// One for each variant, in the order of the task's builds.
    pub comparisons: Vec<Comparison>,
    pub faults: BTreeMap<(usize, FaultKind), FaultRecord>,
    pub nondeterministic: BTreeSet<usize>,
    pub plot: Vec<PlotSample>,
    /// Inputs that all variants saw first.
    pub surveyed: u64,
    /// Parameters that are not fixed.
    pub free: usize,
    /// What the answers so far took.
    seconds: f64,
    /// The function is so slow that it gets fewer evaluations than its budget.
    paced: bool,
}

impl Ledger {
    pub fn new(task: Task) -> Ledger {
        Ledger {
            comparisons: (1..task.builds.len()).map(Comparison::new).collect(),
            faults: BTreeMap::new(),
            nondeterministic: BTreeSet::new(),
            plot: Vec::new(),
            surveyed: 0,
            free: free_params(&task),
            seconds: 0.0,
            paced: false,
            task,
        }
    }

    /// Evaluations of each variant that the time left allows, when that is less than the budget. A
    /// power of two, so that a slow function's search is the same on machines of about one speed.
    pub fn affordable(&mut self) -> Option<u64> {
        let spent: u64 = self.comparisons.iter().map(|c| c.evaluations).sum();
        let open = self.open().len().max(1);
        let most = match self.task.settings.budget {
            Budget::Paper => PAPER_MOST,
            Budget::Evaluations(total) => {
                total.saturating_sub(self.comparisons.iter().map(|c| c.evaluations).min().unwrap_or(0))
            }
        };
        if self.seconds <= 0.0 || spent == 0 {
            return None;
        }
        let share = self.task.settings.share_s() * self.comparisons.len() as f64;
        // What timeouts took says nothing about the inputs that are answered, and their number has
        // a limit of its own.
        let timeouts = self.faults.values().filter(|f| f.kind == FaultKind::Timeout).map(|f| f.count);
        // Counts far below 2^53; the quotient is cut to one.
        let waited = timeouts.sum::<u64>() as f64 * self.task.settings.timeout_ms as f64 * 1e-3;
        let answering = (self.seconds - waited).max(self.seconds / 64.0);
        let more = (share - answering).max(0.0) * spent as f64 / answering / open as f64;
        if more >= most as f64 {
            return None;
        }
        self.paced = true;
        let more = more as u64;
        Some(if more < 2 { more } else { 1 << more.ilog2() })
    }

    /// Some comparisons, by index, that see the same inputs in `units` units. Sampling may use up
    /// half of the faults that a build may have; the rest is for looking closer.
    pub fn crowd(&self, members: &[usize], units: u64) -> Crowd {
        let most = u64::from(self.task.settings.max_faults.max(1)).div_ceil(2);
        self.crowd_with(members, |used| most.saturating_sub(used).div_ceil(units.max(1)).max(1))
    }

    /// The same where nothing comes after it: each unit may use up all faults that are left.
    pub fn whole_crowd(&self, members: &[usize]) -> Crowd {
        let most = u64::from(self.task.settings.max_faults.max(1));
        self.crowd_with(members, |used| most.saturating_sub(used))
    }

    fn crowd_with(&self, members: &[usize], left: impl Fn(u64) -> u64) -> Crowd {
        let mut allow = vec![0; self.task.builds.len()];
        for comparison in members.iter().map(|&c| &self.comparisons[c]) {
            for (build, used) in [0, comparison.variant].into_iter().zip(comparison.faults) {
                // At most `max_faults`.
                allow[build] = left(used) as u32;
            }
        }
        Crowd { variants: members.iter().map(|&c| self.comparisons[c].variant).collect(), allow }
    }

    pub fn open(&self) -> Vec<usize> {
        (0..self.comparisons.len()).filter(|&c| self.comparisons[c].is_open()).collect()
    }

    /// Takes in what an answer says of builds; `concerned` tells which comparisons it is about.
    pub fn note(&mut self, answer: &Answer, concerned: impl Fn(usize) -> bool) {
        self.nondeterministic.extend(&answer.nondeterministic);
        self.seconds += answer.seconds;
        self.count_faults(concerned, &answer.faults);
    }

    /// Adds faults to the function's and to each comparison's own count. The baseline's faults in
    /// the units of one variant are no other variant's concern, so that adding a build changes
    /// nothing for the others.
    fn count_faults(&mut self, concerned: impl Fn(usize) -> bool, faults: &[FaultRecord]) {
        for fault in faults {
            for (c, comparison) in self.comparisons.iter_mut().enumerate() {
                let concerned = concerned(c);
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

    pub fn close_comparisons(&mut self) {
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

    /// Why a comparison that nothing stopped has come to its end.
    pub fn end_of(&self, comparison: &Comparison) -> StopReason {
        let paper = self.task.settings.budget == Budget::Paper;
        match (self.paced, comparison.cut) {
            (true, cut) if cut || !paper => StopReason::Pace,
            (_, true) => StopReason::Budget,
            _ => StopReason::Complete,
        }
    }

    /// Everything found.
    pub fn finish(self) -> FunctionResult {
        finish(self)
    }
}
