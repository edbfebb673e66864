//! A part of a run: the functions a user asked to see.

use std::collections::BTreeSet;

use super::finding_ids;
use crate::model::{ExplainFile, FindingId, RunFile};

/// The functions of a run that a selection keeps.
pub fn select(run: &RunFile, keep: impl Fn(&str) -> bool) -> RunFile {
    let mut run = run.clone();
    run.functions.retain(|f| keep(&f.name));
    for build in &mut run.builds {
        build.audit.retain(|name, _| keep(name));
    }
    run
}

/// What is known of the findings of such a part.
pub fn select_explained(mut file: ExplainFile, run: &RunFile) -> ExplainFile {
    let ids: BTreeSet<FindingId> = finding_ids(run).into_iter().collect();
    file.findings.retain(|id, _| ids.contains(id));
    for cause in &mut file.causes {
        cause.findings.retain(|id| ids.contains(id));
    }
    file.causes.retain(|cause| !cause.findings.is_empty());
    file
}
