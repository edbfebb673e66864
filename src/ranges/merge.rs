//! Ranges with the kinds of their edges, and how several become one.

use serde::{Deserialize, Serialize};

use super::Cuboid;
use super::union_find::UnionFind;
use crate::model::EdgeKind;

/// A box with its edges: for every dimension the one towards zero, then the one away from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    pub cuboid: Cuboid,
    pub edges: Vec<[EdgeKind; 2]>,
}

impl Range {
    /// A range of which only samples are known.
    pub fn ragged(cuboid: Cuboid) -> Range {
        let edges = vec![[EdgeKind::Ragged; 2]; cuboid.lo.len()];
        Range { cuboid, edges }
    }

    pub(super) fn absorb(&mut self, other: &Range) {
        for d in 0..self.edges.len() {
            let (mine, theirs) = (&mut self.cuboid, &other.cuboid);
            self.edges[d][0] = outer_kind(mine.lo[d] <= theirs.lo[d], mine.lo[d] >= theirs.lo[d])
                .pick(self.edges[d][0], other.edges[d][0]);
            self.edges[d][1] = outer_kind(mine.hi[d] >= theirs.hi[d], mine.hi[d] <= theirs.hi[d])
                .pick(self.edges[d][1], other.edges[d][1]);
            mine.lo[d] = mine.lo[d].min(theirs.lo[d]);
            mine.hi[d] = mine.hi[d].max(theirs.hi[d]);
        }
    }
}

/// Which of two ranges reaches farther.
enum Outer {
    Mine,
    Theirs,
    Both,
}

fn outer_kind(mine: bool, theirs: bool) -> Outer {
    match (mine, theirs) {
        (true, true) => Outer::Both,
        (true, false) => Outer::Mine,
        _ => Outer::Theirs,
    }
}

impl Outer {
    fn pick(self, mine: EdgeKind, theirs: EdgeKind) -> EdgeKind {
        match self {
            Outer::Mine => mine,
            Outer::Theirs => theirs,
            // Two looks at one edge: it is sharp only when both found it so.
            Outer::Both if mine == theirs => mine,
            Outer::Both => EdgeKind::Ragged,
        }
    }
}

/// Joins ranges that overlap until none do. The result is ordered by its boxes.
pub fn merge_overlapping(ranges: Vec<Range>) -> Vec<Range> {
    let mut done: Vec<Range> = Vec::new();
    for mut range in ranges {
        // Growing may reach a range that was passed over before, so look again after each join.
        while let Some(at) = done.iter().position(|other| other.cuboid.overlaps(&range.cuboid)) {
            range.absorb(&done.swap_remove(at));
        }
        done.push(range);
    }
    done.sort_by(|a, b| a.cuboid.cmp(&b.cuboid));
    done
}

/// Makes every point lie in a range: a point no farther than `reach` from one moves the sides of the
/// nearest (which become ragged), any other becomes a range of its own.
pub fn extend<'a>(
    mut ranges: Vec<Range>,
    points: impl IntoIterator<Item = &'a [u64]>,
    reach: &[u64],
) -> Vec<Range> {
    for point in points {
        if ranges.iter().any(|r| r.cuboid.contains(point)) {
            continue;
        }
        let alone = Range::ragged(Cuboid::point(point));
        let near = ranges.iter_mut().filter(|r| {
            let gaps = r.cuboid.gaps(&alone.cuboid);
            gaps.zip(reach).all(|(gap, &reach)| gap <= reach)
        });
        match near.min_by_key(|r| r.cuboid.gaps(&alone.cuboid).map(u128::from).sum::<u128>()) {
            Some(range) => range.absorb(&alone),
            None => ranges.push(alone),
        }
    }
    merge_overlapping(ranges)
}

