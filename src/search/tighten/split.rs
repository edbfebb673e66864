//! Splitting a group of inconsistent points at clean gaps: stretches of an axis, at least as wide
//! as the setting `gap`, in which enough samples are all consistent.

use std::collections::{BTreeMap, BTreeSet};

use super::scout::{Group, Halt, Scout, moved};

/// Fewest samples that call a gap clean, and the most that are spent on one unless a large budget
/// allows more: a gap that needs more than that stays unsplit.
const FEWEST: u64 = 32;
const MOST: u64 = 512;
/// Samples of a gap in the first looks; most gaps inside a range end with the first.
const LOOKS: [u64; 4] = [4, 12, 16, 32];
/// Chance of calling a gap clean that is not, as -ln: 1e-3.
const CONFIDENCE: f64 = 6.9;
/// Above this share of inconsistent points around it a point belongs to a solid region; the floats
/// next to it alone have to be twice as many.
const SOLID: f64 = 0.25;
/// Samples that say how dense a part is.
const DENSITY_SAMPLES: u64 = 64;
/// Floats on each side of a point that show whether it stands alone.
const NEIGHBOURS: usize = 4;
/// A gap of so few values is tested value by value.
const FEW_VALUES: u128 = 64;

/// A stretch of an axis between two inconsistent points: `lo` is the one nearer to zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub lo: Vec<u64>,
    pub hi: Vec<u64>,
}

impl Gap {
    /// The gap between two points along an axis, given in any order.
    pub fn between(d: usize, a: &[u64], b: &[u64]) -> Gap {
        let (lo, hi) = if a[d] <= b[d] { (a, b) } else { (b, a) };
        Gap { lo: lo.to_vec(), hi: hi.to_vec() }
    }

    pub fn width(&self, d: usize) -> u64 {
        self.hi[d] - self.lo[d]
    }
}

/// What is known about the gaps of one unit.
#[derive(Default)]
pub struct Gaps {
    /// Gaps that cannot be called clean with the samples at hand.
    doubtful: BTreeSet<(usize, u64, u64)>,
    solidity: BTreeMap<u64, f64>,
}

/// The outcome of looking into a gap: the clean parts of it, and the inconsistent points in it.
#[derive(Default)]
pub struct Bridge {
    pub clean: Vec<Gap>,
    pub hits: Vec<Vec<u64>>,
}

impl Gaps {
    /// Splits a group at its clean gaps, on every axis, again and again. Also returns why it ended
    /// early, if it did: then some gaps have not been looked at.
    pub fn split(&mut self, scout: &mut Scout<'_>, group: Group) -> (Vec<Group>, Option<Halt>) {
        let mut open = vec![group];
        let mut done = Vec::new();
        while let Some(mut group) = open.pop() {
            let mut parts = Vec::new();
            for d in scout.open_dims() {
                match self.clean_gaps(scout, &mut group, d) {
                    Ok(clean) if clean.is_empty() => {}
                    Ok(clean) => {
                        parts = cut(&group, d, &clean);
                        break;
                    }
                    Err(halt) => {
                        done.push(group);
                        done.append(&mut open);
                        return (done, Some(halt));
                    }
                }
            }
            if parts.len() > 1 {
                let measured = parts.iter_mut().try_for_each(|part| measure(scout, part));
                open.append(&mut parts);
                if let Err(halt) = measured {
                    done.append(&mut open);
                    return (done, Some(halt));
                }
            } else {
                done.push(group);
            }
        }
        (done, None)
    }

    fn clean_gaps(&mut self, scout: &mut Scout<'_>, group: &mut Group, d: usize) -> Result<Vec<Gap>, Halt> {
        let mut order: Vec<&Vec<u64>> = group.hits.iter().collect();
        order.sort_by_key(|p| p[d]);
        let wide = order.windows(2).filter(|pair| pair[1][d] - pair[0][d] >= scout.gap[d]);
        let gaps: Vec<Gap> = wide.map(|pair| Gap::between(d, pair[0], pair[1])).collect();
        let mut clean = Vec::new();
        for gap in gaps {
            let mut bridge = Bridge::default();
            let result = self.bridge(scout, group, d, gap, &mut bridge);
            bridge.hits.into_iter().for_each(|hit| group.add(hit));
            clean.extend(bridge.clean);
            result?;
        }
        Ok(clean)
    }

