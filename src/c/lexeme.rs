//! The lexer of the stage: C text cut into lexemes that know their bytes, comments and ends of lines among them.
//!
//! The parser behind `tree` has a lexer of its own, which cannot stand in for this one: where macros or `#if`
//! make code that it does not understand, it gives no lexemes but one error over all of it. This one never fails.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexemeKind {
    /// An identifier or keyword.
    Word,
    /// A preprocessing number; not every one has a value.
    Number,
    /// A string or a character with its quotes; it ends with its line at the latest.
    Quoted,
    Mark(&'static str),
    Comment,
    /// A backslash and the end of a line, which goes on behind it.
    Continuation,
    /// The end of a line that no backslash and no comment continues.
    LineEnd,
    /// A character that no lexeme starts with.
    Stray,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme<'a> {
    pub kind: LexemeKind,
    pub text: &'a str,
    /// Where it starts, in bytes.
    pub start: usize,
    /// The line it starts on, counted from 1.
    pub line: u64,
}

impl Lexeme<'_> {
    pub fn range(&self) -> Range<usize> {
        self.start..self.end()
    }

    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether the compiler sees it: neither a comment nor where a line continues.
    pub fn is_seen(&self) -> bool {
        !matches!(self.kind, LexemeKind::Comment | LexemeKind::Continuation)
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.kind, LexemeKind::Mark(m) if m == mark)
    }
}

/// Longer ones first.
const MARKS: [&str; 48] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "##", "<", ">", "=", "!", "+", "-", "*", "/", "%", "&", "|", "^", "~", "?",
    ":", ";", ",", ".", "(", ")", "[", "]", "{", "}", "#",
];

/// Every lexeme of a text, in order. There is white space between them and nothing else.
pub fn lexemes(text: &str) -> impl Iterator<Item = Lexeme<'_>> {
    let (mut rest, mut line) = (text, 1);
    std::iter::from_fn(move || {
        let after = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
        let (kind, length) = first_lexeme(after)?;
        let lexeme = Lexeme { kind, text: &after[..length], start: text.len() - after.len(), line };
        line += newlines(lexeme.text);
        rest = &after[length..];
        Some(lexeme)
    })
}

fn first_lexeme(rest: &str) -> Option<(LexemeKind, usize)> {
    let first = rest.chars().next()?;
    let second_is_digit = || rest[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    let found = match first {
        '\n' => (LexemeKind::LineEnd, 1),
        '\\' if rest.starts_with("\\\n") => (LexemeKind::Continuation, 2),
        '\\' if rest.starts_with("\\\r\n") => (LexemeKind::Continuation, 3),
        '"' | '\'' => (LexemeKind::Quoted, quoted_length(rest)),
        '/' if rest.starts_with("//") => (LexemeKind::Comment, line_length(rest)),
        '/' if rest.starts_with("/*") => {
            (LexemeKind::Comment, rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
        }
        _ if first.is_ascii_digit() || (first == '.' && second_is_digit()) => {
            (LexemeKind::Number, number_length(rest))
        }
        _ if is_word(first) => (LexemeKind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
        _ => match MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            Some(mark) => (LexemeKind::Mark(mark), mark.len()),
            None => (LexemeKind::Stray, first.len_utf8()),
        },
    };
    Some(found)
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Bytes of the string or character at the start.
fn quoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => return at,
            b'\\' => at += escape_length(&bytes[at..]),
            _ => at += 1,
        }
        if byte == bytes[0] {
            return at;
        }
    }
    text.len()
}

/// Bytes up to the end of a line that no backslash continues.
fn line_length(text: &str) -> usize {
    let is_continued = |end: usize| text[..end].ends_with('\\') || text[..end].ends_with("\\\r");
    text.match_indices('\n').map(|(end, _)| end).find(|end| !is_continued(*end)).unwrap_or(text.len())
}

/// A backslash and what it takes its meaning from: a character, or the end of a line that it continues. Of a
/// character of several bytes it is the first: the others are no quotes and no backslashes.
fn escape_length(bytes: &[u8]) -> usize {
    let length = if bytes[1..].starts_with(b"\r\n") { 3 } else { 2 };
    length.min(bytes.len())
}

/// A sign belongs to a number after the letter of an exponent.
fn number_length(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let exponent = if is_hex { matches!(before, 'p' | 'P') } else { matches!(before, 'e' | 'E') };
        if !(is_word(c) || c == '.' || (exponent && matches!(c, '+' | '-'))) {
            return at;
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lexemes_are_cut_as_c_cuts_them() {
        let cut = |text| lexemes(text).map(|lexeme| lexeme.text).collect::<Vec<_>>();
        assert_eq!(cut("a->b+=.5e-3f/2;"), ["a", "->", "b", "+=", ".5e-3f", "/", "2", ";"]);
        assert_eq!(
            cut("x/*y*//z//w\n'\\''\"\\\"\""),
            ["x", "/*y*/", "/", "z", "//w", "\n", "'\\''", "\"\\\"\""]
        );
        assert_eq!(
            cut("a \\\n b // c \\\r\n d\n\"e\\\nf\" don't"),
            ["a", "\\\n", "b", "// c \\\r\n d", "\n", "\"e\\\nf\"", "don", "'t"]
        );
    }

    proptest! {
        #[test]
        fn nothing_but_blanks_lies_between_the_lexemes_of_any_text(text in "[ -~\n\r\u{e4}]{0,80}", any in ".{0,40}") {
            for text in [text, any] {
                let mut at = 0;
                for lexeme in lexemes(&text) {
                    prop_assert!(text[at..lexeme.start].trim().is_empty());
                    prop_assert_eq!(&text[lexeme.range()], lexeme.text);
                    at = lexeme.end();
                }
                prop_assert!(text[at..].trim().is_empty());
            }
        }
    }
}
