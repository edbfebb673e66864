//! What one C file defines, as its tokens say: macros, constants, tables and functions.
//!
//! Not taken from the parser's tree: macros with parameters count as functions, heads that macros make and
//! bodies that no grammar reads must be found too, and of branches of `#if` that open one brace between them only
//! the first may count. This reader knows no types, so it may miss and may offer a number that means nothing,
//! which costs an evaluation.

use std::collections::BTreeMap;

use super::constant::Names;
use super::heading::Heading;
use crate::c::token::{Define, Token, Tokens};

/// A function, or a macro with parameters, which is as good as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Callable {
    pub name: String,
    /// Known in its own file only.
    pub is_local: bool,
    /// Where its name stands in the definition, counted from 1.
    pub line: u64,
    /// None for a macro.
    pub heading: Option<Heading>,
    pub body: Vec<Token>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    /// Macros without parameters.
    pub macros: BTreeMap<String, Vec<Token>>,
    /// `const` variables with the expression they are set to.
    pub constants: BTreeMap<String, Vec<Token>>,
    /// Initialised arrays with everything between their braces.
    pub tables: BTreeMap<String, Vec<Token>>,
    pub functions: Vec<Callable>,
    pub includes: Vec<String>,
}

impl Definitions {
    pub fn read(text: &str) -> Definitions {
        let tokens = Tokens::read(text);
        let mut definitions = Definitions { includes: tokens.includes, ..Definitions::default() };
        for define in tokens.defines {
            if define.has_parameters {
                let Define { name, line, tokens: body, .. } = define;
                definitions.functions.push(Callable { name, is_local: true, line, heading: None, body });
            } else {
                // The first of several is as good as another: conditions are not evaluated.
                definitions.macros.entry(define.name).or_insert(define.tokens);
            }
        }
        definitions.read_code(&tokens.code, &tokens.lines);
        definitions
    }

    /// Splits the top level at `;` and at bodies.
    fn read_code(&mut self, code: &[Token], lines: &[u64]) {
        let (mut head, mut at) = (0, 0);
        while at < code.len() {
            if code[at].is("{") {
                // What `extern "C" {` encloses is top level too.
                if !(code[head].is_name("extern") && at == head + 2) {
                    let end = closing(code, at);
                    self.read_body(&code[head..at], &lines[head..at], &code[at + 1..end.min(code.len())]);
                    at = end;
                    if code.get(at + 1).is_some_and(|t| t.is(";") || t.is(",")) {
                        at += 1;
                    }
                }
                head = at + 1;
            } else if code[at].is(";") {
                self.constants.extend(constants(&code[head..=at]));
                head = at + 1;
            } else if code[at].is("}") {
                head = at + 1;
            }
            at += 1;
        }
    }

    fn read_body(&mut self, head: &[Token], lines: &[u64], body: &[Token]) {
        if let Some(equals) = head.iter().position(|t| t.is("=")) {
            if let Some(name) = declared_name(&head[..equals]) {
                self.tables.insert(name.into(), body.to_vec());
            }
        } else if let Some((at, name)) = function_name(head) {
            let is_local = head.iter().any(|t| t.is_name("static"));
            let line = lines.get(at).copied().unwrap_or_default();
            let heading = Some(Heading::read(head, at));
            self.functions.push(Callable { name: name.into(), is_local, line, heading, body: body.to_vec() });
        }
    }
}

impl Names for Definitions {
    fn tokens_of(&self, name: &str) -> Option<&[Token]> {
        self.constants.get(name).or_else(|| self.macros.get(name)).map(Vec::as_slice)
    }
}

