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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_written_as_patch_takes_it() {
        assert_eq!(
            unified_diff("/src/a.c", "one\ntwo\n", "one\n2\n"),
            "--- a/src/a.c\n+++ b/src/a.c\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        );
    }

    #[test]
    fn nothing_changed_is_nothing_written() {
        assert_eq!(unified_diff("a.c", "one\n", "one\n"), "");
    }

    #[test]
    fn a_last_line_without_an_end_says_so() {
        assert!(unified_diff("a.c", "one", "two").contains("-one\n\\ No newline at end of file\n+two\n"));
    }
}
