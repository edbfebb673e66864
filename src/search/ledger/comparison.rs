//! What is known so far of one variant: its inconsistent samples by orthant, its candidate ranges,
//! its faults. Pure bookkeeping beside the coordinator; nothing is evaluated here.

use std::collections::BTreeMap;

use super::budget::PhaseBudget;
use super::points::Points;
use super::wide::Wide;
use crate::model::{Budget, Function, SearchSettings, StopReason};
use crate::ranges::{Orthant, Range, Sides, Statistics};
use crate::search::evaluate::{Found, keep_best};
use crate::search::unit::{Seen, Spot};

/// More evaluations than the paper's parameters ask for in practice.
const PAPER_MOST: u64 = 1 << 21;
/// One part in so many is left for a build that faults often: each of its calls needs a process.
const SHY_SHARE: u64 = 6;
/// Faults a unit may have at least: fewer would stop it at a lone one.
const FEWEST_FAULTS: u64 = 4;
/// The part of its time share after which a function's pace is believed. A machine that is busy with
/// other things can make a few milliseconds of anything seem slow.
const BELIEVED: f64 = 1.0 / 32.0;

/// Stands for the bits of a consistent sample, below those of every inconsistent one.
const NO_BITS: f64 = -1.0;
/// Most orthants of which samples are kept: as many as eight parameters have. With more parameters, the orthants with
/// the most bits stay, so that what is remembered does not grow as two to the number of parameters.
const MOST_ORTHANTS: usize = 256;

/// A sample with its place in its orthant.
pub struct Hit {
    pub found: Found,
    pub point: Vec<u64>,
}

/// The samples of one orthant.
pub struct Pool {
    pub orthant: Orthant,
    pub hits: Vec<Hit>,
    pub misses: Points,
    /// The best samples of units that keep no others. They lie in ranges by construction.
    pub champions: Vec<Hit>,
    /// Most bits of its inconsistent samples; below 0 when it has none.
    most_bits: f64,
}

impl Pool {
    /// Without samples.
    pub fn new(orthant: Orthant) -> Pool {
        let (hits, misses, champions) = (Vec::new(), Points::new(orthant.dims()), Vec::new());
        Pool { orthant, hits, misses, champions, most_bits: NO_BITS }
    }
}

/// A range on its way: first CIGEN's candidate box, then the tightened one.
#[derive(Clone, Debug)]
pub struct Track {
    pub sides: Sides,
    pub range: Range,
    /// Uniform samples of the box as it is now.
    pub uniform: Statistics,
    /// The last phase has been planned for it.
    pub finished: bool,
}

impl Track {
    pub fn new(sides: &Sides, range: Range) -> Track {
        Track { sides: sides.clone(), range, uniform: Statistics::default(), finished: false }
    }
}

pub struct Comparison {
    /// Index in the task's builds.
    pub variant: usize,
    pub evaluations: u64,
    pub statistics: Statistics,
    pub best: Option<Found>,
    /// The best of those that change the class of a result.
    pub changed: Option<Found>,
    /// The best samples of units that return a part of theirs, where they are not in that part.
    pub peaks: Vec<Found>,
    pub pools: BTreeMap<Sides, Pool>,
    pub tracks: Vec<Track>,
    /// What the ranges became where there were too many of them.
    pub wide: Vec<Wide>,
    /// Faults of the baseline and of the variant, as this comparison saw them.
    pub faults: [u64; 2],
    pub stop: Option<StopReason>,
    pub cut: bool,
    /// Every input of the domain was planned, so that time sets no limit to what is left to do.
    pub complete: bool,
    /// What the two builds took in the units that concern this comparison, without timeouts, whose
    /// number has a limit of its own.
    pub seconds: f64,
    /// It is so slow that it gets fewer evaluations than its budget.
    paced: bool,
    /// Ranges that had their last phase: names their random streams.
    finished: u64,
}

