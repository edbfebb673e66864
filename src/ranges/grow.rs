//! Growing a bounding box to the nearest consistent samples (CIGEN, section 3.2, figure 4).

use super::Cuboid;

/// Moves each side outwards to the nearest consistent sample outside the bounding box along that
/// axis, or to the end of `whole` when there is none.
pub fn grow<'a>(bounding: &Cuboid, misses: impl IntoIterator<Item = &'a [u64]>, whole: &Cuboid) -> Cuboid {
    let mut grown = whole.clone();
    for miss in misses {
        for (d, &at) in miss.iter().enumerate() {
            if at < bounding.lo[d] {
                grown.lo[d] = grown.lo[d].max(at);
            } else if at > bounding.hi[d] {
                grown.hi[d] = grown.hi[d].min(at);
            }
        }
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_side_stops_at_the_nearest_consistent_sample_along_its_axis() {
        let bounding = Cuboid { lo: vec![10, 10], hi: vec![20, 20] };
        let whole = Cuboid { lo: vec![0, 0], hi: vec![100, 100] };
        let misses: [&[u64]; 3] = [&[5, 90], &[8, 15], &[15, 30]];
        let grown = grow(&bounding, misses, &whole);
        assert_eq!(grown, Cuboid { lo: vec![8, 0], hi: vec![100, 30] });
    }

    proptest! {
        #[test]
        fn a_grown_box_holds_the_bounding_box_and_no_sample_between(
            points in prop::collection::vec(prop::collection::vec(0u64..50, 2), 2..6),
            misses in prop::collection::vec(prop::collection::vec(0u64..60, 2), 0..20),
        ) {
            let bounding = Cuboid::hull(points.iter().map(Vec::as_slice)).unwrap();
            let whole = Cuboid { lo: vec![0, 0], hi: vec![60, 60] };
            let grown = grow(&bounding, misses.iter().map(Vec::as_slice), &whole);
            prop_assert!(grown.contains(&bounding.lo) && grown.contains(&bounding.hi));
            for d in 0..2 {
                for miss in &misses {
                    prop_assert!(!(grown.lo[d] < miss[d] && miss[d] < bounding.lo[d]));
                    prop_assert!(!(bounding.hi[d] < miss[d] && miss[d] < grown.hi[d]));
                }
            }
        }
    }
}
