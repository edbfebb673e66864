//! What is known so far of one variant: its inconsistent samples by orthant, its candidate ranges,
//! its faults. Pure bookkeeping beside the coordinator; nothing is evaluated here.

use std::collections::BTreeMap;

use super::edge_values::edge_values;
use super::found::{Found, keep_best};
use super::unit::{Seen, Spot};
use crate::model::{Budget, Function, SearchSettings, StopReason};
use crate::ranges::{
    Cuboid, Orthant, Range, Sides, Statistics, extend, group, grow, join_nearest, join_scraps,
    merge_overlapping,
};

/// Most points handed to one tightening unit.
const MOST_POINTS: usize = 2048;
/// Most candidate ranges of one orthant.
const MOST_CLUSTERS: usize = 1024;
/// Most groups of stray points that get a tightening of their own.
const MOST_STRAY_GROUPS: usize = 32;
/// Most ranges of a comparison, and of one orthant when there are several parameters: more than a
/// reader can act on. The nearest are joined until there are no more. Ranges of two orthants are
/// never joined, so there may be as many as orthants.
const MOST_RANGES: usize = 64;
const MOST_OF_ORTHANT: usize = 16;
/// Stray points covered between two looks at the number of ranges.
const STRAYS_AT_ONCE: usize = 256;

/// More evaluations than the paper's parameters ask for in practice.
const PAPER_MOST: u64 = 1 << 21;
/// One part in so many is left for a build that faults often: each of its calls needs a process.
const SHY_SHARE: u64 = 6;
/// Faults a unit may have at least: fewer would stop it at a lone one.
const FEWEST_FAULTS: u64 = 4;
/// The part of its time share after which a function's pace is believed. A machine that is busy with
/// other things can make a few milliseconds of anything seem slow.
const BELIEVED: f64 = 1.0 / 32.0;

/// A sample with its place in its orthant.
pub struct Hit {
    pub found: Found,
    pub point: Vec<u64>,
}

