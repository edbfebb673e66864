//! Sets of values of one type as closed intervals of ordinals, where both float zeros are one value.

use crate::fp::{Scalar, Side};
use crate::model::{Domain, Segment};

/// Sorted, disjoint, never touching: neighbours are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Intervals(Vec<(i128, i128)>);

impl Intervals {
    /// The union of closed intervals; crossed ones are empty.
    pub fn union(mut parts: Vec<(i128, i128)>) -> Intervals {
        parts.retain(|(lo, hi)| lo <= hi);
        parts.sort_unstable();
        let mut merged: Vec<(i128, i128)> = Vec::with_capacity(parts.len());
        for (lo, hi) in parts {
            match merged.last_mut() {
                Some(last) if lo <= last.1 + 1 => last.1 = last.1.max(hi),
                _ => merged.push((lo, hi)),
            }
        }
        Intervals(merged)
    }

    /// The part between two values, both included.
    pub fn clip(&mut self, least: i128, most: i128) {
        self.0.retain_mut(|(lo, hi)| {
            (*lo, *hi) = ((*lo).max(least), (*hi).min(most));
            lo <= hi
        });
    }

    /// Takes out one value.
    pub fn remove(&mut self, value: i128) {
        let Some(index) = self.0.iter().position(|(lo, hi)| (*lo..=*hi).contains(&value)) else { return };
        let (lo, hi) = self.0[index];
        let halves = [(lo, value - 1), (value + 1, hi)];
        self.0.splice(index..=index, halves.into_iter().filter(|(lo, hi)| lo <= hi));
    }

    /// The same set on the type's axis; None when it is empty.
    pub fn to_domain(&self, ty: Scalar) -> Option<Domain> {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        // Towards minus infinity magnitudes grow, so the negative side is read backwards.
        for &(lo, hi) in self.0.iter().rev() {
            // -0 belongs to every set that holds 0; integers have no -0.
            let nearest = if ty.is_float() { 0 } else { -1 };
            if lo <= nearest {
                segments.push(segment(ty, Side::Negative, hi.min(nearest), lo)?);
            }
        }
        for &(lo, hi) in &self.0 {
            if hi >= 0 {
                segments.push(segment(ty, Side::Positive, lo.max(0), hi)?);
            }
        }
        (!segments.is_empty()).then_some(Domain::of(segments))
    }
}

/// From the ordinal nearest to zero to the farthest.
fn segment(ty: Scalar, side: Side, near: i128, far: i128) -> Option<Segment> {
    let mag = |ordinal| ty.axis(ty.from_ordinal(ordinal)?).map(|point| point.mag);
    Some(Segment { side, lo: mag(near)?, hi: mag(far)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_intervals_become_one() {
        let set = Intervals::union(vec![(5, 9), (1, 4), (20, 10), (11, 12)]);
        assert_eq!(set, Intervals(vec![(1, 9), (11, 12)]));
    }

    #[test]
    fn removing_a_value_splits_its_interval() {
        let mut set = Intervals::union(vec![(-3, 3), (7, 7)]);
        set.remove(0);
        set.remove(7);
        set.remove(100);
        assert_eq!(set, Intervals(vec![(-3, -1), (1, 3)]));
        set.clip(-2, 1);
        assert_eq!(set, Intervals(vec![(-2, -1), (1, 1)]));
    }

    #[test]
    fn a_set_across_zero_has_both_zeros_if_it_is_of_floats() {
        let domain = |ty| Intervals::union(vec![(-2, 2)]).to_domain(ty).unwrap();
        let lows = |ty| domain(ty).segments.iter().map(|s| (s.side, s.lo)).collect::<Vec<_>>();
        assert_eq!(lows(Scalar::F64), [(Side::Negative, 0), (Side::Positive, 0)]);
        assert_eq!(lows(Scalar::I32), [(Side::Negative, 1), (Side::Positive, 0)]);
        assert_eq!(Intervals::default().to_domain(Scalar::F64), None);
    }
}
