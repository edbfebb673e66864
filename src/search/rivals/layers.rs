//! Inputs of lower precision: the values of a box whose mantissas end after so many bits (HSED,
//! section 5). Lists them and draws from them; evaluates nothing.

use super::gene::{Gene, Piece, low_bits};
use crate::fp::Stream;

/// Mantissa bits of the "half", "single" and full layers. More bits than a type has mean all.
pub const HALF: u32 = 10;
pub const SINGLE: u32 = 23;
pub const FULL: u32 = u64::BITS;

/// The inputs of one layer in a box.
pub struct Layer<'a> {
    genes: &'a [Gene],
    columns: Vec<Column>,
}

/// The values of one parameter: stretches of one exponent each.
struct Column {
    /// Each with the place of its last mantissa bit in this layer, and the number of values of this
    /// stretch and all before it.
    cells: Vec<(Piece, u32, u64)>,
}

impl Column {
    fn new(gene: &Gene, cells: impl Iterator<Item = Piece>, bits: u32) -> Column {
        let mut sum = 0u64;
        let cells = cells.map(|cell| {
            let last = gene.span(cell.lo).saturating_sub(bits);
            sum = sum.saturating_add(((cell.hi >> last) - (cell.lo >> last)).saturating_add(1));
            (cell, last, sum)
        });
        Column { cells: cells.collect() }
    }

    fn count(&self) -> u64 {
        self.cells.last().map_or(0, |(_, _, sum)| *sum)
    }

    /// The first value of a stretch is its lower end, whatever its bits: a domain narrower than the
    /// layer's steps would have no values otherwise.
    fn value(&self, gene: &Gene, index: u64) -> u64 {
        let at = self.cells.partition_point(|(_, _, sum)| *sum <= index).min(self.cells.len() - 1);
        let (cell, last, _) = self.cells[at];
        let within = if at == 0 { index } else { index - self.cells[at - 1].2 };
        let magnitude = if within == 0 { cell.lo } else { ((cell.lo >> last) + within) << last };
        gene.value(cell.side, magnitude)
    }
}

