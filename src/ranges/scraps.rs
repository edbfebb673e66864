//! Scraps: narrow ranges of one parameter that are a few of many, not regions of their own.
//!
//! Where builds round differently once in a million inputs, a search meets a few of those inputs,
//! and nothing shows that there are none between them. Reported one by one they say less than the
//! stretch they come from.

use std::collections::BTreeSet;

use super::{Axis, Orthant, Range};
use crate::model::{EdgeKind, SearchSettings};

/// Joins a scrap with the next range if that is a scrap or ragged on both sides, and no farther off
/// than the clustering's threshold. Leaves orthants of several parameters, integers and axes
/// narrower than a gap as they are: single values are regions there. So are the `chosen` values of
/// a parameter, by index, which every search samples.
///
/// `ranges` are disjoint; the result is ordered.
pub fn join_scraps(
    mut ranges: Vec<Range>,
    orthant: &Orthant,
    settings: &SearchSettings,
    chosen: impl Fn(usize) -> Vec<u64>,
) -> Vec<Range> {
    let &[d] = orthant.whole().open_dims().as_slice() else { return ranges };
    let axis = &orthant.axes[d];
    let gap = axis.steps(settings.gap);
    if !axis.ty().is_float() || axis.last() <= gap || ranges.len() < 2 {
        return ranges;
    }
    let chosen = chosen(d).into_iter().filter_map(|bits| axis.rank_of(bits)).collect();
    let look = Look { axis, d, gap, chosen };
    // A width, not a place.
    let reach = (settings.threshold * axis.last() as f64) as u64;
    ranges.sort_by_key(|range| range.cuboid.lo[d]);
    let mut joined: Vec<Range> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last)
                if range.cuboid.lo[d] - last.cuboid.hi[d] <= reach
                    && (look.is_scrap(last) && look.is_sparse(&range)
                        || look.is_sparse(last) && look.is_scrap(&range)) =>
            {
                last.absorb(&range);
                last.edges[d] = [EdgeKind::Ragged; 2];
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// How ranges of one axis look.
struct Look<'a> {
    axis: &'a Axis,
    d: usize,
    gap: u64,
    chosen: BTreeSet<u64>,
}

impl Look<'_> {
    /// Random samples meet no region of a single float, unless it is one of many.
    fn is_lone(&self, range: &Range) -> bool {
        let lo = self.axis.settle(range.cuboid.lo[self.d]);
        lo == self.axis.settle(range.cuboid.hi[self.d]) && !self.chosen.contains(&lo)
    }

    fn is_sparse(&self, range: &Range) -> bool {
        self.is_lone(range) || range.edges[self.d] == [EdgeKind::Ragged; 2]
    }

    fn is_scrap(&self, range: &Range) -> bool {
        self.is_sparse(range) && range.cuboid.hi[self.d] - range.cuboid.lo[self.d] < self.gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::{Scalar, Side};
    use crate::model::Domain;
    use crate::ranges::Cuboid;

    fn joined(ranges: &[(f64, f64, EdgeKind)]) -> Vec<(f64, f64)> {
        let axis = Axis::new(Scalar::F64, &Domain::all(Scalar::F64), Side::Positive).unwrap();
        let rank = |x: f64| axis.rank_of(x.to_bits()).unwrap();
        let ranges = ranges.iter().map(|&(lo, hi, kind)| Range {
            cuboid: Cuboid { lo: vec![rank(lo)], hi: vec![rank(hi)] },
            edges: vec![[kind; 2]],
        });
        let orthant = Orthant { axes: vec![axis.clone()] };
        let joined =
            join_scraps(ranges.collect(), &orthant, &SearchSettings::default(), |_| vec![1e20f64.to_bits()]);
        let value = |rank: u64| f64::from_bits(axis.value(rank));
        joined.iter().map(|r| (value(r.cuboid.lo[0]), value(r.cuboid.hi[0]))).collect()
    }

    #[test]
    fn single_floats_and_ragged_slivers_become_one_range_and_regions_stay() {
        use EdgeKind::{Ragged, Sharp};
        let ranges = [
            (1e-40, 1e-30, Sharp),
            (3e-20, 3e-20, Sharp),
            (1.0, 1.5, Ragged),
            (7e10, 7e10, Sharp),
            (1e15, 1.1e15, Sharp),
            (5e19, 5e19, Sharp),
            (1e20, 1e20, Sharp),
        ];
        let expected = [(1e-40, 1e-30), (3e-20, 7e10), (1e15, 1.1e15), (5e19, 5e19), (1e20, 1e20)];
        assert_eq!(joined(&ranges), expected);
    }

    #[test]
    fn two_wide_ragged_ranges_stay_two_and_so_do_scraps_far_apart() {
        use EdgeKind::Ragged;
        let wide = [(1e-40, 1e-30, Ragged), (1e-20, 1.0, Ragged)];
        assert_eq!(joined(&wide).len(), 2);
        let far = [(1e-200, 1e-200, Ragged), (1e200, 1e200, Ragged)];
        assert_eq!(joined(&far).len(), 2);
    }
}
