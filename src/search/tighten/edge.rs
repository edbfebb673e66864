//! Finding one side of a range: from its outermost inconsistent point outwards, first in growing
//! steps, then by k-section to the exact value, and saying whether it is sharp or ragged.

use super::scout::{Group, Halt, Scout, moved};
use super::split::{Bridge, Gap, Gaps};
use crate::model::EdgeKind;

/// Points of one step of the search along a line: 16 parts, so four bits a step.
const PARTS: u64 = 16;
/// Steps of one walk; exact doubles need 13 after the growing ones.
const STEPS: usize = 48;
/// Samples in each zone around an edge.
const PROBES: u64 = 16;
/// Most samples outside the edge of a sparse range.
const MOST_PROBES: u64 = 256;
/// How often an edge is moved because samples outside it are inconsistent.
const ROUNDS: usize = 8;

/// One side of a group's box: an axis, and away from zero or towards it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    pub d: usize,
    pub outward: bool,
}

/// Where a side ended up, and how it looks there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub at: u64,
    pub kind: EdgeKind,
}

impl Direction {
    /// The place a distance further out; None beyond the end of the axis.
    fn step(self, scout: &Scout<'_>, from: u64, distance: u64) -> Option<u64> {
        if self.outward {
            from.checked_add(distance).filter(|&to| to <= scout.orthant.axes[self.d].last())
        } else {
            from.checked_sub(distance)
        }
    }

    fn end(self, scout: &Scout<'_>) -> u64 {
        if self.outward { scout.orthant.axes[self.d].settle(u64::MAX) } else { 0 }
    }

    fn step_or_end(self, scout: &Scout<'_>, from: u64, distance: u64) -> u64 {
        self.step(scout, from, distance).unwrap_or(self.end(scout))
    }

    /// Whether `a` lies further out than `b`.
    fn beyond(self, a: u64, b: u64) -> bool {
        if self.outward { a > b } else { a < b }
    }

    fn next(self, scout: &Scout<'_>, from: u64) -> Option<u64> {
        let axis = &scout.orthant.axes[self.d];
        if self.outward { axis.after(from) } else { axis.before(from) }
    }
}

/// Finds a side of the group's box and adds what it meets on the way.
pub fn find_edge(
    scout: &mut Scout<'_>,
    gaps: &mut Gaps,
    group: &mut Group,
    side: Direction,
) -> Result<Edge, Halt> {
    for round in 0..ROUNDS {
        walk(scout, gaps, group, side)?;
        let at = group.side(side.d, side.outward);
        if at == side.end(scout) {
            return Ok(Edge { at, kind: EdgeKind::Sharp });
        }
        let solid = is_solid_inside(scout, group, side)?;
        // An edge that had to be moved is ragged: look farther each time.
        let zone = Zone { reach: scout.gap[side.d].saturating_mul(1 << round), sparse: !solid };
        let outside = probe_outside(scout, group, side, zone)?;
        if outside.is_empty() {
            let kind = if solid { EdgeKind::Sharp } else { EdgeKind::Ragged };
            return Ok(Edge { at, kind });
        }
        advance(scout, gaps, group, side, outside)?;
    }
    Ok(Edge { at: group.side(side.d, side.outward), kind: EdgeKind::Ragged })
}

/// Where and how to look outside a side.
#[derive(Clone, Copy, Debug)]
pub struct Zone {
    pub reach: u64,
    /// Few points inside are inconsistent, so more samples are needed to meet one outside.
    pub sparse: bool,
}

/// Inconsistent points just outside a side, nearest first. Half of the samples are within a tenth
/// of a binade.
pub fn probe_outside(
    scout: &mut Scout<'_>,
    group: &Group,
    side: Direction,
    zone: Zone,
) -> Result<Vec<Vec<u64>>, Halt> {
    let Direction { d, outward } = side;
    let at = group.side(d, outward);
    let Some(first) = side.next(scout, at) else { return Ok(Vec::new()) };
    let near = side.step_or_end(scout, at, scout.near[d]);
    let far = side.step_or_end(scout, at, zone.reach);
    // As many as make missing all a chance of 1e-3 at the density of the range, within limits.
    let wanted = if zone.sparse { (6.9 / group.density.max(1e-9)) as u64 } else { 0 };
    let far_probes = wanted.clamp(PROBES, MOST_PROBES);
    let mut places = Vec::new();
    for (from, to, count) in [(first, near, PROBES), (near, far, far_probes)] {
        if !side.beyond(from, to) {
            places.extend(scout.spread(d, from.min(to), from.max(to), count));
        }
    }
    places.sort_unstable();
    places.dedup();
    places.retain(|&place| side.beyond(place, at));
    if !outward {
        places.reverse();
    }
    let outermost = group.member_at(d, at);
    let mut points = Vec::new();
    for (i, place) in places.into_iter().enumerate() {
        let base = if i % 4 == 0 { outermost } else { scout.any_member(group) };
        points.push(moved(base, d, place));
    }
    scout.hits_of(points)
}

