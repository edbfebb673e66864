//! Random search: every parameter uniform over the places of its domain's axis, which for floats
//! means random bit patterns (with subnormal binades as wide as the others). That is the strong
//! form of the baseline; LSGA's RAND (section V.C) draws bit patterns too, while uniform values
//! would nearly all lie in the last binades.

use super::walk::Walker;
use crate::eval::EvalError;

/// Inputs of one call.
const BATCH: usize = 4096;

pub fn walk(walker: &mut Walker) -> Result<(), EvalError> {
    let mut inputs = Vec::new();
    while !walker.is_over() {
        inputs.clear();
        for _ in 0..BATCH {
            let Walker { samplers, stream, .. } = &mut *walker;
            inputs.extend(samplers.iter().map(|sampler| sampler.at_fraction(stream.bits())));
        }
        walker.heights(&inputs)?;
    }
    Ok(())
}
