//! Plans the last phase: the statistics and the maximum of every range that has none yet.

use super::course::{Extras, ZOOM};
use super::lines::{KEPT, lines_of};
use super::phases::pieces;
use super::{Cigen, Course, Planned, Purpose};
use crate::model::SearchSettings;
use crate::ranges::{Cuboid, Sides};
use crate::search::ledger::{Comparison, Finale, PhaseBudget};
use crate::search::streams::StreamKey;
use crate::search::unit::{DenseUnit, EvolveUnit, SeamUnit, Spot, Unit, ZoomUnit};

/// Units the islands of one range are spread over if they are not too long for that. Islands of a
/// unit build on each other, so that too few of them are of less use.
const ISLAND_UNITS: u64 = 16;
const FEWEST_ISLANDS: u64 = 6;
const MOST_ISLANDS: u64 = 16;

impl Cigen {
    /// Statistics and maxima of the ranges that have none yet.
    pub(super) fn plan_finale(&mut self) -> Vec<Planned> {
        self.adopt_tightened();
        let task = &self.ledger.task;
        let settings = &task.settings;
        let mut planned = Vec::new();
        for (c, comparison) in self.ledger.comparisons.iter_mut().enumerate() {
            comparison.cover_strays(&task.function, settings);
            if !comparison.is_open() {
                continue;
            }
            let mut budget = comparison.next_budget(settings, self.ledger.free);
            let all: Vec<usize> =
                (0..comparison.tracks.len()).filter(|&t| !comparison.tracks[t].finished).collect();
            let affordable = budget.limit_ranges(comparison.evaluations, all.len() as u64);
            comparison.cut |= affordable < all.len() as u64;
            for track in comparison.most_promising(all, affordable) {
                comparison.tracks[track].finished = true;
                // Ranges that come later stand elsewhere in the list, but may take an earlier one's place.
                let number = comparison.number_of_range();
                let (course, complete) = (self.course, self.complete);
                let last = LastLook { settings, course, complete, comparison, c, track, number, affordable };
                planned.extend(last.plan(&mut budget));
            }
            comparison.cut |= budget.cut;
        }
        planned
    }
}

/// The last phase of one range.
struct LastLook<'a> {
    settings: &'a SearchSettings,
    course: Course,
    /// Every input of the domain has been evaluated.
    complete: bool,
    comparison: &'a Comparison,
    /// Indices of the comparison and of its track.
    c: usize,
    track: usize,
    /// Names the random streams of the range.
    number: u64,
    /// Ranges that share the faults that builds may have.
    affordable: u64,
}

impl LastLook<'_> {
    fn cuboid(&self) -> &Cuboid {
        &self.comparison.tracks[self.track].range.cuboid
    }

    fn sides(&self) -> &Sides {
        &self.comparison.tracks[self.track].sides
    }

    /// Where one of the range's units looks, of which about `units` share its faults.
    fn spot(&self, units: u64) -> Spot {
        self.comparison.spot(self.settings, self.sides(), units * self.affordable)
    }

    fn climb(&self, unit: Unit) -> Planned {
        Planned { unit, purpose: Purpose::Climb { comparison: self.c } }
    }

    fn plan(&self, budget: &mut PhaseBudget<'_>) -> Vec<Planned> {
        let dims = self.cuboid().open_dims().len();
        let mut finale = budget.finale(self.comparison.evaluations, self.affordable, dims);
        let best = self.comparison.best_in(&self.comparison.tracks[self.track]);
        let height = best.map_or(0.0, |hit| hit.found.bits);
        let extras = match self.comparison.is_shy(self.settings) {
            true => Extras::default(),
            false => self.course.extras(&mut finale, self.cuboid(), height),
        };
        let best = best.map(|hit| hit.point.as_slice());
        let mut planned = self.zooms(extras.zooms);
        planned.extend(best.filter(|_| extras.seams > 0).map(|best| self.seams(best, extras.seams)));
        // Ranges that will be joined are measured afterwards.
        if !self.comparison.is_crowded() {
            planned.extend(self.measurements(finale.measure));
        }
        if !self.complete && dims > 0 {
            planned.extend(self.islands(best, &finale));
        }
        planned
    }

    fn zooms(&self, count: u64) -> Vec<Planned> {
        let zoom = |turn: u64| ZoomUnit {
            spot: self.spot(3),
            stream: StreamKey::Zoom { range: self.number, turn },
            cuboid: self.cuboid().clone(),
            budget: ZOOM,
        };
        (0..count).map(|turn| self.climb(Unit::Zoom(zoom(turn)))).collect()
    }

    fn seams(&self, best: &[u64], budget: u64) -> Planned {
        self.climb(Unit::Seams(SeamUnit {
            variant: self.comparison.variant,
            allow: self.comparison.allowance(self.settings, 3 * self.affordable),
            stream: StreamKey::SeamsOfRange { range: self.number },
            lines: lines_of(self.sides(), self.cuboid(), best),
            budget,
            keep: KEPT,
        }))
    }

    fn measurements(&self, samples: u64) -> impl Iterator<Item = Planned> {
        pieces(samples).enumerate().map(|(i, samples)| {
            let unit = Unit::Dense(DenseUnit {
                spot: self.spot(2),
                stream: StreamKey::Measure { range: self.number, piece: i as u64 },
                cuboid: self.cuboid().clone(),
                samples,
                keep: 0,
            });
            Planned { unit, purpose: Purpose::Measure { comparison: self.c, track: self.track } }
        })
    }

    fn islands(&self, best: Option<&[u64]>, finale: &Finale) -> Vec<Planned> {
        let size = finale.islands.div_ceil(ISLAND_UNITS).clamp(FEWEST_ISLANDS, MOST_ISLANDS);
        let unit = |from: u64| EvolveUnit {
            spot: self.spot(2),
            range: self.number,
            cuboid: self.cuboid().clone(),
            best: best.map(<[u64]>::to_vec),
            islands: (from, finale.islands.min(from + size)),
            close: self.comparison.is_shy(self.settings),
            generations: finale.generations,
        };
        let starts = (0..finale.islands).step_by(size as usize);
        starts.map(|from| self.climb(Unit::Evolve(unit(from)))).collect()
    }
}
