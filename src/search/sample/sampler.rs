//! Draws values of one parameter: from a random partition of its domain, uniformly over the axis,
//! or from one binade.

use std::collections::BTreeSet;

use crate::fp::{AxisPoint, Scalar, Side, Stream};
use crate::model::{Coordinate, Domain, SearchSettings, Segment};
use crate::ranges::Axis;

/// Integer domains of at most this many values are sampled uniformly; larger ones half uniformly,
/// half by magnitude.
const SMALL_INTEGERS: u128 = 4096;

/// Pieces of a domain that are drawn from as one, by length.
#[derive(Clone, Debug)]
struct Pieces {
    segments: Vec<Segment>,
    total: u128,
}

impl Pieces {
    fn new(segments: Vec<Segment>) -> Option<Pieces> {
        let total = segments.iter().map(Segment::len).sum();
        (total > 0).then_some(Pieces { segments, total })
    }

    /// The part of `segments` on one side within lo..=hi.
    fn cut(segments: &[Segment], side: Side, lo: u64, hi: u64) -> Option<Pieces> {
        let within = segments.iter().filter(|s| s.side == side).filter_map(|s| {
            let piece = Segment { side, lo: s.lo.max(lo), hi: s.hi.min(hi) };
            (!piece.is_empty()).then_some(piece)
        });
        Pieces::new(within.collect())
    }

    fn at(&self, mut place: u128) -> AxisPoint {
        for segment in &self.segments {
            if place < segment.len() {
                // Below the length of a segment, so within 64 bits.
                return AxisPoint { side: segment.side, mag: segment.lo + place as u64 };
            }
            place -= segment.len();
        }
        let last = self.segments[self.segments.len() - 1];
        AxisPoint { side: last.side, mag: last.hi }
    }

    /// The inverse of `at`.
    fn place_of(&self, point: AxisPoint) -> Option<u128> {
        let mut before = 0;
        for segment in &self.segments {
            if segment.side == point.side && (segment.lo..=segment.hi).contains(&point.mag) {
                return Some(before + u128::from(point.mag - segment.lo));
            }
            before += segment.len();
        }
        None
    }

    /// The place at a fraction (in 2^-64) of the total length.
    fn at_fraction(&self, fraction: u64) -> AxisPoint {
        self.at(scale(fraction, self.total))
    }
}

/// floor(fraction / 2^64 * total), for a total of at most 2^65.
fn scale(fraction: u64, total: u128) -> u128 {
    let (high, low) = (total >> 64, total & u128::from(u64::MAX));
    u128::from(fraction) * high + ((u128::from(fraction) * low) >> 64)
}

/// A binade (floats), a bit length (integers) or zero, on one side.
pub type Exponent = (Side, u32);

/// Binary exponents of the magnitudes that people use.
const USUAL: [i32; 2] = [-10, 20];

/// The magnitudes that people use, on the axis of a type; None for integers.
pub fn usual_magnitudes(ty: Scalar) -> Option<[u64; 2]> {
    let bits = |exponent: i32| match ty {
        // Exponents of normal numbers: biased they are positive and small.
        Scalar::F64 => Some(((exponent + 1023) as u64) << 52),
        Scalar::F32 => Some(((exponent + 127) as u64) << 23),
        _ => None,
    };
    let mag = |exponent: i32| Some(ty.axis(bits(exponent)?)?.mag);
    Some([mag(USUAL[0])?, mag(USUAL[1])?])
}

/// Everything needed to draw one parameter.
#[derive(Clone, Debug)]
pub struct ParamSampler {
    ty: Scalar,
    whole: Pieces,
    partitions: Vec<Pieces>,
}

impl ParamSampler {
    pub fn new(param: &Coordinate, settings: &SearchSettings) -> ParamSampler {
        let segments = ordered(param.ty, &param.domain);
        let total: u128 = segments.iter().map(Segment::len).sum();
        let small = !param.ty.is_float() && total <= SMALL_INTEGERS;
        let whole = Pieces { segments, total };
        let partitions = if small { Vec::new() } else { partitions(param.ty, settings, &whole.segments) };
        ParamSampler { ty: param.ty, whole, partitions }
    }