/// Whether nearly all points just inside a side are inconsistent.
fn is_solid_inside(scout: &mut Scout<'_>, group: &Group, side: Direction) -> Result<bool, Halt> {
    let d = side.d;
    let (lo, hi) = (group.hull.lo[d], group.hull.hi[d]);
    let depth = scout.near[d].min(hi - lo);
    let (from, to) = if side.outward { (hi - depth, hi) } else { (lo, lo + depth) };
    let mut points = Vec::new();
    for place in scout.spread(d, from, to, PROBES) {
        // Settling may have moved it out of the box.
        let place = place.clamp(lo, hi);
        points.push(moved(scout.any_member(group), d, place));
    }
    let total = points.len();
    Ok(scout.hits_of(points)?.len() * 10 >= total * 9)
}

/// Walks out along the line through the outermost member until the next value is consistent, or to
/// the end of the axis, or to a clean gap. What lies beyond a clean gap is another range's.
fn walk(scout: &mut Scout<'_>, gaps: &mut Gaps, group: &mut Group, side: Direction) -> Result<(), Halt> {
    let d = side.d;
    let mut width = scout.gap[d];
    // The nearest place known to be consistent on the line.
    let mut miss: Option<u64> = None;
    for _ in 0..STEPS {
        let at = group.side(d, side.outward);
        let base = group.member_at(d, at).to_vec();
        let far = miss.unwrap_or_else(|| side.step_or_end(scout, at, width));
        let places = line_places(scout, side, at, far, miss.is_none());
        if places.is_empty() {
            return Ok(());
        }
        let points: Vec<Vec<u64>> = places.iter().map(|&place| moved(&base, d, place)).collect();
        let hit = scout.test(&points)?;
        let Some(outermost) = (0..places.len()).rev().find(|&i| hit[i]) else {
            miss = Some(places[0]);
            continue;
        };
        let hits: Vec<Vec<u64>> =
            points.into_iter().zip(&hit).filter(|(_, hit)| **hit).map(|(point, _)| point).collect();
        if advance(scout, gaps, group, side, hits)? {
            // The walk ends before a clean gap; what is left is the exact place of its near end.
            width = scout.gap[d];
            miss = None;
        } else if outermost + 1 < places.len() {
            miss = Some(places[outermost + 1]);
        } else if miss.is_none() {
            width = width.saturating_mul(4);
        }
    }
    Ok(())
}

/// Adds hits of a line, nearest first, as far as no clean gap lies before them. True when one does.
fn advance(
    scout: &mut Scout<'_>,
    gaps: &mut Gaps,
    group: &mut Group,
    side: Direction,
    hits: Vec<Vec<u64>>,
) -> Result<bool, Halt> {
    let d = side.d;
    for hit in hits {
        let at = group.side(d, side.outward);
        if at.abs_diff(hit[d]) >= scout.gap[d] {
            let mut bridge = Bridge::default();
            let gap = Gap::between(d, group.member_at(d, at), &hit);
            gaps.bridge(scout, group, d, gap, &mut bridge)?;
            let near_ends = bridge.clean.iter().map(|gap| if side.outward { gap.lo[d] } else { gap.hi[d] });
            let nearest = if side.outward { near_ends.min() } else { near_ends.max() };
            if let Some(stop) = nearest {
                // What lies beyond is another range's; the unit's samples hold it.
                let near = bridge.hits.into_iter().filter(|found| !side.beyond(found[d], stop));
                near.for_each(|found| group.add(found));
                return Ok(true);
            }
            bridge.hits.into_iter().for_each(|found| group.add(found));
        }
        group.add(hit);
    }
    Ok(false)
}

/// Places between `at` and `far`, nearest first: evenly spread, or the next value when there is no
/// room for that. Without `at`; with `far` only if asked for.
fn line_places(scout: &Scout<'_>, side: Direction, at: u64, far: u64, with_far: bool) -> Vec<u64> {
    let axis = &scout.orthant.axes[side.d];
    let distance = u128::from(at.abs_diff(far));
    let allowed = |place: u64| {
        side.beyond(place, at) && (side.beyond(far, place) || (with_far && place == axis.settle(far)))
    };
    let last = if with_far { PARTS } else { PARTS - 1 };
    let mut places: Vec<u64> = (1..=last)
        .filter_map(|i| side.step(scout, at, (distance * u128::from(i) / u128::from(PARTS)) as u64))
        .map(|place| axis.settle(place))
        .filter(|&place| allowed(place))
        .collect();
    places.dedup();
    if places.is_empty() {
        places.extend(side.next(scout, at).filter(|&next| allowed(next)));
    }
    places
}