impl<'a> Layer<'a> {
    /// A layer of the whole domain.
    pub fn of_domain(genes: &'a [Gene], bits: u32) -> Layer<'a> {
        let columns = genes.iter().map(|gene| Column::new(gene, gene.cells(), bits));
        Layer { genes, columns: columns.collect() }
    }

    /// The values of a finer layer from an input of a coarser one to the next one above it.
    pub fn around(genes: &'a [Gene], input: &[u64], coarse: u32, bits: u32) -> Layer<'a> {
        let columns = genes.iter().zip(input).map(|(gene, &value)| {
            let (side, lo) = gene.split(value);
            let end = lo | low_bits(gene.span(lo).saturating_sub(coarse));
            let hi = gene.piece_of(value).map_or(lo, |piece| end.min(piece.hi));
            Column::new(gene, std::iter::once(Piece { side, lo, hi }), bits)
        });
        Layer { genes, columns: columns.collect() }
    }

    /// Number of inputs; `u64::MAX` stands for all larger numbers.
    pub fn count(&self) -> u64 {
        self.columns.iter().fold(1, |product, column| product.saturating_mul(column.count()))
    }

    /// Appends the input of an index below `count`, the last parameter running fastest.
    pub fn input(&self, mut index: u64, inputs: &mut Vec<u64>) {
        let at = inputs.len();
        inputs.resize(at + self.genes.len(), 0);
        for (p, column) in self.columns.iter().enumerate().rev() {
            inputs[at + p] = column.value(&self.genes[p], index % column.count());
            index /= column.count();
        }
    }

    /// Appends a random input.
    pub fn random(&self, stream: &mut Stream, inputs: &mut Vec<u64>) {
        for (gene, column) in self.genes.iter().zip(&self.columns) {
            inputs.push(column.value(gene, stream.below(column.count())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gene::tests::{between, gene};
    use super::*;
    use crate::fp::{Scalar, Side};
    use crate::model::{Domain, Segment};

    fn list(layer: &Layer) -> Vec<u64> {
        let mut inputs = Vec::new();
        (0..layer.count()).for_each(|index| layer.input(index, &mut inputs));
        inputs
    }

    #[test]
    fn the_half_layer_has_as_many_numbers_as_the_paper_counts() {
        // Section 5.2. It says 1,000,000 for the last interval, which has 27,268.
        for (lo, hi, count) in [(0.01, 100.0, 13_603), (0.001, 2.0, 11_241), (0.01, 1e5, 23_805)] {
            let genes = [gene(Scalar::F64, between(lo, hi))];
            let counted = Layer::of_domain(&genes, HALF).count();
            assert!(counted.abs_diff(count) <= 1, "[{lo}, {hi}]: {counted}");
        }
        let genes = [gene(Scalar::F64, between(0.0, 100.0))];
        assert_eq!(Layer::of_domain(&genes, HALF).count(), 1_054_273);
    }

    #[test]
    fn half_precision_numbers_end_after_ten_mantissa_bits() {
        let genes = [gene(Scalar::F64, between(1.0, 4.0))];
        let all = list(&Layer::of_domain(&genes, HALF));
        assert_eq!(all.len(), 2049);
        assert!(all.iter().all(|x| x.trailing_zeros() >= 42));
        assert!(all.windows(2).all(|w| w[0] < w[1]));
        assert_eq!((f64::from_bits(all[0]), f64::from_bits(all[2048])), (1.0, 4.0));
    }

    #[test]
    fn a_finer_layer_fills_the_gap_to_the_next_coarser_number() {
        let genes = [gene(Scalar::F64, Domain::all(Scalar::F64))];
        let x = -1.5f64.next_up().next_down();
        let single = Layer::around(&genes, &[x.to_bits()], HALF, SINGLE);
        let all = list(&single);
        assert_eq!(all.len(), 1 << 13);
        assert_eq!(all[0], x.to_bits());
        assert!(all.windows(2).all(|w| w[1] - w[0] == 0x2000_0000), "the paper's offset");
        let full = Layer::around(&genes, &[all[77]], SINGLE, FULL);
        assert_eq!(full.count(), 1 << 29);
        let mut drawn = Vec::new();
        full.random(&mut Stream::new(1, &["test"], 0), &mut drawn);
        assert!((all[77]..all[78]).contains(&drawn[0]));
    }

    #[test]
    fn a_float_has_no_layer_beyond_single() {
        let genes = [gene(Scalar::F32, Domain::all(Scalar::F32))];
        let half = Layer::of_domain(&genes, HALF);
        assert_eq!(half.count(), 2 * 255 * 1024);
        let mut input = Vec::new();
        half.input(77_777, &mut input);
        assert_eq!(Layer::around(&genes, &input, HALF, SINGLE).count(), 1 << 13);
        assert_eq!(Layer::around(&genes, &input, SINGLE, FULL).count(), 1);
    }

    #[test]
    fn integers_are_thinned_below_their_leading_bits() {
        let segment = Segment { side: Side::Positive, lo: 0, hi: 4095 };
        let genes = [gene(Scalar::I32, Domain::of(vec![segment]))];
        let all = list(&Layer::of_domain(&genes, HALF));
        assert_eq!(all.len(), 2048 + 1024, "every second number from 2048");
        assert_eq!(list(&Layer::around(&genes, &[4000], HALF, FULL)), [4000, 4001]);
        assert_eq!(list(&Layer::around(&genes, &[1000], HALF, FULL)), [1000]);
    }

    #[test]
    fn domains_narrower_than_a_step_have_their_lower_end() {
        let genes = [gene(Scalar::F64, between(0.3, 0.3)), gene(Scalar::F64, between(0.3, 0.30001))];
        let layer = Layer::of_domain(&genes, HALF);
        assert_eq!(list(&layer), [0.3f64.to_bits(), 0.3f64.to_bits()]);
        let inner = Layer::around(&genes, &[0.3f64.to_bits(); 2], HALF, SINGLE);
        let all = list(&inner);
        assert!(all.len() > 100);
        assert!(all.iter().all(|&x| (0.3..=0.30001).contains(&f64::from_bits(x))));
    }
}
