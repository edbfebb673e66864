//! What neither serde nor types can check in a `run.json`: that its lists and counts fit each other.

use crate::model::{RunFile, one_per_parameter};

type Wrong = (String, String);

/// The first place whose shape is wrong, with what was expected there.
pub(super) fn shape(run: &RunFile) -> Result<(), Wrong> {
    for (index, function) in run.functions.iter().enumerate() {
        let at = format!("functions[{index}]");
        let fits = |field: &str, found: usize| {
            one_per_parameter(found, function.params.len())
                .map_err(|message| (format!("{at}{field}"), message))
        };
        fits(".domains", function.domains.len())?;
        for (index, comparison) in function.comparisons.iter().enumerate() {
            for (number, range) in comparison.ranges.iter().enumerate() {
                let place = format!(".comparisons[{index}].ranges[{number}]");
                fits(&format!("{place}.edges"), range.edges.len())?;
                if range.inconsistent > range.samples {
                    let message = format!("{} inconsistent of {} samples", range.inconsistent, range.samples);
                    return Err((format!("{at}{place}.inconsistent"), message));
                }
            }
        }
    }
    Ok(())
}
