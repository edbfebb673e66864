//! What a run could not evaluate: `--strict` turns any of it into a failure.

use super::unsearched::unsearched;
use crate::model::{GapKind, RunFile, gist, printable};

/// One line for every build that is not there, and every function that was not searched on a build, or not to the end.
/// Empty: all was evaluated. A search that used up its budget was evaluated as asked.
pub fn shortfalls(run: &RunFile) -> Vec<String> {
    let mut lines = Vec::new();
    for build in run.builds.iter().filter(|b| !b.is_built()) {
        lines.push(format!("build {} {}: {}", build.id, build.status, gist(&build.reason)));
    }
    for gap in unsearched(run) {
        let on = gap.build.map(|build| format!(" on build {build}")).unwrap_or_default();
        lines.push(match (gap.kind, gap.build) {
            (GapKind::Missing, Some(build)) => format!("build {build} lacks function {}", gap.function),
            _ => format!("function {}{on} was not searched: {}", gap.function, gap.reason),
        });
    }
    lines.iter().map(|line| printable(line)).collect()
}

/// One line for every build that a run must not do without and had to: a tool is not there, and the matrix does not say
/// that it is optional.
pub fn wanting(run: &RunFile) -> Vec<String> {
    let wanting = run.builds.iter().filter(|build| build.is_wanting());
    wanting.map(|build| printable(&format!("build {}: {}", build.id, gist(&build.reason)))).collect()
}
