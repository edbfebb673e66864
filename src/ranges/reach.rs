//! The one comparison that decides whether two points are linked, shared by every backend.
//!
//! Squares of coordinate differences are summed in coordinate order and compared with the square of
//! the cut, all in f64 with one rounding per operation. A sum that rounds to the square is a tie and
//! does not link.

/// A box with its sides along the axes.
#[derive(Clone, Copy)]
pub(super) struct Bounds<const D: usize> {
    pub(super) lo: [f64; D],
    pub(super) hi: [f64; D],
}

/// The distance below which points are linked.
///
/// Every operation is monotone even after rounding: a box whose nearest corner is out of reach holds
/// no point in reach, and one whose farthest corner is in reach holds only such points. So pruning by
/// boxes never changes an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// A power of two that brings the cut near 1, so that squares neither overflow nor vanish.
    scale: f64,
    square: f64,
}

impl Reach {
    /// `cut` is positive and finite.
    pub(super) fn new(cut: f64) -> Reach {
        let exponent = (cut.to_bits() >> 52) as i32 - 1023;
        // 2^-exponent; 2^1023 for subnormal cuts, whose own inverse is out of range.
        let scale = libm::ldexp(1.0, (-exponent).min(1023));
        Reach { scale, square: (cut * scale) * (cut * scale) }
    }

    /// The largest sum of squares that links.
    pub(super) fn largest_linking(&self) -> f64 {
        self.square.next_down()
    }

    /// Sums the squares of coordinate differences on the scale of this reach. An overflow to infinity
    /// is right: it can only happen beyond the cut.
    #[inline]
    pub(super) fn sum(&self, gaps: impl Iterator<Item = f64>) -> f64 {
        let mut sum = 0.0;
        for gap in gaps {
            let scaled = gap * self.scale;
            sum += scaled * scaled;
        }
        sum
    }

    #[inline]
    pub(super) fn in_reach(&self, gaps: impl Iterator<Item = f64>) -> bool {
        self.sum(gaps) < self.square
    }

    #[inline]
    pub(super) fn links<const D: usize>(&self, a: &[f64; D], b: &[f64; D]) -> bool {
        self.in_reach((0..D).map(|axis| a[axis] - b[axis]))
    }

    /// Whether a point of the box could link with `at`.
    #[inline]
    pub(super) fn touches<const D: usize>(&self, at: &[f64; D], b: &Bounds<D>) -> bool {
        self.in_reach((0..D).map(|axis| gap(at[axis], at[axis], b.lo[axis], b.hi[axis])))
    }

    /// The sum of squares between the nearest corners of two boxes.
    #[inline]
    pub(super) fn nearest<const D: usize>(&self, a: &Bounds<D>, b: &Bounds<D>) -> f64 {
        self.sum((0..D).map(|axis| gap(a.lo[axis], a.hi[axis], b.lo[axis], b.hi[axis])))
    }

    /// Whether a point of one box could link with a point of the other.
    #[inline]
    pub(super) fn meets<const D: usize>(&self, a: &Bounds<D>, b: &Bounds<D>) -> bool {
        self.nearest(a, b) < self.square
    }

    /// Whether each point of one box links with each point of the other.
    #[inline]
    pub(super) fn covers<const D: usize>(&self, a: &Bounds<D>, b: &Bounds<D>) -> bool {
        self.in_reach((0..D).map(|axis| (a.hi[axis] - b.lo[axis]).max(b.hi[axis] - a.lo[axis])))
    }
}

/// The distance between two intervals; 0 when they overlap.
#[inline]
fn gap(a_lo: f64, a_hi: f64, b_lo: f64, b_hi: f64) -> f64 {
    (b_lo - a_hi).max(a_lo - b_hi).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_itself_is_out_of_reach_and_the_double_below_is_in_reach() {
        for cut in [1.0, 0.1, 0.2 * 3f64.sqrt(), 1e-200, 1e200, f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            let reach = Reach::new(cut);
            assert!(!reach.links(&[cut, 1.0], &[0.0, 1.0]), "{cut}");
            assert!(reach.links(&[cut.next_down(), 1.0], &[0.0, 1.0]), "{cut}");
        }
    }

    #[test]
    fn differences_that_overflow_are_out_of_reach_of_every_finite_cut() {
        assert!(!Reach::new(f64::MAX).links(&[f64::MAX], &[-f64::MAX]));
        assert!(!Reach::new(5e-324).links(&[f64::MAX], &[-f64::MAX]));
        assert!(Reach::new(f64::MAX).links(&[1e308], &[-5e307]));
    }
}