/// The place of the brace or parenthesis that closes the one at `open`; the end when there is none.
pub fn closing(tokens: &[Token], open: usize) -> usize {
    let (opens, closes) = if tokens[open].is("{") { ("{", "}") } else { ("(", ")") };
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is(opens) {
            depth += 1;
        } else if token.is(closes) {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len()
}

/// `static double table[3]` declares `table`.
fn declared_name(head: &[Token]) -> Option<&str> {
    let end = head.iter().position(|t| t.is("[")).unwrap_or(head.len());
    head[..end].iter().rev().find_map(Token::name)
}

/// Words in front of a parenthesis and a brace that name no function. They come to the top level where
/// braces do not match.
const STATEMENTS: [&str; 4] = ["if", "for", "while", "switch"];

/// The name in front of the parameters, and its place.
fn function_name(head: &[Token]) -> Option<(usize, &str)> {
    let mut at = 0;
    while at + 1 < head.len() {
        match head[at].name() {
            Some(name) if head[at + 1].is("(") => {
                if !name.starts_with("__attribute") && name != "__declspec" {
                    return (!STATEMENTS.contains(&name)).then_some((at, name));
                }
                at = closing(head, at + 1);
            }
            _ => at += 1,
        }
    }
    None
}

/// Every `const TYPE name = expression` of some code, with further declarators after commas.
pub fn constants(code: &[Token]) -> Vec<(String, Vec<Token>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].iter().position(|t| t.is_name("const")) {
        at += start + 1;
        let end = code[at..].iter().position(|t| t.is(";") || t.is("{")).map_or(code.len(), |e| at + e);
        // A constant among the parameters of a function ends with the parenthesis.
        for declarator in split_at_commas(&code[at..end]) {
            let Some(equals) = declarator.iter().position(|t| t.is("=")) else { continue };
            let name = equals.checked_sub(1).and_then(|before| declarator[before].name());
            if let Some(name) = name {
                found.push((name.to_owned(), declarator[equals + 1..].to_vec()));
            }
        }
    }
    found
}

/// Pieces between commas that are in no parentheses.
pub fn split_at_commas(tokens: &[Token]) -> Vec<&[Token]> {
    let mut pieces = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark("(" | "{" | "[") => depth += 1,
            Token::Mark(")" | "}" | "]") => depth -= 1,
            Token::Mark(",") if depth == 0 => {
                pieces.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&tokens[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::constant::evaluate;
    use super::*;
    use proptest::prelude::*;

    const SMALL: &str = r#"
        #define CUT (-LIMIT)
        #define SQUARE(x) ((x) * (x))
        #define CUT 99
        static const float
            huge = 1e30f, /* 0x7149f2ca */
            pio2 = 1.5707962513;
        const int LIMIT = 10, other = f(1, 2);
        static double table[3] = { 1.0, 2.0, 3.0 };
        struct point { double x; };
        extern "C" {
        __attribute__((noinline)) static double inner(double x) { if (x < 1) { return 2; } return x; }
        }
        int outer (const double x, void *p)
        {
            return inner(x);
        }
    "#;

    #[test]
    fn a_file_is_what_it_defines() {
        let file = Definitions::read(SMALL);
        let names: Vec<(&str, bool, u64)> =
            file.functions.iter().map(|f| (f.name.as_str(), f.is_local, f.line)).collect();
        assert_eq!(names, [("SQUARE", true, 3), ("inner", true, 12), ("outer", false, 14)]);
        assert_eq!(file.tables.keys().collect::<Vec<_>>(), ["table"]);
        let value = |name: &str| evaluate(&[Token::Name(name.into())], &file).map(|n| n.value);
        assert_eq!(value("huge"), Some(f64::from(1e30f32)));
        assert_eq!(value("pio2"), Some(1.5707962513));
        assert_eq!(value("CUT"), Some(-10.0));
        assert_eq!((value("other"), value("x")), (None, None));
    }

    #[test]
    fn statements_left_over_by_a_brace_too_many_are_no_functions() {
        let file = Definitions::read("int f(int x) { } } if (x > 2) { } int g(int x) { return x; }");
        let names: Vec<&str> = file.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["f", "g"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "([(){};,=#\n ]|const|extern|\"C\"|x|1.5|f|\\[){0,40}") {
            Definitions::read(&text);
        }
    }
}
