//! Values at which numerical code changes its mind: ends of the domain and of the type, zeros,
//! subnormals, one.

use std::collections::BTreeSet;

use crate::fp::{AxisPoint, Scalar, Side};
use crate::model::Coordinate;
use crate::ranges::Axis;

/// Most segments of a domain whose ends are sampled.
const SEGMENTS: usize = 16;

/// Edge values of a parameter that lie in its domain, negative side first, towards larger
/// magnitudes, without duplicates.
pub fn edge_values(param: &Coordinate) -> Vec<u64> {
    let mut places: BTreeSet<(Side, u64)> = BTreeSet::new();
    for side in [Side::Negative, Side::Positive] {
        let Some(axis) = Axis::new(param.ty, &param.domain, side) else { continue };
        let mut take = |rank: Option<u64>| places.extend(rank.map(|r| (side, axis.mag(r))));
        for segment in param.domain.on(side).take(SEGMENTS) {
            for mag in [segment.lo, segment.hi] {
                let Some(rank) = axis.rank(mag) else { continue };
                take(Some(axis.settle(rank)));
                take(axis.after(rank));
                take(axis.before(rank));
            }
        }
        for mag in special_places(param.ty) {
            take(axis.rank(mag));
        }
    }
    places.into_iter().map(|(side, mag)| param.ty.at_axis(AxisPoint { side, mag })).collect()
}

/// Magnitudes of interest of a type.
fn special_places(ty: Scalar) -> Vec<u64> {
    let bits: Vec<u64> = match ty {
        Scalar::F64 => {
            let subnormal = f64::MIN_POSITIVE.to_bits() - 1;
            let one = 1f64.to_bits();
            vec![0, 1, subnormal, subnormal + 1, one - 1, one, one + 1, f64::MAX.to_bits()]
        }
        Scalar::F32 => {
            let subnormal = u64::from(f32::MIN_POSITIVE.to_bits()) - 1;
            let one = u64::from(1f32.to_bits());
            vec![0, 1, subnormal, subnormal + 1, one - 1, one, one + 1, u64::from(f32::MAX.to_bits())]
        }
        _ => return vec![0, 1, 2],
    };
    bits.into_iter().filter_map(|b| ty.axis(b)).map(|place| place.mag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Domain, Segment};

    fn values(ty: Scalar, segments: Vec<Segment>) -> Vec<f64> {
        let domain = Domain::of(segments);
        let param = Coordinate { name: "x".into(), ty, domain, domain_text: String::new() };
        edge_values(&param).into_iter().map(|bits| ty.to_f64(bits)).collect()
    }

    #[test]
    fn all_doubles_have_zeros_subnormals_one_and_the_largest_on_both_sides() {
        let found = values(Scalar::F64, Domain::all(Scalar::F64).segments);
        for x in [
            0.0,
            5e-324,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE.next_down(),
            1.0,
            f64::MAX,
            f64::MAX.next_down(),
        ] {
            assert!(found.iter().any(|y| y.to_bits() == x.to_bits()), "{x}");
            assert!(found.iter().any(|y| y.to_bits() == (-x).to_bits()), "-{x}");
        }
        assert!(found.len() < 30);
    }

    #[test]
    fn a_domains_ends_and_their_neighbours_inside_are_edges() {
        let segment = Segment { side: Side::Positive, lo: 10, hi: 90 };
        assert_eq!(values(Scalar::I32, vec![segment]), [10.0, 11.0, 89.0, 90.0]);
    }
}
