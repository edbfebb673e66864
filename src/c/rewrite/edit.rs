//! Changes of a text, collected in any order and made at once.

use std::ops::Range;

/// Replacements by the bytes they replace. They must not overlap; at one place they keep their order.
#[derive(Debug, Default)]
pub struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    pub fn insert(&mut self, at: usize, what: impl Into<String>) {
        self.replace(at..at, what);
    }

    pub fn replace(&mut self, range: Range<usize>, what: impl Into<String>) {
        self.0.push((range, what.into()));
    }

    pub fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut made = String::with_capacity(text.len());
        let mut at = 0;
        for (range, what) in self.0 {
            made.push_str(text.get(at..range.start).unwrap_or_default());
            made.push_str(&what);
            at = range.end;
        }
        made.push_str(text.get(at..).unwrap_or_default());
        made
    }
}
