//! Boxes that may reach over zero, and how the ranges of many orthants become few of them.
//!
//! A *place* is a rank with its side: rank r of the positive side is r, of the negative one -1 - r, so that places
//! follow each other through zero.

use serde::{Deserialize, Serialize};

use super::{Axis, Cuboid};
use crate::fp::{Scalar, Side};
use crate::model::{Domain, EdgeKind};

/// A box of places, both ends included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub lo: Vec<i128>,
    pub hi: Vec<i128>,
}

fn place(side: Side, rank: u64) -> i128 {
    match side {
        Side::Negative => -1 - i128::from(rank),
        Side::Positive => i128::from(rank),
    }
}

impl Span {
    /// A box of one orthant.
    pub fn of(sides: &[Side], cuboid: &Cuboid) -> Span {
        let ends = sides.iter().enumerate().map(|(d, &side)| {
            let (near, far) = (place(side, cuboid.lo[d]), place(side, cuboid.hi[d]));
            (near.min(far), near.max(far))
        });
        let (lo, hi) = ends.unzip();
        Span { lo, hi }
    }

    /// Whether it holds a point of an orthant.
    pub fn holds(&self, sides: &[Side], point: &[u64]) -> bool {
        sides.iter().zip(point).enumerate().all(|(d, (&side, &rank))| {
            let at = place(side, rank);
            self.lo[d] <= at && at <= self.hi[d]
        })
    }

    fn is_within(&self, other: &Span) -> bool {
        (0..self.lo.len()).all(|d| other.lo[d] <= self.lo[d] && self.hi[d] <= other.hi[d])
    }
}

/// Both sides of one parameter's domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poles {
    negative: Option<Axis>,
    positive: Option<Axis>,
}

impl Poles {
    pub fn new(ty: Scalar, domain: &Domain) -> Poles {
        let axis = |side| Axis::new(ty, domain, side);
        Poles { negative: axis(Side::Negative), positive: axis(Side::Positive) }
    }

    /// The value at a place; None where the domain has no values on that side.
    pub fn value(&self, place: i128) -> Option<u64> {
        let (axis, rank) = match place < 0 {
            true => (self.negative.as_ref()?, -1 - place),
            false => (self.positive.as_ref()?, place),
        };
        Some(axis.value(u64::try_from(rank).unwrap_or(u64::MAX)))
    }

    /// How many ends of a stretch have places of the domain, on the same side of zero, beyond them.
    fn open_ends(&self, lo: i128, hi: i128) -> u64 {
        let last = |axis: &Option<Axis>| axis.as_ref().map_or(0, |axis| i128::from(axis.last()));
        let below = lo != 0 && lo != -1 - last(&self.negative);
        let above = hi != -1 && hi != last(&self.positive);
        u64::from(below) + u64::from(above)
    }

    fn sides(&self) -> impl Iterator<Item = &Axis> {
        self.negative.iter().chain(&self.positive)
    }

    /// The part of the domain that so many places are. A width below a binade counts as one: points
    /// that are far apart along another axis must not seem to be next to each other.
    fn share(&self, width: i128) -> f64 {
        // Rounding to 53 bits is far below any width that matters.
        let all: f64 = self.sides().map(|axis| axis.last() as f64 + 1.0).sum();
        let binade = self.sides().map(|axis| axis.steps(1.0)).max().unwrap_or(1);
        ((width as f64).max(binade as f64) / all.max(1.0)).min(1.0)
    }
}

/// A range with its edges, the one towards minus infinity first, and the share of inconsistent inputs in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub span: Span,
    pub edges: Vec<[EdgeKind; 2]>,
    pub fill: f64,
    /// Inconsistent samples in it.
    pub hits: u64,
}

/// The share of the inconsistent inputs that may lie outside of all pieces, if all samples had been drawn alike. Those of
/// a search gather along its own lines, so it is well below one in a hundred.
const OUTSIDE: f64 = 0.001;

impl Piece {
    /// Inconsistent samples that would lie outside if they were drawn once more, about: of n places along an axis, the
    /// next one lies beyond each end once in n + 1 times. Nothing lies beyond an end of the domain.
    fn outside(&self, axes: &[Poles]) -> u64 {
        let ends =
            axes.iter().enumerate().map(|(d, poles)| poles.open_ends(self.span.lo[d], self.span.hi[d]));
        self.hits.min(ends.sum())
    }

