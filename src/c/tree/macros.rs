//! What the macros of the file itself can stand for. Those of headers are not known.

use std::collections::HashSet;

use tree_sitter::Node;

use super::node::{text_of, visit};

/// First words of a declaration.
const DECLARING: [&str; 18] = [
    "auto", "char", "const", "double", "enum", "extern", "float", "int", "long", "register", "short",
    "signed", "size_t", "static", "struct", "union", "unsigned", "volatile",
];

#[derive(Debug, Default)]
pub struct Macros {
    /// Names without parameters that stand for more than one literal.
    computing: HashSet<String>,
    /// Names that declare something, which a block around them would hide.
    declaring: HashSet<String>,
}

impl Macros {
    pub fn of(root: Node<'_>, text: &str) -> Macros {
        let mut macros = Macros::default();
        visit(root, |node| {
            if matches!(node.kind(), "preproc_def" | "preproc_function_def") {
                macros.add(node, text);
            }
            true
        });
        macros
    }

    fn add(&mut self, define: Node<'_>, text: &str) {
        let Some(name) = define.child_by_field_name("name").map(|n| text_of(n, text)) else { return };
        let value = define.child_by_field_name("value").map_or("", |n| text_of(n, text)).trim();
        let first = value.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if DECLARING.contains(&first) {
            self.declaring.insert(name.into());
        }
        let is_literal = value.starts_with(|c: char| c.is_ascii_digit() || c == '"' || c == '.')
            && !value.contains([' ', '*', '/', '(', '?']);
        if define.kind() == "preproc_def" && !value.is_empty() && !is_literal {
            self.computing.insert(name.into());
        }
    }

    pub fn computes(&self, name: &str) -> bool {
        self.computing.contains(name)
    }

    pub fn declares(&self, name: &str) -> bool {
        self.declaring.contains(name)
    }
}
