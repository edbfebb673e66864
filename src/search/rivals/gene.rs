//! One parameter as the bit pattern that the published algorithms vary: sign, exponent, mantissa.
//! Knows which patterns the domain holds; evaluates nothing and chooses nothing.
//!
//! A *magnitude* is a float's bits without the sign, or an integer's absolute value. An integer has
//! its bit length for an exponent and the bits below its leading one for a mantissa.

use crate::fp::{Scalar, Side, Stream};
use crate::model::{Coordinate, Domain};
use crate::ranges::Axis;

/// Magnitudes `lo..=hi` on one side. A piece of a domain, or of one exponent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub side: Side,
    pub lo: u64,
    pub hi: u64,
}

#[derive(Clone, Debug)]
pub struct Gene {
    ty: Scalar,
    pieces: Vec<Piece>,
    /// Every piece cut at the bounds of exponents, with the exponent; by exponent, then by side.
    cells: Vec<(u32, Piece)>,
    /// Exponents of the domain, ascending.
    exponents: Vec<u32>,
}

impl Gene {
    pub fn new(param: &Coordinate) -> Gene {
        let ty = param.ty;
        let mut pieces = Vec::new();
        for segment in &param.domain.segments {
            let alone = Domain::of(vec![*segment]);
            if let Some(axis) = Axis::new(ty, &alone, segment.side) {
                let magnitude = |rank| split(ty, axis.value(rank)).1;
                pieces.push(Piece { side: segment.side, lo: magnitude(0), hi: magnitude(axis.last()) });
            }
        }
        let mut cells = Vec::new();
        for piece in &pieces {
            for e in exponent(ty, piece.lo)..=exponent(ty, piece.hi) {
                let (base, span) = binade(ty, e);
                let cell =
                    Piece { lo: piece.lo.max(base), hi: piece.hi.min(base | low_bits(span)), ..*piece };
                cells.push((e, cell));
            }
        }
        cells.sort_by_key(|(e, cell)| (*e, cell.side));
        let mut exponents: Vec<u32> = cells.iter().map(|(e, _)| *e).collect();
        exponents.dedup();
        Gene { ty, pieces, cells, exponents }
    }

    pub fn ty(&self) -> Scalar {
        self.ty
    }

    pub fn is_fixed(&self) -> bool {
        matches!(self.pieces.as_slice(), [only] if only.lo == only.hi)
    }

    pub fn exponents(&self) -> &[u32] {
        &self.exponents
    }

    /// The domain cut at the bounds of exponents.
    pub fn cells(&self) -> impl Iterator<Item = Piece> {
        self.cells.iter().map(|(_, cell)| *cell)
    }

    /// The side and the magnitude of a value.
    pub fn split(&self, bits: u64) -> (Side, u64) {
        split(self.ty, bits)
    }

    pub fn exponent_of(&self, bits: u64) -> u32 {
        exponent(self.ty, self.split(bits).1)
    }

    /// Mantissa bits of the values around a magnitude.
    pub fn span(&self, magnitude: u64) -> u32 {
        binade(self.ty, exponent(self.ty, magnitude)).1
    }

    /// The piece of the domain that holds a value; None outside the domain, as for NaN.
    pub fn piece_of(&self, bits: u64) -> Option<Piece> {
        let (side, magnitude) = self.split(bits);
        self.pieces.iter().find(|p| p.side == side && (p.lo..=p.hi).contains(&magnitude)).copied()
    }

    pub fn value(&self, side: Side, magnitude: u64) -> u64 {
        match side {
            Side::Positive => magnitude,
            Side::Negative if self.ty.is_float() => magnitude | 1 << (self.ty.width() - 1),
            Side::Negative => magnitude.wrapping_neg(),
        }
    }

    /// Any low bits as a value of the type, in the form values travel in.
    pub fn pattern_value(&self, pattern: u64) -> u64 {
        let shift = u64::BITS - self.ty.width();
        if self.ty.is_float() || !self.ty.is_signed() {
            (pattern << shift) >> shift
        } else {
            ((pattern << shift).cast_signed() >> shift).cast_unsigned()
        }
    }

    /// A random value of the domain: every bit pattern of a float is equally likely. Half of the
    /// integers are drawn by bit length, because nearly all patterns are huge numbers.
    pub fn random(&self, stream: &mut Stream) -> u64 {
        if !self.ty.is_float() && stream.below(2) == 0 {
            let (_, cell) = self.cells[stream.below(self.cells.len() as u64) as usize];
            return self.value(cell.side, stream.between(cell.lo, cell.hi));
        }
        // At most 2^64 patterns, so a sum of 128 bits holds them and 0 stands for all of them.
        let total: u128 = self.pieces.iter().map(|p| u128::from(p.hi - p.lo) + 1).sum();
        let mut place = stream.below(u64::try_from(total).unwrap_or(0));
        for piece in &self.pieces {
            if place <= piece.hi - piece.lo {
                return self.value(piece.side, piece.lo + place);
            }
            place -= piece.hi - piece.lo + 1;
        }
        let last = self.pieces[self.pieces.len() - 1];
        self.value(last.side, last.hi)
    }

