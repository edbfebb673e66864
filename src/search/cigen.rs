//! CIGEN (Miao, Laguna, Rubio-González, ICS 2024) as phases: survey and strata (section 3.1),
//! clustering (3.2), dense samples, tightening, and last the evolution (3.3) beside the final
//! statistics. The evolution comes after the tightening because a maximum is sought in every range
//! that is reported, and a tight box wastes no member of a population.

use std::collections::{BTreeMap, BTreeSet};

use super::Task;
use super::budget::Purse;
use super::comparison::{Cluster, Comparison};
use super::finish::finish;
use super::found::keep_best;
use super::probe::EXAMPLES;
use super::sampling::STREAM_BLOCK;
use super::strategy::Strategy;
use super::survey::{free_params, survey};
use super::unit::{
    Answer, Crowd, DenseUnit, EvolveUnit, InputsUnit, PlotSample, StrataUnit, TightenUnit, Unit,
};
use crate::model::{FaultKind, FaultRecord, FunctionResult, StopReason};
use crate::ranges::{Range, Sides};

/// Inputs of one unit: enough to make a message worthwhile, few enough to fill all cores.
const UNIT_INPUTS: u64 = 8192;
const FEWEST_INPUTS: u64 = 1024;
/// Units the islands of one range are spread over, and the fewest islands of one unit: those of a
/// unit build on each other.
const ISLAND_UNITS: u64 = 16;
const FEWEST_ISLANDS: u64 = 6;
/// Consistent samples of the strata that are kept.
const KEPT_MISSES: u64 = 16_384;
/// Samples for plots: regular ones, and as many inconsistent ones.
const PLOT_SAMPLES: u64 = 1000;
/// How often samples outside all ranges start a tightening of their own.
const STRAY_ROUNDS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Survey,
    Strata,
    Dense,
    Tighten(usize),
    Finale,
    Done,
}

/// What the answer to a unit is for.
enum Purpose {
    /// All variants.
    Sampling,
    /// Index of the comparison and of its track.
    Dense(usize, usize),
    Tighten(usize, Sides),
    Measure(usize, usize),
    Evolve(usize, usize),
}

