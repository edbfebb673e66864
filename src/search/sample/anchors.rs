//! Inputs that depend on a function's name and domain alone, block by block: where a lock holds the baseline's results.

use super::edge_values;
use super::lattice::Lattice;
use super::sampler::ParamSampler;
use crate::fp::Stream;
use crate::model::{Function, HeldRow, SearchSettings};

/// Every so many inputs of the first block take edge values.
const EDGES_EVERY: usize = 2;

/// The inputs of a block, one after the other. The first has edge values of the domain among them; every block
/// spreads over the whole domain, half of it over the magnitudes that people use where the domain has others too.
pub fn anchors(function: &Function, block: usize) -> Vec<u64> {
    let settings = SearchSettings::default();
    let coordinates = &function.coordinates;
    let whole: Vec<ParamSampler> = coordinates.iter().map(|c| ParamSampler::new(c, &settings)).collect();
    let usual: Vec<Option<ParamSampler>> =
        coordinates.iter().map(|c| ParamSampler::of_usual(c, &settings)).collect();
    let has_usual = usual.iter().any(Option::is_some);
    let edges: Vec<Vec<u64>> =
        coordinates.iter().map(|c| [c.domain.specials.clone(), edge_values(c)].concat()).collect();
    let mut stream = Stream::new(0, &["anchors", &function.name], 0);
    let lattice = Lattice::new(coordinates.len(), &mut stream);
    let before: usize = (0..block).map(HeldRow::len_of).sum();
    let mut inputs = Vec::with_capacity(HeldRow::len_of(block) * coordinates.len());
    for place in 0..HeldRow::len_of(block) {
        let index = before + place;
        let is_edge = block == 0 && place.is_multiple_of(EDGES_EVERY);
        let is_usual = has_usual && (index / EDGES_EVERY) % 2 == 1;
        for (dim, sampler) in whole.iter().enumerate() {
            // Far below 2^64.
            let fraction = lattice.fraction(index as u64, dim);
            let edge = edges[dim].get(edge_of(place / EDGES_EVERY, dim, edges[dim].len()));
            let usual = usual[dim].as_ref().filter(|_| is_usual);
            inputs.push(match edge.filter(|_| is_edge) {
                Some(&edge) => edge,
                None => usual.unwrap_or(sampler).at_fraction(fraction),
            });
        }
    }
    inputs
}

/// Which edge value a coordinate takes: of one coordinate each in turn, of several in steps of their own, so that they
/// meet in many combinations.
fn edge_of(turn: usize, dim: usize, count: usize) -> usize {
    (turn * (2 * dim + 1) + dim) % count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{BLOCK_INPUTS, KEPT_INPUTS, MOST_BLOCKS};
    use crate::model::{Callee, Coordinate, Domain};

    fn function(arity: usize, domain: &Domain) -> Function {
        let coordinate = |k: usize| Coordinate {
            name: format!("x{k}"),
            ty: Scalar::F64,
            domain: domain.clone(),
            domain_text: String::new(),
        };
        Function::of_scalars("f", (0..arity).map(coordinate).collect(), Scalar::F64, Callee::Elsewhere)
    }

    #[test]
    fn every_binade_of_all_doubles_has_inputs_on_both_sides() {
        let all = function(1, &Domain::all(Scalar::F64));
        let mut seen = std::collections::BTreeSet::new();
        for block in 0..=MOST_BLOCKS {
            seen.extend(anchors(&all, block).into_iter().map(|bits| bits >> 52));
        }
        // Exponents 0 to 2046 of both signs.
        assert_eq!(seen.len(), 2 * 2047);
    }

    #[test]
    fn the_first_block_has_edges_and_all_blocks_lie_in_the_domain() {
        let (lo, hi) = (1f64.to_bits(), 2f64.to_bits());
        let axis = |bits| Scalar::F64.axis(bits).unwrap();
        let segment = crate::model::Segment { side: axis(lo).side, lo: axis(lo).mag, hi: axis(hi).mag };
        let narrow = function(2, &Domain::of(vec![segment]));
        let first = anchors(&narrow, 0);
        assert_eq!(first.len(), 2 * KEPT_INPUTS);
        assert!(first.contains(&lo) && first.contains(&hi));
        let second = anchors(&narrow, 1);
        assert_eq!(second.len(), 2 * BLOCK_INPUTS);
        assert!(first.iter().chain(&second).all(|bits| (lo..=hi).contains(bits)));
        assert_ne!(anchors(&narrow, 2), second);
        assert_eq!(anchors(&narrow, 1), second);
    }
}
