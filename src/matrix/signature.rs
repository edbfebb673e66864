//! What the matrix takes of C prototypes and parameter declarations, and why it refuses the others.

use std::ops::Range;

use super::c_type::{TypeFault, USE_BODY, scalar_of};
use super::problem::Fault;
use crate::c::{Lexeme, LexemeKind, Prototype, declaration, is_identifier, is_type_word, split_type};
use crate::fp::Scalar;
use crate::model::MAX_RESULTS;

/// What kind of thing a type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Scalar(Scalar),
    Complex(Scalar),
    /// A struct, or a name that is one if its fields are listed; else why it is no type that can be used.
    Record(TypeFault),
    Void,
}

/// What stands around a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Value,
    Pointer,
    Array(usize),
}

/// `double x`: a type with or without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub c_type: String,
    pub base: Base,
    pub form: Form,
    pub constant: bool,
    pub name: Option<String>,
    /// The name if there is one, else the type.
    pub range: Range<usize>,
    pub type_range: Range<usize>,
}

/// A prototype in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub name: String,
    pub result: Declared,
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
    let Some(name) = result.name.clone() else {
        return Err(Fault::new(result.range, "the signature has no function name or no result type")
            .help("for example \"double f(double x, int n)\""));
    };
    let params = parameters(&prototype, open.start..close.end())?;
    Ok(Signature { name, result, params })
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
        .help(
            "if it is in one of the sources, leave the word out and add `within = \"that-source.c\"`; if it is in a \
             header, name that in `headers` and use `name`, `params` and `call`",
        ));
    }
    if let [name] = head
        && !is_type_word(name.text)
        && is_identifier(name.text)
    {
        return Err(Fault::new(name.range(), "the signature has no result type")
            .label("expected a type before the name")
            .help("for example \"double f(double x, int n)\""));
    }
    if let Some(star) = head.iter().find(|lexeme| lexeme.is_mark("*")) {
        return Err(refused(star, "a pointer cannot be a result", "not a type bitrift compares"));
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
            .help("a function under test needs at least one parameter of type double, float or integer"));
    }
    prototype.parameters().into_iter().map(|group| declared(group, &parens)).collect()
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

/// Reads a field of a struct: `float x`, `double v[3]`, `double pos.x`.
pub(super) fn parse_field(text: &str) -> Result<Declared, Fault> {
    let field = declared(&declaration(text), &(0..text.len()))?;
    let refused = |range: Range<usize>, title: &str, help: &str| Err(Fault::new(range, title).help(help));
    match (&field.name, field.form, &field.base) {
        // One word is taken for a type where a type must be.
        (None, ..) => refused(
            field.range,
            "a field needs its type and its name",
            "for example \"float x\", as the struct declares it",
        ),
        (_, Form::Pointer, _) => {
            refused(field.range, "a field that is a pointer cannot be compared", "leave it out")
        }
        (_, _, Base::Record(fault)) => Err(fault
            .at(field.type_range)
            .help("of a struct inside the struct list the parts: \"double pos.x\", \"double pos.y\"")),
        (_, _, Base::Void) => refused(field.type_range, "a field cannot be `void`", "leave it out"),
        _ => Ok(field),
    }
}

/// Reads a type alone, such as `result`.
pub(super) fn parse_type(text: &str) -> Result<Declared, Fault> {
    let declared = declared(&declaration(text), &(0..text.len()))?;
    match &declared.name {
        None if declared.form == Form::Value => Ok(declared),
        None => Err(Fault::new(declared.range, "the result must be a type that C can return")
            .label("no pointer and no array")),
        Some(name) => {
            Err(Fault::new(declared.range.clone(), format!("expected a type alone, but `{name}` follows it"))
                .label("not part of the type"))
        }
    }
}

