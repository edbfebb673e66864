//! Limits of the matrix against its builds: a glob that matches none of them is a slip.

use super::PlanError;
use crate::model::{Build, BuildGlob, Experiment};

/// Where implementations have names, every glob has to match. Without names a limit may be about builds that are
/// not there: matrices were always allowed to share theirs.
pub(super) fn check(experiment: &Experiment, builds: &[Build]) -> Result<(), PlanError> {
    if experiment.implementations.iter().all(|i| i.name.is_empty()) {
        return Ok(());
    }
    for pattern in experiment.limits.iter().filter_map(|limit| limit.build.as_ref()) {
        let glob = BuildGlob::new(pattern)
            .map_err(|error| PlanError::BadGlob { pattern: pattern.clone(), reason: error.msg.into() })?;
        if !builds.iter().any(|build| glob.matches(build.id.as_str())) {
            let builds = builds.iter().map(|build| build.id.clone()).collect();
            return Err(PlanError::UnmatchedLimit { pattern: pattern.clone(), builds });
        }
    }
    Ok(())
}
