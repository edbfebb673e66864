//! What of a run was not searched, or not to the end. Whatever a report says of such a function, it is not that no
//! inconsistency was found.

use std::collections::BTreeSet;

use crate::model::{BuildId, FunctionRow, GapKind, RunFile, gist};

/// A function that was not searched on a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsearched<'a> {
    pub function: &'a str,
    /// None where no build can be named.
    pub build: Option<&'a BuildId>,
    pub kind: GapKind,
    /// Why, in the tool's words where there are any.
    pub reason: &'a str,
    pub evaluations: u64,
}

/// Everything of a run that was not searched, in its order.
pub fn unsearched(run: &RunFile) -> Vec<Unsearched<'_>> {
    run.functions.iter().flat_map(gaps).collect()
}

/// Whether every comparison of a function was searched, and there is one.
pub fn is_searched(function: &FunctionRow) -> bool {
    gaps(function).is_empty()
}

/// Whether a run compared anything at all.
pub fn compares(run: &RunFile) -> bool {
    run.functions.iter().any(|function| !function.comparisons.is_empty())
}

/// Whether any comparison of a run was searched as asked, or as far as its time went.
pub fn searches(run: &RunFile) -> bool {
    let mut rows = run.functions.iter().flat_map(|function| &function.comparisons);
    rows.any(|row| match GapKind::of(row) {
        None => true,
        Some(kind) => kind == GapKind::CutByTime && row.evaluations > 0,
    })
}

/// What to do about everything of a run that was not searched, each advice once.
pub fn mends(run: &RunFile) -> Vec<&'static str> {
    let kinds: BTreeSet<GapKind> = unsearched(run).iter().map(|gap| gap.kind).collect();
    kinds.into_iter().filter_map(GapKind::mend).collect()
}

fn gaps(function: &FunctionRow) -> Vec<Unsearched<'_>> {
    let gap = |build, kind, reason, evaluations| Unsearched {
        function: &function.name,
        build,
        kind,
        reason,
        evaluations,
    };
    let missing = function.missing.iter();
    let mut gaps: Vec<Unsearched<'_>> =
        missing.map(|(build, why)| gap(Some(build), GapKind::Missing, gist(why), 0)).collect();
    let compared = function.comparisons.iter();
    gaps.extend(compared.filter_map(|row| {
        let kind = GapKind::of(row)?;
        Some(gap(Some(&row.build), kind, kind.words(), row.evaluations))
    }));
    if gaps.is_empty() {
        let nothing = function.comparisons.is_empty().then_some(GapKind::NothingToCompare);
        // What ended the search of the function as a whole may stand nowhere else.
        let kind = nothing.or(GapKind::of_stop(function.stop_reason));
        gaps.extend(kind.map(|kind| gap(None, kind, kind.words(), 0)));
    }
    gaps
}
