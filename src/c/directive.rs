//! What a file tells the preprocessor about other files: its includes with their places, the conditions around
//! them, and how the file sees to it that it is read once.

use std::ops::Range;

use super::lexeme::{Lexeme, LexemeKind, lexemes};

/// An `#include` that names its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// As written between quotes or brackets.
    pub name: String,
    /// In brackets: not looked for beside the file.
    pub is_angled: bool,
    /// The directive, from its `#` to the end of the name.
    pub range: Range<usize>,
    /// The name with its quotes or brackets.
    pub name_range: Range<usize>,
    /// The line on which the directive ends, counted from 1.
    pub line: usize,
    /// Whether it stands under a condition other than the file's own guard.
    pub is_conditional: bool,
}

/// How a file sees to it that it is read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It does not.
    None,
    /// `#ifndef NAME` and `#define NAME` around everything.
    Macro,
    /// `#pragma once`, at these places.
    Pragma(Vec<Range<usize>>),
}

/// The includes of a file and its guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Includes {
    pub list: Vec<Include>,
    pub guard: Guard,
    /// It asks for files by a macro, by `#include_next` or by `__has_include`: what it finds depends on where it lies.
    pub is_bound: bool,
}

impl Includes {
    /// Reads a whole file. Never fails: what is no C has no includes.
    pub fn read(text: &str) -> Includes {
        let all: Vec<Lexeme<'_>> = lexemes(text).collect();
        let lines: Vec<Vec<&Lexeme<'_>>> = all
            .split(|lexeme| lexeme.kind == LexemeKind::LineEnd)
            .map(|line| line.iter().filter(|lexeme| lexeme.is_seen()).collect::<Vec<_>>())
            .filter(|line| !line.is_empty())
            .collect();
        let once: Vec<Range<usize>> = lines.iter().filter_map(|line| once(line)).collect();
        let is_guarded = is_guarded(&lines);
        let mut list = Vec::new();
        // The guard's own condition is none.
        let mut depth = -i64::from(is_guarded);
        for line in &lines {
            depth += step(line);
            list.extend(include(text, line).map(|found| Include { is_conditional: depth > 0, ..found }));
        }
        let guard = match (once.is_empty(), is_guarded) {
            (false, _) => Guard::Pragma(once),
            (true, true) => Guard::Macro,
            (true, false) => Guard::None,
        };
        let is_bound = lines.iter().any(|line| is_bound(line));
        Includes { list, guard, is_bound }
    }
}

