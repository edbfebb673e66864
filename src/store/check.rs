//! What serde cannot check in a `run.json`: that its lists fit each other.

use crate::model::{FunctionRow, NumberText, RangeRow, RunFile, WitnessRow};

type Wrong = (String, String);

/// The first place whose shape is wrong, with what was expected there.
pub(super) fn shape(run: &RunFile) -> Result<(), Wrong> {
    for (index, function) in run.functions.iter().enumerate() {
        let at = format!("functions[{index}]");
        one_per_parameter(function, &at, "domains", function.domains.len())?;
        for (index, comparison) in function.comparisons.iter().enumerate() {
            let at = format!("{at}.comparisons[{index}]");
            if let Some(witness) = &comparison.witness {
                check_witness(function, &at, witness)?;
            }
            for (index, range) in comparison.ranges.iter().enumerate() {
                check_range(function, &format!("{at}.ranges[{index}]"), range)?;
            }
        }
        for (index, fault) in function.faults.iter().enumerate() {
            for (example, inputs) in fault.examples.iter().enumerate() {
                let field = format!("faults[{index}].examples[{example}]");
                one_per_parameter(function, &at, &field, inputs.len())?;
            }
        }
    }
    Ok(())
}

fn check_range(function: &FunctionRow, at: &str, range: &RangeRow) -> Result<(), Wrong> {
    let numbers = |list: &[NumberText]| list.len();
    one_per_parameter(function, at, "lo", numbers(&range.lo))?;
    one_per_parameter(function, at, "hi", numbers(&range.hi))?;
    one_per_parameter(function, at, "edges", range.edges.len())?;
    if range.inconsistent > range.samples {
        let message = format!("{} inconsistent of {} samples", range.inconsistent, range.samples);
        return Err((format!("{at}.inconsistent"), message));
    }
    check_witness(function, at, &range.witness)
}

fn check_witness(function: &FunctionRow, at: &str, witness: &WitnessRow) -> Result<(), Wrong> {
    one_per_parameter(function, at, "witness.inputs", witness.inputs.len())
}

fn one_per_parameter(function: &FunctionRow, at: &str, field: &str, found: usize) -> Result<(), Wrong> {
    let expected = function.params.len();
    if found == expected {
        return Ok(());
    }
    let entries = if found == 1 { "entry" } else { "entries" };
    let message = format!("{found} {entries}, expected {expected}, one per parameter");
    Err((format!("{at}.{field}"), message))
}
