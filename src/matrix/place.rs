//! Where something stands in a file, so that a later stage of reading can still point at it.

use std::ops::Range;

/// A file that was read, under the name the user knows it by.
pub(super) struct SourceFile {
    pub name: String,
    pub text: String,
    /// Messages show its lines. Not so for a file that the matrix names outside its project: whoever may change the matrix could have
    /// any file of the user's shown.
    pub is_shown: bool,
}

impl SourceFile {
    /// Where each line begins; the first one at 0.
    pub fn line_starts(&self) -> Vec<usize> {
        let breaks = self.text.match_indices('\n').map(|(at, _)| at + 1);
        std::iter::once(0).chain(breaks).collect()
    }
}

/// A stretch of bytes of one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub file: usize,
    pub start: usize,
    pub end: usize,
}

impl Place {
    pub fn new(file: usize, span: Range<usize>) -> Place {
        Place { file, start: span.start, end: span.end }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct At<T> {
    pub value: T,
    pub place: Place,
}

/// A string of the file. Knows where its parts stand when it is written without escapes.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub value: String,
    pub place: Place,
    /// Where the first byte of `value` stands, if the file has it verbatim.
    inside: Option<usize>,
}

impl Text {
    pub fn new(file: &SourceFile, place: Place, value: &str) -> Text {
        let source = file.text.get(place.start..place.end).unwrap_or("");
        let inside = ["\"\"\"", "'''", "\"", "'", ""]
            .iter()
            .find(|quote| source.starts_with(**quote))
            .and_then(|quote| source.get(quote.len()..source.len().saturating_sub(quote.len())))
            .and_then(|body| {
                // TOML drops a line break right after the opening quotes.
                let from = if body == value { 0 } else { body.find('\n')? + 1 };
                (body.get(from..)? == value).then(|| place.start + (source.len() - body.len()) / 2 + from)
            });
        Text { value: value.into(), place, inside }
    }

    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// The place of a part of the string: exact if it can be, else the whole string.
    pub fn part(&self, range: Range<usize>) -> Place {
        match self.inside {
            Some(start) if range.start <= range.end && range.end <= self.value.len() => {
                Place { start: start + range.start, end: start + range.end, ..self.place }
            }
            _ => self.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str, value: &str) -> (SourceFile, Text) {
        let file = SourceFile { name: "m".into(), text: source.into(), is_shown: true };
        let text = Text::new(&file, Place::new(0, 0..source.len()), value);
        (file, text)
    }

    #[test]
    fn a_part_of_a_plain_string_is_found_in_the_file() {
        for source in ["\"!= 0\"", "'!= 0'", "\"\"\"!= 0\"\"\"", "\"\"\"\n!= 0\"\"\"", "'''\r\n!= 0'''"] {
            let (file, text) = text(source, "!= 0");
            let place = text.part(3..4);
            assert_eq!(&file.text[place.start..place.end], "0", "{source:?}");
        }
    }

    #[test]
    fn a_part_of_an_escaped_string_is_the_whole_string() {
        let source = r#""\u0021= 0""#;
        let (_, text) = text(source, "!= 0");
        assert_eq!(text.part(3..4), Place::new(0, 0..source.len()));
    }
}
