//! One side of one parameter's domain as the values it holds, one after the other, away from zero.
//!
//! Where an `Axis` counts places, and subnormals leave most of theirs empty, a ladder counts values:
//! a *rung* for each. Cells are equal stretches of the axis, 1/16 binade of a float.

use crate::fp::{AxisPoint, Scalar, Side};
use crate::model::Domain;

use super::Axis;

/// Parts of a binade that are a cell.
const CELLS_PER_BINADE: u64 = 16;
/// An integer axis has no binades: it is cut into about this many cells.
const INTEGER_CELLS: u64 = 4096;

/// Values without a hole between them, by magnitude: a float's bits without the sign.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    lo: u64,
    hi: u64,
    /// Rung of the first value.
    start: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    axis: Axis,
    stretches: Vec<Stretch>,
    count: u64,
    cell: u64,
}

impl Ladder {
    /// None when the domain has no values on that side.
    pub fn new(ty: Scalar, domain: &Domain, side: Side) -> Option<Ladder> {
        let axis = Axis::new(ty, domain, side)?;
        let (mut stretches, mut count) = (Vec::new(), 0u64);
        for segment in axis.segments() {
            let (lo, hi) = (magnitude(ty, side, segment.lo), magnitude(ty, side, segment.hi));
            stretches.push(Stretch { lo, hi, start: count });
            // All 2^64 values of the widest integer are one too many to count; nobody climbs them.
            count = count.saturating_add(hi - lo).saturating_add(1);
        }
        let farthest = axis.segments().last().map_or(0, |s| s.hi);
        let cell =
            if ty.is_float() { ty.axis_unit() / CELLS_PER_BINADE } else { farthest / INTEGER_CELLS + 1 };
        Some(Ladder { axis, stretches, count, cell })
    }

    /// Both sides of a domain, negative first.
    pub fn both(ty: Scalar, domain: &Domain) -> Vec<Ladder> {
        [Side::Negative, Side::Positive]
            .into_iter()
            .filter_map(|side| Ladder::new(ty, domain, side))
            .collect()
    }

    pub fn axis(&self) -> &Axis {
        &self.axis
    }

    pub fn side(&self) -> Side {
        self.axis.side()
    }

    /// Number of rungs.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value on a rung; beyond the last one, that of the last.
    pub fn value(&self, rung: u64) -> u64 {
        let rung = rung.min(self.count - 1);
        let at = &self.stretches[self.stretches.partition_point(|s| s.start <= rung) - 1];
        self.signed(at.lo + (rung - at.start))
    }

    /// Hands over the values of rungs from..to, in order.
    pub fn list(&self, from: u64, to: u64, mut each: impl FnMut(u64)) {
        let mut rung = from;
        while rung < to.min(self.count) {
            let at = &self.stretches[self.stretches.partition_point(|s| s.start <= rung) - 1];
            let lo = at.lo + (rung - at.start);
            let hi = at.hi.min(lo + (to - rung - 1));
            (lo..=hi).for_each(|magnitude| each(self.signed(magnitude)));
            rung += hi - lo + 1;
        }
    }

    /// The rung of a value; None outside the domain or on the other side.
    pub fn rung(&self, bits: u64) -> Option<u64> {
        self.axis.rank_of(bits)?;
        Some(self.at_or_after(self.axis.ty().axis(bits)?.mag))
    }

    /// The first rung at least this far from zero on the axis; `count` when there is none.
    pub fn at_or_after(&self, mag: u64) -> u64 {
        let (ty, side) = (self.axis.ty(), self.side());
        let below = ty.at_axis(AxisPoint { side, mag });
        let reached = ty.axis(below).is_some_and(|place| place.mag >= mag);
        let magnitude = unsigned(ty, side, below).saturating_add(u64::from(!reached));
        let at = self.stretches.partition_point(|s| s.hi < magnitude);
        match self.stretches.get(at) {
            Some(stretch) => stretch.start + magnitude.saturating_sub(stretch.lo),
            None => self.count,
        }
    }

    /// The cell of a rung.
    pub fn cell(&self, rung: u64) -> u64 {
        let place = self.axis.ty().axis(self.value(rung));
        place.map_or(0, |place| place.mag) / self.cell
    }

