//! Ranges of two runs that are about the same inputs. Ids say nothing here: they are numbers in a list.

use super::outcome::RangeName;
use crate::model::{Category, ComparisonRow, Number, WitnessRow};

/// Two boxes that are no farther apart than this part of a binade count as overlapping: no search knows an edge,
/// or the place of a root, better.
const SLACK_BITS: u32 = 4;

/// A range, or the one input that is in none.
pub(super) struct Piece<'a> {
    pub id: RangeName,
    pub lo: &'a [Number],
    pub hi: &'a [Number],
    pub bits: f64,
    pub category: Option<Category>,
    pub witness: &'a WitnessRow,
    /// None when a bound is a NaN: it then meets nothing.
    extent: Option<Vec<Extent>>,
}

/// A stretch of one parameter, as ordinals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// Whether it is below zero, above zero, or both. A zero at one end is on the side of the other end.
    sides: [bool; 2],
    lo: i128,
    hi: i128,
}

impl Extent {
    fn shares_side(&self, other: &Extent) -> bool {
        self.sides.iter().zip(&other.sides).any(|(own, theirs)| *own && *theirs)
    }
}

/// What one comparison found.
pub(super) fn pieces(comparison: &ComparisonRow) -> Vec<Piece<'_>> {
    let ranges = comparison.ranges.iter().map(|range| Piece {
        id: RangeName::Range(range.id.clone()),
        lo: &range.lo,
        hi: &range.hi,
        bits: range.max_bits,
        category: Some(range.category),
        witness: &range.witness,
        extent: extent(&range.lo, &range.hi),
    });
    let mut pieces: Vec<Piece> = ranges.collect();
    if let Some(witness) = &comparison.witness {
        let own = Piece {
            id: RangeName::Lone,
            lo: &witness.inputs,
            hi: &witness.inputs,
            bits: comparison.max_bits,
            category: None,
            witness,
            extent: extent(&witness.inputs, &witness.inputs),
        };
        if !pieces.iter().any(|piece| meets(piece, &own)) {
            pieces.push(own);
        }
    }
    pieces
}

fn extent(lo: &[Number], hi: &[Number]) -> Option<Vec<Extent>> {
    let along = |(lo, hi): (&Number, &Number)| {
        let (scalar, lo, hi) = (lo.scalar, lo.bits, hi.bits);
        let slack = match scalar.mantissa_bits() {
            0 => 0,
            bits => 1i128 << (bits - SLACK_BITS),
        };
        // Of a range that ends in a zero, the other end says the side; -0 alone is on the negative one.
        let negative = scalar.is_negative(lo);
        let positive = !negative || (!scalar.is_negative(hi) && scalar.ordinal(hi)? != 0);
        Some(Extent { sides: [negative, positive], lo: scalar.ordinal(lo)? - slack, hi: scalar.ordinal(hi)? })
    };
    lo.iter().zip(hi).map(along).collect()
}

fn meets(a: &Piece, b: &Piece) -> bool {
    let (Some(a), Some(b)) = (&a.extent, &b.extent) else { return false };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.shares_side(b) && a.lo <= b.hi && b.lo <= a.hi)
}

/// Ranges of both runs that meet, directly or through others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub a: Vec<usize>,
    pub b: Vec<usize>,
}