    /// An integer with so many values that small ones need samples of their own.
    pub fn is_wide_integer(&self) -> bool {
        !self.ty.is_float() && !self.partitions.is_empty()
    }

    fn value(&self, point: AxisPoint) -> u64 {
        self.ty.at_axis(point)
    }

    /// A random partition, then uniformly on the axis within it.
    pub fn partitioned(&self, stream: &mut Stream) -> u64 {
        let uniform = self.partitions.is_empty() || (self.is_wide_integer() && stream.below(2) == 0);
        let pieces = if uniform {
            &self.whole
        } else {
            // Below a length, so within usize.
            &self.partitions[stream.below(self.partitions.len() as u64) as usize]
        };
        self.value(pieces.at_fraction(stream.bits()))
    }

    /// Partitions of the domain, at least one.
    pub fn cells(&self) -> usize {
        self.partitions.len().max(1)
    }

    fn cell(&self, cell: usize) -> &Pieces {
        self.partitions.get(cell).unwrap_or(&self.whole)
    }

    /// A random value of one partition.
    pub fn in_cell(&self, cell: usize, stream: &mut Stream) -> u64 {
        self.value(self.cell(cell).at_fraction(stream.bits()))
    }

    /// A random value of a partition, at any scale of distance from one of its values: within the
    /// whole, half, a quarter and so on of its length.
    pub fn near(&self, cell: usize, bits: u64, stream: &mut Stream) -> u64 {
        let pieces = self.cell(cell);
        let Some(place) = self.ty.axis(bits).and_then(|point| pieces.place_of(point)) else {
            return self.in_cell(cell, stream);
        };
        let halvings = stream.below(u64::from(u128::BITS - pieces.total.leading_zeros()));
        let width = (pieces.total >> halvings).max(1);
        let step = scale(stream.bits(), 2 * width + 1);
        // Places and steps are below 2^67.
        let (last, mut moved) = (pieces.total as i128 - 1, (place + step) as i128 - width as i128);
        if moved < 0 {
            moved = -moved;
        } else if moved > last {
            moved = 2 * last - moved;
        }
        self.value(pieces.at(moved.clamp(0, last) as u128))
    }

    /// The value at a fraction (in 2^-64) of the whole axis.
    pub fn at_fraction(&self, fraction: u64) -> u64 {
        self.value(self.whole.at_fraction(fraction))
    }

    /// A sampler of the magnitudes that people use; None where the domain has none or no others.
    pub fn of_usual(param: &Coordinate, settings: &SearchSettings) -> Option<ParamSampler> {
        let [least, most] = usual_magnitudes(param.ty)?;
        let cut = |s: &Segment| Segment { side: s.side, lo: s.lo.max(least), hi: s.hi.min(most) };
        let segments: Vec<Segment> =
            param.domain.segments.iter().map(cut).filter(|s| !s.is_empty()).collect();
        if segments.is_empty() || segments == param.domain.segments {
            return None;
        }
        Some(ParamSampler::new(&Coordinate { domain: Domain::of(segments), ..param.clone() }, settings))
    }

    /// A random value of one of `count` equal strata of the whole axis.
    pub fn in_stratum(&self, index: u64, count: u64, stream: &mut Stream) -> u64 {
        let width = u64::MAX / count.max(1);
        // The high half of a product is below `width`.
        let within = ((u128::from(stream.bits()) * u128::from(width)) >> 64) as u64;
        // The last stratum takes what rounding left over, which is below `count` parts of 2^64.
        let fraction = if index + 1 >= count { u64::MAX - within } else { index * width + within };
        self.at_fraction(fraction)
    }

    /// The exponent a value is counted under.
    pub fn exponent_of(&self, bits: u64) -> Option<Exponent> {
        let point = self.ty.axis(bits)?;
        Some((point.side, exponent(self.ty, point.mag)))
    }

