//! Plans the units of each phase of CIGEN but the last, from what the search knows.

use std::collections::BTreeMap;

use super::{Cigen, Purpose, Step, Steps};
use crate::model::StopReason;
use crate::search::ledger::{Cluster, PhaseBudget};
use crate::search::sample::{STREAM_BLOCK, domain_size, specials, survey};
use crate::search::streams::StreamKey;
use crate::search::unit::{DenseUnit, Spot, StrataUnit, TightenUnit, Unit};

/// Inputs of one unit: enough to make a message worthwhile, few enough to fill all cores.
pub(super) const UNIT_INPUTS: u64 = 8192;
const FEWEST_INPUTS: u64 = 1024;
const SURVEY_UNITS: u64 = 4;
/// Consistent and inconsistent samples of a phase and a variant that are kept, about: a budget
/// decides what is evaluated, this what is remembered.
const KEPT_MISSES: u64 = 16_384;
const KEPT_HITS: u64 = 131_072;
/// Inconsistent samples that a unit returns: few enough for a message, enough to be of use.
const HITS_OF_UNIT: [u64; 2] = [64, 4096];
impl Cigen {
    pub(super) fn plan_survey(&mut self) -> Vec<Steps> {
        let members = self.ledger.open();
        if members.is_empty() || self.ledger.task.function.coordinates.is_empty() {
            return Vec::new();
        }
        let limit = PhaseBudget::new(&self.ledger.task.settings, self.ledger.free, None).survey();
        let mut plan = survey(&self.ledger.task, limit);
        if let Some(most) = self.course.specials(limit).filter(|_| !plan.complete) {
            plan.inputs.extend(specials(&self.ledger.task, most));
            // Of a function that faults a lot only what comes first is evaluated.
            plan.deal(self.ledger.task.function.arity(), SURVEY_UNITS as usize);
        }
        self.complete = plan.complete;
        for comparison in &mut self.ledger.comparisons {
            comparison.cut |= plan.cut;
            comparison.complete = plan.complete;
        }
        let count = (plan.inputs.len() / self.ledger.task.function.arity()) as u64;
        // Units share the faults that sampling may have: with more of them each would stop at its first.
        let size = count.div_ceil(SURVEY_UNITS).max(FEWEST_INPUTS);
        let units = self.ledger.first_units(&members, plan.inputs, size);
        let planned = move |unit| Step { unit, purpose: Purpose::Sampling(members.clone()) };
        vec![Box::new(units.map(planned))]
    }

    pub(super) fn plan_strata(&mut self) -> Vec<Steps> {
        if self.complete || self.ledger.surveyed == 0 {
            return Vec::new();
        }
        // Comparisons that can afford as much share inputs.
        let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for c in self.ledger.open() {
            let settings = &self.ledger.task.settings;
            let comparison = &mut self.ledger.comparisons[c];
            let count = comparison.next_budget(settings, self.ledger.free).strata(self.ledger.surveyed);
            if count > 0 && !comparison.is_shy(settings) {
                groups.entry(domain_size(&self.ledger.task, count).min(count)).or_default().push(c);
            }
        }
        groups.into_iter().flat_map(|(count, members)| self.strata(&members, 0, 0, count)).collect()
    }

    /// Spends what the comparisons have left over on finer strata: what is found now are regions
    /// that everything before was too coarse for. Comparisons that have as much left share inputs.
    pub(super) fn plan_finer_strata(&mut self, round: usize) -> Vec<Steps> {
        let mut groups: BTreeMap<(u64, u64, u64), Vec<usize>> = BTreeMap::new();
        for c in self.ledger.open() {
            let settings = &self.ledger.task.settings;
            let comparison = &mut self.ledger.comparisons[c];
            let spent = comparison.evaluations;
            let count = comparison.next_budget(settings, self.ledger.free).finer_strata(spent);
            // A domain with fewer values than that holds no finer regions.
            let small = domain_size(&self.ledger.task, comparison.evaluations) <= comparison.evaluations;
            if count > 0 && !self.complete && !small && !comparison.is_shy(&self.ledger.task.settings) {
                groups.entry((count, comparison.evaluations, comparison.faults[0])).or_default().push(c);
            }
        }
        let plan = |((count, spent, _), members): (_, Vec<usize>)| self.strata(&members, round, spent, count);
        groups.into_iter().flat_map(plan).collect()
    }

    /// Units of evenly spread inputs, some of them of the magnitudes that people use.
    fn strata(&mut self, members: &[usize], round: usize, base: u64, count: u64) -> [Steps; 2] {
        let usual = self.course.usual_strata(count, self.ledger.free);
        [
            self.even_units(members, round, base, count - usual, false),
            self.even_units(members, round, base, usual, true),
        ]
    }