    /// The rungs of a cell: the first, and one past the last.
    pub fn rungs_of(&self, cell: u64) -> (u64, u64) {
        let start = |cell: u64| cell.checked_mul(self.cell).map_or(self.count, |mag| self.at_or_after(mag));
        (start(cell), start(cell.saturating_add(1)))
    }

    /// Places of the axis between two rungs, the lower one first.
    pub fn apart(&self, low: u64, high: u64) -> u64 {
        let (ty, value) = (self.axis.ty(), self.value(low));
        // Beyond the subnormals every place has its value.
        if !ty.is_float() || unsigned(ty, self.side(), value) >= ty.axis_unit() {
            return high - low;
        }
        let rank = |bits| self.axis.rank_of(bits).unwrap_or(0);
        rank(self.value(high)).saturating_sub(rank(value))
    }

    fn signed(&self, magnitude: u64) -> u64 {
        let ty = self.axis.ty();
        match self.side() {
            Side::Positive => magnitude,
            Side::Negative if ty.is_float() => magnitude | 1 << (ty.width() - 1),
            Side::Negative => magnitude.wrapping_neg(),
        }
    }
}

/// A value without its sign.
fn unsigned(ty: Scalar, side: Side, bits: u64) -> u64 {
    match side {
        Side::Positive => bits,
        Side::Negative if ty.is_float() => bits & !(1 << (ty.width() - 1)),
        Side::Negative => bits.wrapping_neg(),
    }
}

fn magnitude(ty: Scalar, side: Side, mag: u64) -> u64 {
    unsigned(ty, side, ty.at_axis(AxisPoint { side, mag }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Segment;
    use proptest::prelude::*;

    fn floats(side: Side) -> Ladder {
        Ladder::new(Scalar::F32, &Domain::all(Scalar::F32), side).unwrap()
    }

    #[test]
    fn all_finite_floats_have_a_rung() {
        for ladder in Ladder::both(Scalar::F32, &Domain::all(Scalar::F32)) {
            assert_eq!(ladder.count(), u64::from(f32::INFINITY.to_bits()));
            assert_eq!(ladder.cell(0), 0);
            assert_eq!(ladder.rungs_of(0), (0, 1));
        }
        assert_eq!(floats(Side::Negative).value(3), u64::from((-f32::from_bits(3)).to_bits()));
    }

    proptest! {
        #[test]
        fn a_value_comes_back_from_its_rung(bits in 0u32..0x7f80_0000) {
            let ladder = floats(Side::Positive);
            let rung = ladder.rung(bits.into()).unwrap();
            prop_assert_eq!(ladder.value(rung), u64::from(bits));
            let (from, to) = ladder.rungs_of(ladder.cell(rung));
            prop_assert!(from <= rung && rung < to);
            prop_assert!(to == ladder.count() || ladder.cell(to) > ladder.cell(rung));
        }

        #[test]
        fn rungs_are_as_far_apart_as_their_ranks(low in 0u64..1 << 25, more in 0u64..1 << 25) {
            let ladder = floats(Side::Negative);
            let rank = |rung| ladder.axis().rank_of(ladder.value(rung)).unwrap();
            prop_assert_eq!(ladder.apart(low, low + more), rank(low + more) - rank(low));
        }
    }

    #[test]
    fn holes_of_a_domain_have_no_rungs() {
        let segment = |side, lo, hi| Segment { side, lo, hi };
        let domain = Domain::of(vec![segment(Side::Negative, 2, 3), segment(Side::Negative, 7, 8)]);
        let ladder = Ladder::new(Scalar::I32, &domain, Side::Negative).unwrap();
        let mut listed = Vec::new();
        ladder.list(1, 9, |bits| listed.push(bits.cast_signed()));
        assert_eq!(listed, [-3, -7, -8]);
        assert_eq!(ladder.rung((-7i64).cast_unsigned()), Some(2));
        assert_eq!(ladder.rung((-5i64).cast_unsigned()), None);
        assert_eq!((ladder.at_or_after(4), ladder.at_or_after(9)), (2, 4));
    }
}