    /// Every exponent the domain reaches.
    pub fn exponents(&self) -> BTreeSet<Exponent> {
        let reached = |s: &Segment| {
            let side = s.side;
            (exponent(self.ty, s.lo)..=exponent(self.ty, s.hi)).map(move |e| (side, e))
        };
        self.whole.segments.iter().flat_map(reached).collect()
    }

    /// A random value of one exponent.
    pub fn of_exponent(&self, (side, exponent): Exponent, stream: &mut Stream) -> Option<u64> {
        let (lo, hi) = exponent_bounds(self.ty, exponent);
        let pieces = Pieces::cut(&self.whole.segments, side, lo, hi)?;
        Some(self.value(pieces.at_fraction(stream.bits())))
    }

    /// Number of different values, at most `most + 1`.
    pub fn count(&self, most: u64) -> u64 {
        let mut count: u128 = 0;
        for s in &self.whole.segments {
            let ordinal = |mag| self.ty.ordinal(self.value(AxisPoint { side: s.side, mag })).unwrap_or(0);
            count += (ordinal(s.hi) - ordinal(s.lo)).unsigned_abs() + 1;
        }
        u64::try_from(count).unwrap_or(u64::MAX).min(most.saturating_add(1))
    }

    /// Every value, in order. For domains that `count` has shown to be small.
    pub fn all(&self) -> Vec<u64> {
        let mut all = Vec::new();
        for s in &self.whole.segments {
            let bits = |mag| self.value(AxisPoint { side: s.side, mag });
            // Bits of one side are consecutive, whichever way the axis runs.
            let (a, b) = (bits(s.lo), bits(s.hi));
            all.extend(a.min(b)..=a.max(b));
        }
        all
    }
}

/// The domain's segments, shortened to places that have a value.
fn ordered(ty: Scalar, domain: &Domain) -> Vec<Segment> {
    let mut segments = Vec::new();
    for segment in &domain.segments {
        let alone = Domain::of(vec![*segment]);
        if let Some(axis) = Axis::new(ty, &alone, segment.side) {
            let (lo, hi) = (axis.mag(0), axis.mag(axis.last()));
            segments.push(Segment { side: segment.side, lo, hi });
        }
    }
    segments
}

fn partitions(ty: Scalar, settings: &SearchSettings, segments: &[Segment]) -> Vec<Pieces> {
    let mut bounds: Vec<u64> = match ty {
        Scalar::F64 => settings.partitions_f64.iter().map(|&e| power_of_two(e, -1074, 52)).collect(),
        Scalar::F32 => settings.partitions_f32.iter().map(|&e| power_of_two(e, -149, 23)).collect(),
        _ => (0..64).map(|bit| 1u64 << bit).collect(),
    };
    bounds.push(0);
    bounds.sort_unstable();
    bounds.dedup();
    let mut found = Vec::new();
    for side in [Side::Negative, Side::Positive] {
        for (i, &lo) in bounds.iter().enumerate() {
            let hi = bounds.get(i + 1).map_or(u64::MAX, |&next| next - 1);
            found.extend(Pieces::cut(segments, side, lo, hi));
        }
    }
    found
}

/// The place of 2^exponent on a float's axis: one unit per binade above the smallest subnormal.
fn power_of_two(exponent: i32, smallest: i32, mantissa: u32) -> u64 {
    u64::from(exponent.saturating_sub(smallest - 1).clamp(0, 2200).unsigned_abs()) << mantissa
}

fn exponent(ty: Scalar, mag: u64) -> u32 {
    if ty.is_float() {
        // At most 2100 binades.
        (mag >> ty.mantissa_bits()) as u32
    } else {
        u64::BITS - mag.leading_zeros()
    }
}

