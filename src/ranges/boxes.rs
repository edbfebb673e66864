//! A box of ranks in one orthant, both ends included.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cuboid {
    pub lo: Vec<u64>,
    pub hi: Vec<u64>,
}

impl Cuboid {
    pub fn point(at: &[u64]) -> Cuboid {
        Cuboid { lo: at.to_vec(), hi: at.to_vec() }
    }

    /// The smallest box around points; None for none.
    pub fn hull<'a>(points: impl IntoIterator<Item = &'a [u64]>) -> Option<Cuboid> {
        let mut points = points.into_iter();
        let mut hull = Cuboid::point(points.next()?);
        for point in points {
            hull.include(point);
        }
        Some(hull)
    }

    pub fn include(&mut self, point: &[u64]) {
        for (d, &at) in point.iter().enumerate() {
            self.lo[d] = self.lo[d].min(at);
            self.hi[d] = self.hi[d].max(at);
        }
    }

    pub fn contains(&self, point: &[u64]) -> bool {
        point.iter().enumerate().all(|(d, at)| (self.lo[d]..=self.hi[d]).contains(at))
    }

    pub fn overlaps(&self, other: &Cuboid) -> bool {
        (0..self.lo.len()).all(|d| self.lo[d] <= other.hi[d] && other.lo[d] <= self.hi[d])
    }

    /// The distance to another box along each axis; 0 where they overlap.
    pub fn gaps<'a>(&'a self, other: &'a Cuboid) -> impl Iterator<Item = u64> + 'a {
        (0..self.lo.len()).map(|d| {
            let below = self.lo[d].saturating_sub(other.hi[d]);
            below.max(other.lo[d].saturating_sub(self.hi[d]))
        })
    }

    /// Dimensions along which the box has more than one place.
    pub fn open_dims(&self) -> Vec<usize> {
        (0..self.lo.len()).filter(|&d| self.lo[d] < self.hi[d]).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn any_box(dims: usize) -> impl Strategy<Value = Cuboid> {
        prop::collection::vec((0u64..100, 0u64..30), dims).prop_map(|sides| Cuboid {
            lo: sides.iter().map(|s| s.0).collect(),
            hi: sides.iter().map(|s| s.0 + s.1).collect(),
        })
    }

    proptest! {
        #[test]
        fn a_hull_holds_all_its_points(points in prop::collection::vec(prop::collection::vec(any::<u64>(), 3), 1..20)) {
            let hull = Cuboid::hull(points.iter().map(Vec::as_slice)).unwrap();
            prop_assert!(points.iter().all(|p| hull.contains(p)));
            for d in 0..3 {
                prop_assert!(points.iter().any(|p| p[d] == hull.lo[d]));
                prop_assert!(points.iter().any(|p| p[d] == hull.hi[d]));
            }
        }

        #[test]
        fn overlap_means_a_shared_point(a in any_box(2), b in any_box(2)) {
            let corner: Vec<u64> = (0..2).map(|d| a.lo[d].max(b.lo[d])).collect();
            prop_assert_eq!(a.overlaps(&b), a.contains(&corner) && b.contains(&corner));
        }
    }
}
