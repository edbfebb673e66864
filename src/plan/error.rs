//! Why a valid matrix makes no usable plan.

use crate::matrix::{nearest, quoted};
use crate::model::{BuildGlob, BuildId};

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
    #[error(
        "no build matches `{pattern}` of a [[limit]]{}\nthe builds are {}",
        hint(.pattern, .builds), list(.builds)
    )]
    UnmatchedLimit { pattern: String, builds: Vec<BuildId> },
    #[error("`{pattern}` is not a valid glob: {reason}")]
    BadGlob { pattern: String, reason: String },
}

fn did_you_mean(nearest: &Option<BuildId>) -> String {
    nearest.as_ref().map(|id| format!("; did you mean `{id}`?")).unwrap_or_default()
}

/// A glob without a colon means the implementation without a name, which is easily forgotten.
fn hint(pattern: &str, builds: &[BuildId]) -> String {
    let wider = format!("*:{pattern}");
    let matches = |glob: &BuildGlob| builds.iter().any(|id| glob.matches(id.as_str()));
    match BuildGlob::new(&wider) {
        Ok(glob) if !pattern.contains(':') && matches(&glob) => {
            format!("; without `:` it is about [sources] alone: did you mean `{wider}`?")
        }
        _ => did_you_mean(&nearest(pattern, builds.iter().map(BuildId::as_str)).map(|id| BuildId(id.into()))),
    }
}

fn list(builds: &[BuildId]) -> String {
    quoted(builds.iter().map(BuildId::as_str))
}
