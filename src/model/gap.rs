//! Why a function was not searched on a build, or not to the end: in run reports, and in the verdict of a gate.

use serde::{Deserialize, Serialize};

use super::{ComparisonRow, StopReason};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapKind {
    /// A build lacks the function, or cannot be loaded.
    Missing,
    /// A build is not there, because a tool is not.
    Absent,
    /// The baseline has no other build beside it.
    NothingToCompare,
    /// The process that searched was lost.
    WorkerLost,
    /// Too many faults.
    GivenUp,
    /// A build answered differently for the same input.
    Nondeterministic,
    /// A deadline, or the time of a gate.
    CutByTime,
    /// The search ended by itself and evaluated nothing.
    NoEvaluations,
    /// Fewer evaluations than the lock asks for.
    TooFew,
}

impl GapKind {
    /// Why a comparison is not to be taken for clean, whatever it found; None when it was searched as asked.
    pub fn of<N, A>(comparison: &ComparisonRow<N, A>) -> Option<GapKind> {
        let nothing = (comparison.evaluations == 0).then_some(GapKind::NoEvaluations);
        GapKind::of_stop(comparison.stop_reason).or(nothing)
    }

    /// Why a search that ended so is not to be taken for clean.
    pub fn of_stop(stop: StopReason) -> Option<GapKind> {
        match stop {
            StopReason::Complete | StopReason::Budget | StopReason::Pace => None,
            StopReason::Faults => Some(GapKind::GivenUp),
            StopReason::Lost => Some(GapKind::WorkerLost),
            StopReason::Deadline => Some(GapKind::CutByTime),
            StopReason::Nondeterministic => Some(GapKind::Nondeterministic),
            StopReason::Missing => Some(GapKind::Missing),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            GapKind::Missing => "missing",
            GapKind::Absent => "absent",
            GapKind::NothingToCompare => "nothing-to-compare",
            GapKind::WorkerLost => "worker-lost",
            GapKind::GivenUp => "given-up",
            GapKind::Nondeterministic => "nondeterministic",
            GapKind::CutByTime => "cut-by-time",
            GapKind::NoEvaluations => "no-evaluations",
            GapKind::TooFew => "too-few",
        }
    }

    /// What a user can do about it; None where the reason itself says so.
    pub fn mend(self) -> Option<&'static str> {
        match self {
            GapKind::WorkerLost => Some(
                "give each process more memory (`memory_mb`), or run fewer at once (`--jobs`); code that writes more files than its \
                 scratch folder takes (256 MiB) should remove them",
            ),
            GapKind::GivenUp => Some(
                "keep to inputs that the functions can take (`domain`), mend the code that faults (`bitrift eval` shows one \
                 input), or allow more faults (`max_faults`) and slower calls (`timeout_ms`)",
            ),
            GapKind::Nondeterministic => Some(
                "let the functions answer by their arguments alone: no clock, no random numbers, no kept state",
            ),
            GapKind::CutByTime => Some("give the search more time"),
            GapKind::NoEvaluations | GapKind::TooFew => Some("give the search a larger budget (`--budget`)"),
            GapKind::Missing | GapKind::Absent | GapKind::NothingToCompare => None,
        }
    }

    /// The reason in words, where nobody has better ones.
    pub fn words(self) -> &'static str {
        match self {
            GapKind::Missing => "the build cannot be loaded, or lacks it",
            GapKind::Absent => "the build is not there",
            GapKind::NothingToCompare => "there is no build to compare the baseline with",
            GapKind::WorkerLost => "the process that searched was lost",
            GapKind::GivenUp => "given up after too many faults",
            GapKind::Nondeterministic => "answers differently for the same input",
            GapKind::CutByTime => "cut by time",
            GapKind::NoEvaluations => "nothing was evaluated",
            GapKind::TooFew => "too few evaluations",
        }
    }
}
