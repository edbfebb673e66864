//! How sensitive a function is at an input: a difference between builds that is no larger than what one ulp of
//! the input makes of one build is the function's, not the compiler's.

use super::case::{Case, Gap};
use super::error::ExplainError;
use super::scene::Desk;
use crate::model::{BuiltObject, Fragility, Whole};

/// How far the same build moves when one parameter moves by one ulp. Integer parameters stay.
pub fn fragility(
    desk: &Desk<'_>,
    baseline: &BuiltObject,
    case: &Case,
    answer: &Whole,
    gap: Gap,
) -> Result<Fragility, ExplainError> {
    let scalars = desk.experiment.functions[case.function].scalars();
    let mut most: f64 = 0.0;
    for (at, scalar) in scalars.iter().enumerate().filter(|(_, scalar)| scalar.is_float()) {
        let Some(here) = scalar.ordinal(case.inputs[at]) else { continue };
        for there in [here - 1, here + 1] {
            let Some(bits) = scalar.from_ordinal(there) else { continue };
            let mut inputs = case.inputs.clone();
            inputs[at] = bits;
            let moved = case.gap(answer, &desk.ask(baseline, case.function, &inputs)?);
            most = most.max(moved.map_or(0.0, |gap| gap.bits));
        }
    }
    Ok(Fragility {
        neighbour_bits: most,
        bits: gap.bits,
        ill_conditioned: gap.bits > 0.0 && most >= gap.bits,
    })
}
