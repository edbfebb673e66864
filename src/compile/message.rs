//! The tools' own words, made fit for a result: no temporary names, a sane size, and whose fault it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The longest message kept; the first errors say most.
const LIMIT: usize = 4096;

/// Takes the folders of jobs (this one's, and those that debug information of other objects names)
/// out of a message, and names the tool's temporary files alike every time.
/// Jobs run in `<jobs>/<process>/<job>/`, and their tools' temporary files are in `tmp/` there.
pub fn tidy(words: &str, jobs: &Path) -> String {
    let jobs = format!("{}/", jobs.display());
    let mut text = String::with_capacity(words.len());
    for (i, piece) in words.split(jobs.as_str()).enumerate() {
        if i == 0 {
            text.push_str(piece);
            continue;
        }
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        // After the process and the job there is a file, or the job's folder was meant.
        let rest = piece.trim_start_matches(name).trim_start_matches('/').trim_start_matches(name);
        match rest.strip_prefix('/') {
            Some(rest) => match rest.strip_prefix("tmp/") {
                Some(rest) => text.extend(["temporary", rest.trim_start_matches(name)]),
                None => text.push_str(rest),
            },
            None => text.extend([".", rest]),
        }
    }
    text.trim_end().into()
}

/// The beginning of a long message.
pub fn shorten(text: &str) -> String {
    if text.len() <= LIMIT {
        return text.to_string();
    }
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next_if(|l| kept.len() + l.len() < LIMIT) {
        kept.push_str(line);
        kept.push('\n');
    }
    if kept.is_empty() {
        // One endless line.
        kept.extend(text.chars().take(LIMIT / 4));
        return format!("{kept}...");
    }
    format!("{kept}... and {} more lines", lines.count())
}

/// A line without the place in a generated file of shims, which is nobody's file: `x.c:(.text+0x1f): undefined ...`.
fn without_place(line: &str) -> &str {
    let (place, rest) = line.split_once("): ").unwrap_or(("", line));
    if place.starts_with("bitrift_shims_") && place.contains(".c:(.") { rest } else { line }
}

/// Which shims (by the tails of their names) a linker complains about, each with the lines about it.
/// Knows the forms of ld.bfd, gold and lld, which name the object, its source or the function.
pub fn guilty_shims(words: &str, tags: &[&str]) -> BTreeMap<usize, String> {
    let lines: Vec<&str> = words.lines().collect();
    let named: Vec<BTreeSet<usize>> = lines
        .iter()
        .map(|line| if line.contains("warning:") { BTreeSet::new() } else { mentioned(line, tags) })
        .collect();
    let all: BTreeSet<usize> = named.iter().flatten().copied().collect();
    if all.len() == 1 {
        let about = lines.iter().map(|line| without_place(line)).collect::<Vec<_>>().join("\n");
        return all.into_iter().map(|shim| (shim, about.clone())).collect();
    }
    // A line that names no shim belongs to those named after it (lld) or before it (ld.bfd).
    let owners = |i: usize| -> BTreeSet<usize> {
        if !named[i].is_empty() || !lines[i].contains("undefined") {
            return named[i].clone();
        }
        if lines[i].contains("undefined symbol:") {
            let follow = (i + 1..lines.len()).take_while(|j| lines[*j].starts_with(">>>"));
            return follow.flat_map(|j| named[j].clone()).collect();
        }
        let before = (0..i).rev().find(|j| !named[*j].is_empty() || !lines[*j].contains("undefined"));
        before.map(|before| named[before].clone()).unwrap_or_default()
    };
    let owners: Vec<BTreeSet<usize>> = (0..lines.len()).map(owners).collect();
    let about = |shim: usize| {
        let own = lines.iter().zip(&owners).filter(|(_, owners)| owners.contains(&shim));
        own.map(|(line, _)| without_place(line)).collect::<Vec<_>>().join("\n")
    };
    all.into_iter().map(|shim| (shim, about(shim))).collect()
}

/// The shims whose file or function a line names.
fn mentioned(line: &str, tags: &[&str]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut look = |prefix: &str, ends: fn(char) -> bool| {
        for (at, _) in line.match_indices(prefix) {
            let rest = &line[at + prefix.len()..];
            let end = rest.find(ends).unwrap_or(rest.len());
            found.extend(tags.iter().position(|tag| *tag == &rest[..end]));
        }
    };
    for prefix in ["bitrift_shim_", "bitrift_call_", "bitrift_body_"] {
        look(prefix, |c| !(c.is_ascii_alphanumeric() || c == '_'));
    }
    // The shims' user-written parts have the functions' names, which may have other signs: `call of f-wide:1`.
    for prefix in ["signature of ", "call of ", "body of "] {
        look(prefix, |c| c == ':' || c == '(');
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_taken_out() {
        let words = "/c/tmp/1-a/job-1/x.o: in function\n/c/tmp/2-b/job-2/body of f:2: nope\n\
                     /c/tmp/1-a/job-1/tmp/ccAb12Xy.ltrans0.ltrans.o: nope\nin /c/tmp/1-a/job-1\n/c/tmp";
        let tidied = tidy(words, Path::new("/c/tmp"));
        assert_eq!(
            tidied,
            "x.o: in function\nbody of f:2: nope\ntemporary.ltrans0.ltrans.o: nope\nin .\n/c/tmp"
        );
    }

    #[test]
    fn a_long_message_keeps_its_beginning() {
        let long = (0..10_000).map(|i| format!("error {i}\n")).collect::<String>();
        let kept = shorten(&long);
        assert!(kept.len() < LIMIT + 40 && kept.starts_with("error 0\nerror 1\n"), "{kept}");
        assert!(kept.ends_with("more lines"));
        assert!(shorten(&"é".repeat(10_000)).len() < LIMIT);
    }

    #[test]
    fn the_forms_of_three_linkers_name_the_guilty() {
        let tags = ["a", "ab", "c"];
        let bfd = "/usr/bin/ld: bitrift_shim_a.o: in function `bitrift_call_a':\n\
                   signature of a:1: undefined reference to `nope'\n\
                   /usr/bin/ld: bitrift_shim_c.o: in function `bitrift_call_c':\n\
                   bitrift_shim_c.c:(.text+0x1d): undefined reference to `nix'\n\
                   collect2: error: ld returned 1 exit status";
        let found = guilty_shims(bfd, &tags);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [0, 2]);
        assert!(found[&0].contains("nope") && !found[&0].contains("nix"), "{}", found[&0]);
        assert!(found[&2].contains("nix") && !found[&2].contains("nope"), "{}", found[&2]);

        let lld = "ld.lld: error: undefined symbol: nope\n>>> referenced by bitrift_shim_ab.c\n\
                   >>>               bitrift_shim_ab.o:(bitrift_call_ab)\n";
        assert_eq!(guilty_shims(lld, &tags), BTreeMap::from([(1, lld.trim_end().to_string())]));
        let gold =
            "bitrift_shim_c.o:bitrift_shim_c.c:function bitrift_call_c: error: undefined reference to 'nope'";
        assert_eq!(guilty_shims(gold, &tags).keys().copied().collect::<Vec<_>>(), [2]);
        let other = "bitrift_shim_x.o: in function `bitrift_call_a_wide':\ncall of a-wide:1: undefined reference to `nope'";
        assert!(guilty_shims(other, &tags).is_empty());
        assert!(guilty_shims("x.o: undefined reference to `bitrift_callback'", &tags).is_empty());
        assert!(guilty_shims("bitrift_shim_c.o: warning: odd\nld: cannot find -lx", &tags).is_empty());
    }
}
