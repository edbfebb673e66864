//! A part of a run: the functions a user asked to see.

use crate::model::RunFile;

/// The functions of a run that a selection keeps.
pub fn select(run: &RunFile, keep: impl Fn(&str) -> bool) -> RunFile {
    let mut run = run.clone();
    run.functions.retain(|f| keep(&f.name));
    for build in &mut run.builds {
        build.audit.retain(|name, _| keep(name));
    }
    run
}