/// Joins the nearest ranges until there are at most `most`. Distances are sums over the axes, each
/// in parts of that axis of `whole`. Joins are made one after the other, so a chain of near ranges
/// becomes one. The result is ordered by its boxes.
pub fn join_nearest(ranges: Vec<Range>, most: usize, whole: &Cuboid) -> Vec<Range> {
    let mut ranges = merge_overlapping(ranges);
    let surplus = ranges.len().saturating_sub(most.max(1));
    if surplus == 0 {
        return ranges;
    }
    // Far fewer ranges than 2^32, whose pairs would not fit in memory.
    let parts = |a: &Cuboid, b: &Cuboid| -> u64 {
        let widths = whole.lo.iter().zip(&whole.hi).map(|(lo, hi)| u128::from(hi - lo) + 1);
        // Each part is below 2^32, and there are at most 64 axes.
        a.gaps(b).zip(widths).map(|(gap, width)| ((u128::from(gap) << 32) / width) as u64).sum()
    };
    let mut pairs: Vec<(u64, u32, u32)> = Vec::new();
    for (i, a) in ranges.iter().enumerate() {
        for (j, b) in ranges.iter().enumerate().skip(i + 1) {
            pairs.push((parts(&a.cuboid, &b.cuboid), i as u32, j as u32));
        }
    }
    pairs.sort_unstable();
    let mut joined = UnionFind::new(ranges.len() as u32);
    let mut left = surplus;
    for (_, a, b) in pairs {
        if left == 0 {
            break;
        }
        left -= usize::from(joined.union(a, b));
    }
    for i in 0..ranges.len() {
        let home = joined.find(i as u32) as usize;
        if home != i {
            let range = ranges[i].clone();
            ranges[home].absorb(&range);
        }
    }
    let homes = ranges.into_iter().enumerate().filter(|&(i, _)| joined.find(i as u32) as usize == i);
    merge_overlapping(homes.map(|(_, range)| range).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(lo: u64, hi: u64, kinds: [EdgeKind; 2]) -> Range {
        Range { cuboid: Cuboid { lo: vec![lo], hi: vec![hi] }, edges: vec![kinds] }
    }

    #[test]
    fn a_merged_range_keeps_the_edge_that_reaches_farther() {
        use EdgeKind::{Ragged, Sharp};
        let merged = merge_overlapping(vec![range(5, 9, [Ragged, Sharp]), range(1, 6, [Sharp, Ragged])]);
        assert_eq!(merged, [range(1, 9, [Sharp, Sharp])]);
    }

    #[test]
    fn a_join_that_reaches_a_third_range_takes_it_in() {
        let kinds = [EdgeKind::Sharp; 2];
        let ranges = vec![range(0, 2, kinds), range(4, 6, kinds), range(2, 4, kinds), range(8, 9, kinds)];
        assert_eq!(merge_overlapping(ranges), [range(0, 6, kinds), range(8, 9, kinds)]);
    }

    proptest! {
        #[test]
        fn merged_ranges_are_disjoint_and_hold_the_old_ones(
            boxes in prop::collection::vec(super::super::boxes::tests::any_box(2), 0..12)
        ) {
            let merged = merge_overlapping(boxes.iter().cloned().map(Range::ragged).collect());
            for b in &boxes {
                prop_assert!(merged.iter().any(|m| m.cuboid.contains(&b.lo) && m.cuboid.contains(&b.hi)));
            }
            for (i, a) in merged.iter().enumerate() {
                prop_assert!(merged[i + 1..].iter().all(|b| !a.cuboid.overlaps(&b.cuboid)));
            }
        }

        #[test]
        fn after_extending_every_point_lies_in_a_range(
            boxes in prop::collection::vec(super::super::boxes::tests::any_box(2), 0..6),
            points in prop::collection::vec(prop::collection::vec(0u64..200, 2), 0..12),
        ) {
            let ranges = boxes.into_iter().map(Range::ragged).collect();
            let ranges = extend(merge_overlapping(ranges), points.iter().map(Vec::as_slice), &[5, 5]);
            prop_assert!(points.iter().all(|p| ranges.iter().any(|r| r.cuboid.contains(p))));
            for (i, a) in ranges.iter().enumerate() {
                prop_assert!(ranges[i + 1..].iter().all(|b| !a.cuboid.overlaps(&b.cuboid)));
            }
        }

        #[test]
        fn joined_ranges_are_few_disjoint_and_hold_the_old_ones(
            boxes in prop::collection::vec(super::super::boxes::tests::any_box(2), 1..20),
            most in 1usize..6,
        ) {
            let whole = Cuboid { lo: vec![0, 0], hi: vec![200, 200] };
            let joined = join_nearest(boxes.iter().cloned().map(Range::ragged).collect(), most, &whole);
            prop_assert!(joined.len() <= most);
            for b in &boxes {
                prop_assert!(joined.iter().any(|m| m.cuboid.contains(&b.lo) && m.cuboid.contains(&b.hi)));
            }
            for (i, a) in joined.iter().enumerate() {
                prop_assert!(joined[i + 1..].iter().all(|b| !a.cuboid.overlaps(&b.cuboid)));
            }
        }
    }

    #[test]
    fn the_nearest_ranges_are_joined_and_keep_their_outer_edges() {
        let kinds = [EdgeKind::Sharp; 2];
        let ranges = vec![range(0, 2, kinds), range(90, 95, kinds), range(8, 9, kinds), range(40, 41, kinds)];
        let whole = Cuboid { lo: vec![0], hi: vec![100] };
        let joined = join_nearest(ranges, 3, &whole);
        assert_eq!(joined, [range(0, 9, kinds), range(40, 41, kinds), range(90, 95, kinds)]);
    }
}
