//! Whether floating-point options can change an expression. What is not known counts as floating-point.

use std::collections::HashSet;

use tree_sitter::Node;

use super::macros::Macros;
use super::node::{parts, text_of, visit};

/// Words of types without a fraction.
const INTEGERS: [&str; 24] = [
    "_Bool",
    "bool",
    "char",
    "int",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "intmax_t",
    "intptr_t",
    "long",
    "ptrdiff_t",
    "short",
    "signed",
    "size_t",
    "ssize_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "uintmax_t",
    "uintptr_t",
    "unsigned",
    "wchar_t",
];

/// What one function knows about its names.
pub struct Judge<'a> {
    text: &'a str,
    macros: &'a Macros,
    /// Parameters and local variables of integers, arrays of and pointers to them.
    integers: HashSet<&'a str>,
}

impl<'a> Judge<'a> {
    pub fn of(function: Node<'_>, text: &'a str, macros: &'a Macros) -> Judge<'a> {
        let (mut integers, mut others) = (HashSet::new(), HashSet::new());
        visit(function, |node| {
            if matches!(node.kind(), "declaration" | "parameter_declaration") {
                let names = declared(node).into_iter().map(|name| text_of(name, text));
                if is_integral_type(node, text) && !node.has_error() {
                    integers.extend(names);
                } else {
                    others.extend(names);
                }
            }
            true
        });
        // A name may be declared twice, in blocks of its own.
        integers.retain(|name| !others.contains(name) && !macros.computes(name));
        Judge { text, macros, integers }
    }

    /// Whether options can change the value of an expression.
    pub fn computes(&self, expression: Node<'_>) -> bool {
        let mut found = false;
        visit(expression, |node| {
            if found
                || !node.is_named()
                || matches!(node.kind(), "alignof_expression" | "offsetof_expression")
            {
                return false;
            }
            let operates = self.operates(node);
            let is_harmless = operates && self.is_harmless(node);
            found |= operates && !is_harmless;
            !found && !is_harmless && node.kind() != "sizeof_expression"
        });
        found
    }

    /// Whether options can change what a condition decides: also a name alone is compared with zero.
    pub fn decides(&self, condition: Node<'_>) -> bool {
        self.computes(condition) || !self.is_harmless(condition)
    }

    /// A number with a name, which may have to stay constant: `2 * ORDER`.
    pub fn is_named_constant(&self, expression: Node<'_>) -> bool {
        self.consists_of(expression, |name| !name.contains(|c: char| c.is_ascii_lowercase()), |_| true)
    }

    /// Whether an operand may hide what computes it behind parentheses or a macro.
    pub fn is_veiled(&self, operand: Node<'_>) -> bool {
        match operand.kind() {
            "parenthesized_expression" | "call_expression" => true,
            "identifier" => self.macros.computes(text_of(operand, self.text)),
            _ => false,
        }
    }

    fn operates(&self, node: Node<'_>) -> bool {
        match node.kind() {
            "binary_expression"
            | "unary_expression"
            | "update_expression"
            | "conditional_expression"
            | "call_expression"
            | "generic_expression"
            | "compound_statement" => true,
            "assignment_expression" => {
                node.child_by_field_name("operator").is_none_or(|op| text_of(op, self.text) != "=")
            }
            "cast_expression" => is_doubtful_cast(node),
            "sizeof_expression" => !is_plain_sizeof(node),
            "identifier" => self.macros.computes(text_of(node, self.text)),
            _ => false,
        }
    }

    /// Made of integers alone, or of literals alone, which compilers compute exactly.
    fn is_harmless(&self, node: Node<'_>) -> bool {
        self.consists_of(node, |name| self.integers.contains(name), is_integer)
            || self.consists_of(node, |_| false, |_| true)
    }

    fn consists_of(
        &self,
        expression: Node<'_>,
        name_fits: impl Fn(&str) -> bool,
        number_fits: impl Fn(&str) -> bool,
    ) -> bool {
        let mut fits = true;
        visit(expression, |node| {
            let text = text_of(node, self.text);
            match node.kind() {
                _ if !fits || !node.is_named() => return false,
                "identifier" => fits = name_fits(text),
                "number_literal" => fits = number_fits(text),
                "type_descriptor" => {
                    fits = is_integral_type(node, self.text) || number_fits("0.5");
                    return false;
                }
                "cast_expression" => fits = !is_doubtful_cast(node),
                "sizeof_expression" => {
                    fits = is_plain_sizeof(node);
                    return false;
                }
                "char_literal" | "true" | "false" | "comment" => return false,
                "binary_expression"
                | "unary_expression"
                | "update_expression"
                | "assignment_expression"
                | "conditional_expression"
                | "parenthesized_expression"
                | "comma_expression"
                | "subscript_expression"
                | "pointer_expression" => {}
                _ => fits = false,
            }
            fits
        });
        fits
    }
}

/// `(a) - b` is a cast only if `a` is a type, which the parser cannot know.
fn is_doubtful_cast(cast: Node<'_>) -> bool {
    cast.child_by_field_name("type").is_none_or(|descriptor| match parts(descriptor).as_slice() {
        [only] => only.kind() == "type_identifier",
        _ => false,
    })
}

/// `sizeof (a) * b` may be read as the size of `(a) * b`.
fn is_plain_sizeof(node: Node<'_>) -> bool {
    node.child_by_field_name("value").is_none_or(|value| {
        matches!(
            value.kind(),
            "identifier" | "parenthesized_expression" | "subscript_expression" | "field_expression"
        )
    })
}

fn is_integral_type(node: Node<'_>, text: &str) -> bool {
    node.child_by_field_name("type").is_some_and(|kind| {
        let mut words = text_of(kind, text).split_whitespace().peekable();
        words.peek().is_some() && words.all(|word| INTEGERS.contains(&word))
    })
}

/// The names that a declaration declares.
fn declared(declaration: Node<'_>) -> Vec<Node<'_>> {
    let mut names = Vec::new();
    for declarator in declaration.children_by_field_name("declarator", &mut declaration.walk()) {
        names.extend(declared_name(declarator));
    }
    names
}

/// The name inside a declarator.
pub fn declared_name(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut node = declarator;
    while node.kind() != "identifier" {
        node = node.child_by_field_name("declarator").or_else(|| parts(node).first().copied())?;
    }
    Some(node)
}

fn is_integer(literal: &str) -> bool {
    let literal = literal.to_ascii_lowercase();
    match literal.strip_prefix("0x") {
        Some(digits) => !digits.contains(['.', 'p']),
        None => literal.chars().all(|c| c.is_ascii_digit() || matches!(c, 'u' | 'l' | '\'')),
    }
}