    /// The part of the domain that the piece and another one fill together, if there is another.
    fn volume(&self, other: Option<&Piece>, axes: &[Poles]) -> f64 {
        let widths = axes.iter().enumerate().map(|(d, poles)| {
            let lo = other.map_or(self.span.lo[d], |o| o.span.lo[d].min(self.span.lo[d]));
            let hi = other.map_or(self.span.hi[d], |o| o.span.hi[d].max(self.span.hi[d]));
            poles.share(hi - lo + 1)
        });
        widths.product()
    }

    fn absorb(&mut self, other: &Piece, axes: &[Poles]) {
        let (mine, theirs) = (self.volume(None, axes), other.volume(None, axes));
        self.fill = (self.fill * mine + other.fill * theirs) / (mine + theirs);
        self.hits += other.hits;
        let kind = |farther: bool, as_far: bool, mine: EdgeKind, theirs: EdgeKind| match (farther, as_far) {
            (true, _) => mine,
            // Two looks at one edge: it is sharp only when both found it so.
            (_, true) if mine != theirs => EdgeKind::Ragged,
            _ => theirs,
        };
        for d in 0..self.edges.len() {
            let (span, them) = (&mut self.span, &other.span);
            let ([lo, hi], [their_lo, their_hi]) = (self.edges[d], other.edges[d]);
            self.edges[d] = [
                kind(span.lo[d] < them.lo[d], span.lo[d] == them.lo[d], lo, their_lo),
                kind(span.hi[d] > them.hi[d], span.hi[d] == them.hi[d], hi, their_hi),
            ];
            span.lo[d] = span.lo[d].min(them.lo[d]);
            span.hi[d] = span.hi[d].max(them.hi[d]);
        }
    }

    /// How much more of the domain the box around both holds than they do, counted at the density of
    /// what is inconsistent in them: what joining them would claim and no sample shows.
    fn cost(&self, other: &Piece, axes: &[Poles]) -> f64 {
        let (mine, theirs) = (self.volume(None, axes), other.volume(None, axes));
        let fill = (self.fill * mine + other.fill * theirs) / (mine + theirs);
        fill * (self.volume(Some(other), axes) - mine - theirs)
    }
}

/// Joins the pieces that cost least, one pair after the other, until there are at most `most` and they have so many
/// samples each that they hold nearly all inconsistent inputs. A piece inside a joined one becomes part of it. Pieces may overlap: to join all that do would soon leave one around everything.
pub fn join_pieces(pieces: Vec<Piece>, most: usize, axes: &[Poles]) -> Vec<Piece> {
    let mut costs: Vec<Vec<f64>> = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        costs.push(pieces[..i].iter().map(|other| piece.cost(other, axes)).collect());
    }
    let mut pieces: Vec<Option<Piece>> = pieces.into_iter().map(Some).collect();
    let mut left = pieces.len();
    while left > most.max(1) || (left > 1 && are_loose(&pieces, axes)) {
        let Some((home, guest)) = cheapest(&costs, &pieces) else { break };
        let (Some(mut joined), mut guest) = (pieces[home].take(), pieces[guest].take()) else { break };
        while let Some(met) = guest {
            joined.absorb(&met, axes);
            left -= 1;
            let inside = |other: &&mut Option<Piece>| {
                other.as_ref().is_some_and(|other| other.span.is_within(&joined.span))
            };
            guest = pieces.iter_mut().find(inside).and_then(Option::take);
        }
        for (i, other) in pieces.iter().enumerate() {
            if let Some(other) = other {
                costs[home.max(i)][home.min(i)] = joined.cost(other, axes);
            }
        }
        pieces[home] = Some(joined);
    }
    pieces.into_iter().flatten().collect()
}

/// Whether too many inconsistent inputs lie outside, as far as the number of samples tells.
fn are_loose(pieces: &[Option<Piece>], axes: &[Poles]) -> bool {
    let outside: u64 = pieces.iter().flatten().map(|piece| piece.outside(axes)).sum();
    let hits: u64 = pieces.iter().flatten().map(|piece| piece.hits).sum();
    // Counts far below 2^53.
    outside as f64 > OUTSIDE * hits as f64
}