    fn even_units(&self, members: &[usize], round: usize, base: u64, count: u64, usual: bool) -> Steps {
        let size = (count.div_ceil(8).clamp(FEWEST_INPUTS, UNIT_INPUTS * 2)).next_multiple_of(STREAM_BLOCK);
        let units = count.div_ceil(size);
        let crowd = self.ledger.crowd(members, units);
        let unit = move |i: u64| StrataUnit {
            crowd: crowd.clone(),
            round: round as u64,
            base,
            from: i * size,
            to: count.min((i + 1) * size),
            count,
            usual,
            keep_every: count.div_ceil(KEPT_MISSES),
            keep_hits: hits_of_unit(units),
        };
        let members = members.to_vec();
        let purpose = move || Purpose::Sampling(members.clone());
        Box::new((0..units).map(move |i| Step { unit: Unit::Strata(unit(i)), purpose: purpose() }))
    }

    pub(super) fn plan_dense(&mut self) -> Vec<Steps> {
        let mut planned: Vec<Steps> = Vec::new();
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate() {
            if comparison.stop == Some(StopReason::Nondeterministic) {
                continue;
            }
            comparison.find_candidates(&self.ledger.task.settings);
            if !comparison.is_open() || self.complete || comparison.is_shy(&self.ledger.task.settings) {
                continue;
            }
            let settings = &self.ledger.task.settings;
            let mut budget = comparison.next_budget(settings, self.ledger.free);
            let all: Vec<usize> = (0..comparison.tracks.len()).collect();
            let affordable = budget.limit_ranges(comparison.evaluations, all.len() as u64);
            let samples = budget.dense(comparison.evaluations, affordable);
            comparison.cut |= affordable > 0 && budget.cut;
            let keep = hits_of_unit(affordable * samples.div_ceil(UNIT_INPUTS));
            for track in comparison.most_promising(all, affordable) {
                let cuboid = comparison.tracks[track].range.cuboid.clone();
                let spot = comparison.spot(settings, &comparison.tracks[track].sides, affordable);
                planned.push(Box::new(pieces(samples).map(move |(piece, samples)| {
                    let stream = StreamKey::Dense { range: track as u64, piece };
                    let (spot, cuboid) = (spot.clone(), cuboid.clone());
                    let unit = Unit::Dense(DenseUnit { spot, stream, cuboid, samples, keep });
                    Step { unit, purpose: Purpose::Dense { comparison: c, track } }
                })));
            }
        }
        planned
    }

    pub(super) fn plan_tighten(&mut self, round: usize, strays: usize) -> Vec<Steps> {
        self.adopt_tightened();
        let settings = &self.ledger.task.settings;
        let mut planned: Vec<Steps> = Vec::new();
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate() {
            if !comparison.is_open() || !settings.tighten {
                continue;
            }
            let mut budget = comparison.next_budget(settings, self.ledger.free);
            let clusters = if strays == 0 {
                let all: Vec<usize> = (0..comparison.tracks.len()).collect();
                let affordable = budget.limit_ranges(comparison.evaluations, all.len() as u64);
                let chosen = comparison.most_promising(all, affordable);
                Some(comparison.clusters(settings, &chosen))
            } else {
                comparison.stray_clusters(settings)
            };
            let Some(clusters) = clusters else { continue };
            let count = clusters.len() as u64;
            let budget = budget.tighten(comparison.evaluations, count);
            let allow = comparison.allowance(settings, count);
            let variant = comparison.variant;
            let units = clusters.into_iter().zip(0..).map(move |(found, cluster)| {
                let Cluster { sides, points, density, track } = found;
                let stream = StreamKey::Tighten { round: round as u64, strays: strays as u64, cluster };
                let spot = Spot { variant, allow, sides: sides.clone() };
                let unit = Unit::Tighten(TightenUnit { spot, stream, hits: points, density, budget });
                Step { unit, purpose: Purpose::Tighten { comparison: c, sides, track } }
            });
            planned.push(Box::new(units));
        }
        planned
    }
}

/// Samples cut into units: their numbers and sizes.
pub(super) fn pieces(samples: u64) -> impl Iterator<Item = (u64, u64)> + Send {
    (0..samples.div_ceil(UNIT_INPUTS)).map(move |i| (i, (samples - i * UNIT_INPUTS).min(UNIT_INPUTS)))
}

fn hits_of_unit(units: u64) -> u64 {
    (KEPT_HITS / units.max(1)).clamp(HITS_OF_UNIT[0], HITS_OF_UNIT[1])
}
