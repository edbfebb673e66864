//! Where braces close and where conditional parts of a text open or close too many of them.

use std::collections::HashMap;
use std::ops::Range;

use crate::c::lexeme::{Lexeme, LexemeKind, lexemes};

/// The braces of a text as the preprocessor leaves them, whatever its conditions choose.
#[derive(Debug, Default)]
pub struct Braces {
    /// Place of `{` to place after its `}`.
    closes: HashMap<usize, usize>,
    /// From `#if` to `#endif`, and whether a branch between them opens what it does not close.
    conditionals: Vec<(Range<usize>, bool)>,
}

struct Conditional {
    start: usize,
    depth: usize,
    /// The fewest open braces in the branch so far.
    lowest: usize,
    is_uneven: bool,
}

impl Braces {
    pub fn read(text: &str) -> Braces {
        let mut scan = BraceScan::default();
        scan.read(text);
        scan.braces
    }

    /// Why a function is not one piece of text, told by the bytes of its definition, of its body and where
    /// its name and parameters start; None when it is.
    pub fn obstacle(
        &self,
        definition: &Range<usize>,
        declarator: usize,
        body: &Range<usize>,
    ) -> Option<&'static str> {
        for (range, is_uneven) in &self.conditionals {
            let apart = range.end <= definition.start || range.start >= definition.end;
            let around = range.start <= definition.start && range.end >= definition.end;
            let within = range.start >= body.start && range.end <= body.end;
            let before = range.end <= declarator;
            if !apart && !around && (*is_uneven || !(within || before)) {
                return Some("it is split across branches of #if");
            }
        }
        (self.closes.get(&body.start) != Some(&body.end)).then_some("its braces do not match")
    }

    /// Where a definition starts that may have conditional words in front.
    pub fn start_after_conditionals(&self, definition: &Range<usize>, declarator: usize) -> usize {
        let ends = self.conditionals.iter().map(|(range, _)| range.end);
        // The end is that of the line with #endif.
        let inside = ends.filter(|end| *end > definition.start && *end < declarator);
        inside.max().map_or(definition.start, |end| end + 1)
    }
}

#[derive(Default)]
struct BraceScan {
    open: Vec<usize>,
    conditionals: Vec<Conditional>,
    braces: Braces,
}

impl BraceScan {
    fn read(&mut self, text: &str) {
        let all: Vec<Lexeme<'_>> = lexemes(text).filter(Lexeme::is_seen).collect();
        for line in all.split_inclusive(|lexeme| lexeme.kind == LexemeKind::LineEnd) {
            match line {
                [mark, word, rest @ ..] if mark.is_mark("#") => {
                    let last = rest.last().unwrap_or(word);
                    let is_ended = last.kind == LexemeKind::LineEnd;
                    self.directive(mark.start, word.text, if is_ended { last.start } else { text.len() });
                }
                line => self.code(line),
            }
        }
        // Conditionals without an end reach to the end of the text.
        for conditional in std::mem::take(&mut self.conditionals) {
            self.braces.conditionals.push((conditional.start..text.len(), true));
        }
    }

    fn code(&mut self, line: &[Lexeme<'_>]) {
        for lexeme in line {
            match lexeme.kind {
                LexemeKind::Mark("{") => self.open.push(lexeme.start),
                LexemeKind::Mark("}") => self.close(lexeme.end()),
                _ => {}
            }
        }
    }

    fn close(&mut self, end: usize) {
        if let Some(open) = self.open.pop() {
            self.braces.closes.insert(open, end);
        }
        if let Some(conditional) = self.conditionals.last_mut() {
            conditional.lowest = conditional.lowest.min(self.open.len());
        }
    }

    /// A directive from its `#` to the end of its line.
    fn directive(&mut self, start: usize, word: &str, end: usize) {
        let depth = self.open.len();
        match word {
            "if" | "ifdef" | "ifndef" => {
                self.conditionals.push(Conditional { start, depth, lowest: depth, is_uneven: false })
            }
            "else" | "elif" | "elifdef" | "elifndef" => {
                if let Some(conditional) = self.conditionals.last_mut() {
                    conditional.end_branch(depth);
                    self.open.truncate(conditional.depth);
                }
            }
            "endif" => self.end_conditional(end),
            _ => {}
        }
    }

    fn end_conditional(&mut self, end: usize) {
        let Some(mut conditional) = self.conditionals.pop() else { return };
        conditional.end_branch(self.open.len());
        self.braces.conditionals.push((conditional.start..end, conditional.is_uneven));
        if let Some(outer) = self.conditionals.last_mut() {
            outer.lowest = outer.lowest.min(self.open.len());
        }
    }
}

impl Conditional {
    fn end_branch(&mut self, depth: usize) {
        self.is_uneven |= depth != self.depth || self.lowest < self.depth;
        self.lowest = self.depth;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obstacle(text: &str) -> Option<&'static str> {
        let open = text.find('{').unwrap_or_default();
        Braces::read(text).obstacle(&(0..text.len()), 0, &(open..text.len()))
    }

    #[test]
    fn braces_in_comments_strings_and_directives_do_not_count() {
        assert_eq!(obstacle("f() { /* } */ g(\"}\\\"}\", '}'); // }\n#define A }\\\n}\n }"), None);
    }

    #[test]
    fn branches_that_close_what_they_open_are_no_obstacle() {
        assert_eq!(obstacle("f() {\n#if A\n if (x) { y(); }\n#else\n z();\n#endif\n}"), None);
    }

    #[test]
    fn branches_that_open_one_brace_between_them_are_an_obstacle() {
        let text = "f() {\n#if A\n if (x) {\n#else\n if (y) {\n#endif\n z(); }\n}";
        assert_eq!(obstacle(text), Some("it is split across branches of #if"));
    }

    #[test]
    fn a_branch_that_ends_inside_the_function_is_an_obstacle() {
        let text = "f() {\n#endif\n}";
        assert_eq!(obstacle(text), None);
        let text = "#if A\nf() {\n#endif\n}";
        assert!(Braces::read(text).obstacle(&(6..text.len()), 6, &(10..text.len())).is_some());
    }

    #[test]
    fn conditional_words_before_a_definition_are_no_part_of_it() {
        let text = "#if A\nstatic\n#endif\nint f() {}";
        let (declarator, open) = (text.find("f()").unwrap_or_default(), text.find('{').unwrap_or_default());
        let braces = Braces::read(text);
        assert_eq!(braces.obstacle(&(6..text.len()), declarator, &(open..text.len())), None);
        assert_eq!(
            braces.start_after_conditionals(&(6..text.len()), declarator),
            text.find("int").unwrap_or_default()
        );
    }

    #[test]
    fn a_branch_that_closes_and_opens_again_is_an_obstacle() {
        assert!(obstacle("f() { if (x) {\n#if A\n } else {\n#endif\n z(); } }").is_some());
    }
}
