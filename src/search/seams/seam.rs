//! A seam: two places between which a build's result changes its sign or its class (zero, subnormal,
//! normal, infinity, NaN) along one axis. Two builds seldom put a seam at the same place, and beside
//! a root cancellation leaves few correct bits, so closing in to the last bit finds inconsistencies
//! that no sampling meets.

use crate::fp::Scalar;
use crate::model::Outcome;
use crate::ranges::Orthant;
use crate::search::tighten::moved;
use crate::search::unit::Line;

/// Steps in which interpolation may close in on a root before bisection takes over.
const INTERPOLATED: u32 = 24;

/// Two places of an axis with a change of one build's result between them.
pub struct Seam {
    pub orthant: Orthant,
    point: Vec<u64>,
    pub axis: usize,
    pub lo: u64,
    pub hi: u64,
    /// The places of its line, which looks around it do not leave.
    pub line: [u64; 2],
    /// Which of the two builds changes, and its kind of result at `lo`.
    build: usize,
    kind: Kind,
    /// That build's results at the two places, and what interpolation makes of them.
    values: [f64; 2],
    weights: [f64; 2],
    /// Results grow between the two: a pole is there, where their reciprocals have a root.
    pole: bool,
    /// Which of the two moved last.
    last: Option<usize>,
    /// Looks taken to close in on it.
    pub looks: u32,
    /// Bits of inconsistency to expect here.
    pub promise: f64,
}

/// What of a result must change for a seam.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Fault,
    Nan,
    Zero,
    Subnormal { negative: bool },
    Normal { negative: bool },
    Infinite { negative: bool },
}

impl Kind {
    pub fn of(ty: Scalar, outcome: Outcome) -> Kind {
        let Outcome::Value(bits) = outcome else { return Kind::Fault };
        let negative = ty.is_negative(bits);
        let Some(infinity) = ty.infinity_bits() else {
            return if bits == 0 { Kind::Zero } else { Kind::Normal { negative } };
        };
        let magnitude = bits & !(1 << (ty.width() - 1));
        match magnitude {
            0 => Kind::Zero,
            m if m > infinity => Kind::Nan,
            m if m == infinity => Kind::Infinite { negative },
            m if m >> ty.mantissa_bits() == 0 => Kind::Subnormal { negative },
            _ => Kind::Normal { negative },
        }
    }
}

/// What both builds answered to an input.
#[derive(Clone, Copy)]
pub struct Look {
    pub kinds: [Kind; 2],
    /// NaN for a fault.
    pub values: [f64; 2],
    pub bits: f64,
}

impl Look {
    /// The distance between the two results.
    pub fn apart(&self) -> f64 {
        (self.values[0] - self.values[1]).abs()
    }
}

impl Seam {
    /// The change of one build's result between two places of a line.
    pub fn new(orthant: &Orthant, line: &Line, at: [u64; 2], build: usize, ends: [&Look; 2]) -> Seam {
        Seam {
            orthant: orthant.clone(),
            point: line.point.clone(),
            axis: line.axis,
            lo: at[0],
            hi: at[1],
            line: [line.lo, line.hi],
            build,
            kind: ends[0].kinds[build],
            values: ends.map(|end| end.values[build]),
            weights: [1.0; 2],
            pole: false,
            last: None,
            looks: 0,
            promise: ends[0].bits.max(ends[1].bits),
        }
    }

    /// Whether the build's result changes its sign here, among finite numbers.
    pub fn is_root(&self) -> bool {
        let [lo, hi] = self.values;
        lo.is_finite() && hi.is_finite() && lo != 0.0 && hi != 0.0 && (lo < 0.0) != (hi < 0.0)
    }

    /// The bits of inconsistency to expect beside a root, if the two results are as far apart there as
    /// they are here: the result of the place nearest to it is about a quarter of a step from zero.
    pub fn bits_at_root(&self, result: Scalar, apart: f64) -> Option<f64> {
        let [lo, hi] = self.values;
        let step = (hi - lo).abs() / (self.hi - self.lo) as f64;
        let precision = f64::from(result.mantissa_bits());
        // Results that agree here may yet differ in their last bits closer to the root.
        let rounding = lo.abs().min(hi.abs()) * libm::exp2(-precision);
        let expected = libm::log2(apart.max(rounding) / step) + precision + 2.0;
        (self.is_root() && expected.is_finite()).then_some(expected.min(f64::from(result.width())))
    }

