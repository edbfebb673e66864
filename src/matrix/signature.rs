//! C prototypes and parameter declarations, read by a small tokenizer of their own.

use std::ops::Range;

use super::c_type::{USE_BODY, is_type_word, scalar_of};
use super::problem::Fault;
use crate::fp::Scalar;
use crate::model::MAX_PARAMS;

/// `double x`: a type with or without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub c_type: String,
    pub ty: Scalar,
    pub name: Option<String>,
    /// The name if there is one, else the type.
    pub range: Range<usize>,
}

/// A prototype in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub name: String,
    pub result: Scalar,
    pub result_c_type: String,
    pub params: Vec<Declared>,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    start: usize,
}

impl Token<'_> {
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }
}

/// Words are C identifiers and numbers; anything else is a token of one character.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let length =
            if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        if !first.is_whitespace() {
            tokens.push(Token { text: &rest[..length], start });
        }
        start += length;
    }
    tokens
}

/// Reads `double f(double a, int n)`.
pub(super) fn parse_signature(text: &str) -> Result<Signature, Fault> {
    let mut all = tokens(text);
    while all.last().is_some_and(|token| token.text == ";") {
        all.pop();
    }
    let whole = 0..text.len();
    let Some(open) = all.iter().position(|token| token.text == "(") else {
        return Err(Fault::new(whole, "this is no function signature")
            .label("no `(` with parameters")
            .help("for example \"double f(double x, int n)\""));
    };
    let Some(close) = all.iter().position(|token| token.text == ")").filter(|close| *close > open) else {
        return Err(
            Fault::new(all[open].range(), "the parameter list is not closed").label("no `)` for this `(`")
        );
    };
    let (mut head, inside, tail) = (&all[..open], &all[open + 1..close], &all[close + 1..]);
    if let Some(token) = inside.iter().find(|token| token.text == "(") {
        return Err(refused(token, "a function pointer cannot be a parameter", "not a type bitrift samples"));
    }
    if let Some(token) = tail.first() {
        return Err(after_close(token));
    }
    if let Some(token) = head.first().filter(|token| token.text == "extern") {
        head = &head[1..];
        if head.is_empty() {
            return Err(
                Fault::new(token.range(), "the signature has no result type").label("expected a type")
            );
        }
    }
    if let Some(token) = head.iter().find(|token| ["static", "inline"].contains(&token.text)) {
        return Err(Fault::new(
            token.range(),
            format!("a `{}` function cannot be called from outside", token.text),
        )
        .label("the signature is declared again in another file")
        .help("if it is in a header, name it in `headers` and use `name`, `params` and `call`"));
    }
    if let [name] = head
        && !is_type_word(name.text)
        && name.is_word()
    {
        return Err(Fault::new(name.range(), "the signature has no result type")
            .label("expected a type before the name")
            .help("for example \"double f(double x, int n)\""));
    }
    let result = declared(head, &(0..all[open].start))?;
    let Some(name) = result.name else {
        return Err(Fault::new(result.range, "the signature has no function name or no result type")
            .help("for example \"double f(double x, int n)\""));
    };
    let params = parameters(inside, all[open].start..all[close].start + 1)?;
    Ok(Signature { name, result: result.ty, result_c_type: result.c_type, params })
}

fn after_close(token: &Token<'_>) -> Fault {
    let fault =
        Fault::new(token.range(), "the signature goes on after its parameters").label("not expected here");
    match token.text {
        "{" => fault.help("a signature has no body: the function itself is in one of the sources"),
        _ => fault,
    }
}

