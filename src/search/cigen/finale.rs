//! Plans the last phase: the statistics and the maximum of every range that has none yet.

use super::course::{Extras, ZOOM};
use super::lines::{KEPT, lines_of};
use super::phases::pieces;
use super::{Cigen, Purpose, Step, Steps};
use crate::model::SearchSettings;
use crate::ranges::{Cuboid, Sides};
use crate::search::ledger::{Comparison, Finale};
use crate::search::streams::StreamKey;
use crate::search::unit::{DenseUnit, EvolveUnit, SeamUnit, Spot, Unit, ZoomUnit};

/// Units the islands of one range are spread over if they are not too long for that. Islands of a
/// unit build on each other, so that too few of them are of less use.
const ISLAND_UNITS: u64 = 16;
const FEWEST_ISLANDS: u64 = 6;
const MOST_ISLANDS: u64 = 16;

impl Cigen {
    /// Statistics and maxima of the ranges that have none yet.
    pub(super) fn plan_finale(&mut self) -> Vec<Steps> {
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
                let look = LastLook::new(comparison, settings, (c, track), number, affordable);
                let dims = look.cuboid.open_dims().len();
                let mut finale = budget.finale(comparison.evaluations, affordable, dims);
                let extras = match look.close {
                    true => Extras::default(),
                    false => self.course.extras(&mut finale, &look.cuboid, look.height),
                };
                if self.complete || dims == 0 {
                    finale.islands = 0;
                }
                // Ranges that will be joined are measured afterwards.
                if comparison.is_crowded() {
                    finale.measure = 0;
                }
                planned.push(look.units(extras, finale));
            }
            comparison.cut |= budget.cut;
        }
        planned
    }
}

/// The last phase of one range.
#[derive(Clone)]
struct LastLook {
    variant: usize,
    sides: Sides,
    cuboid: Cuboid,
    /// Its best sample, and the bits of that.
    best: Option<Vec<u64>>,
    height: f64,
    /// Nothing far from the best sample is looked at.
    close: bool,
    /// Faults that a unit may have when two or three units share those of the range.
    of_two: [u32; 2],
    of_three: [u32; 2],
    /// Indices of the comparison and of its track.
    comparison: usize,
    track: usize,
    /// Names the random streams of the range.
    number: u64,
}

impl LastLook {
    /// One of `affordable` ranges, which share the faults that builds may have.
    fn new(
        comparison: &Comparison,
        settings: &SearchSettings,
        (c, track): (usize, usize),
        number: u64,
        affordable: u64,
    ) -> LastLook {
        let of = &comparison.tracks[track];
        let best = comparison.best_in(of);
        LastLook {
            variant: comparison.variant,
            sides: of.sides.clone(),
            cuboid: of.range.cuboid.clone(),
            best: best.map(|hit| hit.point.clone()),
            height: best.map_or(0.0, |hit| hit.found.bits),
            close: comparison.is_shy(settings),
            of_two: comparison.allowance(settings, 2 * affordable),
            of_three: comparison.allowance(settings, 3 * affordable),
            comparison: c,
            track,
            number,
        }
    }

    fn spot(&self, allow: [u32; 2]) -> Spot {
        Spot { variant: self.variant, allow, sides: self.sides.clone() }
    }

    fn climb(&self, unit: Unit) -> Step {
        Step { unit, purpose: Purpose::Climb { comparison: self.comparison } }
    }

    fn units(self, extras: Extras, finale: Finale) -> Steps {
        let seams = (extras.seams > 0).then(|| self.seams(extras.seams)).flatten();
        let [zooming, measuring, evolving] = [(); 3].map(|()| self.clone());
        let size = finale.islands.div_ceil(ISLAND_UNITS).clamp(FEWEST_ISLANDS, MOST_ISLANDS);
        let zooms = (0..extras.zooms).map(move |turn| zooming.zoom(turn));
        let measures = pieces(finale.measure).map(move |(piece, samples)| measuring.measure(piece, samples));
        // A handful, so within usize.
        let islands = (0..finale.islands).step_by(size as usize);
        let islands = islands.map(move |from| evolving.islands(from, size, &finale));
        Box::new(zooms.chain(seams).chain(measures).chain(islands))
    }

    fn zoom(&self, turn: u64) -> Step {
        self.climb(Unit::Zoom(ZoomUnit {
            spot: self.spot(self.of_three),
            stream: StreamKey::Zoom { range: self.number, turn },
            cuboid: self.cuboid.clone(),
            budget: ZOOM,
        }))
    }

    fn seams(&self, budget: u64) -> Option<Step> {
        let best = self.best.as_ref()?;
        Some(self.climb(Unit::Seams(SeamUnit {
            variant: self.variant,
            allow: self.of_three,
            stream: StreamKey::SeamsOfRange { range: self.number },
            lines: lines_of(&self.sides, &self.cuboid, best),
            budget,
            keep: KEPT,
        })))
    }

    fn measure(&self, piece: u64, samples: u64) -> Step {
        let unit = Unit::Dense(DenseUnit {
            spot: self.spot(self.of_two),
            stream: StreamKey::Measure { range: self.number, piece },
            cuboid: self.cuboid.clone(),
            samples,
            keep: 0,
        });
        Step { unit, purpose: Purpose::Measure { comparison: self.comparison, track: self.track } }
    }

    fn islands(&self, from: u64, size: u64, finale: &Finale) -> Step {
        self.climb(Unit::Evolve(EvolveUnit {
            spot: self.spot(self.of_two),
            range: self.number,
            cuboid: self.cuboid.clone(),
            best: self.best.clone(),
            islands: (from, finale.islands.min(from + size)),
            close: self.close,
            generations: finale.generations,
        }))
    }
}
