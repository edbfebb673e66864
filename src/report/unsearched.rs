//! What a report says of functions that were not searched, and of those whose search says little.

use serde::Serialize;

use super::number::{count, plural};
use crate::findings::{is_searched, unsearched};
use crate::model::{ClassChange, ComparisonRow, FunctionRow, GapKind, RunFile, printable};

/// A function with the builds on which it was not searched for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct GapLine {
    pub function: String,
    /// Empty where no build can be named.
    pub builds: Vec<String>,
    pub reason: String,
}

/// Every gap of a run, in its order.
pub(super) fn lines(run: &RunFile) -> Vec<GapLine> {
    let mut lines: Vec<GapLine> = Vec::new();
    for gap in unsearched(run) {
        let reason = match gap.kind {
            GapKind::Missing => format!("not in build: {}", printable(gap.reason)),
            _ if gap.evaluations > 0 => {
                format!("{}, after {} evaluations", printable(gap.reason), count(gap.evaluations))
            }
            _ => printable(gap.reason),
        };
        let build = gap.build.map(|build| printable(build));
        let function = printable(gap.function);
        match lines.last_mut() {
            Some(line) if line.function == function && line.reason == reason => line.builds.extend(build),
            _ => lines.push(GapLine { function, builds: build.into_iter().collect(), reason }),
        }
    }
    lines
}

/// Functions of which some comparison was not searched.
pub(super) fn functions(run: &RunFile) -> usize {
    run.functions.iter().filter(|function| !is_searched(function)).count()
}

/// `3 functions`, or `2 of 3 functions, 1 not searched`: in what no inconsistency was found.
pub(super) fn searched_of(run: &RunFile) -> String {
    let all = plural(run.functions.len(), "function");
    match functions(run) {
        0 => all,
        gaps => format!("{} of {all}, {gaps} not searched", run.functions.len() - gaps),
    }
}

/// What makes the search of a function say little, in words.
pub(super) fn remarks(function: &FunctionRow) -> Vec<String> {
    let mut remarks = Vec::new();
    if !function.constant.is_empty() {
        let values: Vec<String> = function.constant.iter().map(|value| value.dec()).collect();
        remarks.push(format!("every result is {}", values.join(", ")));
    }
    let tolerated = |row: &ComparisonRow| row.class_changes.get(&ClassChange::WithinTolerance).copied();
    let tolerated: u64 = function.comparisons.iter().filter_map(tolerated).sum();
    if tolerated > 0 {
        remarks.push(format!("{} differences within tolerance, not reported", count(tolerated)));
    }
    if function.same_code {
        remarks.push("not in your sources: the same code in every build".into());
    }
    remarks
}

/// The remarks of a run, each with its functions.
pub(super) fn remark_lines(run: &RunFile) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for function in &run.functions {
        for remark in remarks(function) {
            let name = printable(&function.name);
            match lines.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, names)) => names.push(name),
                None => lines.push((remark, vec![name])),
            }
        }
    }
    lines.into_iter().map(|(remark, names)| format!("{remark}: {}", names.join(", "))).collect()
}
