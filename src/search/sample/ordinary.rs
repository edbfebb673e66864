//! Inputs as people use them, to measure time with: the extremes that a search is fond of are slow on some
//! machines in one environment and fast in another.

use super::sampler::{ParamSampler, usual_magnitudes};
use crate::fp::{Scalar, Stream};
use crate::model::{Function, SearchSettings};

/// Whether every float of an input is zero or of a magnitude that people use.
pub fn is_ordinary(scalars: &[Scalar], input: &[u64]) -> bool {
    scalars.iter().zip(input).all(|(scalar, &bits)| match (usual_magnitudes(*scalar), scalar.axis(bits)) {
        (None, _) => true,
        (Some([least, most]), Some(point)) => point.mag == 0 || (least..=most).contains(&point.mag),
        (Some(_), None) => false,
    })
}

/// Random inputs inside the domains, of ordinary magnitudes where the domains have them.
pub fn ordinary_inputs(function: &Function, settings: &SearchSettings, count: usize) -> Vec<u64> {
    let sampler =
        |param| ParamSampler::of_usual(param, settings).unwrap_or_else(|| ParamSampler::new(param, settings));
    let samplers: Vec<ParamSampler> = function.coordinates.iter().map(sampler).collect();
    let mut stream = Stream::new(settings.seed, &["speed", &function.name], 0);
    (0..count)
        .flat_map(|_| samplers.iter().map(|s| s.at_fraction(stream.bits())).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_not_ordinary() {
        let of = |x: f64| is_ordinary(&[Scalar::F64], &[x.to_bits()]);
        assert!(of(0.0) && of(-1.5) && of(1000.0));
        assert!(!of(1e300) && !of(-5e-324) && !of(f64::NAN));
        assert!(is_ordinary(&[Scalar::I64], &[u64::MAX / 2]));
    }
}