/// The words of a directive behind its mark.
fn directive<'l, 't>(line: &'l [&'l Lexeme<'t>]) -> Option<&'l [&'l Lexeme<'t>]> {
    line.split_first().filter(|(mark, _)| mark.is_mark("#")).map(|(_, rest)| rest)
}

/// How a line changes the number of conditions around the lines behind it.
fn step(line: &[&Lexeme<'_>]) -> i64 {
    match directive(line).and_then(|words| words.first()).map_or("", |word| word.text) {
        "if" | "ifdef" | "ifndef" => 1,
        "endif" => -1,
        _ => 0,
    }
}

fn once(line: &[&Lexeme<'_>]) -> Option<Range<usize>> {
    match directive(line)? {
        [pragma, once] if pragma.text == "pragma" && once.text == "once" => Some(line[0].start..once.end()),
        _ => None,
    }
}

/// Whether what a directive finds depends on the folder, and the file that it finds is not named.
fn is_bound(line: &[&Lexeme<'_>]) -> bool {
    let asks = |words: &[&Lexeme<'_>]| words.iter().any(|word| word.text.starts_with("__has_include"));
    match directive(line) {
        Some([word, name, ..]) if word.text == "include" => !name.text.starts_with(['"', '<']),
        Some([word, ..]) if word.text == "include_next" => true,
        Some(words) => asks(words),
        None => false,
    }
}

fn include(text: &str, line: &[&Lexeme<'_>]) -> Option<Include> {
    let (word, rest) = directive(line)?.split_first()?;
    let (first, last) = (rest.first()?, rest.last()?);
    let close = match first.text.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    if word.text != "include" {
        return None;
    }
    let (name, _) = text[first.start + 1..last.end()].split_once(close)?;
    let end = first.start + name.len() + 2;
    Some(Include {
        name: name.to_owned(),
        is_angled: close == '>',
        range: line[0].start..end,
        name_range: first.start..end,
        line: usize::try_from(first.line).ok()?,
        is_conditional: false,
    })
}

/// Whether `#ifndef NAME`, `#define NAME` and `#endif` stand around everything.
fn is_guarded(lines: &[Vec<&Lexeme<'_>>]) -> bool {
    let [first, second, rest @ ..] = lines else { return false };
    let (Some(first), Some(second)) = (directive(first), directive(second)) else { return false };
    let name = match first {
        [word, name] if word.text == "ifndef" => name.text,
        [word, not, defined, name] if (word.text, defined.text) == ("if", "defined") && not.is_mark("!") => {
            name.text
        }
        [word, not, defined, open, name, close]
            if (word.text, defined.text) == ("if", "defined")
                && not.is_mark("!")
                && open.is_mark("(")
                && close.is_mark(")") =>
        {
            name.text
        }
        _ => return false,
    };
    let defines = matches!(second, [word, what, ..] if word.text == "define" && what.text == name);
    // The first condition is closed by the last line and by none before it.
    let mut depth = 1;
    let closed = rest.iter().position(|line| {
        depth += step(line);
        depth == 0
    });
    defines && closed.is_some_and(|at| at + 1 == rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, bool, bool)> {
        let all = Includes::read(text).list.into_iter();
        all.map(|include| (include.name, include.is_angled, include.is_conditional)).collect()
    }

    #[test]
    fn includes_are_found_with_the_conditions_around_them() {
        let text = "#ifndef A_H\n#define A_H\n# include \"../b.h\" /* b */\n#ifdef X\n#include <c/d.h>\n#else\n\
                    int x;\n#endif\n/*\n#include \"no.h\"\n*/\n#include NAME\n#endif /* A_H */\n";
        assert_eq!(names(text), [("../b.h".into(), false, false), ("c/d.h".into(), true, true)]);
        let include = &Includes::read(text).list[0];
        assert_eq!((&text[include.range.clone()], include.line), ("# include \"../b.h\"", 3));
        assert_eq!(&text[include.name_range.clone()], "\"../b.h\"");
    }

    #[test]
    fn a_file_that_asks_for_others_without_naming_them_is_bound_to_its_folder() {
        let is_bound = |text: &str| Includes::read(text).is_bound;
        for text in ["#include NAME\n", "#include_next <math.h>\n", "#if __has_include(\"a.h\")\n#endif\n"] {
            assert!(is_bound(text), "{text}");
        }
        assert!(!is_bound("#include \"a.h\"\n#include <b.h>\n#define include NAME\nint include;\n"));
    }

    #[test]
    fn a_guard_stands_around_everything() {
        let guard = |text: &str| Includes::read(text).guard;
        for text in [
            "/* c */\n#ifndef A\n#define A\nint x;\n#ifdef B\n#endif\n#endif // A\n",
            "#if !defined(A)\n#define A 1\n#endif",
            "#if !defined A\n#define A\n#endif",
        ] {
            assert_eq!(guard(text), Guard::Macro, "{text}");
        }
        for text in [
            "#ifndef A\n#define A\n#endif\nint x;\n",
            "#ifndef A\n#define B\n#endif\n",
            "#ifndef A\n#define A\n#endif\n#ifdef B\n#endif\n",
            "#ifdef A\n#define A\n#endif\n",
            "",
        ] {
            assert_eq!(guard(text), Guard::None, "{text}");
        }
        let once = 7..19;
        assert_eq!(guard("int x;\n#pragma once\n"), Guard::Pragma(vec![once]));
    }
}
