//! The functions that a text defines.

use std::ops::Range;

use tree_sitter::Node;

use super::braces::Braces;
use super::judge::Judge;
use super::macros::Macros;
use super::node::{folded, of_kind, parts, text_of, visit};
use super::statement::CStatement;
use super::units::Units;

/// Words that error recovery may take for names.
const KEYWORDS: [&str; 9] = ["case", "do", "else", "for", "if", "return", "sizeof", "switch", "while"];

/// A function with the expressions in it that can be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CFunction {
    pub name: String,
    /// Where its name stands, counted from 1.
    pub line: usize,
    pub is_static: bool,
    /// In the order of the text; empty when there is an obstacle.
    pub statements: Vec<CStatement>,
    /// Why it cannot be rewritten at all, in words.
    pub obstacle: Option<String>,
    /// Where the definition starts.
    pub(in crate::c) start: usize,
    /// The bytes of the body with its braces.
    pub(in crate::c) body: Range<usize>,
    /// Of the body and all blocks in it.
    pub(in crate::c) blocks: Vec<Range<usize>>,
}

/// All functions below a node, in the order of the text.
pub fn functions(root: Node<'_>, text: &str) -> Vec<CFunction> {
    let braces = Braces::read(text);
    let macros = Macros::of(root, text);
    let mut found = Vec::new();
    visit(root, |node| {
        if node.kind() == "function_definition" {
            found.extend(function(node, text, &braces, &macros));
        }
        true
    });
    found
}

fn function(node: Node<'_>, text: &str, braces: &Braces, macros: &Macros) -> Option<CFunction> {
    let body = node.child_by_field_name("body").filter(|b| b.kind() == "compound_statement")?;
    let declarator = node.child_by_field_name("declarator")?;
    let (name, made_by_macro) = name(declarator)?;
    if KEYWORDS.contains(&text_of(name, text)) {
        return None;
    }
    let obstacle = if made_by_macro || has_nameless_parameter(node, name) {
        Some("its head is made by a macro")
    } else if holds_definition(body) {
        Some("another function is defined inside it")
    } else {
        braces.obstacle(&node.byte_range(), declarator.start_byte(), &body.byte_range())
    };
    let units = match obstacle {
        Some(_) => Units::default(),
        None => Units::of(body, &Judge::of(node, text, macros), macros, text),
    };
    Some(CFunction {
        name: folded(if made_by_macro { name.parent().unwrap_or(name) } else { name }, text),
        line: name.start_position().row + 1,
        is_static: of_kind(node, "storage_class_specifier").iter().any(|s| text_of(*s, text) == "static"),
        statements: units.statements,
        obstacle: obstacle.map(str::to_owned),
        start: braces.start_after_conditionals(&node.byte_range(), declarator.start_byte()),
        body: body.byte_range(),
        blocks: units.blocks,
    })
}

/// The name in the declarator of a definition, and whether it is that of a macro that makes the real one:
/// `FUNC(name)(double x)`.
fn name(declarator: Node<'_>) -> Option<(Node<'_>, bool)> {
    let mut node = declarator;
    let (mut takes_arguments, mut made_by_macro) = (false, false);
    while node.kind() != "identifier" {
        let inner = node.child_by_field_name("declarator").or_else(|| parts(node).first().copied())?;
        if node.kind() == "function_declarator" {
            takes_arguments = true;
            // A function that returns a function has a pointer in between.
            made_by_macro |= inner.kind() == "function_declarator";
        }
        node = inner;
    }
    takes_arguments.then_some((node, made_by_macro))
}

/// `double FUNC(name) {`: a parameter that is only a word, in a definition that does not declare it later.
fn has_nameless_parameter(definition: Node<'_>, name: Node<'_>) -> bool {
    let parameters = name.parent().and_then(|d| d.child_by_field_name("parameters"));
    let is_word = |parameter: Node<'_>| match parameter.kind() {
        "identifier" => true,
        "parameter_declaration" => {
            matches!(parts(parameter).as_slice(), [only] if only.kind() == "type_identifier")
        }
        _ => false,
    };
    of_kind(definition, "declaration").is_empty()
        && parameters.is_some_and(|list| parts(list).into_iter().any(is_word))
}

