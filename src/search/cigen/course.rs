//! What the default strategy does beyond CIGEN: the one place that tells the two apart.

use crate::ranges::Cuboid;
use crate::search::ledger::{Finale, MOST_SEAMS};

/// More evenly spread inputs of usual magnitudes add little.
const MOST_USUAL: u64 = 1 << 16;
/// Eight times the special values beside the paper's samples.
const SPECIALS_OF_PAPER: u64 = 4096;
/// Ranges with fewer bits than this are of rounding, not of cancellation or of another branch.
const ROUNDING: f64 = 16.0;
/// Evaluations of one zoom.
pub(super) const ZOOM: u64 = 4096;

/// Which algorithm's phases a search goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// CIGEN's own, and the tightening.
    Cigen,
    /// The default: also special values from the sources, usual magnitudes, seams and zooms.
    Auto,
}

impl Course {
    /// Special values beside a survey of at most `limit` inputs; None: the survey has none of its own.
    pub(super) fn specials(self, limit: Option<u64>) -> Option<usize> {
        let most = limit.unwrap_or(SPECIALS_OF_PAPER).div_ceil(8);
        (self == Course::Auto).then(|| usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// How many of `count` evenly spread inputs are of the magnitudes that people use, which are few of all there
    /// are: a part of them when a single parameter is free.
    pub(super) fn usual_strata(self, count: u64, free: usize) -> u64 {
        if self == Course::Auto && free == 1 { (count / 4).min(MOST_USUAL) } else { 0 }
    }

    /// Whether lines through the domain are watched for seams.
    pub(super) fn has_seams(self) -> bool {
        self == Course::Auto
    }

    /// What a range with so many bits gets beside islands, taken from them.
    pub(super) fn extras(self, finale: &mut Finale, cuboid: &Cuboid, bits: f64) -> Extras {
        match self {
            Course::Auto => divide(finale, cuboid, bits),
            Course::Cigen => Extras::default(),
        }
    }
}

/// What the default spends on a range beside islands.
#[derive(Default)]
pub(super) struct Extras {
    pub zooms: u64,
    /// Evaluations for seams.
    pub seams: u64,
}

/// Gives a part of the evaluations of a range's islands to zooms and seams. A range of few bits is one of rounding,
/// where islands are no better than chance.
fn divide(finale: &mut Finale, cuboid: &Cuboid, bits: f64) -> Extras {
    let sides = cuboid.lo.iter().zip(&cuboid.hi).map(|(lo, hi)| (hi - lo).saturating_add(1));
    if sides.fold(1, u64::saturating_mul) <= finale.islands * finale.island {
        return Extras::default();
    }
    let (zooming, seaming) = match bits < ROUNDING {
        true => (finale.islands * 7 / 8, finale.islands / 16),
        false => (finale.islands / 8, finale.islands.div_ceil(8).min(finale.islands / 2)),
    };
    let seaming = seaming.min(MOST_SEAMS / finale.island.max(1));
    let zooms = zooming * finale.island / ZOOM;
    if zooms > 0 {
        finale.islands -= zooming;
    }
    finale.islands -= seaming;
    Extras { zooms, seams: seaming * finale.island }
}