/// A type and perhaps a name. `around` is what to point at when there is nothing.
fn declared(group: &[Lexeme<'_>], around: &Range<usize>) -> Result<Declared, Fault> {
    let (type_part, rest) = split_type(group);
    if let Some(fault) = type_part.iter().find_map(unwanted) {
        return Err(fault);
    }
    let (Some(first), Some(last)) = (type_part.first(), type_part.last()) else {
        return Err(Fault::new(around.clone(), "a type is missing").label("expected a type such as `double`"));
    };
    let spelled: Vec<&str> = type_part.iter().map(|word| word.text).collect();
    let type_range = first.start..last.end();
    let base = base_of(&spelled).map_err(|fault| fault.at(type_range.clone()))?;
    let (form, name) = declarator(&rest)?;
    let (name, range) = name.map_or((None, type_range.clone()), |(name, range)| (Some(name), range));
    let constant = group.iter().any(|word| word.text == "const");
    Ok(Declared { c_type: spelled.join(" "), base, form, constant, name, range, type_range })
}

fn base_of(words: &[&str]) -> Result<Base, TypeFault> {
    let is_complex = |word: &&&str| ["complex", "_Complex"].contains(*word);
    let rest: Vec<&str> = words.iter().filter(|word| !is_complex(word)).copied().collect();
    let fault = match (scalar_of(words), words) {
        (Ok(ty), _) => return Ok(Base::Scalar(ty)),
        (Err(_), ["void"]) => return Ok(Base::Void),
        (Err(fault), _) => fault,
    };
    match (scalar_of(&rest), words) {
        (Ok(ty @ (Scalar::F64 | Scalar::F32)), _) if rest.len() + 1 == words.len() => Ok(Base::Complex(ty)),
        (_, ["struct", _]) => Ok(Base::Record(fault)),
        (_, [name]) if is_identifier(name) && !is_type_word(name) => Ok(Base::Record(fault)),
        _ => Err(fault),
    }
}

/// What stands around a name, and the name.
type Declarator = (Form, Option<(String, Range<usize>)>);

/// Reads what follows a type: `x`, `*x`, `x[3]`, `pos.x`.
fn declarator(rest: &[Lexeme<'_>]) -> Result<Declarator, Fault> {
    let stars = rest.iter().take_while(|lexeme| lexeme.is_mark("*")).count();
    if stars > 1 {
        return Err(refused(&rest[1], "a pointer to a pointer cannot be a parameter", "one star too many"));
    }
    let rest = &rest[stars..];
    let bracket = rest.iter().position(|lexeme| lexeme.is_mark("[")).unwrap_or(rest.len());
    let (path, brackets) = rest.split_at(bracket);
    let is_dot = |k: usize| k % 2 == 1;
    for (k, lexeme) in path.iter().enumerate() {
        if is_dot(k) && lexeme.kind == LexemeKind::Word {
            let range = lexeme.start..path[path.len() - 1].end();
            let fault = Fault::new(range, "one name too many").label("not expected here");
            return Err(fault.help("separate parameters with commas; write a type and one name"));
        }
        if is_dot(k) != lexeme.is_mark(".") || (is_dot(k) && k + 1 == path.len()) {
            return Err(unwanted(lexeme)
                .unwrap_or_else(|| Fault::new(shown(lexeme).0, "unexpected here").label("expected a name")));
        }
        if let Some(fault) = unwanted(lexeme).filter(|_| !is_dot(k)) {
            return Err(fault);
        }
    }
    let name = match path {
        [] => None,
        [first, ..] => Some((path.iter().map(|l| l.text).collect(), first.start..path[path.len() - 1].end())),
    };
    match (stars, brackets) {
        (0, []) => Ok((Form::Value, name)),
        (_, []) => Ok((Form::Pointer, name)),
        (0, [_, length, close]) if length.kind == LexemeKind::Number && close.is_mark("]") => {
            match length.text.parse() {
                Ok(count @ 1..=MAX_RESULTS) => Ok((Form::Array(count), name)),
                _ => {
                    Err(Fault::new(length.range(), format!("an array may have 1 to {MAX_RESULTS} elements"))
                        .label("a plain number such as 3"))
                }
            }
        }
        (0, [open, close]) if close.is_mark("]") => {
            Err(Fault::new(open.start..close.end(), "the array has no length")
                .label("how many elements?")
                .help("write the length that the function works with: `x[3]`"))
        }
        (_, [open, ..]) => Err(refused(open, "only plain arrays can be parameters", "such as `x[3]`")),
    }
}

fn unwanted(lexeme: &Lexeme<'_>) -> Option<Fault> {
    const SAMPLED: &str = "not a type bitrift samples";
    let (range, text) = shown(lexeme);
    match text {
        "*" | "&" => Some(refused(lexeme, "a pointer stands behind its type", SAMPLED)),
        "[" | "]" => Some(refused(lexeme, "an array stands behind its name", SAMPLED)),
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
        assert_eq!((signature.name.as_str(), signature.result.c_type.as_str()), ("count", "size_t"));
    }

    #[test]
    fn arrays_pointers_structs_and_complex_numbers_are_read() {
        let read = |text: &str| parse_param(text).map(|p| (p.c_type, p.form, p.constant)).unwrap();
        assert_eq!(read("const double a[4]"), ("double".into(), Form::Array(4), true));
        assert_eq!(read("double *s"), ("double".into(), Form::Pointer, false));
        assert_eq!(read("struct pair p"), ("struct pair".into(), Form::Value, false));
        let complex = parse_param("complex double z").unwrap();
        assert_eq!(complex.base, Base::Complex(Scalar::F64));
        assert_eq!(parse_param("float _Complex z").unwrap().base, Base::Complex(Scalar::F32));
        assert_eq!(parse_field("float pos.x").unwrap().name.as_deref(), Some("pos.x"));
        assert!(parse_field("x").unwrap_err().title.contains("type and its name"));
    }

    #[test]
    fn what_cannot_be_sampled_is_pointed_at() {
        for (text, part, words) in [
            ("double f()", "()", "no parameters"),
            ("double f(void)", "(void)", "no parameters"),
            ("double f(double **x)", "*", "pointer"),
            ("double *f(double x)", "*", "pointer"),
            ("double f(double x[])", "[]", "no length"),
            ("double f(double x[3][3])", "[", "arrays"),
            ("double f(double x[0])", "0", "elements"),
            ("double f(double x, ...)", ".", "variadic"),
            ("double f(long double x)", "long double", "`long double`"),
            ("double f(union point p)", "union point", "`union point`"),
            ("double f(long double complex x)", "long double complex", "`long double`"),
            ("double f(double x", "(", "not closed"),
            ("double f", "double f", "no function signature"),
            ("f(double x)", "f", "no result type"),
            ("double (double x)", "double", "no function name"),
            ("double f(double x y)", "y", "one name too many"),
            ("double f(double x) {", "{", "goes on"),
            ("static double f(double x)", "static", "cannot be called"),
            ("double f(double (*g)(double))", "(", "function pointer"),
            ("double f(double x,)", "(double x,)", "a type is missing"),
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