    /// Looks into the gap between two inconsistent points of a group until every part of it is
    /// either narrower than the setting, or clean, or beyond what can be afforded.
    pub fn bridge(
        &mut self,
        scout: &mut Scout<'_>,
        group: &Group,
        d: usize,
        gap: Gap,
        bridge: &mut Bridge,
    ) -> Result<(), Halt> {
        let mut open = vec![gap];
        while let Some(gap) = open.pop() {
            if gap.width(d) < scout.gap[d] || self.doubtful.contains(&(d, gap.lo[d], gap.hi[d])) {
                continue;
            }
            match few_between(scout, d, &gap) {
                Some(values) if values.is_empty() => continue,
                Some(values) if scout.open_dims().len() == 1 => {
                    let points = values.into_iter().map(|v| moved(&gap.lo, d, v)).collect();
                    let hits = scout.hits_of(points)?;
                    if hits.is_empty() {
                        bridge.clean.push(gap);
                    }
                    bridge.hits.extend(hits);
                    continue;
                }
                _ => {}
            }
            let hits = self.look(scout, group, d, &gap)?;
            if hits.is_empty() {
                if !self.doubtful.contains(&(d, gap.lo[d], gap.hi[d])) {
                    bridge.clean.push(gap);
                }
                continue;
            }
            let mut ends: Vec<&Vec<u64>> = hits.iter().chain([&gap.lo, &gap.hi]).collect();
            ends.sort_by_key(|p| p[d]);
            open.extend(ends.windows(2).map(|pair| Gap::between(d, pair[0], pair[1])));
            bridge.hits.extend(hits);
        }
        Ok(())
    }

    /// Samples a gap in growing looks. The first hits found, or none when it is clean or doubtful.
    fn look(
        &mut self,
        scout: &mut Scout<'_>,
        group: &Group,
        d: usize,
        gap: &Gap,
    ) -> Result<Vec<Vec<u64>>, Halt> {
        let (mut tried, mut round, mut needed) = (0, 0, FEWEST);
        loop {
            let count = LOOKS.get(round).copied().unwrap_or(64);
            let points = inside(scout, group, d, gap, count);
            let hits = scout.hits_of(points)?;
            if !hits.is_empty() {
                return Ok(hits);
            }
            tried += count;
            round += 1;
            if tried >= needed {
                needed = self.needed(scout, group, d, gap)?;
            }
            let most = MOST.max(scout.left / 16);
            if needed > most {
                self.doubtful.insert((d, gap.lo[d], gap.hi[d]));
            }
            if needed > most || tried >= needed {
                return Ok(Vec::new());
            }
        }
    }

    /// How many consistent samples make a gap clean: as many as make a hit likely, had the gap the
    /// density of what lies beside it. More than `MOST` when that is not known or too low.
    ///
    /// On a single axis a solid end says that a region ends there, and few samples show it. Between
    /// isolated points only samples next to the gap can tell how dense they are. In several
    /// dimensions a region may be solid around every point and still fill little of the box, so
    /// only the density of the whole part counts.
    fn needed(&mut self, scout: &mut Scout<'_>, group: &Group, d: usize, gap: &Gap) -> Result<u64, Halt> {
        let density = if scout.open_dims().len() > 1 {
            group.density
        } else {
            let solid = self.solidity(scout, d, &gap.lo)?.max(self.solidity(scout, d, &gap.hi)?);
            if solid >= SOLID { solid } else { density_beside(scout, group, d, gap)? }
        };
        // A positive number, or infinity, which saturates.
        Ok(((CONFIDENCE / density) as u64).max(FEWEST))
    }

    /// The share of inconsistent points around one of a single axis: among the next floats, or at
    /// distances from an eighth of the gap setting down to a millionth of it, whichever is more.
    /// An edge value is solid by itself: it was chosen, so it says nothing about its surroundings.
    fn solidity(&mut self, scout: &mut Scout<'_>, d: usize, base: &[u64]) -> Result<f64, Halt> {
        let at = base[d];
        if let Some(&known) = self.solidity.get(&at) {
            return Ok(known);
        }
        let axis = &scout.orthant.axes[d];
        let mut next = BTreeSet::new();
        let (mut below, mut above) = (Some(at), Some(at));
        for _ in 0..NEIGHBOURS {
            below = below.and_then(|place| axis.before(place));
            above = above.and_then(|place| axis.after(place));
            next.extend(below.into_iter().chain(above));
        }
        let mut apart = BTreeSet::new();
        for shift in [3, 6, 9, 12, 16, 20] {
            let step = (scout.gap[d] >> shift).max(1);
            apart.extend(at.checked_sub(step).map(|place| axis.settle(place)));
            apart.insert(axis.settle(at.saturating_add(step)));
        }
        apart.remove(&at);
        let mut solidity: f64 = if scout.is_edge_value(d, at) { SOLID } else { 0.0 };
        for (places, weight) in [(apart, 1.0), (next, 0.5)] {
            let points: Vec<Vec<u64>> = places.into_iter().map(|place| moved(base, d, place)).collect();
            // Counts of at most a dozen.
            let total = points.len().max(1) as f64;
            solidity = solidity.max(weight * scout.hits_of(points)?.len() as f64 / total);
        }
        self.solidity.insert(at, solidity);
        Ok(solidity)
    }
}