fn parameters(inside: &[Token<'_>], parens: Range<usize>) -> Result<Vec<Declared>, Fault> {
    let nothing = inside.is_empty() || matches!(inside, [only] if only.text == "void");
    if nothing {
        return Err(Fault::new(parens, "the function has no parameters")
            .label("nothing to search over")
            .help("a function under test needs 1 to 8 parameters of type double, float or integer"));
    }
    let groups: Vec<&[Token<'_>]> = inside.split(|token| token.text == ",").collect();
    if groups.len() > MAX_PARAMS {
        return Err(Fault::new(parens, format!("the function has {} parameters", groups.len()))
            .label(format!("at most {MAX_PARAMS} are allowed"))
            .help("fix some of them: use `name`, fewer `params`, and a `call` with constants for the rest"));
    }
    groups.into_iter().map(|group| declared(group, &parens)).collect()
}

/// Reads one entry of `params`: it must have a name.
pub(super) fn parse_param(text: &str) -> Result<Declared, Fault> {
    let declared = declared(&tokens(text), &(0..text.len()))?;
    if declared.name.is_none() {
        return Err(Fault::new(declared.range, "the parameter has no name")
            .label("a type alone")
            .help(format!("for example \"{} x\"", declared.c_type)));
    }
    Ok(declared)
}

/// Reads a type alone, such as `result`.
pub(super) fn parse_type(text: &str) -> Result<(Scalar, String), Fault> {
    let declared = declared(&tokens(text), &(0..text.len()))?;
    match declared.name {
        None => Ok((declared.ty, declared.c_type)),
        Some(name) => {
            Err(Fault::new(declared.range, format!("expected a type alone, but `{name}` follows it"))
                .label("not part of the type"))
        }
    }
}

/// A type and perhaps a name. `around` is what to point at when there is nothing.
fn declared(group: &[Token<'_>], around: &Range<usize>) -> Result<Declared, Fault> {
    for token in group {
        if let Some(fault) = unwanted(token) {
            return Err(fault);
        }
    }
    let words: Vec<&Token<'_>> = group.iter().filter(|token| token.text != "const").collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Err(Fault::new(around.clone(), "a type is missing").label("expected a type such as `double`"));
    };
    let tagged = ["struct", "union", "enum"].contains(&first.text);
    let known = words.iter().take_while(|token| is_type_word(token.text)).count();
    // A tag and an unknown name take their next word with them, so that the message names all of it.
    let type_words = if tagged { known + 1 } else { known.max(1) }.min(words.len());
    let (type_part, rest) = words.split_at(type_words);
    let spelled: Vec<&str> = type_part.iter().map(|token| token.text).collect();
    let type_range = first.start..type_part.last().map_or(first.range().end, |token| token.range().end);
    let ty = scalar_of(&spelled)
        .map_err(|fault| Fault::new(type_range.clone(), fault.title).label(fault.label).help(fault.help))?;
    let c_type = spelled.join(" ");
    match rest {
        [] => Ok(Declared { c_type, ty, name: None, range: type_range }),
        [name] => Ok(Declared { c_type, ty, name: Some(name.text.into()), range: name.range() }),
        [_, second, ..] => {
            let fault =
                Fault::new(second.start..last.range().end, "one name too many").label("not expected here");
            Err(fault.help("separate parameters with commas; write a type and one name"))
        }
    }
}

fn unwanted(token: &Token<'_>) -> Option<Fault> {
    const SAMPLED: &str = "not a type bitrift samples";
    match token.text {
        "*" | "&" => Some(refused(token, "a pointer cannot be a parameter or a result", SAMPLED)),
        "[" | "]" => Some(refused(token, "an array cannot be a parameter or a result", SAMPLED)),
        "." => Some(refused(token, "a variadic function cannot be called", "no `...` here")),
        "restrict" | "volatile" | "register" => Some(
            Fault::new(token.range(), format!("`{}` is not accepted here", token.text)).label("leave it out"),
        ),
        _ if !token.is_word() => Some(
            Fault::new(token.range(), format!("unexpected `{}`", token.text))
                .label("expected a type or a name"),
        ),
        _ => None,
    }
}

fn refused(token: &Token<'_>, title: &str, label: &str) -> Fault {
    Fault::new(token.range(), title).label(label).help(USE_BODY)
}

/// Words a parameter cannot be named after.
pub(super) fn is_keyword(word: &str) -> bool {
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

/// Whether a word can be a C identifier.
pub(super) fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn types(text: &str) -> Vec<(String, Option<String>)> {
        let signature = parse_signature(text).unwrap();
        signature.params.into_iter().map(|p| (p.c_type, p.name)).collect()
    }

    #[test]
    fn spacing_const_and_missing_names_are_accepted() {
        let expected = vec![("double".to_owned(), Some("a".to_owned())), ("unsigned long".to_owned(), None)];
        assert_eq!(types("double f(double a, unsigned long)"), expected);
        assert_eq!(types("  extern const float\tf ( const  double a ,unsigned  const long ) ; "), expected);
        let signature = parse_signature("size_t count(int8_t n);").unwrap();
        assert_eq!((signature.name.as_str(), signature.result_c_type.as_str()), ("count", "size_t"));
    }

    #[test]
    fn what_cannot_be_sampled_is_pointed_at() {
        for (text, part, words) in [
            ("double f()", "()", "no parameters"),
            ("double f(void)", "(void)", "no parameters"),
            ("double f(double *x)", "*", "pointer"),
            ("double f(double x[3])", "[", "array"),
            ("double f(double x, ...)", ".", "variadic"),
            ("double f(long double x)", "long double", "`long double`"),
            ("double f(struct point p)", "struct point", "`struct point`"),
            ("void f(double x)", "void", "`void`"),
            ("double f(real x)", "real", "unknown type"),
            ("double f(double x", "(", "not closed"),
            ("double f", "double f", "no function signature"),
            ("f(double x)", "f", "no result type"),
            ("double (double x)", "double", "no function name"),
            ("double f(double x y)", "y", "one name too many"),
            ("double f(double x) {", "{", "goes on"),
            ("static double f(double x)", "static", "cannot be called"),
            ("double f(double (*g)(double))", "(", "function pointer"),
            ("double f(double x,)", "(double x,)", "a type is missing"),
            (
                "double f(double, double, int, int, int, int, int, int, int)",
                "(double, double, int, int, int, int, int, int, int)",
                "9 parameters",
            ),
        ] {
            let fault = parse_signature(text).unwrap_err();
            assert!(fault.title.contains(words), "{text}: {}", fault.title);
            assert_eq!(&text[fault.range], part, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-z(),;*\\[\\] .é{}0-9_]{0,40}", any in ".{0,30}") {
            for text in [text, any] {
                for fault in [parse_signature(&text).err(), parse_param(&text).err(), parse_type(&text).err()] {
                    prop_assert!(fault.is_none_or(|f| text.get(f.range).is_some()));
                }
            }
        }
    }
}
