//! Boxes of inputs on the axes of a function: whether an accepted one holds an input, with how much slack.
//!
//! A place is one signed number per parameter: the distance from zero on the logarithmic axis of a float, or the
//! integer itself. -0 and +0 are one place.

use crate::fp::{Scalar, Side};
use crate::model::{EdgeKind, EdgeRow, Number};

/// How far behind an edge an input still counts as inside, in binades. A sharp edge is known to about a tenth
/// of one; a ragged one is where luck found the last differing input.
const SHARP: f64 = 0.25;
const RAGGED: f64 = 1.0;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area {
    scalars: Vec<Scalar>,
    /// Both ends of each parameter, included.
    sides: Vec<(i128, i128)>,
}

/// Where an input lies. A NaN lies beyond the infinity of its sign, at a place that no number has.
pub(super) fn place(inputs: &[Number]) -> Vec<i128> {
    let along = |input: &Number| match input.scalar.axis(input.bits) {
        Some(point) => {
            let mag = i128::from(point.mag);
            if point.side == Side::Negative { -mag } else { mag }
        }
        None => {
            let beyond = i128::from(input.bits & !input.scalar.sign_bit()) << 64;
            if input.scalar.is_negative(input.bits) { -beyond } else { beyond }
        }
    };
    inputs.iter().map(along).collect()
}

impl Area {
    pub fn new(lo: &[Number], hi: &[Number]) -> Area {
        let scalars = lo.iter().map(|end| end.scalar).collect();
        Area { scalars, sides: place(lo).into_iter().zip(place(hi)).collect() }
    }

    /// With the slack that its edges deserve. It never reaches over zero: the other side is another orthant.
    pub fn eased(&self, edges: &[EdgeRow]) -> Area {
        let side = |(index, &(lo, hi)): (usize, &(i128, i128))| {
            let (Some(&scalar), Some(edge)) = (self.scalars.get(index), edges.get(index)) else {
                return (lo, hi);
            };
            let mut eased = (lo - slack(scalar, edge.lo, lo), hi + slack(scalar, edge.hi, hi));
            if lo >= 0 {
                eased.0 = eased.0.max(0);
            }
            if hi <= 0 {
                eased.1 = eased.1.min(0);
            }
            eased
        };
        Area { scalars: self.scalars.clone(), sides: self.sides.iter().enumerate().map(side).collect() }
    }

    pub fn holds(&self, place: &[i128]) -> bool {
        self.sides.len() == place.len()
            && self.sides.iter().zip(place).all(|(&(lo, hi), at)| (lo..=hi).contains(at))
    }

    pub fn is_within(&self, other: &Area) -> bool {
        self.sides.iter().zip(&other.sides).all(|(own, around)| around.0 <= own.0 && own.1 <= around.1)
    }

    pub fn meets(&self, other: &Area) -> bool {
        self.sides.iter().zip(&other.sides).all(|(own, theirs)| own.0 <= theirs.1 && theirs.0 <= own.1)
    }
}

/// The slack of an end, as steps of the axis. An integer's sharp edge has none; a ragged one may double.
fn slack(scalar: Scalar, edge: EdgeKind, end: i128) -> i128 {
    if !scalar.is_float() {
        return if edge == EdgeKind::Ragged { end.abs().max(1) } else { 0 };
    }
    let binades = if edge == EdgeKind::Ragged { RAGGED } else { SHARP };
    // Both factors are powers of two: exact.
    (binades * scalar.axis_unit() as f64) as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(x: f64) -> Vec<Number> {
        vec![Number::new(Scalar::F64, x.to_bits())]
    }

    fn at(x: f64) -> Vec<i128> {
        place(&one(x))
    }

    fn edges(lo: EdgeKind, hi: EdgeKind) -> [EdgeRow; 1] {
        [EdgeRow { lo, hi }]
    }

    #[test]
    fn a_ragged_edge_gives_a_binade_and_a_sharp_one_a_quarter() {
        let area = Area::new(&one(2.0), &one(8.0));
        assert!(area.holds(&at(2.0)) && area.holds(&at(8.0)) && !area.holds(&at(8.1)));
        let eased = area.eased(&edges(EdgeKind::Sharp, EdgeKind::Ragged));
        assert!(eased.holds(&at(16.0)) && !eased.holds(&at(16.1)));
        assert!(eased.holds(&at(1.75)) && !eased.holds(&at(1.7)));
        assert!(area.is_within(&eased) && !eased.is_within(&area));
    }

    #[test]
    fn slack_never_reaches_over_zero() {
        let area = Area::new(&one(0.0), &one(1.0));
        let eased = area.eased(&edges(EdgeKind::Ragged, EdgeKind::Ragged));
        assert!(eased.holds(&at(-0.0)) && !eased.holds(&at(-5e-324)));
        let below = Area::new(&one(-1.0), &one(-5e-324));
        let eased = below.eased(&edges(EdgeKind::Ragged, EdgeKind::Ragged));
        assert!(eased.holds(&at(0.0)) && !eased.holds(&at(5e-324)) && eased.holds(&at(-2.0)));
    }

    #[test]
    fn integers_keep_sharp_edges_to_the_unit() {
        let int = |n: i64| vec![Number::new(Scalar::I32, n.cast_unsigned())];
        let at = |n: i64| place(&int(n));
        let area = Area::new(&int(10), &int(19));
        let eased = area.eased(&edges(EdgeKind::Sharp, EdgeKind::Ragged));
        assert!(!eased.holds(&at(9)) && eased.holds(&at(38)) && !eased.holds(&at(39)));
    }

    #[test]
    fn boxes_meet_where_every_side_does() {
        let area = |lo: f64, hi: f64| Area::new(&[one(lo), one(1.0)].concat(), &[one(hi), one(2.0)].concat());
        assert!(area(1.0, 2.0).meets(&area(2.0, 3.0)) && !area(1.0, 2.0).meets(&area(2.5, 3.0)));
        assert!(!area(-2.0, -1.0).meets(&area(1.0, 2.0)));
    }
}