/// The share of inconsistent points on both sides of a gap, as far from it as it is wide; 0 when
/// none was met.
fn density_beside(scout: &mut Scout<'_>, group: &Group, d: usize, gap: &Gap) -> Result<f64, Halt> {
    let width = gap.width(d);
    let (lo, hi) = (group.hull.lo[d], group.hull.hi[d]);
    let mut points = Vec::new();
    for (from, to) in [
        (gap.lo[d].saturating_sub(width).max(lo).min(gap.lo[d]), gap.lo[d]),
        (gap.hi[d], gap.hi[d].saturating_add(width).min(hi).max(gap.hi[d])),
    ] {
        let places = scout.spread(d, from, to, DENSITY_SAMPLES);
        points.extend(places.into_iter().map(|place| moved(&gap.lo, d, place)));
    }
    // Counts of at most a few dozen.
    let total = points.len().max(1) as f64;
    Ok(scout.hits_of(points)?.len() as f64 / total)
}

/// Measures how dense a part is that was cut off.
fn measure(scout: &mut Scout<'_>, part: &mut Group) -> Result<(), Halt> {
    if scout.open_dims().len() < 2 {
        return Ok(());
    }
    let points: Vec<Vec<u64>> = (0..DENSITY_SAMPLES).map(|_| scout.anywhere(&part.hull)).collect();
    let hits = scout.hits_of(points)?;
    // Counts of at most a few dozen.
    part.density = hits.len() as f64 / DENSITY_SAMPLES as f64;
    hits.into_iter().for_each(|hit| part.add(hit));
    Ok(())
}

/// Points inside a gap. Along the other axes they are those of the members at its ends, or lie on
/// the line between these, or are those of any member, or anywhere in the part's box, so that
/// neither a box nor a diagonal band nor a cloud is missed.
fn inside(scout: &mut Scout<'_>, group: &Group, d: usize, gap: &Gap, count: u64) -> Vec<Vec<u64>> {
    let (lo, hi) = (gap.lo[d], gap.hi[d]);
    let places = scout.spread(d, lo + 1, hi - 1, count);
    let places = places.into_iter().filter(|&place| place > lo && place < hi);
    let mut points = Vec::new();
    for (i, place) in places.enumerate() {
        let point = match i % 8 {
            0 => moved(&gap.lo, d, place),
            4 => moved(&gap.hi, d, place),
            1 | 5 => moved(&between(scout, &gap.lo, &gap.hi, place - lo, hi - lo), d, place),
            2 | 6 => moved(scout.any_member(group), d, place),
            _ => moved(&scout.anywhere(&group.hull), d, place),
        };
        points.push(point);
    }
    points
}

fn between(scout: &Scout<'_>, from: &[u64], to: &[u64], part: u64, whole: u64) -> Vec<u64> {
    let mix = |(d, (&a, &b)): (usize, (&u64, &u64))| {
        let way = (u128::from(a.abs_diff(b)) * u128::from(part) / u128::from(whole)) as u64;
        scout.orthant.axes[d].settle(if a <= b { a + way } else { a - way })
    };
    from.iter().zip(to).enumerate().map(mix).collect()
}

/// All values strictly inside a gap, when there are few.
fn few_between(scout: &Scout<'_>, d: usize, gap: &Gap) -> Option<Vec<u64>> {
    let axis = &scout.orthant.axes[d];
    let ordinal = |rank| axis.ty().ordinal(axis.value(rank)).unwrap_or(0).unsigned_abs();
    if ordinal(gap.hi[d]).abs_diff(ordinal(gap.lo[d])) > FEW_VALUES {
        return None;
    }
    let next = |&at: &u64| axis.after(at).filter(|&next| next < gap.hi[d]);
    Some(std::iter::successors(next(&gap.lo[d]), next).collect())
}

/// The members between successive clean gaps.
fn cut(group: &Group, d: usize, clean: &[Gap]) -> Vec<Group> {
    let mut cuts: Vec<u64> = clean.iter().map(|gap| gap.hi[d]).collect();
    cuts.sort_unstable();
    let mut parts: BTreeMap<usize, Vec<Vec<u64>>> = BTreeMap::new();
    for hit in &group.hits {
        parts.entry(cuts.partition_point(|&c| c <= hit[d])).or_default().push(hit.clone());
    }
    parts.into_values().filter_map(|hits| Group::new(hits, group.density)).collect()
}
