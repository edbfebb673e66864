//! What the matrix takes of C prototypes and parameter declarations, and why it refuses the others.

use std::ops::Range;

use super::c_type::{USE_BODY, scalar_of};
use super::problem::Fault;
use crate::c::{Lexeme, LexemeKind, Prototype, declaration, is_identifier, is_type_word, split_type};
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

/// Reads `double f(double a, int n)`.
pub(super) fn parse_signature(text: &str) -> Result<Signature, Fault> {
    let Some(prototype) = Prototype::read(text) else {
        return Err(Fault::new(0..text.len(), "this is no function signature")
            .label("no `(` with parameters")
            .help("for example \"double f(double x, int n)\""));
    };
    let open = prototype.open;
    let Some(close) = prototype.close else {
        return Err(Fault::new(open.range(), "the parameter list is not closed").label("no `)` for this `(`"));
    };
    if let Some(lexeme) = prototype.inside.iter().find(|lexeme| lexeme.is_mark("(")) {
        return Err(refused(
            lexeme,
            "a function pointer cannot be a parameter",
            "not a type bitrift samples",
        ));
    }
    if let Some(lexeme) = prototype.tail.first() {
        return Err(after_close(lexeme));
    }
    let result = result(&prototype)?;
    let Some(name) = result.name else {
        return Err(Fault::new(result.range, "the signature has no function name or no result type")
            .help("for example \"double f(double x, int n)\""));
    };
    let params = parameters(&prototype, open.start..close.end())?;
    Ok(Signature { name, result: result.ty, result_c_type: result.c_type, params })
}

/// The type of the result with the function's name.
fn result(prototype: &Prototype<'_>) -> Result<Declared, Fault> {
    let mut head = prototype.head.as_slice();
    if let Some(word) = head.first().filter(|word| word.text == "extern") {
        head = &head[1..];
        if head.is_empty() {
            return Err(Fault::new(word.range(), "the signature has no result type").label("expected a type"));
        }
    }
    if let Some(word) = head.iter().find(|word| ["static", "inline"].contains(&word.text)) {
        return Err(Fault::new(
            word.range(),
            format!("a `{}` function cannot be called from outside", word.text),
        )
        .label("the signature is declared again in another file")
        .help("if it is in a header, name it in `headers` and use `name`, `params` and `call`"));
    }
    if let [name] = head
        && !is_type_word(name.text)
        && is_identifier(name.text)
    {
        return Err(Fault::new(name.range(), "the signature has no result type")
            .label("expected a type before the name")
            .help("for example \"double f(double x, int n)\""));
    }
    declared(head, &(0..prototype.open.start))
}

fn after_close(lexeme: &Lexeme<'_>) -> Fault {
    let fault =
        Fault::new(shown(lexeme).0, "the signature goes on after its parameters").label("not expected here");
    match lexeme.text {
        "{" => fault.help("a signature has no body: the function itself is in one of the sources"),
        _ => fault,
    }
}

fn parameters(prototype: &Prototype<'_>, parens: Range<usize>) -> Result<Vec<Declared>, Fault> {
    let nothing = match prototype.inside.as_slice() {
        [] => true,
        [only] => only.text == "void",
        _ => false,
    };
    if nothing {
        return Err(Fault::new(parens, "the function has no parameters")
            .label("nothing to search over")
            .help("a function under test needs 1 to 8 parameters of type double, float or integer"));
    }
    let groups = prototype.parameters();
    if groups.len() > MAX_PARAMS {
        return Err(Fault::new(parens, format!("the function has {} parameters", groups.len()))
            .label(format!("at most {MAX_PARAMS} are allowed"))
            .help("fix some of them: use `name`, fewer `params`, and a `call` with constants for the rest"));
    }
    groups.into_iter().map(|group| declared(group, &parens)).collect()
}

/// Reads one entry of `params`: it must have a name.
pub(super) fn parse_param(text: &str) -> Result<Declared, Fault> {
    let declared = declared(&declaration(text), &(0..text.len()))?;
    if declared.name.is_none() {
        return Err(Fault::new(declared.range, "the parameter has no name")
            .label("a type alone")
            .help(format!("for example \"{} x\"", declared.c_type)));
    }
    Ok(declared)
}

/// Reads a type alone, such as `result`.
pub(super) fn parse_type(text: &str) -> Result<(Scalar, String), Fault> {
    let declared = declared(&declaration(text), &(0..text.len()))?;
    match declared.name {
        None => Ok((declared.ty, declared.c_type)),
        Some(name) => {
            Err(Fault::new(declared.range, format!("expected a type alone, but `{name}` follows it"))
                .label("not part of the type"))
        }
    }
}

/// A type and perhaps a name. `around` is what to point at when there is nothing.
fn declared(group: &[Lexeme<'_>], around: &Range<usize>) -> Result<Declared, Fault> {
    if let Some(fault) = group.iter().find_map(unwanted) {
        return Err(fault);
    }
    let (type_part, rest) = split_type(group);
    let (Some(first), Some(last)) = (type_part.first(), type_part.last()) else {
        return Err(Fault::new(around.clone(), "a type is missing").label("expected a type such as `double`"));
    };
    let spelled: Vec<&str> = type_part.iter().map(|word| word.text).collect();
    let type_range = first.start..last.end();
    let ty = scalar_of(&spelled)
        .map_err(|fault| Fault::new(type_range.clone(), fault.title).label(fault.label).help(fault.help))?;
    let c_type = spelled.join(" ");
    match rest.as_slice() {
        [] => Ok(Declared { c_type, ty, name: None, range: type_range }),
        [name] => Ok(Declared { c_type, ty, name: Some(name.text.into()), range: name.range() }),
        [_, surplus @ ..] => {
            let range = surplus[0].start..surplus[surplus.len() - 1].end();
            let fault = Fault::new(range, "one name too many").label("not expected here");
            Err(fault.help("separate parameters with commas; write a type and one name"))
        }
    }
}

fn unwanted(lexeme: &Lexeme<'_>) -> Option<Fault> {
    const SAMPLED: &str = "not a type bitrift samples";
    let (range, text) = shown(lexeme);
    match text {
        "*" | "&" => Some(refused(lexeme, "a pointer cannot be a parameter or a result", SAMPLED)),
        "[" | "]" => Some(refused(lexeme, "an array cannot be a parameter or a result", SAMPLED)),
        "." => Some(refused(lexeme, "a variadic function cannot be called", "no `...` here")),
        "restrict" | "volatile" | "register" => {
            Some(Fault::new(range, format!("`{text}` is not accepted here")).label("leave it out"))
        }
        _ if !is_identifier(text) => {
            Some(Fault::new(range, format!("unexpected `{text}`")).label("expected a type or a name"))
        }
        _ => None,
    }
}

/// What of a lexeme a message shows: words and numbers as a whole, marks, strings and comments by the character
/// that they start with.
fn shown<'a>(lexeme: &Lexeme<'a>) -> (Range<usize>, &'a str) {
    let length = match lexeme.kind {
        LexemeKind::Word | LexemeKind::Number => lexeme.text.len(),
        _ => lexeme.text.chars().next().map_or(0, char::len_utf8),
    };
    (lexeme.start..lexeme.start + length, &lexeme.text[..length])
}

fn refused(lexeme: &Lexeme<'_>, title: &str, label: &str) -> Fault {
    Fault::new(shown(lexeme).0, title).label(label).help(USE_BODY)
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
