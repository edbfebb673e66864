//! How much a comparison must have been searched before a lock takes it as it is.

use super::error::AcceptError;
use crate::findings::{Unsearched, unsearched};
use crate::model::{ComparisonRow, FunctionRow, GapKind, RunFile, StopReason, printable_lines};

/// The fewest evaluations of a comparison whose search did not come to its own end.
const FLOOR: u64 = 1000;
/// The same for a function so slow that its pace decides.
const SLOW_FLOOR: u64 = 100;

/// What the search of a comparison is worth to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// It says nothing: nothing was evaluated, or answers that change.
    Nothing,
    /// Fewer evaluations than this floor.
    Below(u64),
    Enough,
}

impl Worth {
    pub fn of(comparison: &ComparisonRow) -> Worth {
        let floor = match comparison.stop_reason {
            StopReason::Missing | StopReason::Nondeterministic => return Worth::Nothing,
            // The domain or the strategy had no more: few inputs may be all there are.
            StopReason::Complete => 1,
            StopReason::Pace => SLOW_FLOOR,
            StopReason::Budget | StopReason::Deadline | StopReason::Faults | StopReason::Lost => FLOOR,
        };
        match comparison.evaluations {
            0 => Worth::Nothing,
            evaluations if evaluations < floor => Worth::Below(floor),
            _ => Worth::Enough,
        }
    }

    /// Whether a lock takes it.
    pub fn suffices(self, loosen: bool) -> bool {
        self == Worth::Enough || (loosen && self != Worth::Nothing)
    }
}

/// That there is a comparison that was searched enough.
pub(super) fn check(run: &RunFile, loosen: bool) -> Result<(), AcceptError> {
    let most = most(run);
    if most.suffices(loosen) {
        return Ok(());
    }
    let line = |gap: Unsearched<'_>| {
        let on = gap.build.map(|build| format!(" on {build}")).unwrap_or_default();
        format!("\n  {}{on}: {}", gap.function, gap.reason)
    };
    if most == Worth::Nothing {
        return Err(AcceptError::NothingSearched {
            why: printable_lines(&unsearched(run).into_iter().map(line).collect::<String>()),
        });
    }
    let rows = run.functions.iter().flat_map(|row| refused(row, loosen).map(move |pair| (row, pair)));
    let why = rows.map(|(row, (comparison, worth))| {
        format!("\n  {} on {}: {}", row.name, comparison.build, refusal(comparison, worth))
    });
    Err(AcceptError::TooLittle { why: printable_lines(&why.collect::<String>()) })
}

/// The most that any comparison of a run is worth; nothing when there is none.
fn most(run: &RunFile) -> Worth {
    let comparisons = run.functions.iter().flat_map(|function| &function.comparisons);
    comparisons.map(Worth::of).max().unwrap_or(Worth::Nothing)
}

/// Why a comparison stays out, in words.
pub(super) fn refusal(comparison: &ComparisonRow, worth: Worth) -> String {
    let evaluations = comparison.evaluations;
    match (worth, GapKind::of(comparison)) {
        (Worth::Below(floor), _) => {
            format!("not searched enough: {evaluations} evaluations, at least {floor}")
        }
        (_, Some(kind)) => format!("not searched: {}", kind.words()),
        (_, None) => "not searched".into(),
    }
}

/// The comparisons of a function that a lock does not take, with what they are worth.
pub(super) fn refused(row: &FunctionRow, loosen: bool) -> impl Iterator<Item = (&ComparisonRow, Worth)> {
    let judged = row.comparisons.iter().map(|comparison| (comparison, Worth::of(comparison)));
    judged.filter(move |(_, worth)| !worth.suffices(loosen))
}
