//! Why a valid matrix makes no usable plan.

use crate::matrix::quoted;
use crate::model::BuildId;

/// A plan that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error(
        "the matrix has no builds: [[exclude]] removes every one of {excluded}, or no target names a compiler"
    )]
    NoBuilds { excluded: usize },
    #[error("the matrix has {builds} builds; at most {most} are allowed: use [[exclude]] or fewer axes")]
    TooManyBuilds { builds: usize, most: usize },
    #[error(
        "no build is named `{baseline}`, which the matrix has as its baseline{}\nthe builds are {}",
        did_you_mean(.nearest), list(.builds)
    )]
    UnknownBaseline { baseline: String, nearest: Option<BuildId>, builds: Vec<BuildId> },
    #[error(
        "the baseline `{baseline}` is removed by an [[exclude]]; narrow the exclude or choose another baseline\n\
         the builds are {}",
        list(.builds)
    )]
    ExcludedBaseline { baseline: BuildId, builds: Vec<BuildId> },
    #[error("the baseline `{baseline}` could be any of {}; write one of them in full", list(.builds))]
    AmbiguousBaseline { baseline: String, builds: Vec<BuildId> },
    #[error("`{pattern}` in [[exclude]] is not a valid glob: {reason}")]
    BadGlob { pattern: String, reason: String },
}

fn did_you_mean(nearest: &Option<BuildId>) -> String {
    nearest.as_ref().map(|id| format!("; did you mean `{id}`?")).unwrap_or_default()
}

fn list(builds: &[BuildId]) -> String {
    quoted(builds.iter().map(BuildId::as_str))
}