/// The samples of one orthant.
pub struct Pool {
    pub orthant: Orthant,
    pub hits: Vec<Hit>,
    pub misses: Vec<Vec<u64>>,
    /// The best samples of units that keep no others. They lie in ranges by construction.
    pub champions: Vec<Hit>,
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
    pub pools: BTreeMap<Sides, Pool>,
    pub tracks: Vec<Track>,
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

/// The points of one future range.
pub struct Cluster {
    pub sides: Sides,
    pub points: Vec<Vec<u64>>,
    /// The inconsistent share of the samples around them.
    pub density: f64,
}

impl Comparison {
    pub fn new(variant: usize) -> Comparison {
        Comparison {
            variant,
            evaluations: 0,
            statistics: Statistics::default(),
            best: None,
            pools: BTreeMap::new(),
            tracks: Vec::new(),
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

    /// Evaluations that the time left allows, when that is less than the budget. A power of two, so
    /// that a slow function's search is often the same on machines of about one speed.
    pub fn affordable(&mut self, settings: &SearchSettings) -> Option<u64> {
        let most = match settings.budget {
            Budget::Paper => PAPER_MOST,
            Budget::Evaluations(total) => total.saturating_sub(self.evaluations),
        };
        let most = if self.is_shy(settings) { most / SHY_SHARE } else { most };
        let shy = self.is_shy(settings).then_some(most);
        let share = settings.share_s();
        if self.complete || self.seconds < share * BELIEVED || self.evaluations == 0 {
            return shy;
        }
        // Counts far below 2^53; the quotient is cut to one.
        let more = (share - self.seconds).max(0.0) * self.evaluations as f64 / self.seconds;
        if more >= most as f64 {
            return shy;
        }
        self.paced = true;
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
    pub fn spot(&self, settings: &SearchSettings, sides: &Sides, index: u64, units: u64) -> Spot {
        let allow = self.allowance(settings, units);
        Spot { variant: self.variant, allow, sides: sides.clone(), index }
    }

    /// Adds a unit's samples; with `keep` also the samples themselves, not only their numbers.
    pub fn absorb(&mut self, function: &Function, seen: Seen, keep: bool) {
        self.evaluations += seen.statistics.samples;
        self.statistics.absorb(&seen.statistics);
        if let Some(best) = &seen.best {
            keep_best(&mut self.best, best);
        }
        if !keep {
            if let Some(found) = seen.best
                && let Some(pool) = self.pool(function, &found.input)
                && let Some(point) = pool.orthant.point(&found.input)
            {
                pool.champions.push(Hit { found, point });
            }
            return;
        }
        for found in seen.hits {
            if let Some(pool) = self.pool(function, &found.input)
                && let Some(point) = pool.orthant.point(&found.input)
            {
                pool.hits.push(Hit { found, point });
            }
        }
        for input in seen.misses.chunks_exact(function.arity()) {
            if let Some(pool) = self.pool(function, input)
                && let Some(point) = pool.orthant.point(input)
            {
                pool.misses.push(point);
            }
        }
    }

    fn pool(&mut self, function: &Function, input: &[u64]) -> Option<&mut Pool> {
        let sides = Orthant::sides_of(function, input);
        if !self.pools.contains_key(&sides) {
            let orthant = Orthant::new(function, &sides)?;
            let (hits, misses, champions) = (Vec::new(), Vec::new(), Vec::new());
            self.pools.insert(sides.clone(), Pool { orthant, hits, misses, champions });
        }
        self.pools.get_mut(&sides)
    }

    /// CIGEN's candidate ranges: clusters of each orthant, their boxes grown and merged.
    pub fn find_candidates(&mut self, settings: &SearchSettings) {
        self.tracks.clear();
        for (sides, pool) in &self.pools {
            let points: Vec<Vec<u64>> = pool.hits.iter().map(|hit| hit.point.clone()).collect();
            let whole = pool.orthant.whole();
            let boxes = cluster(pool, &points, settings).into_iter().filter_map(|members| {
                let hull = Cuboid::hull(members.iter().map(|&i| points[i].as_slice()))?;
                let grown = grow(&hull, pool.misses.iter().map(Vec::as_slice), &whole);
                Some(Range::ragged(grown))
            });
            self.tracks.extend(merge_overlapping(boxes.collect()).into_iter().map(|r| Track::new(sides, r)));
        }
    }

    /// The points of every candidate range, for tightening; `chosen` are indices of tracks.
    pub fn clusters(&self, settings: &SearchSettings, chosen: &[usize]) -> Vec<Cluster> {
        let mut clusters = Vec::new();
        for track in chosen.iter().map(|&i| &self.tracks[i]) {
            let Some(pool) = self.pools.get(&track.sides) else { continue };
            let inside = |p: &[u64]| track.range.cuboid.contains(p);
            let points: Vec<&[u64]> =
                pool.hits.iter().map(|hit| hit.point.as_slice()).filter(|p| inside(p)).collect();
            let missed = pool.misses.iter().filter(|p| inside(p)).count();
            // Uniform samples say best how dense a range is; without them all samples have to.
            let (hit, total) = match &track.uniform {
                s if s.samples > 0 => (s.inconsistent, s.samples),
                _ => (points.len() as u64, (points.len() + missed) as u64),
            };
            // Counts far below 2^53. None among them is a density too low to tell.
            let density = hit as f64 / total.max(1) as f64;
            let points = thin_points(&pool.orthant, settings.gap, points);
            clusters.push(Cluster { sides: track.sides.clone(), points, density });
        }
        clusters
    }

    /// Puts tightened ranges in the place of the tracks they stand for; ranges that now overlap
    /// become one.
    pub fn settle(&mut self, replaced: &[usize], ranges: Vec<(Sides, Range)>) {
        if ranges.is_empty() {
            return;
        }
        let mut by_orthant: BTreeMap<Sides, Vec<Range>> = BTreeMap::new();
        let kept = self.tracks.iter().enumerate().filter(|(i, _)| !replaced.contains(i));
        let kept = kept.map(|(_, track)| (track.sides.clone(), track.range.clone()));
        for (sides, range) in kept.chain(ranges) {
            by_orthant.entry(sides).or_default().push(range);
        }
        let merge = |(sides, ranges)| (sides, merge_overlapping(ranges));
        self.retrack(by_orthant.into_iter().map(merge).collect());
    }

    /// Makes these ranges the tracks; one that is already a track keeps what is known of it.
    fn retrack(&mut self, ranges: Vec<(Sides, Vec<Range>)>) {
        let mut old = std::mem::take(&mut self.tracks);
        for (sides, ranges) in ranges {
            for range in ranges {
                let same = |track: &Track| track.sides == sides && track.range == range;
                self.tracks.push(match old.iter().position(same) {
                    Some(at) => old.swap_remove(at),
                    None => Track::new(&sides, range),
                });
            }
        }
    }

    fn stray_points(&self, sides: &Sides, pool: &Pool) -> Vec<Vec<u64>> {
        let ranges: Vec<&Cuboid> =
            self.tracks.iter().filter(|t| &t.sides == sides).map(|t| &t.range.cuboid).collect();
        let strays = pool.hits.iter().filter(|hit| !ranges.iter().any(|r| r.contains(&hit.point)));
        strays.map(|hit| hit.point.clone()).collect()
    }

    /// Inconsistent samples outside all ranges, in groups. None when there are too many groups.
    pub fn stray_clusters(&self, settings: &SearchSettings) -> Option<Vec<Cluster>> {
        let mut clusters = Vec::new();
        for (sides, pool) in &self.pools {
            let strays = self.stray_points(sides, pool);
            for members in cluster(pool, &strays, settings) {
                let points: Vec<&[u64]> = members.iter().map(|&i| strays[i].as_slice()).collect();
                let density = points.len() as f64 / (pool.hits.len() + pool.misses.len()).max(1) as f64;
                let points = thin_points(&pool.orthant, settings.gap, points);
                clusters.push(Cluster { sides: sides.clone(), points, density });
            }
        }
        (clusters.len() <= MOST_STRAY_GROUPS).then_some(clusters)
    }

    /// Makes every inconsistent sample lie in a range, and keeps the number of ranges bearable.
    pub fn cover_strays(&mut self, function: &Function, settings: &SearchSettings) {
        let orthants = self.pools.values().filter(|pool| !pool.hits.is_empty()).count();
        let mut covered = Vec::new();
        for (sides, pool) in &self.pools {
            let whole = pool.orthant.whole();
            let several = whole.open_dims().len() > 1;
            let most =
                (MOST_RANGES / orthants.max(1)).clamp(1, MOST_OF_ORTHANT * if several { 1 } else { 4 });
            // A lone point of several parameters tells no edges, so it joins what the clustering
            // would have joined it with.
            let reach = pool.orthant.axes.iter().map(|axis| {
                let near = axis.steps(settings.gap);
                // A share of the axis: a width, not a place.
                if several { near.max((settings.threshold * axis.last() as f64) as u64) } else { near }
            });
            let reach: Vec<u64> = reach.collect();
            let mine = self.tracks.iter().filter(|t| &t.sides == sides);
            let mut ranges: Vec<Range> = mine.map(|t| t.range.clone()).collect();
            for strays in self.stray_points(sides, pool).chunks(STRAYS_AT_ONCE) {
                ranges = extend(ranges, strays.iter().map(Vec::as_slice), &reach);
                ranges = join_nearest(ranges, most.max(STRAYS_AT_ONCE), &whole);
            }
            ranges = join_scraps(ranges, &pool.orthant, settings, |p| edge_values(&function.params[p]));
            covered.push((sides.clone(), join_nearest(ranges, most, &whole)));
        }
        self.retrack(covered);
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

    /// A number for the next range that has its last phase.
    pub fn next_index(&mut self) -> u64 {
        self.finished += 1;
        self.finished - 1
    }
}

/// Clusters of points on the scale of all samples of an orthant. A threshold so small that there
/// would be thousands of clusters is doubled until there are not.
fn cluster(pool: &Pool, points: &[Vec<u64>], settings: &SearchSettings) -> Vec<Vec<usize>> {
    if points.is_empty() {
        return Vec::new();
    }
    let samples = pool.hits.iter().map(|hit| &hit.point).chain(&pool.misses);
    let Some(span) = Cuboid::hull(samples.map(Vec::as_slice)) else { return Vec::new() };
    let mut threshold = settings.threshold;
    loop {
        match group(points, &span, threshold, settings.clustering) {
            Ok(clusters) if clusters.len() <= MOST_CLUSTERS => return clusters,
            Ok(_) => threshold = (threshold * 2.0).max(1e-6),
            // The coordinates are fractions, so only a threshold that is no number is refused; one
            // cluster is what the tightening can still take apart.
            Err(_) => return vec![(0..points.len()).collect()],
        }
    }
}

/// Thins more than `MOST_POINTS` points, keeping the extremes of every axis. On a single free axis
/// no gap of a quarter of `gap` binades opens between those that are kept.
fn thin_points(orthant: &Orthant, gap: f64, mut points: Vec<&[u64]>) -> Vec<Vec<u64>> {
    if points.len() > MOST_POINTS {
        let mut kept: Vec<&[u64]> = Vec::new();
        match orthant.whole().open_dims().as_slice() {
            &[only] => {
                points.sort_by_key(|p| p[only]);
                let step = orthant.axes[only].steps(gap / 4.0);
                let mut last = None;
                for (i, point) in points.iter().enumerate() {
                    let next = points.get(i + 1).map_or(u64::MAX, |p| p[only]);
                    if last.is_none_or(|last| next - last > step) {
                        kept.push(point);
                        last = Some(point[only]);
                    }
                }
            }
            free => {
                for &d in free {
                    kept.extend(points.iter().copied().min_by_key(|p| p[d]));
                    kept.extend(points.iter().copied().max_by_key(|p| p[d]));
                }
                kept.extend(points.iter().step_by(points.len().div_ceil(MOST_POINTS)));
            }
        }
        points = kept;
    }
    points.into_iter().map(<[u64]>::to_vec).collect()
}