fn exponent_bounds(ty: Scalar, exponent: u32) -> (u64, u64) {
    let mantissa = ty.mantissa_bits();
    if ty.is_float() {
        let lo = u64::from(exponent) << mantissa;
        (lo, lo + ((1 << mantissa) - 1))
    } else if exponent == 0 {
        (0, 0)
    } else {
        let lo = 1u64 << (exponent - 1);
        (lo, lo + (lo - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(ty: Scalar, segments: Vec<Segment>) -> ParamSampler {
        let param =
            Coordinate { name: "x".into(), ty, domain: Domain::of(segments), domain_text: String::new() };
        ParamSampler::new(&param, &SearchSettings::default())
    }

    fn interval(lo: f64, hi: f64) -> Segment {
        let mag = |x: f64| Scalar::F64.axis(x.to_bits()).unwrap().mag;
        Segment { side: Side::Positive, lo: mag(lo), hi: mag(hi) }
    }

    #[test]
    fn all_doubles_have_the_papers_twenty_partitions_and_every_exponent() {
        let all = sampler(Scalar::F64, Domain::all(Scalar::F64).segments);
        assert_eq!(all.partitions.len(), 20);
        // 2098 binades and zero on each side.
        assert_eq!(all.exponents().len(), 2 * 2099);
        let all = sampler(Scalar::F32, Domain::all(Scalar::F32).segments);
        assert_eq!(all.partitions.len(), 18);
        assert_eq!(all.exponents().len(), 2 * 278);
    }

    #[test]
    fn drawn_values_lie_in_the_domain_and_in_their_exponent() {
        let sampler = sampler(Scalar::F64, vec![interval(1e-320, 3e-310), interval(0.7, 900.0)]);
        let mut stream = Stream::new(1, &["test"], 0);
        let inside = |bits: u64| {
            let x = f64::from_bits(bits);
            (1e-320..=3e-310).contains(&x) || (0.7..=900.0).contains(&x)
        };
        for i in 0..1000 {
            assert!(inside(sampler.partitioned(&mut stream)));
            assert!(inside(sampler.in_stratum(i, 1000, &mut stream)));
        }
        for exponent in sampler.exponents() {
            let x = sampler.of_exponent(exponent, &mut stream).unwrap();
            assert!(inside(x));
            assert_eq!(sampler.exponent_of(x), Some(exponent));
        }
    }

    #[test]
    fn neighbours_lie_in_the_same_partition_at_every_scale() {
        let all = sampler(Scalar::F64, Domain::all(Scalar::F64).segments);
        let mut stream = Stream::new(1, &["test"], 0);
        for cell in 0..all.cells() {
            let start = all.in_cell(cell, &mut stream);
            let place = |bits: u64| all.cell(cell).place_of(Scalar::F64.axis(bits).unwrap()).unwrap();
            let mut far = Vec::new();
            for _ in 0..2000 {
                far.push(place(all.near(cell, start, &mut stream)).abs_diff(place(start)));
            }
            far.sort_unstable();
            assert!(far[1000] < far[1900] >> 8, "{far:?}");
        }
        let few = sampler(Scalar::I32, vec![Segment { side: Side::Positive, lo: 3, hi: 5 }]);
        let seen: BTreeSet<u64> = (0..100).map(|_| few.near(0, 4, &mut stream)).collect();
        assert_eq!(seen, BTreeSet::from([3, 4, 5]));
    }

    #[test]
    fn strata_follow_each_other_and_fill_the_axis() {
        let all = sampler(Scalar::F64, Domain::all(Scalar::F64).segments);
        let mut stream = Stream::new(1, &["test"], 0);
        let x: Vec<f64> = (0..100).map(|i| f64::from_bits(all.in_stratum(i, 100, &mut stream))).collect();
        assert!(x[..50].windows(2).all(|w| w[0] >= w[1]), "the negative side, away from zero");
        assert!(x[50..].windows(2).all(|w| w[0] <= w[1]));
        assert!(x[49] < -1e290 && x[99] > 1e290);
    }

    #[test]
    fn a_handful_of_floats_is_counted_and_listed() {
        let tiny = sampler(Scalar::F64, vec![interval(0.0, 15e-324), interval(1.0, 1.0f64.next_up())]);
        assert_eq!(tiny.count(100), 6);
        assert_eq!(tiny.all().len(), 6);
        assert_eq!(tiny.count(3), 4);
        let all = sampler(Scalar::U64, Domain::all(Scalar::U64).segments);
        assert_eq!(all.count(1000), 1001);
        assert_eq!(all.exponents().len(), 65);
    }
}