impl Purpose {
    /// The comparison it is for; None for all.
    fn comparison(&self) -> Option<usize> {
        match self {
            Purpose::Sampling => None,
            Purpose::Dense(c, _)
            | Purpose::Tighten(c, _)
            | Purpose::Measure(c, _)
            | Purpose::Evolve(c, _) => Some(*c),
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
    complete: bool,
    phase: Phase,
    purposes: Vec<Purpose>,
    /// Tightened ranges by comparison, until all of a round are there.
    tightened: Vec<Vec<(Sides, Range)>>,
    /// The tracks they stand for.
    replaced: Vec<Vec<usize>>,
    free: usize,
}

impl Strategy for Cigen {
    fn next(&mut self, answers: Vec<Answer>) -> Vec<Unit> {
        self.absorb(answers);
        loop {
            let units = match self.phase {
                Phase::Survey => self.plan_survey(),
                Phase::Strata => self.plan_strata(),
                Phase::Dense => self.plan_dense(),
                Phase::Tighten(round) => self.plan_tighten(round),
                Phase::Finale => self.plan_finale(),
                Phase::Done => return Vec::new(),
            };
            self.phase = match self.phase {
                Phase::Survey => Phase::Strata,
                Phase::Strata => Phase::Dense,
                Phase::Dense => Phase::Tighten(0),
                Phase::Tighten(round) if round < STRAY_ROUNDS => Phase::Tighten(round + 1),
                Phase::Tighten(_) => Phase::Finale,
                Phase::Finale | Phase::Done => Phase::Done,
            };
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
        let sampling = matches!(self.phase, Phase::Survey | Phase::Strata | Phase::Dense);
        for comparison in self.comparisons.iter_mut().filter(|c| c.is_open()) {
            comparison.stop = Some(StopReason::Deadline);
            if sampling {
                comparison.find_candidates(&self.task.settings);
            }
            comparison.cover_strays(&self.task.settings);
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
                let mut keep = true;
                if let Purpose::Measure(_, track) | Purpose::Evolve(_, track) = purpose {
                    keep = false;
                    if let Some(best) = &seen.best {
                        keep_best(&mut comparison.tracks[track].best, best);
                    }
                }
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
                let concerned = purpose.comparison().is_none_or(|own| own == c);
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

    fn crowd(&self) -> Crowd {
        let open = self.comparisons.iter().filter(|c| c.is_open());
        let most = u64::from(self.task.settings.max_faults.max(1));
        let mut allow = vec![0; self.task.builds.len()];
        for comparison in &self.comparisons {
            for (build, used) in [0, comparison.variant].into_iter().zip(comparison.faults) {
                // At most `max_faults`.
                allow[build] = most.saturating_sub(used) as u32;
            }
        }
        Crowd { variants: open.map(|c| c.variant).collect(), allow }
    }

    fn plan_survey(&mut self) -> Vec<Unit> {
        let crowd = self.crowd();
        if crowd.variants.is_empty() || self.task.function.params.is_empty() {
            return Vec::new();
        }
        let plan = survey(&self.task, Purse::new(&self.task.settings, self.free).survey());
        let arity = self.task.function.arity();
        self.surveyed = (plan.inputs.len() / arity) as u64;
        self.complete = plan.complete;
        self.comparisons.iter_mut().for_each(|c| c.cut |= plan.cut);
        let size = self.surveyed.div_ceil(4).clamp(FEWEST_INPUTS, UNIT_INPUTS);
        let count = self.surveyed.div_ceil(size);
        let units: Vec<Unit> = plan
            .inputs
            // A unit's size is at most UNIT_INPUTS, so within usize.
            .chunks(size as usize * arity)
            .enumerate()
            .map(|(i, inputs)| {
                Unit::Inputs(InputsUnit {
                    crowd: crowd.clone(),
                    inputs: inputs.to_vec(),
                    first: i == 0,
                    plot_every: self.surveyed.div_ceil(PLOT_SAMPLES),
                    plot_hits: PLOT_SAMPLES / (count * crowd.variants.len() as u64).max(1),
                })
            })
            .collect();
        self.purposes = units.iter().map(|_| Purpose::Sampling).collect();
        units
    }

    fn plan_strata(&mut self) -> Vec<Unit> {
        let crowd = self.crowd();
        let count = Purse::new(&self.task.settings, self.free).strata(self.surveyed);
        if self.complete || crowd.variants.is_empty() || self.surveyed == 0 {
            return Vec::new();
        }
        let size = (count.div_ceil(8).clamp(FEWEST_INPUTS, UNIT_INPUTS * 2)).next_multiple_of(STREAM_BLOCK);
        let units: Vec<Unit> = (0..count.div_ceil(size))
            .map(|i| {
                Unit::Strata(StrataUnit {
                    crowd: crowd.clone(),
                    from: i * size,
                    to: count.min((i + 1) * size),
                    count,
                    keep_every: count.div_ceil(KEPT_MISSES),
                })
            })
            .collect();
        self.purposes = units.iter().map(|_| Purpose::Sampling).collect();
        units
    }

    fn plan_dense(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        for (c, comparison) in self.comparisons.iter_mut().enumerate() {
            if comparison.stop == Some(StopReason::Nondeterministic) {
                continue;
            }
            comparison.find_candidates(&self.task.settings);
            if !comparison.is_open() || self.complete {
                continue;
            }
            let mut purse = Purse::new(&self.task.settings, self.free);
            let affordable = purse.affordable(comparison.evaluations, comparison.tracks.len() as u64);
            let samples = purse.dense(comparison.evaluations, affordable);
            comparison.cut |= affordable > 0 && purse.cut;
            for track in comparison.most_promising(affordable) {
                for (i, samples) in pieces(samples).enumerate() {
                    let index = (track as u64) << 24 | i as u64;
                    let Range { cuboid, .. } = comparison.tracks[track].range.clone();
                    let spot = comparison.spot(&self.task.settings, &comparison.tracks[track].sides, index);
                    let (phase, keep) = ("dense".into(), true);
                    units.push(Unit::Dense(DenseUnit { spot, phase, cuboid, samples, keep }));
                    self.purposes.push(Purpose::Dense(c, track));
                }
            }
        }
        units
    }

    fn plan_tighten(&mut self, round: usize) -> Vec<Unit> {
        let settings = &self.task.settings;
        let mut units = Vec::new();
        for (c, comparison) in self.comparisons.iter_mut().enumerate() {
            if comparison.stop == Some(StopReason::Nondeterministic) {
                continue;
            }
            if round > 0 {
                let replaced = std::mem::take(&mut self.replaced[c]);
                comparison.settle(&replaced, std::mem::take(&mut self.tightened[c]));
            }
            let clusters = if !comparison.is_open() || !settings.tighten {
                None
            } else if round == 0 {
                let count = comparison.tracks.len() as u64;
                let affordable = Purse::new(settings, self.free).affordable(comparison.evaluations, count);
                self.replaced[c] = comparison.most_promising(affordable);
                Some(comparison.clusters(settings, &self.replaced[c]))
            } else {
                comparison.stray_clusters(settings)
            };
            let Some(clusters) = clusters else { continue };
            let mut purse = Purse::new(settings, self.free);
            let budget = purse.tighten(comparison.evaluations, clusters.len() as u64);
            for (i, Cluster { sides, points, density }) in clusters.into_iter().enumerate() {
                let spot = comparison.spot(settings, &sides, (round as u64) << 32 | i as u64);
                units.push(Unit::Tighten(TightenUnit { spot, hits: points, density, budget }));
                self.purposes.push(Purpose::Tighten(c, sides));
            }
        }
        units
    }

    fn plan_finale(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        for (c, comparison) in self.comparisons.iter_mut().enumerate() {
            comparison.cover_strays(&self.task.settings);
            if !comparison.is_open() {
                continue;
            }
            let settings = &self.task.settings;
            let mut purse = Purse::new(settings, self.free);
            let affordable = purse.affordable(comparison.evaluations, comparison.tracks.len() as u64);
            for track in comparison.most_promising(affordable) {
                let sides = comparison.tracks[track].sides.clone();
                let cuboid = comparison.tracks[track].range.cuboid.clone();
                let dims = cuboid.open_dims().len();
                let finale = purse.finale(comparison.evaluations, affordable, dims);
                let best = comparison.best_in(&comparison.tracks[track]).map(|hit| hit.point.clone());
                for (i, samples) in pieces(finale.measure).enumerate() {
                    let spot = comparison.spot(settings, &sides, (track as u64) << 24 | i as u64);
                    let (phase, cuboid, keep) = ("measure".into(), cuboid.clone(), false);
                    units.push(Unit::Dense(DenseUnit { spot, phase, cuboid, samples, keep }));
                    self.purposes.push(Purpose::Measure(c, track));
                }
                if self.complete || dims == 0 {
                    continue;
                }
                let size = finale.islands.div_ceil(ISLAND_UNITS).max(FEWEST_ISLANDS);
                for from in (0..finale.islands).step_by(size as usize) {
                    units.push(Unit::Evolve(EvolveUnit {
                        spot: comparison.spot(settings, &sides, track as u64),
                        cuboid: cuboid.clone(),
                        best: best.clone(),
                        islands: (from, finale.islands.min(from + size)),
                        generations: finale.generations,
                    }));
                    self.purposes.push(Purpose::Evolve(c, track));
                }
            }
            comparison.cut |= affordable < comparison.tracks.len() as u64 || purse.cut;
        }
        units
    }
}

/// Samples cut into units.
fn pieces(samples: u64) -> impl Iterator<Item = u64> {
    (0..samples.div_ceil(UNIT_INPUTS)).map(move |i| (samples - i * UNIT_INPUTS).min(UNIT_INPUTS))
}