fn holds_definition(body: Node<'_>) -> bool {
    let mut found = false;
    visit(body, |node| {
        found |= node.kind() == "function_definition";
        !found
    });
    found
}

#[cfg(test)]
mod tests {
    use crate::c::Source;

    fn heads(text: &str) -> Vec<(String, usize, Option<String>)> {
        let file = Source::new(text);
        file.functions().iter().map(|f| (f.name.clone(), f.line, f.obstacle.clone())).collect()
    }

    fn names(text: &str) -> Vec<String> {
        heads(text).into_iter().map(|(name, ..)| name).collect()
    }

    #[test]
    fn functions_are_found_however_their_heads_are_written() {
        let text = "double\n*\none(const double *p)\n{ return p + 1; }\n\
                    double (*two(int k))(double) { return k > 2 ? sin : cos; }\n\
                    double (three)(double x) { return x * x; }\n\
                    static INLINE double four(double x) { return x * x; }\n\
                    int five(x, y) double x; double y; { return x * y > 2; }\n\
                    double complex six(double complex z) { return z * z; }\n";
        assert_eq!(names(text), ["one", "two", "three", "four", "five", "six"]);
        assert!(heads(text).iter().all(|(_, _, obstacle)| obstacle.is_none()));
        assert_eq!(heads(text)[0].1, 3);
        assert!(Source::new(text).functions()[3].is_static);
        assert!(Source::new(text).functions().iter().all(|f| f.statements.len() == 1));
    }

    #[test]
    fn complex_numbers_are_no_obstacle() {
        let text = "double complex f(complex double z, float _Complex w) { w = (float complex)z * 2; return z * w; }";
        let units: Vec<_> =
            Source::new(text).functions()[0].statements.iter().map(|s| s.text.clone()).collect();
        assert_eq!(units, ["w = (float complex)z * 2", "z * w"]);
    }

    #[test]
    fn functions_in_conditional_parts_are_found_in_every_branch() {
        let text = "#ifdef A\nint one(void) { return f(1); }\n#elif B\nint two(void) { return f(2); }\n\
                    #else\nint three(void) { return f(3); }\n#endif\n";
        assert_eq!(names(text), ["one", "two", "three"]);
        assert!(heads(text).iter().all(|(_, _, obstacle)| obstacle.is_none()));
    }

    #[test]
    fn a_head_made_by_a_macro_is_an_obstacle_and_no_wrong_name() {
        let text = "STATUS FUNC(foo)(double x) { return x * 2; }\ndouble FN(bar) { return g(1.0); }\n";
        let macros: Vec<_> = heads(text).into_iter().map(|(_, _, obstacle)| obstacle).collect();
        assert_eq!(macros, [Some("its head is made by a macro".to_owned()), macros[0].clone()]);
        assert_eq!(names(text)[0], "FUNC(foo)");
        assert_eq!(names("DEFINE(foo) { x = y * 2; }"), [""; 0]);
    }

    #[test]
    fn a_function_with_two_heads_is_an_obstacle_and_those_after_it_are_not() {
        let text = "#if A\ndouble f(double x) {\n#else\ndouble f(float x) {\n#endif\n  return x * x;\n}\n\
                    double g(double x) { return x * x; }\n";
        let heads = heads(text);
        assert!(heads.iter().filter(|h| h.0 == "f").all(|h| h.2.is_some()), "{heads:?}");
        assert!(heads.iter().any(|h| h.0 == "g" && h.2.is_none()), "{heads:?}");
    }

    #[test]
    fn words_under_a_condition_before_a_function_are_no_obstacle() {
        let text =
            "#ifdef G\n__attribute__((noinline))\n#endif\nstatic double f(double x) { return x * x; }\n";
        assert_eq!(heads(text), [("f".to_owned(), 4, None)]);
    }

    #[test]
    fn a_function_inside_another_is_an_obstacle_for_the_outer_one() {
        let found = heads("int f(int n) { int g(int m) { return h(m); } return g(n); }");
        assert!(found[0].2.is_some() && found[1].2.is_none());
    }
}