/// Every piece is in one group; groups come in the order of their first piece, those of the second run last.
pub(super) fn groups(a: &[Piece], b: &[Piece]) -> Vec<Group> {
    let mut group_of_b: Vec<Option<usize>> = vec![None; b.len()];
    let mut groups: Vec<Group> = Vec::new();
    for (index, piece) in a.iter().enumerate() {
        let met: Vec<usize> = (0..b.len()).filter(|&other| meets(piece, &b[other])).collect();
        // The groups that this piece joins become one.
        let mut joined: Vec<usize> = met.iter().filter_map(|&other| group_of_b[other]).collect();
        joined.sort_unstable();
        joined.dedup();
        let home = joined.first().copied().unwrap_or(groups.len());
        if home == groups.len() {
            groups.push(Group::default());
        }
        for &other in joined.iter().skip(1) {
            let Group { a, b } = std::mem::take(&mut groups[other]);
            groups[home].a.extend(a);
            groups[home].b.extend(b);
        }
        groups[home].a.push(index);
        groups[home].b.extend(met.iter().filter(|&&other| group_of_b[other].is_none()));
        for &other in &groups[home].b {
            group_of_b[other] = Some(home);
        }
    }
    let alone = (0..b.len()).filter(|&other| group_of_b[other].is_none());
    let alone: Vec<Group> = alone.map(|other| Group { a: Vec::new(), b: vec![other] }).collect();
    groups.extend(alone);
    groups.retain(|group| !group.a.is_empty() || !group.b.is_empty());
    for group in &mut groups {
        group.a.sort_unstable();
        group.b.sort_unstable();
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::Answer;

    fn witness() -> WitnessRow {
        let zero = Number::new(Scalar::F64, 0);
        WitnessRow::of_one(vec![zero], Answer::Value(zero), Answer::Value(zero))
    }

    fn grouped(a: &[(f64, f64)], b: &[(f64, f64)]) -> Vec<(Vec<usize>, Vec<usize>)> {
        let one = |x: f64| vec![Number::new(Scalar::F64, x.to_bits())];
        let bounds = |list: &[(f64, f64)]| -> Vec<(Vec<Number>, Vec<Number>)> {
            list.iter().map(|&(lo, hi)| (one(lo), one(hi))).collect()
        };
        let (a, b, witness) = (bounds(a), bounds(b), witness());
        fn all<'a>(list: &'a [(Vec<Number>, Vec<Number>)], witness: &'a WitnessRow) -> Vec<Piece<'a>> {
            let piece = |(lo, hi): &'a (Vec<Number>, Vec<Number>)| Piece {
                id: RangeName::Lone,
                lo,
                hi,
                bits: 1.0,
                category: None,
                witness,
                extent: extent(lo, hi),
            };
            list.iter().map(piece).collect()
        }
        groups(&all(&a, &witness), &all(&b, &witness)).into_iter().map(|g| (g.a, g.b)).collect()
    }

    #[test]
    fn ranges_that_overlap_are_one_group_also_through_others() {
        // The second run has one range where the first had two, and the other way round.
        assert_eq!(grouped(&[(1.0, 2.0), (4.0, 8.0)], &[(1.5, 5.0)]), [(vec![0, 1], vec![0])]);
        assert_eq!(grouped(&[(1.5, 5.0)], &[(1.0, 2.0), (4.0, 8.0)]), [(vec![0], vec![0, 1])]);
        let chain = grouped(&[(1.0, 2.0), (8.0, 9.0), (3.0, 7.0)], &[(1.5, 4.0), (6.0, 8.5)]);
        assert_eq!(chain, [(vec![0, 1, 2], vec![0, 1])]);
    }

    #[test]
    fn ranges_of_other_orthants_or_far_away_stay_alone() {
        assert_eq!(grouped(&[(-2.0, -0.0)], &[(0.0, 2.0)]), [(vec![0], vec![]), (vec![], vec![0])]);
        assert_eq!(grouped(&[(1.0, 2.0)], &[(3.0, 4.0)]), [(vec![0], vec![]), (vec![], vec![0])]);
        assert_eq!(grouped(&[(1.0, 2.0)], &[(2.1, 4.0)]).len(), 1, "within a sixteenth of a binade");
    }

    #[test]
    fn a_range_that_reaches_over_zero_meets_ranges_on_both_sides() {
        assert_eq!(grouped(&[(-2.0, -1.0), (1.0, 2.0)], &[(-3.0, 3.0)]), [(vec![0, 1], vec![0])]);
        assert_eq!(grouped(&[(-2.0, 5.0)], &[(-1.0, -0.0), (0.0, 3.0), (6.0, 7.0)]).len(), 2);
    }

    #[test]
    fn bounds_that_are_no_numbers_meet_nothing() {
        assert_eq!(grouped(&[(f64::NAN, 2.0)], &[(1.0, 2.0)]).len(), 2);
    }
}
