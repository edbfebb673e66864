//! Where braces close and where conditional parts of a text open or close too many of them.

use std::collections::HashMap;
use std::ops::Range;

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
        let mut reader = Reader { bytes: text.as_bytes(), ..Reader::default() };
        reader.read();
        reader.braces
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
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    open: Vec<usize>,
    conditionals: Vec<Conditional>,
    braces: Braces,
}

impl Reader<'_> {
    fn read(&mut self) {
        let mut line_is_blank = true;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => line_is_blank = true,
                b' ' | b'\t' | b'\r' => {}
                b'/' if self.skip_comment() => continue,
                b'#' if line_is_blank => {
                    self.directive();
                    continue;
                }
                b'"' | b'\'' => {
                    self.skip_quoted(byte);
                    line_is_blank = false;
                    continue;
                }
                b'{' => self.open.push(self.at),
                b'}' => self.close(),
                _ => {}
            }
            line_is_blank = line_is_blank && byte.is_ascii_whitespace();
            self.at += 1;
        }
        // Conditionals without an end reach to the end of the text.
        for conditional in std::mem::take(&mut self.conditionals) {
            self.braces.conditionals.push((conditional.start..self.bytes.len(), true));
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.braces.closes.insert(open, self.at + 1);
        }
        if let Some(conditional) = self.conditionals.last_mut() {
            conditional.lowest = conditional.lowest.min(self.open.len());
        }
    }

    fn skip_comment(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"/*") {
            let length = rest[2..].windows(2).position(|w| w == b"*/").map_or(rest.len(), |n| n + 4);
            self.at += length;
        } else if rest.starts_with(b"//") {
            self.skip_line();
        } else {
            return false;
        }
        true
    }

    /// To the end of the line and of those that continue it.
    fn skip_line(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return,
                b'\\' => self.skip_escape(),
                _ => self.at += 1,
            }
        }
    }

    fn skip_escape(&mut self) {
        let is_long = self.bytes[self.at + 1..].starts_with(b"\r\n");
        self.at = (self.at + if is_long { 3 } else { 2 }).min(self.bytes.len());
    }

    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.skip_escape(),
                // An apostrophe in text that is no code must not swallow the rest.
                b'\n' => return,
                _ => self.at += 1,
            }
            if byte == quote {
                return;
            }
        }
    }

    fn directive(&mut self) {
        let start = self.at;
        let words = &self.bytes[start + 1..];
        let blanks = words.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let word: Vec<u8> = words[blanks..].iter().copied().take_while(u8::is_ascii_alphabetic).collect();
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => break,
                b'/' if self.skip_comment() => {}
                b'\\' => self.skip_escape(),
                _ => self.at += 1,
            }
        }
        let depth = self.open.len();
        match word.as_slice() {
            b"if" | b"ifdef" | b"ifndef" => {
                self.conditionals.push(Conditional { start, depth, lowest: depth, is_uneven: false })
            }
            b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                if let Some(conditional) = self.conditionals.last_mut() {
                    conditional.end_branch(depth);
                    self.open.truncate(conditional.depth);
                }
            }
            b"endif" => self.end_conditional(),
            _ => {}
        }
    }

    fn end_conditional(&mut self) {
        let Some(mut conditional) = self.conditionals.pop() else { return };
        conditional.end_branch(self.open.len());
        self.braces.conditionals.push((conditional.start..self.at, conditional.is_uneven));
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
