//! Plans the units of each phase of CIGEN from what the search knows; `cigen` says which phase is
//! next and takes in the answers.

use std::collections::BTreeMap;

use super::auto::{Extras, KEPT, ZOOM, divide, lines_of};
use super::budget::Purse;
use super::cigen::{Cigen, Course, Purpose};
use super::comparison::Cluster;
use super::sampling::STREAM_BLOCK;
use super::specials::specials;
use super::survey::{domain_size, survey};
use super::unit::{DenseUnit, EvolveUnit, SeamUnit, StrataUnit, TightenUnit, Unit, ZoomUnit};
use crate::model::StopReason;
use crate::ranges::Range;

/// Inputs of one unit: enough to make a message worthwhile, few enough to fill all cores.
const UNIT_INPUTS: u64 = 8192;
const FEWEST_INPUTS: u64 = 1024;
const SURVEY_UNITS: u64 = 4;
/// Units the islands of one range are spread over if they are not too long for that. Islands of a
/// unit build on each other, so that too few of them are of less use.
const ISLAND_UNITS: u64 = 16;
const FEWEST_ISLANDS: u64 = 6;
const MOST_ISLANDS: u64 = 16;
/// Consistent and inconsistent samples of a phase and a variant that are kept, about: a budget
/// decides what is evaluated, this what is remembered.
const KEPT_MISSES: u64 = 16_384;
const KEPT_HITS: u64 = 131_072;
/// Inconsistent samples that a unit returns: few enough for a message, enough to be of use.
const HITS_OF_UNIT: [u64; 2] = [64, 4096];
/// More evenly spread inputs of usual magnitudes add little.
const MOST_USUAL: u64 = 1 << 16;
/// Eight times the special values beside the paper's samples.
const SPECIALS_OF_PAPER: u64 = 4096;

