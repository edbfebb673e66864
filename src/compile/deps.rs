//! Which files a compiler read, as it says: make rules of `-MD`, or tcc's `-vv`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The prerequisites of a make rule, as gcc and clang write it.
pub fn parse_make_rule(text: &str) -> Vec<String> {
    let Some(colon) = rule_colon(text) else { return Vec::new() };
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text[colon + 1..].chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.peek() {
                Some(' ' | '#' | '\\') => word.extend(chars.next()),
                // A continued line.
                Some('\n' | '\r') => {
                    words.push(std::mem::take(&mut word));
                    if chars.next() == Some('\r') {
                        chars.next_if_eq(&'\n');
                    }
                }
                _ => word.push('\\'),
            },
            '$' if chars.peek() == Some(&'$') => word.extend(chars.next()),
            // The rule ends; what follows are empty rules for headers (-MP).
            '\n' if !word.is_empty() || !words.is_empty() => break,
            c if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    words
}

/// The colon between target and prerequisites.
fn rule_colon(text: &str) -> Option<usize> {
    text.match_indices(':').map(|(at, _)| at).find(|at| {
        text[at + 1..].chars().next().is_none_or(char::is_whitespace) && !text[..*at].ends_with('\\')
    })
}

/// The files of tcc's `-vv` output: lines such as `->  /usr/include/math.h`.
pub fn parse_tcc_trace(text: &str) -> Vec<String> {
    text.lines().filter_map(|l| l.strip_prefix("->")).map(|l| l.trim().to_string()).collect()
}

/// The headers among the files read: absolute, sorted, without the source and what lies in the job's
/// own folder.
pub fn headers(files: &[String], source: &Path, cwd: &Path) -> Vec<PathBuf> {
    let source = cwd.join(source);
    let all: BTreeSet<PathBuf> = files.iter().map(|f| cwd.join(f)).collect();
    all.into_iter().filter(|p| *p != source && !p.starts_with(cwd)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_with_spaces_and_continued_lines_are_read() {
        let text =
            "x.o: /a/my\\ file.c /usr/include/math.h \\\n  /b/c\\#d.h /e$$f.h\n\n/usr/include/math.h:\n";
        assert_eq!(parse_make_rule(text), ["/a/my file.c", "/usr/include/math.h", "/b/c#d.h", "/e$f.h"]);
    }

    #[test]
    fn a_broken_rule_gives_nothing_or_what_it_has() {
        assert!(parse_make_rule("").is_empty());
        assert!(parse_make_rule("no rule").is_empty());
        assert_eq!(parse_make_rule("x.o: a.c"), ["a.c"]);
        assert_eq!(parse_make_rule("x.o: \\\n a.c \\\n b\\"), ["a.c", "b\\"]);
        assert_eq!(parse_make_rule("C:/x.o: \\\r\n é.c"), ["é.c"]);
    }

    #[test]
    fn the_trace_of_tcc_is_read_and_the_source_left_out() {
        let trace = "tcc version 0.9.27\n-> /s/a b.c\n->  /i/h.h\n->   /i/k.h\n->  /i/k.h\n<- x.o\n";
        let files = parse_tcc_trace(trace);
        let found = headers(&files, Path::new("/s/a b.c"), Path::new("/tmp/job"));
        assert_eq!(found, [PathBuf::from("/i/h.h"), "/i/k.h".into()]);
    }
}
