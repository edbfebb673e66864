//! Where in a JSON text a position lies, as a path of fields: `functions[2].comparisons[0].max_bits`.
//! For messages only: the text has been parsed before, so this scanner does not check it.

enum Step {
    Field(String),
    Item(usize),
}

/// The path of the innermost value at a line and column (both from 1); `.` for the whole file.
pub(super) fn path_at(text: &str, line: usize, column: usize) -> String {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = (start + column).min(text.len());
    let mut steps: Vec<Step> = Vec::new();
    let mut bytes = text.as_bytes()[..end].iter().enumerate();
    // A string right after `{` or `,` inside an object is a field's name.
    let mut names_next = false;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'{' => {
                steps.push(Step::Field(String::new()));
                names_next = true;
            }
            b'[' => {
                steps.push(Step::Item(0));
                names_next = false;
            }
            // The error at the end of an object or list is about the whole of it.
            b'}' | b']' => {
                steps.pop();
                names_next = false;
            }
            b',' => match steps.last_mut() {
                Some(Step::Item(index)) => *index += 1,
                Some(Step::Field(_)) => names_next = true,
                None => {}
            },
            b'"' => {
                let length = string_length(&text.as_bytes()[at + 1..end]);
                if let (true, Some(Step::Field(name))) = (names_next, steps.last_mut()) {
                    *name = String::from_utf8_lossy(&text.as_bytes()[at + 1..at + 1 + length]).into_owned();
                    names_next = false;
                }
                if length > 0 {
                    bytes.nth(length - 1);
                }
                bytes.next();
            }
            _ => {}
        }
    }
    spell(&steps)
}

/// Bytes up to the closing quote.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at.min(rest.len())
}

fn spell(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Field(name) if name.is_empty() => {}
            Step::Field(name) if path.is_empty() => path.push_str(name),
            Step::Field(name) => path.push_str(&format!(".{name}")),
            Step::Item(index) => path.push_str(&format!("[{index}]")),
        }
    }
    if path.is_empty() { ".".into() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "{\n \"a\": [1, {\"b\\\"c\": \"x,]\", \"d\": 7}],\n \"e\": {}\n}";

    #[test]
    fn a_position_is_named_by_the_fields_around_it() {
        let column = |needle: &str| TEXT.lines().nth(1).unwrap().find(needle).unwrap() + 1;
        assert_eq!(path_at(TEXT, 2, column("1,")), "a[0]");
        assert_eq!(path_at(TEXT, 2, column("7")), "a[1].d");
        assert_eq!(path_at(TEXT, 2, column("x,]")), "a[1].b\\\"c");
        assert_eq!(path_at(TEXT, 3, 6), "e");
        assert_eq!(path_at(TEXT, 4, 1), ".");
    }

    proptest! {
        #[test]
        fn no_text_and_no_position_makes_it_panic(text: String, line in 0usize..9, column in 0usize..99) {
            path_at(&text, line, column);
        }

        #[test]
        fn nor_does_text_that_looks_like_json(text in r#"[\[\]{}",:\\1\n]{0,40}"#, line in 0usize..4, column in 0usize..40) {
            path_at(&text, line, column);
        }
    }
}
