//! What a run could not evaluate: `--strict` turns any of it into a failure.

use crate::model::{RunFile, StopReason, gist, printable};

/// One line for every build that is not there, every build without a function, and every search
/// that was cut short by faults, a deadline or a nondeterministic build. Empty: all was evaluated.
/// A search that used up its budget was evaluated as asked.
pub fn shortfalls(run: &RunFile) -> Vec<String> {
    let mut lines = Vec::new();
    for build in run.builds.iter().filter(|b| !b.is_built()) {
        lines.push(format!("build {} {}: {}", build.id, build.status, gist(&build.reason)));
    }
    for function in &run.functions {
        for build in function.missing.keys() {
            lines.push(format!("build {build} lacks function {}", function.name));
        }
        for comparison in &function.comparisons {
            if let Some(why) = cut_short(comparison.stop_reason) {
                lines.push(format!("function {} on build {} {why}", function.name, comparison.build));
            }
        }
        let told = function.comparisons.iter().any(|c| cut_short(c.stop_reason).is_some());
        if let (false, Some(why)) = (told, cut_short(function.stop_reason)) {
            lines.push(format!("function {} {why}", function.name));
        }
    }
    lines.iter().map(|line| printable(line)).collect()
}

fn cut_short(stop: StopReason) -> Option<&'static str> {
    match stop {
        StopReason::Complete | StopReason::Budget | StopReason::Pace => None,
        StopReason::Faults => Some("was given up after too many faults"),
        StopReason::Deadline => Some("was stopped by its deadline"),
        StopReason::Nondeterministic => Some("answers differently for the same input"),
        StopReason::Missing => Some("is missing"),
    }
}
