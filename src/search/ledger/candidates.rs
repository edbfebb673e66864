//! The ranges of one variant: candidates found by clustering, the points that a tightening starts from, the
//! tightened ranges, and what is done with samples outside all of them. Evaluates nothing.

use std::collections::BTreeMap;

use super::comparison::{Comparison, Pool, Track};
use crate::model::{Function, SearchSettings};
use crate::ranges::{
    Axis, Cuboid, Orthant, Range, Sides, extend, group, grow, join_nearest, join_scraps, merge_overlapping,
};
use crate::search::sample::edge_values;

/// Most points handed to one tightening unit.
const MOST_POINTS: usize = 2048;
/// Most candidate ranges of one orthant.
const MOST_CLUSTERS: usize = 1024;
/// Most groups of stray points that get a tightening of their own.
const MOST_STRAY_GROUPS: usize = 32;
/// Most ranges of a comparison, and of one orthant when there are several parameters: more than a
/// reader can act on. The nearest of an orthant are joined until there are no more. Orthants may be
/// more than that; their ranges are joined in `wide`.
pub(super) const MOST_RANGES: usize = 64;
const MOST_OF_ORTHANT: usize = 16;
/// Stray points covered between two looks at the number of ranges.
const STRAYS_AT_ONCE: usize = 256;

/// The points of one future range.
pub struct Cluster {
    pub sides: Sides,
    pub points: Vec<Vec<u64>>,
    /// The inconsistent share of the samples around them.
    pub density: f64,
    /// The track that they are of, by its index; None for points outside all of them.
    pub track: Option<usize>,
}

impl Comparison {
    /// CIGEN's candidate ranges: clusters of each orthant, their boxes grown and merged.
    pub fn find_candidates(&mut self, settings: &SearchSettings) {
        self.tracks.clear();
        for (sides, pool) in &self.pools {
            let points: Vec<Vec<u64>> = pool.hits.iter().map(|hit| hit.point.clone()).collect();
            let whole = pool.orthant.whole();
            let boxes = cluster(pool, &points, settings).into_iter().filter_map(|members| {
                let hull = Cuboid::hull(members.iter().map(|&i| points[i].as_slice()))?;
                let grown = grow(&hull, pool.misses.iter(), &whole);
                Some(Range::ragged(grown))
            });
            self.tracks.extend(merge_overlapping(boxes.collect()).into_iter().map(|r| Track::new(sides, r)));
        }
    }

    /// The points of every candidate range, for tightening; `chosen` are indices of tracks.
    pub fn clusters(&self, settings: &SearchSettings, chosen: &[usize]) -> Vec<Cluster> {
        let mut clusters = Vec::new();
        for (i, track) in chosen.iter().map(|&i| (i, &self.tracks[i])) {
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
            clusters.push(Cluster { sides: track.sides.clone(), points, density, track: Some(i) });
        }
        clusters
    }

    /// Puts tightened ranges in the place of the tracks they stand for; ranges that now overlap
    /// become one.
    pub fn adopt(&mut self, replaced: &[usize], ranges: Vec<(Sides, Range)>) {
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
    pub(super) fn retrack(&mut self, ranges: Vec<(Sides, Vec<Range>)>) {
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
                clusters.push(Cluster { sides: sides.clone(), points, density, track: None });
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
            let reach = reach(&pool.orthant, settings);
            let mine = self.tracks.iter().filter(|t| &t.sides == sides);
            let mut ranges: Vec<Range> = mine.map(|t| t.range.clone()).collect();
            for strays in self.stray_points(sides, pool).chunks(STRAYS_AT_ONCE) {
                ranges = extend(ranges, strays.iter().map(Vec::as_slice), &reach);
                ranges = join_nearest(ranges, most.max(STRAYS_AT_ONCE), &whole);
            }
            ranges = join_scraps(ranges, &pool.orthant, settings, |p| edge_values(&function.coordinates[p]));
            covered.push((sides.clone(), join_nearest(ranges, most, &whole)));
        }
        self.retrack(covered);
    }
}

/// How far from a range a point may be and still belong to it. A lone point of several parameters tells
/// no edges, so it joins what the clustering would have joined it with.
pub(super) fn reach(orthant: &Orthant, settings: &SearchSettings) -> Vec<u64> {
    let several = orthant.whole().open_dims().len() > 1;
    let along = |axis: &Axis| {
        let near = axis.steps(settings.gap);
        // A share of the axis: a width, not a place.
        if several { near.max((settings.threshold * axis.last() as f64) as u64) } else { near }
    };
    orthant.axes.iter().map(along).collect()
}

/// Clusters of points on the scale of all samples of an orthant. A threshold so small that there
/// would be thousands of clusters is doubled until there are not.
fn cluster(pool: &Pool, points: &[Vec<u64>], settings: &SearchSettings) -> Vec<Vec<usize>> {
    if points.is_empty() {
        return Vec::new();
    }
    let samples = pool.hits.iter().map(|hit| hit.point.as_slice()).chain(pool.misses.iter());
    let Some(span) = Cuboid::hull(samples) else { return Vec::new() };
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