/// The pair that costs least, the first of equals.
fn cheapest(costs: &[Vec<f64>], pieces: &[Option<Piece>]) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    for (i, row) in costs.iter().enumerate().filter(|(i, _)| pieces[*i].is_some()) {
        for (j, &cost) in row.iter().enumerate().filter(|(j, _)| pieces[*j].is_some()) {
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, j, i));
            }
        }
    }
    best.map(|(_, home, guest)| (home, guest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axes(dims: usize) -> Vec<Poles> {
        vec![Poles::new(Scalar::F64, &Domain::all(Scalar::F64)); dims]
    }

    fn piece(ends: &[(f64, f64)], fill: f64) -> Piece {
        let at = |x: f64| {
            let side = if x.is_sign_negative() { Side::Negative } else { Side::Positive };
            let axis = Axis::new(Scalar::F64, &Domain::all(Scalar::F64), side).unwrap();
            place(side, axis.rank_of(x.to_bits()).unwrap())
        };
        let (lo, hi) = ends.iter().map(|&(lo, hi)| (at(lo), at(hi))).unzip();
        Piece { span: Span { lo, hi }, edges: vec![[EdgeKind::Sharp; 2]; ends.len()], fill, hits: 100_000 }
    }

    #[test]
    fn places_follow_each_other_through_zero_and_give_their_values_back() {
        let poles = &axes(1)[0];
        assert_eq!(poles.value(0), Some(0.0f64.to_bits()));
        assert_eq!(poles.value(-1), Some((-0.0f64).to_bits()));
        let positive = Domain::of(Domain::all(Scalar::F64).on(Side::Positive).cloned().collect());
        assert_eq!(Poles::new(Scalar::F64, &positive).value(-1), None);
    }

    #[test]
    fn mirrored_boxes_that_meet_at_zero_are_joined_before_any_others() {
        let pieces = vec![
            piece(&[(-1e9, -0.0), (1.0, 2.0)], 0.5),
            piece(&[(1e100, 1e120), (1e100, 1e120)], 0.5),
            piece(&[(0.0, 1e9), (1.0, 2.0)], 0.5),
        ];
        let joined = join_pieces(pieces.clone(), 2, &axes(2));
        let mut both = piece(&[(-1e9, 1e9), (1.0, 2.0)], 0.5);
        both.hits = 200_000;
        assert_eq!(joined, [both, pieces[1].clone()]);
    }

    #[test]
    fn an_orthant_without_inconsistent_inputs_stays_outside_as_long_as_there_is_room() {
        let side = |negative| if negative { (-1e9, -0.0) } else { (0.0, 1e9) };
        let orthants = (0..15u32).map(|o| (0..4).map(|d| side(o >> d & 1 == 1)).collect::<Vec<_>>());
        let joined = join_pieces(orthants.map(|ends| piece(&ends, 0.3)).collect(), 4, &axes(4));
        assert!(joined.len() <= 4, "{joined:?}");
        let empty = piece(&[side(true); 4], 0.0);
        let corner: Vec<u64> = vec![7; 4];
        assert!(empty.span.holds(&[Side::Negative; 4], &corner));
        assert!(joined.iter().all(|p| !p.span.holds(&[Side::Negative; 4], &corner)), "{joined:?}");
    }

    #[test]
    fn boxes_of_few_samples_are_joined_until_they_hold_what_the_next_sample_finds() {
        let sparse = |lo: f64, hi: f64, hits: u64| {
            let mut sparse = piece(&[(lo, hi)], 0.1);
            sparse.hits = hits;
            sparse
        };
        let few = vec![sparse(1.0, 2.0, 750), sparse(4.0, 8.0, 750), sparse(1e100, 1e101, 3000)];
        assert_eq!(join_pieces(few, 64, &axes(1)).len(), 2);
        let many = vec![sparse(1.0, 2.0, 1500), sparse(4.0, 8.0, 1500), sparse(1e100, 1e101, 7000)];
        assert_eq!(join_pieces(many, 64, &axes(1)).len(), 3);
    }

    proptest! {
        #[test]
        fn joined_pieces_are_few_and_hold_the_old_ones(
            corners in prop::collection::vec((any::<[bool; 3]>(), 0u64..8, 0u64..4), 1..40),
            most in 1usize..12,
        ) {
            let axes = vec![Poles::new(Scalar::I32, &Domain::all(Scalar::I32)); 3];
            let piece = |(signs, at, width): ([bool; 3], u64, u64)| {
                let sides = signs.map(|s| if s { Side::Negative } else { Side::Positive });
                let cuboid = Cuboid { lo: vec![at * 1000; 3], hi: vec![at * 1000 + width; 3] };
                Piece { span: Span::of(&sides, &cuboid), edges: vec![[EdgeKind::Sharp; 2]; 3], fill: 0.25, hits: 3 }
            };
            let pieces: Vec<Piece> = corners.into_iter().map(piece).collect();
            let joined = join_pieces(pieces.clone(), most, &axes);
            prop_assert!(joined.len() <= most);
            prop_assert!(pieces.iter().all(|p| joined.iter().any(|j| p.span.is_within(&j.span))));
            prop_assert!(joined.iter().all(|j| (j.fill - 0.25).abs() < 1e-12));
        }
    }
}
