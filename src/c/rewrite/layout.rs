//! How a text is laid out: lines, indentation, line endings.

use std::collections::BTreeMap;
use std::ops::Range;

pub fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The blanks at the start of the line around a place.
pub fn indent_at(text: &str, at: usize) -> &str {
    indent(&text[line_start(text, at)..])
}

/// The number of the line around a place, from 1.
pub fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// One step of indentation: the most frequent one from a line to a deeper one.
pub fn step(text: &str) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut last = "";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let now = indent(line);
        if let Some(more) = now.strip_prefix(last).filter(|more| (1..=8).contains(&more.len())) {
            *counts.entry(more).or_default() += 1;
        }
        last = now;
    }
    let most = counts.into_iter().filter(|(step, _)| *step != " ").max_by_key(|(_, count)| *count);
    most.map_or("    ", |(step, _)| step).to_owned()
}

/// A text whose lines after the first are one step deeper.
pub fn deeper(text: &str, step: &str) -> String {
    let mut lines = text.split_inclusive('\n');
    let mut made = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        if !line.trim().is_empty() {
            made.push_str(step);
        }
        made.push_str(line);
    }
    made
}

/// The rest of the line from a place, if it is blank or one comment that ends with it.
pub fn comment_after(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text[at..].lines().next().unwrap_or_default().trim_end();
    let comment = rest.trim_start();
    let is_closed = comment.find("*/").is_some_and(|end| end + 2 == comment.len());
    let fits = comment.is_empty()
        || (comment.starts_with("//") && !comment.ends_with('\\'))
        || (comment.starts_with("/*") && comment.len() > 3 && is_closed);
    fits.then_some(at..at + rest.len())
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