    /// A random value of an exponent of the domain, with the sign asked for if the domain has one.
    pub fn of_exponent(&self, exponent: u32, side: Side, stream: &mut Stream) -> u64 {
        let from = self.cells.partition_point(|(e, _)| *e < exponent);
        let all = &self.cells[from..];
        let all = &all[..all.partition_point(|(e, _)| *e == exponent)];
        // Negative cells come first.
        let (negative, positive) = all.split_at(all.partition_point(|(_, c)| c.side == Side::Negative));
        let cells = match side {
            Side::Negative if !negative.is_empty() => negative,
            Side::Positive if !positive.is_empty() => positive,
            _ => all,
        };
        if cells.is_empty() {
            return self.random(stream);
        }
        let (_, cell) = cells[stream.below(cells.len() as u64) as usize];
        self.value(cell.side, stream.between(cell.lo, cell.hi))
    }
}

/// The lowest `count` bits.
pub fn low_bits(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (u64::BITS - count.min(u64::BITS)) }
}

fn split(ty: Scalar, bits: u64) -> (Side, u64) {
    if !ty.is_negative(bits) {
        return (Side::Positive, bits);
    }
    let magnitude = if ty.is_float() { bits & low_bits(ty.width() - 1) } else { bits.wrapping_neg() };
    (Side::Negative, magnitude)
}

fn exponent(ty: Scalar, magnitude: u64) -> u32 {
    if ty.is_float() {
        // At most 11 bits.
        (magnitude >> ty.mantissa_bits()) as u32
    } else {
        u64::BITS - magnitude.leading_zeros()
    }
}

/// The lowest magnitude of an exponent, and its mantissa bits.
fn binade(ty: Scalar, exponent: u32) -> (u64, u32) {
    if ty.is_float() {
        (u64::from(exponent) << ty.mantissa_bits(), ty.mantissa_bits())
    } else if exponent == 0 {
        (0, 0)
    } else {
        (1 << (exponent - 1), exponent - 1)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::model::Segment;

    pub fn gene(ty: Scalar, domain: Domain) -> Gene {
        Gene::new(&Coordinate { name: "x".into(), ty, domain, domain_text: String::new() })
    }

    /// The doubles from `lo` to `hi`, both of one sign.
    pub fn between(lo: f64, hi: f64) -> Domain {
        let place = |x: f64| Scalar::F64.axis(x.to_bits()).unwrap();
        let (a, b) = (place(lo), place(hi));
        Domain::of(vec![Segment { side: a.side, lo: a.mag.min(b.mag), hi: a.mag.max(b.mag) }])
    }

    #[test]
    fn every_finite_pattern_belongs_to_a_whole_domain_and_nothing_else() {
        for ty in Scalar::ALL {
            let gene = gene(ty, Domain::all(ty));
            let mut stream = Stream::new(1, &["test"], 0);
            for _ in 0..500 {
                let bits = gene.pattern_value(stream.bits());
                let finite = !ty.is_float() || ty.to_f64(bits).is_finite();
                assert_eq!(gene.piece_of(bits).is_some(), finite, "{ty:?} {bits:x}");
                let (side, magnitude) = gene.split(bits);
                assert_eq!(gene.value(side, magnitude), bits);
            }
        }
        assert_eq!(gene(Scalar::F64, Domain::all(Scalar::F64)).exponents().len(), 2047);
        assert_eq!(gene(Scalar::F32, Domain::all(Scalar::F32)).exponents().len(), 255);
        assert_eq!(gene(Scalar::I32, Domain::all(Scalar::I32)).exponents().len(), 33);
        assert_eq!(gene(Scalar::U64, Domain::all(Scalar::U64)).exponents().len(), 65);
    }

    #[test]
    fn drawn_values_lie_in_the_domain_and_have_the_exponent_that_was_asked_for() {
        let mut stream = Stream::new(1, &["test"], 0);
        let mut domain = between(-3e-310, -1e-320);
        domain.segments.extend(between(0.7, 900.0).segments);
        let doubles = gene(Scalar::F64, domain);
        let small = Domain::of(vec![Segment { side: Side::Positive, lo: 3, hi: 900 }]);
        for gene in [doubles, gene(Scalar::I32, small), gene(Scalar::I64, Domain::all(Scalar::I64))] {
            for _ in 0..200 {
                assert!(gene.piece_of(gene.random(&mut stream)).is_some());
            }
            for &exponent in gene.exponents() {
                for side in [Side::Negative, Side::Positive] {
                    let value = gene.of_exponent(exponent, side, &mut stream);
                    assert!(gene.piece_of(value).is_some());
                    assert_eq!(gene.exponent_of(value), exponent);
                }
            }
        }
    }

    #[test]
    fn cells_share_an_exponent_and_fill_the_domain() {
        let gene = gene(Scalar::F64, between(0.75, 5.0));
        let cells: Vec<(f64, f64)> =
            gene.cells().map(|c| (f64::from_bits(c.lo), f64::from_bits(c.hi))).collect();
        let expected =
            [(0.75, 1f64.next_down()), (1.0, 2f64.next_down()), (2.0, 4f64.next_down()), (4.0, 5.0)];
        assert_eq!(cells, expected);
    }
}
