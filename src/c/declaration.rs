//! Prototypes and declarations of parameters, cut into their parts. What of them can be used is for the caller to
//! judge: every part knows its bytes, so that a message can point at it.

use super::lexeme::{Lexeme, LexemeKind, lexemes};
use super::types::is_type_word;

/// `double f(double x, int n)` cut at its parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype<'a> {
    /// What stands in front of the parameters: specifiers, the type of the result, the name.
    pub head: Vec<Lexeme<'a>>,
    pub open: Lexeme<'a>,
    /// All that the parentheses enclose.
    pub inside: Vec<Lexeme<'a>>,
    /// The first closing parenthesis; None when there is none behind the opening one.
    pub close: Option<Lexeme<'a>>,
    /// What stands behind the parameters, without semicolons at the end.
    pub tail: Vec<Lexeme<'a>>,
}

impl<'a> Prototype<'a> {
    /// None for a text without a parenthesis.
    pub fn read(text: &'a str) -> Option<Prototype<'a>> {
        let mut all = declaration(text);
        while all.last().is_some_and(|lexeme| lexeme.is_mark(";")) {
            all.pop();
        }
        let at = all.iter().position(|lexeme| lexeme.is_mark("("))?;
        let end = all.iter().position(|lexeme| lexeme.is_mark(")")).filter(|end| *end > at);
        let tail = end.map_or(Vec::new(), |end| all[end + 1..].to_vec());
        let inside = all[at + 1..end.unwrap_or(all.len())].to_vec();
        Some(Prototype {
            open: all[at],
            close: end.map(|end| all[end]),
            head: all[..at].to_vec(),
            inside,
            tail,
        })
    }

    /// The declarations between the commas; one that is empty where there is nothing.
    pub fn parameters(&self) -> Vec<&[Lexeme<'a>]> {
        self.inside.split(|lexeme| lexeme.is_mark(",")).collect()
    }
}

/// All of a declaration, on however many lines.
pub fn declaration(text: &str) -> Vec<Lexeme<'_>> {
    lexemes(text).filter(|lexeme| lexeme.kind != LexemeKind::LineEnd).collect()
}

/// Separates the words of a declaration's type from what follows them, the name. `const` is left out.
pub fn split_type<'a>(declaration: &[Lexeme<'a>]) -> (Vec<Lexeme<'a>>, Vec<Lexeme<'a>>) {
    let mut words: Vec<Lexeme<'a>> = declaration.iter().filter(|l| l.text != "const").copied().collect();
    let is_tagged = words.first().is_some_and(|first| ["struct", "union", "enum"].contains(&first.text));
    let known = words.iter().take_while(|word| is_type_word(word.text)).count();
    // A tag takes the word behind it with it, and a name that is not known is a type where a type must be.
    let type_words = if is_tagged { known + 1 } else { known.max(1) }.min(words.len());
    let rest = words.split_off(type_words);
    (words, rest)
}

/// Whether a word can be a C identifier that every compiler takes.
pub fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether the language keeps a word for itself, so that nothing can be named after it.
pub fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 46] = [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "_Alignas",
        "_Alignof",
        "_Atomic",
        "_Bool",
        "_Complex",
        "_Generic",
        "_Imaginary",
        "_Noreturn",
        "_Static_assert",
        "_Thread_local",
        "asm",
        "typeof",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'a>(lexemes: &[Lexeme<'a>]) -> Vec<&'a str> {
        lexemes.iter().map(|lexeme| lexeme.text).collect()
    }

    #[test]
    fn a_prototype_is_cut_at_its_parentheses_and_commas() {
        let prototype = Prototype::read("extern double\n f(const double x[3], unsigned n) ;;").unwrap();
        assert_eq!(texts(&prototype.head), ["extern", "double", "f"]);
        let parameters: Vec<_> = prototype.parameters().into_iter().map(texts).collect();
        assert_eq!(parameters, [vec!["const", "double", "x", "[", "3", "]"], vec!["unsigned", "n"]]);
        assert_eq!((prototype.tail.len(), Prototype::read("double f;")), (0, None));
        assert_eq!(Prototype::read(")(").unwrap().close, None);
    }

    #[test]
    fn a_type_ends_where_a_name_can_start() {
        for (text, words, rest) in [
            ("const unsigned long n", vec!["unsigned", "long"], vec!["n"]),
            ("struct pair p", vec!["struct", "pair"], vec!["p"]),
            ("real x", vec!["real"], vec!["x"]),
            ("double", vec!["double"], vec![]),
            ("struct", vec!["struct"], vec![]),
            ("const", vec![], vec![]),
        ] {
            let (found, left) = split_type(&declaration(text));
            assert_eq!((texts(&found), texts(&left)), (words, rest), "{text}");
        }
    }
}
