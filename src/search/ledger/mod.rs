//! What a search knows of a function so far, whichever strategy plans it: a comparison for each
//! variant, faults, unstable builds and samples for plots; and the first units, which are the same for all.

mod budget;
mod candidates;
mod comparison;
mod finish;
mod points;
mod thin;
mod wide;
mod worst;

pub use budget::{Finale, MOST_SEAMS, PhaseBudget};
pub use candidates::Cluster;
pub use comparison::{Comparison, Hit, Pool};

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Budget, FaultKind, FaultRecord, FunctionResult, StopReason};
use crate::search::Task;
use crate::search::evaluate::{Closing, EXAMPLES, Spread};
use crate::search::sample::free_params;
use crate::search::task::column;
use crate::search::unit::{Crowd, InputsUnit, PlotSample, Seen, Unit};
use finish::finish;

/// Samples for plots: regular ones, and as many inconsistent ones.
const PLOT_SAMPLES: u64 = 1000;

pub struct Ledger {
    pub task: Task,
    /// One for each variant, in the order of the task's builds.
    pub comparisons: Vec<Comparison>,
    pub faults: BTreeMap<(usize, FaultKind), FaultRecord>,
    pub nondeterministic: BTreeSet<usize>,
    pub plot: Vec<PlotSample>,
    /// The baseline's answers.
    pub spread: Spread,
    /// Inputs that all variants saw first.
    pub surveyed: u64,
    /// Parameters that are not fixed.
    pub free: usize,
}

impl Ledger {
    pub fn new(task: Task) -> Ledger {
        Ledger {
            comparisons: task.variants().map(Comparison::new).collect(),
            faults: BTreeMap::new(),
            nondeterministic: BTreeSet::new(),
            plot: Vec::new(),
            spread: Spread::default(),
            surveyed: 0,
            free: free_params(&task),
            task,
        }
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

    /// The units of the inputs that some comparisons see first, `size` inputs each.
    pub fn first_units(
        &mut self,
        members: &[usize],
        inputs: Vec<u64>,
        size: u64,
    ) -> impl Iterator<Item = Unit> + Send + use<> {
        let arity = self.task.function.arity();
        self.surveyed = (inputs.len() / arity) as u64;
        // A unit holds thousands of inputs, so within usize.
        let words = size as usize * arity;
        let count = inputs.len().div_ceil(words) as u64;
        let crowd = self.crowd(members, count);
        let plot_every = self.surveyed.div_ceil(PLOT_SAMPLES);
        let plot_hits = PLOT_SAMPLES / (count * members.len() as u64).max(1);
        (0..inputs.len()).step_by(words).map(move |from| {
            let inputs = inputs[from..inputs.len().min(from + words)].to_vec();
            Unit::Inputs(InputsUnit { crowd: crowd.clone(), inputs, first: from == 0, plot_every, plot_hits })
        })
    }

    /// The comparisons that nothing has stopped.
    pub fn open(&self) -> Vec<usize> {
        (0..self.comparisons.len()).filter(|&c| self.comparisons[c].is_open()).collect()
    }

    /// The comparison of the baseline with a variant.
    pub fn comparison(&mut self, variant: usize) -> &mut Comparison {
        &mut self.comparisons[column(variant)]
    }

    /// Takes in what a unit saw of a variant; with `keep` also the samples themselves, not only their numbers.
    pub fn absorb(&mut self, seen: Seen, keep: bool) {
        let comparison = &mut self.comparisons[column(seen.variant)];
        comparison.absorb(&self.task.function, seen, keep);
        // The paper's parameters are a bound of their own.
        if self.task.settings.budget != Budget::Paper {
            comparison.bound_samples();
        }
    }

    /// Takes in how builds behaved during a unit; `concerned` tells which comparisons the unit is about.
    pub fn note(&mut self, closing: &Closing, concerned: impl Fn(usize) -> bool) {
        self.nondeterministic.extend(&closing.nondeterministic);
        let Task { function, settings, .. } = &self.task;
        self.spread.absorb(&function.results, settings.nan, &closing.spread);
        for (_, comparison) in self.comparisons.iter_mut().enumerate().filter(|(c, _)| concerned(*c)) {
            let of = |build: usize| closing.seconds.get(build).copied().unwrap_or(0.0);
            comparison.seconds += of(0) + of(comparison.variant);
        }
        self.count_faults(concerned, &closing.faults);
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

    /// Everything found.
    pub fn finish(mut self) -> FunctionResult {
        let Task { function, settings, .. } = &self.task;
        for comparison in &mut self.comparisons {
            comparison.settle(function, settings);
        }
        finish(self)
    }
}
