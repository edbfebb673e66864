//! Which build the others are compared with.

use super::PlanError;
use crate::matrix::nearest;
use crate::model::{Build, BuildId};

/// The index of the baseline among the builds: named in full, by a beginning such as `gcc/O0` that
/// one build alone has, or the first build when nothing is named.
pub(super) fn resolve(
    wanted: Option<&str>,
    builds: &[Build],
    excluded: &[BuildId],
) -> Result<usize, PlanError> {
    let Some(wanted) = wanted else { return Ok(0) };
    if let Some(index) = builds.iter().position(|build| build.id.as_str() == wanted) {
        return Ok(index);
    }
    let meant = |id: &BuildId| begins(id, wanted);
    let candidates: Vec<usize> = (0..builds.len()).filter(|&index| meant(&builds[index].id)).collect();
    match candidates.as_slice() {
        [only] => Ok(*only),
        [] => Err(none(wanted, builds, excluded)),
        several => Err(PlanError::AmbiguousBaseline {
            baseline: wanted.into(),
            builds: several.iter().map(|&index| builds[index].id.clone()).collect(),
        }),
    }
}

/// Whether an id is `wanted` or goes on after it with a slash.
fn begins(id: &BuildId, wanted: &str) -> bool {
    id.as_str().strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn none(wanted: &str, builds: &[Build], excluded: &[BuildId]) -> PlanError {
    let ids: Vec<BuildId> = builds.iter().map(|build| build.id.clone()).collect();
    match excluded.iter().find(|id| begins(id, wanted)) {
        Some(id) => PlanError::ExcludedBaseline { baseline: id.clone(), builds: ids },
        None => PlanError::UnknownBaseline {
            baseline: wanted.into(),
            nearest: nearest(wanted, ids.iter().map(BuildId::as_str)).map(|id| BuildId(id.into())),
            builds: ids,
        },
    }
}
