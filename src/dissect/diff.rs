//! Unified diffs of one file.

use similar::TextDiff;

/// What changed, as `patch -p1` takes it; empty when nothing did.
pub fn unified_diff(path: &str, before: &str, after: &str) -> String {
    let path = path.trim_start_matches('/');
    // A carriage return alone ends no line for `patch`.
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&old, &new)
        .unified_diff()
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}
