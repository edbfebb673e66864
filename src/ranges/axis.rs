//! One side of one parameter's domain, its segments laid end to end.
//!
//! A *rank* counts places from the one nearest to zero; holes of the domain have no ranks, so a
//! rank can always be evaluated. Among subnormals several ranks share a value: the lowest of them
//! is the settled one.

use crate::fp::{AxisPoint, Scalar, Side};
use crate::model::{Domain, Segment};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    ty: Scalar,
    side: Side,
    segments: Vec<Segment>,
    /// Rank of each segment's first place.
    starts: Vec<u64>,
    last: u64,
}

impl Axis {
    /// None when the domain has no values on that side.
    pub fn new(ty: Scalar, domain: &Domain, side: Side) -> Option<Axis> {
        let mut segments = Vec::new();
        let mut starts = Vec::new();
        let mut next: u128 = 0;
        for segment in domain.on(side) {
            let (lo, hi) = (settle_up(ty, side, segment.lo), settle_down(ty, side, segment.hi));
            if lo > hi {
                continue;
            }
            starts.push(u64::try_from(next).ok()?);
            let segment = Segment { side, lo, hi };
            next += segment.len();
            segments.push(segment);
        }
        let last = u64::try_from(next.checked_sub(1)?).ok()?;
        Some(Axis { ty, side, segments, starts, last })
    }

    pub fn ty(&self) -> Scalar {
        self.ty
    }

    pub fn side(&self) -> Side {
        self.side
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The rank farthest from zero; the nearest is 0.
    pub fn last(&self) -> u64 {
        self.last
    }

    fn segment_of(&self, rank: u64) -> usize {
        if self.starts.len() == 1 {
            return 0;
        }
        self.starts.partition_point(|&start| start <= rank) - 1
    }

    /// The distance from zero of a rank; beyond the last one, that of the last.
    pub fn mag(&self, rank: u64) -> u64 {
        let rank = rank.min(self.last);
        let at = self.segment_of(rank);
        self.segments[at].lo + (rank - self.starts[at])
    }

    /// The rank of a distance from zero; None outside the domain.
    pub fn rank(&self, mag: u64) -> Option<u64> {
        let at = self.segments.partition_point(|s| s.hi < mag);
        let segment = self.segments.get(at)?;
        (segment.lo <= mag).then(|| self.starts[at] + (mag - segment.lo))
    }

    /// The rank of a value; None outside the domain or on the other side.
    pub fn rank_of(&self, bits: u64) -> Option<u64> {
        let place = self.ty.axis(bits)?;
        if place.side != self.side { None } else { self.rank(place.mag) }
    }

    /// The value at a rank.
    pub fn value(&self, rank: u64) -> u64 {
        self.ty.at_axis(AxisPoint { side: self.side, mag: self.mag(rank) })
    }

    /// The lowest rank with the same value.
    pub fn settle(&self, rank: u64) -> u64 {
        let rank = rank.min(self.last);
        if !self.ty.is_float() {
            return rank;
        }
        let mag = self.mag(rank);
        rank - (mag - settle_down(self.ty, self.side, mag))
    }

    /// The settled rank of the next value away from zero.
    pub fn after(&self, rank: u64) -> Option<u64> {
        let at = self.segment_of(rank.min(self.last));
        let mag = settle_up(self.ty, self.side, self.mag(rank).checked_add(1)?);
        let segment = &self.segments[at];
        if mag <= segment.hi {
            Some(self.starts[at] + (mag - segment.lo))
        } else {
            self.starts.get(at + 1).copied()
        }
    }

    /// The settled rank of the next value towards zero.
    pub fn before(&self, rank: u64) -> Option<u64> {
        Some(self.settle(self.settle(rank).checked_sub(1)?))
    }

    /// Ranks in so many binades of a float axis. An integer axis has none, so a binade stands for
    /// four values or a 64th of the axis, whichever is more.
    pub fn steps(&self, binades: f64) -> u64 {
        let unit = if self.ty.is_float() { self.ty.axis_unit() } else { (self.last / 64).max(4) };
        // Truncating is fine: this is a width, not a place.
        ((binades * unit as f64) as u64).max(1)
    }
}

/// The place of the value at `mag`: `mag` itself or the nearest place towards zero with a value.
fn settle_down(ty: Scalar, side: Side, mag: u64) -> u64 {
    ty.axis(ty.at_axis(AxisPoint { side, mag })).map_or(mag, |place| place.mag)
}

/// `mag` itself or the nearest place away from zero with a value.
fn settle_up(ty: Scalar, side: Side, mag: u64) -> u64 {
    let below = ty.at_axis(AxisPoint { side, mag });
    match ty.axis(below) {
        Some(place) if place.mag < mag => {
            // The float one step away from zero has the next bits on either side.
            ty.axis(below + 1).map_or(u64::MAX, |next| next.mag.max(mag))
        }
        _ => mag,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn doubles(side: Side) -> Axis {
        Axis::new(Scalar::F64, &Domain::all(Scalar::F64), side).unwrap()
    }

    proptest! {
        #[test]
        fn a_value_comes_back_from_its_rank(bits: u64) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            let side = if x.is_sign_negative() { Side::Negative } else { Side::Positive };
            let axis = doubles(side);
            let rank = axis.rank_of(bits).unwrap();
            prop_assert_eq!(axis.value(rank), bits);
            prop_assert_eq!(axis.settle(rank), rank);
        }

        #[test]
        fn neighbours_on_the_axis_are_neighbouring_floats(x in prop_oneof![any::<f64>(), 0.0..1e-307f64]) {
            let x = x.abs();
            prop_assume!(x < f64::MAX);
            let axis = doubles(Side::Positive);
            let rank = axis.rank_of(x.to_bits()).unwrap();
            let after = axis.after(rank).unwrap();
            prop_assert_eq!(axis.value(after), x.next_up().to_bits());
            prop_assert_eq!(axis.before(after), Some(rank));
        }

        #[test]
        fn a_settled_rank_has_the_same_value(rank: u64) {
            let axis = doubles(Side::Positive);
            let settled = axis.settle(rank);
            prop_assert!(settled <= rank);
            prop_assert_eq!(axis.value(settled), axis.value(rank));
        }
    }

    #[test]
    fn holes_of_a_domain_have_no_ranks() {
        let segment = |lo, hi| Segment { side: Side::Positive, lo, hi };
        let domain = Domain::of(vec![segment(3, 5), segment(9, 9), segment(20, 21)]);
        let axis = Axis::new(Scalar::I32, &domain, Side::Positive).unwrap();
        assert_eq!(axis.last(), 5);
        let values: Vec<u64> = (0..=5).map(|rank| axis.value(rank)).collect();
        assert_eq!(values, [3, 4, 5, 9, 20, 21]);
        assert_eq!(axis.rank(9), Some(3));
        assert_eq!(axis.rank(10), None);
        assert_eq!(axis.after(2), Some(3));
        assert_eq!(axis.after(5), None);
        assert_eq!(axis.before(4), Some(3));
        assert!(Axis::new(Scalar::I32, &domain, Side::Negative).is_none());
    }

    #[test]
    fn the_first_value_after_zero_is_the_smallest_subnormal() {
        let axis = doubles(Side::Negative);
        assert_eq!(axis.value(0), (-0.0f64).to_bits());
        assert_eq!(axis.value(axis.after(0).unwrap()), (-5e-324f64).to_bits());
        assert_eq!(axis.after(axis.last()), None);
    }
}
