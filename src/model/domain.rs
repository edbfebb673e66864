//! The inputs of interest of one parameter: sorted segments of its axis, and values that are tried before all others.

use serde::{Deserialize, Serialize};

use crate::fp::{AxisPoint, Scalar, Side};

/// A closed stretch of an axis on one side of zero: `lo <= mag <= hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub side: Side,
    pub lo: u64,
    pub hi: u64,
}

impl Segment {
    /// Number of places, as a 128-bit count because the whole axis is near 2^64.
    pub fn len(&self) -> u128 {
        u128::from(self.hi) - u128::from(self.lo) + 1
    }

    pub fn is_empty(&self) -> bool {
        self.hi < self.lo
    }

    pub fn contains(&self, point: AxisPoint) -> bool {
        self.side == point.side && (self.lo..=self.hi).contains(&point.mag)
    }
}

/// Disjoint segments: the negative side first, each side ordered by magnitude. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    pub segments: Vec<Segment>,
    /// Infinities, NaN and -0 where the user named them. A NaN has no place on the axis, so that only this list has it.
    pub specials: Vec<u64>,
}

impl Domain {
    /// Without special values.
    pub fn of(segments: Vec<Segment>) -> Domain {
        Domain { segments, specials: Vec::new() }
    }

    /// Every finite value of a type.
    pub fn all(ty: Scalar) -> Domain {
        let segments = [Side::Negative, Side::Positive]
            .into_iter()
            .filter_map(|side| {
                // Integer 0 is on the positive side only; floats have a zero on each.
                let lo = u64::from(side == Side::Negative && !ty.is_float());
                ty.axis_max(side).map(|hi| Segment { side, lo, hi })
            })
            .collect();
        Domain::of(segments)
    }

    pub fn contains(&self, point: AxisPoint) -> bool {
        self.segments.iter().any(|s| s.contains(point))
    }

    /// The segments of one side, ordered by magnitude.
    pub fn on(&self, side: Side) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(move |s| s.side == side)
    }

    /// Whether exactly one value is allowed, special values aside.
    pub fn is_fixed(&self) -> bool {
        matches!(self.segments.as_slice(), [only] if only.lo == only.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_doubles_are_two_segments_that_meet_at_the_zeros() {
        let all = Domain::all(Scalar::F64);
        assert_eq!(all.segments.len(), 2);
        for x in [0.0, -0.0, f64::MAX, f64::MIN, 5e-324] {
            assert!(all.contains(Scalar::F64.axis(f64::to_bits(x)).unwrap()), "{x}");
        }
        assert!(!all.contains(Scalar::F64.axis(f64::INFINITY.to_bits()).unwrap()));
    }

    #[test]
    fn integers_have_one_zero_and_unsigned_ones_one_side() {
        assert_eq!(Domain::all(Scalar::U32).segments.len(), 1);
        let all = Domain::all(Scalar::I8);
        assert_eq!(all.segments.iter().map(Segment::len).sum::<u128>(), 256);
    }
}