    /// A place between the two to look at next; None when they are neighbours.
    pub fn between(&self) -> Option<u64> {
        let axis = &self.orthant.axes[self.axis];
        let width = self.hi - self.lo;
        let offset = match self.is_root() && self.looks < INTERPOLATED {
            true => {
                let height = |i: usize| {
                    let value = self.values[i].abs();
                    self.weights[i] * if self.pole { value.recip() } else { value }
                };
                let (lo, hi) = (height(0), height(1));
                // A share of a width below 2^63.
                let share = (lo / (lo + hi) * width as f64) as u64;
                share.clamp(1, (width - width.min(1)).max(1))
            }
            false => width / 2,
        };
        let mut between = axis.settle(self.lo + offset);
        if between <= self.lo {
            // Among subnormals many places share a value.
            between = axis.after(self.lo).unwrap_or(self.hi);
        }
        (between < self.hi).then_some(between)
    }

    pub fn is_closed(&self) -> bool {
        self.between().is_none()
    }

    /// Moves one of the two places to a place between them, by what was seen there. A place that stays
    /// twice weighs half (the Illinois rule): interpolation would else come closer from one side only.
    pub fn narrow(&mut self, between: u64, look: Option<Look>) {
        // Nobody answers any more.
        let Some(look) = look else { return self.hi = self.lo };
        self.looks += 1;
        let value = look.values[self.build];
        let moved = if look.kinds[self.build] == self.kind {
            self.lo = between;
            0
        } else {
            self.hi = between;
            1
        };
        self.pole |= self.values.iter().all(|end| end.abs() < value.abs());
        self.values[moved] = value;
        self.weights[moved] = 1.0;
        self.weights[1 - moved] *= if self.last == Some(moved) { 0.5 } else { 1.0 };
        self.last = Some(moved);
    }

    pub fn input(&self, at: u64) -> Vec<u64> {
        self.orthant.input(&moved(&self.point, self.axis, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Side;
    use crate::model::Domain;
    use crate::ranges::Axis;

    fn look(value: f64) -> Look {
        let kind = Kind::of(Scalar::F64, Outcome::Value(value.to_bits()));
        Look { kinds: [kind; 2], values: [value; 2], bits: 0.0 }
    }

    /// The looks that closing in on the change of `f` between two numbers takes, and where it ends.
    fn closed_in(f: impl Fn(f64) -> f64, from: f64, to: f64) -> (u32, f64) {
        let axis = Axis::new(Scalar::F64, &Domain::all(Scalar::F64), Side::Positive).unwrap();
        let orthant = Orthant { axes: vec![axis] };
        let at = |x: f64| orthant.point(&[x.to_bits()]).unwrap()[0];
        let line = Line {
            sides: vec![Side::Positive],
            point: vec![0],
            axis: 0,
            lo: at(from),
            hi: at(to),
            walked: false,
        };
        let ends = [look(f(from)), look(f(to))];
        let mut seam = Seam::new(&orthant, &line, [line.lo, line.hi], 0, [&ends[0], &ends[1]]);
        while let Some(between) = seam.between() {
            seam.narrow(between, Some(look(f(f64::from_bits(seam.input(between)[0])))));
        }
        assert_eq!(seam.hi, seam.lo + 1);
        (seam.looks, f64::from_bits(seam.input(seam.lo)[0]))
    }

    #[test]
    fn a_root_is_closed_in_on_in_a_few_looks() {
        let (looks, root) = closed_in(|x| x * x - 2.0, 1.0, 1.9);
        assert!(looks <= 14, "{looks}");
        assert_eq!(root, 2f64.sqrt().next_down());
    }

    #[test]
    fn a_pole_is_closed_in_on_like_a_root() {
        let (looks, pole) = closed_in(|x| 1.0 / (x * x * x - 3.3), 1.0, 1.9);
        assert!(looks <= 16, "{looks}");
        assert!((pole * pole * pole - 3.3).abs() < 1e-14, "{pole}");
    }

    #[test]
    fn a_jump_is_bisected() {
        let (looks, jump) = closed_in(|x| if x <= 1.7 { 1.0 } else { f64::INFINITY }, 1.0, 1.9);
        assert_eq!((looks <= 53, jump), (true, 1.7));
    }
}