impl Comparison {
    pub fn new(variant: usize) -> Comparison {
        Comparison {
            variant,
            evaluations: 0,
            statistics: Statistics::default(),
            best: None,
            changed: None,
            peaks: Vec::new(),
            pools: BTreeMap::new(),
            tracks: Vec::new(),
            wide: Vec::new(),
            faults: [0; 2],
            stop: None,
            cut: false,
            complete: false,
            seconds: 0.0,
            paced: false,
            finished: 0,
        }
    }

    pub fn is_open(&self) -> bool {
        self.stop.is_none()
    }

    /// The budget of the next phase, and whether time will have cut it.
    pub fn next_budget<'s>(&mut self, settings: &'s SearchSettings, free: usize) -> PhaseBudget<'s> {
        self.note_pace(settings);
        PhaseBudget::new(settings, free, self.affordable(settings))
    }

    /// Remembers that the comparison is so slow that it gets fewer evaluations than its budget.
    pub fn note_pace(&mut self, settings: &SearchSettings) {
        self.paced |= self.affordable_in_time(settings).is_some();
    }

    /// Evaluations that time and faults still allow, when that is less than the budget.
    fn affordable(&self, settings: &SearchSettings) -> Option<u64> {
        let shy = self.is_shy(settings).then(|| self.left_of_budget(settings));
        self.affordable_in_time(settings).or(shy)
    }

    /// Evaluations that the budget still allows; few for a build that faults often.
    fn left_of_budget(&self, settings: &SearchSettings) -> u64 {
        let left = match settings.budget {
            Budget::Paper => PAPER_MOST,
            Budget::Evaluations(total) => total.saturating_sub(self.evaluations),
        };
        if self.is_shy(settings) { left / SHY_SHARE } else { left }
    }

    /// Evaluations that the time left allows, when that is less than the budget. A power of two, so
    /// that a slow function's search is often the same on machines of about one speed.
    fn affordable_in_time(&self, settings: &SearchSettings) -> Option<u64> {
        let share = settings.share_s();
        if self.complete || self.seconds < share * BELIEVED || self.evaluations == 0 {
            return None;
        }
        // Counts far below 2^53; the quotient is cut to one.
        let more = (share - self.seconds).max(0.0) * self.evaluations as f64 / self.seconds;
        if more >= self.left_of_budget(settings) as f64 {
            return None;
        }
        let more = more as u64;
        Some(if more < 2 { more } else { 1 << more.ilog2() })
    }

    /// Why it has come to its end, when nothing stopped it.
    pub fn end(&self, settings: &SearchSettings) -> StopReason {
        if self.is_shy(settings) {
            return StopReason::Faults;
        }
        match (self.paced, self.cut) {
            (true, cut) if cut || settings.budget != Budget::Paper => StopReason::Pace,
            (_, true) => StopReason::Budget,
            _ => StopReason::Complete,
        }
    }

    /// So many faults that only what lies close to good samples is worth a try.
    pub fn is_shy(&self, settings: &SearchSettings) -> bool {
        self.faults.iter().any(|&faults| faults * 2 >= u64::from(settings.max_faults.max(1)))
    }

    /// Faults the baseline and the variant may have in one of `units` units, which share those that
    /// are still allowed.
    pub fn allowance(&self, settings: &SearchSettings, units: u64) -> [u32; 2] {
        let most = u64::from(settings.max_faults.max(1));
        let fewest = if self.is_shy(settings) { 1 } else { FEWEST_FAULTS };
        let share = |left: u64| left.div_ceil(units.max(1)).max(fewest).min(left);
        // At most `max_faults`.
        self.faults.map(|used| share(most.saturating_sub(used)) as u32)
    }

    /// Where one of `units` units looks.
    pub fn spot(&self, settings: &SearchSettings, sides: &Sides, units: u64) -> Spot {
        Spot { variant: self.variant, allow: self.allowance(settings, units), sides: sides.clone() }
    }

    /// Adds the numbers of a unit's samples.
    pub fn count(&mut self, seen: &Seen) {
        self.evaluations += seen.statistics.samples;
        self.statistics.absorb(&seen.statistics);
        for (best, theirs) in [(&mut self.best, &seen.best), (&mut self.changed, &seen.changed)] {
            if let Some(theirs) = theirs {
                keep_best(best, theirs);
            }
        }
    }

    /// Adds a unit's samples; with `keep` also the samples themselves, not only their numbers.
    pub fn absorb(&mut self, function: &Function, seen: Seen, keep: bool) {
        self.count(&seen);
        if !keep {
            if let Some(found) = seen.best
                && let Some((pool, point)) = self.place(function, &found.input, found.bits)
            {
                pool.champions.push(Hit { found, point });
            }
            return;
        }
        let thinned_out = |best: &Found| !seen.hits.iter().any(|hit| hit.input == best.input);
        self.peaks.extend(seen.best.filter(thinned_out));
        for found in seen.hits {
            if let Some((pool, point)) = self.place(function, &found.input, found.bits) {
                pool.hits.push(Hit { found, point });
            }
        }
        for input in seen.misses.chunks_exact(function.arity()) {
            if let Some((pool, point)) = self.place(function, input, NO_BITS) {
                pool.misses.push(&point);
            }
        }
    }

    /// The samples of an input's orthant, and its place there. None outside the domain, and where orthants with
    /// more bits leave no room for this one.
    fn place(&mut self, function: &Function, input: &[u64], bits: f64) -> Option<(&mut Pool, Vec<u64>)> {
        let sides = Orthant::sides_of(function, input);
        if !self.pools.contains_key(&sides) {
            let orthant = Orthant::new(function, &sides)?;
            if self.pools.len() >= MOST_ORTHANTS {
                self.make_room(bits)?;
            }
            self.pools.insert(sides.clone(), Pool::new(orthant));
        }
        let pool = self.pools.get_mut(&sides)?;
        let point = pool.orthant.point(input)?;
        pool.most_bits = pool.most_bits.max(bits);
        Some((pool, point))
    }

    /// Forgets the orthant with the fewest bits, if they are fewer than `bits`.
    fn make_room(&mut self, bits: f64) -> Option<()> {
        let (sides, least) = self.pools.iter().min_by(|a, b| a.1.most_bits.total_cmp(&b.1.most_bits))?;
        let (sides, least) = (sides.clone(), least.most_bits);
        // Inconsistent samples of one of the two orthants will be in no range.
        self.cut |= bits.min(least) > NO_BITS;
        (least < bits).then(|| self.pools.remove(&sides))?;
        Some(())
    }

    /// The best inconsistent sample in a range.
    pub fn best_in(&self, track: &Track) -> Option<&Hit> {
        let pool = self.pools.get(&track.sides)?;
        let inside = pool.hits.iter().chain(&pool.champions);
        let inside = inside.filter(|hit| track.range.cuboid.contains(&hit.point));
        inside.min_by(|a, b| a.found.better_first(&b.found))
    }

    /// The `most` of some tracks with the most bits, in order.
    pub fn most_promising(&self, tracks: Vec<usize>, most: u64) -> Vec<usize> {
        if most >= tracks.len() as u64 {
            return tracks;
        }
        let bits = |i: usize| self.best_in(&self.tracks[i]).map_or(0.0, |hit| hit.found.bits);
        let mut ranked: Vec<(f64, usize)> = tracks.into_iter().map(|i| (bits(i), i)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // Below a length, so within usize.
        let mut order: Vec<usize> = ranked.into_iter().take(most as usize).map(|(_, i)| i).collect();
        order.sort_unstable();
        order
    }

    /// A number for the next range that has its last phase: it names the range's random streams.
    pub fn number_of_range(&mut self) -> u64 {
        self.finished += 1;
        self.finished - 1
    }
}