impl Cigen {
    pub(super) fn plan_survey(&mut self) -> Vec<Unit> {
        let members = self.ledger.open();
        if members.is_empty() || self.ledger.task.function.params.is_empty() {
            return Vec::new();
        }
        let limit = Purse::new(&self.ledger.task.settings, self.ledger.free, None).survey();
        let mut plan = survey(&self.ledger.task, limit);
        if self.course == Course::Auto && !plan.complete {
            let most = limit.unwrap_or(SPECIALS_OF_PAPER).div_ceil(8);
            plan.inputs.extend(specials(&self.ledger.task, usize::try_from(most).unwrap_or(usize::MAX)));
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
        let units = self.ledger.first_units(&members, &plan.inputs, size);
        self.purposes = units.iter().map(|_| Purpose::Sampling(members.clone())).collect();
        units
    }

    pub(super) fn plan_strata(&mut self) -> Vec<Unit> {
        if self.complete || self.ledger.surveyed == 0 {
            return Vec::new();
        }
        // Comparisons that can afford as much share inputs.
        let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for c in self.ledger.open() {
            let settings = &self.ledger.task.settings;
            let comparison = &mut self.ledger.comparisons[c];
            let purse = Purse::new(settings, self.ledger.free, comparison.affordable(settings));
            let count = purse.strata(self.ledger.surveyed);
            if count > 0 && !comparison.is_shy(settings) {
                groups.entry(domain_size(&self.ledger.task, count).min(count)).or_default().push(c);
            }
        }
        groups.into_iter().flat_map(|(count, members)| self.strata(&members, 0, 0, count)).collect()
    }

    /// Spends what the comparisons have left over on finer strata: what is found now are regions
    /// that everything before was too coarse for. Comparisons that have as much left share inputs.
    pub(super) fn plan_finer_strata(&mut self, round: usize) -> Vec<Unit> {
        let mut groups: BTreeMap<(u64, u64, u64), Vec<usize>> = BTreeMap::new();
        for c in self.ledger.open() {
            let settings = &self.ledger.task.settings;
            let comparison = &mut self.ledger.comparisons[c];
            let purse = Purse::new(settings, self.ledger.free, comparison.affordable(settings));
            let count = purse.finer_strata(comparison.evaluations);
            // A domain with fewer values than that holds no finer regions.
            let small = domain_size(&self.ledger.task, comparison.evaluations) <= comparison.evaluations;
            if count > 0 && !self.complete && !small && !comparison.is_shy(&self.ledger.task.settings) {
                groups.entry((count, comparison.evaluations, comparison.faults[0])).or_default().push(c);
            }
        }
        let plan = |((count, spent, _), members): (_, Vec<usize>)| self.strata(&members, round, spent, count);
        groups.into_iter().flat_map(plan).collect()
    }

    /// Units of evenly spread inputs. With one free parameter `auto` takes a part of them from the
    /// magnitudes that people use, which are few of all there are.
    fn strata(&mut self, members: &[usize], round: usize, base: u64, count: u64) -> Vec<Unit> {
        let usual = match (self.course, self.ledger.free) {
            (Course::Auto, 1) => (count / 4).min(MOST_USUAL),
            _ => 0,
        };
        let mut units = self.even_units(members, round, base, count - usual, false);
        units.extend(self.even_units(members, round, base, usual, true));
        units
    }

    fn even_units(
        &mut self,
        members: &[usize],
        round: usize,
        base: u64,
        count: u64,
        usual: bool,
    ) -> Vec<Unit> {
        let size = (count.div_ceil(8).clamp(FEWEST_INPUTS, UNIT_INPUTS * 2)).next_multiple_of(STREAM_BLOCK);
        let units = count.div_ceil(size);
        let crowd = self.ledger.crowd(members, units);
        self.purposes.extend((0..units).map(|_| Purpose::Sampling(members.to_vec())));
        let unit = |i: u64| StrataUnit {
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
        (0..units).map(|i| Unit::Strata(unit(i))).collect()
    }

    pub(super) fn plan_dense(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate() {
            if comparison.stop == Some(StopReason::Nondeterministic) {
                continue;
            }
            comparison.find_candidates(&self.ledger.task.settings);
            if !comparison.is_open() || self.complete || comparison.is_shy(&self.ledger.task.settings) {
                continue;
            }
            let more = comparison.affordable(&self.ledger.task.settings);
            let mut purse = Purse::new(&self.ledger.task.settings, self.ledger.free, more);
            let all: Vec<usize> = (0..comparison.tracks.len()).collect();
            let affordable = purse.affordable(comparison.evaluations, all.len() as u64);
            let samples = purse.dense(comparison.evaluations, affordable);
            comparison.cut |= affordable > 0 && purse.cut;
            let keep = hits_of_unit(affordable * samples.div_ceil(UNIT_INPUTS));
            for track in comparison.most_promising(all, affordable) {
                for (i, samples) in pieces(samples).enumerate() {
                    let index = (track as u64) << 24 | i as u64;
                    let Range { cuboid, .. } = comparison.tracks[track].range.clone();
                    let spot = comparison.spot(
                        &self.ledger.task.settings,
                        &comparison.tracks[track].sides,
                        index,
                        affordable,
                    );
                    units.push(Unit::Dense(DenseUnit { spot, phase: "dense".into(), cuboid, samples, keep }));
                    self.purposes.push(Purpose::Dense(c, track));
                }
            }
        }
        units
    }

    pub(super) fn plan_tighten(&mut self, round: usize, strays: usize) -> Vec<Unit> {
        self.settle();
        let settings = &self.ledger.task.settings;
        let mut units = Vec::new();
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate() {
            if !comparison.is_open() || !settings.tighten {
                continue;
            }
            let more = comparison.affordable(settings);
            let clusters = if strays == 0 {
                let all: Vec<usize> = (0..comparison.tracks.len()).collect();
                let mut purse = Purse::new(settings, self.ledger.free, more);
                let affordable = purse.affordable(comparison.evaluations, all.len() as u64);
                self.replaced[c] = comparison.most_promising(all, affordable);
                Some(comparison.clusters(settings, &self.replaced[c]))
            } else {
                comparison.stray_clusters(settings)
            };
            let Some(clusters) = clusters else { continue };
            let mut purse = Purse::new(settings, self.ledger.free, more);
            let budget = purse.tighten(comparison.evaluations, clusters.len() as u64);
            let count = clusters.len() as u64;
            for (i, Cluster { sides, points, density }) in clusters.into_iter().enumerate() {
                let index = (round as u64) << 48 | (strays as u64) << 32 | i as u64;
                let spot = comparison.spot(settings, &sides, index, count);
                units.push(Unit::Tighten(TightenUnit { spot, hits: points, density, budget }));
                self.purposes.push(Purpose::Tighten(c, sides));
            }
        }
        units
    }

    /// Statistics and maxima of the ranges that have none yet.
    pub(super) fn plan_finale(&mut self) -> Vec<Unit> {
        self.settle();
        let mut units = Vec::new();
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate() {
            comparison.cover_strays(&self.ledger.task.function, &self.ledger.task.settings);
            if !comparison.is_open() {
                continue;
            }
            let settings = &self.ledger.task.settings;
            let shy = comparison.is_shy(settings);
            let more = comparison.affordable(settings);
            let mut purse = Purse::new(settings, self.ledger.free, more);
            let all: Vec<usize> =
                (0..comparison.tracks.len()).filter(|&t| !comparison.tracks[t].finished).collect();
            let affordable = purse.affordable(comparison.evaluations, all.len() as u64);
            comparison.cut |= affordable < all.len() as u64;
            for track in comparison.most_promising(all, affordable) {
                comparison.tracks[track].finished = true;
                let sides = comparison.tracks[track].sides.clone();
                let cuboid = comparison.tracks[track].range.cuboid.clone();
                // Ranges that come later stand elsewhere in the list, but may take an earlier one's place.
                let index = comparison.next_index();
                let dims = cuboid.open_dims().len();
                let mut finale = purse.finale(comparison.evaluations, affordable, dims);
                let height = comparison.best_in(&comparison.tracks[track]).map_or(0.0, |hit| hit.found.bits);
                let extras = match self.course {
                    Course::Auto if !shy => divide(&mut finale, &cuboid, height),
                    _ => Extras::default(),
                };
                for i in 0..extras.zooms {
                    let spot = comparison.spot(settings, &sides, index << 24 | i, 3 * affordable);
                    units.push(Unit::Zoom(ZoomUnit { spot, cuboid: cuboid.clone(), budget: ZOOM }));
                    self.purposes.push(Purpose::Evolve(c));
                }
                let best = comparison.best_in(&comparison.tracks[track]).map(|hit| hit.point.clone());
                if let Some(best) = best.as_ref().filter(|_| extras.seams > 0) {
                    units.push(Unit::Seams(SeamUnit {
                        variant: comparison.variant,
                        allow: comparison.allowance(settings, 3 * affordable),
                        index: 1 << 63 | index,
                        lines: lines_of(&sides, &cuboid, best),
                        budget: extras.seams,
                        keep: KEPT,
                    }));
                    self.purposes.push(Purpose::Evolve(c));
                }
                for (i, samples) in pieces(finale.measure).enumerate() {
                    let spot = comparison.spot(settings, &sides, index << 24 | i as u64, 2 * affordable);
                    let (phase, cuboid, keep) = ("measure".into(), cuboid.clone(), 0);
                    units.push(Unit::Dense(DenseUnit { spot, phase, cuboid, samples, keep }));
                    self.purposes.push(Purpose::Measure(c, track));
                }
                if self.complete || dims == 0 {
                    continue;
                }
                let size = finale.islands.div_ceil(ISLAND_UNITS).clamp(FEWEST_ISLANDS, MOST_ISLANDS);
                for from in (0..finale.islands).step_by(size as usize) {
                    units.push(Unit::Evolve(EvolveUnit {
                        spot: comparison.spot(settings, &sides, index, 2 * affordable),
                        cuboid: cuboid.clone(),
                        best: best.clone(),
                        islands: (from, finale.islands.min(from + size)),
                        close: shy,
                        generations: finale.generations,
                    }));
                    self.purposes.push(Purpose::Evolve(c));
                }
            }
            comparison.cut |= purse.cut;
        }
        units
    }
}

/// Samples cut into units.
fn pieces(samples: u64) -> impl Iterator<Item = u64> {
    (0..samples.div_ceil(UNIT_INPUTS)).map(move |i| (samples - i * UNIT_INPUTS).min(UNIT_INPUTS))
}

fn hits_of_unit(units: u64) -> u64 {
    (KEPT_HITS / units.max(1)).clamp(HITS_OF_UNIT[0], HITS_OF_UNIT[1])
}
