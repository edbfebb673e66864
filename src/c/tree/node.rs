//! Small helpers over the nodes of the parser. None of them recurses: sources may nest as deep as they like.

use tree_sitter::{Node, Parser, Tree};

/// The tree of a text; None only when the grammar does not fit the parser.
pub fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    parser.parse(without_complex(text), None)
}

/// A text of the same length without the word `complex` beside a type, which the grammar does not know.
fn without_complex(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_type = |word: Option<&str>| matches!(word, Some("double" | "float" | "long"));
    for (at, found) in text.match_indices("omplex") {
        // Written `complex` or `_Complex`.
        let start = text[..at]
            .rfind(|c| !is_word(c))
            .map_or(0, |n| n + text[n..].chars().next().map_or(0, char::len_utf8));
        let end = at + found.len();
        let before = text[..start].trim_end().rsplit(|c| !is_word(c)).next();
        let after = text[end..].trim_start().split(|c| !is_word(c)).next();
        if matches!(&text[start..end], "complex" | "_Complex") && (is_type(before) || is_type(after)) {
            bytes[start..end].fill(b' ');
        }
    }
    bytes
}

/// Visits a node and what is below it, in the order of the text; what `enter` refuses is not entered.
pub fn visit<'t>(node: Node<'t>, mut enter: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = node.walk();
    loop {
        if enter(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Children that mean something: no punctuation, no comments.
pub fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| child.kind() != "comment").collect()
}

/// Children of that kind, also unnamed ones.
pub fn of_kind<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    node.children(&mut node.walk()).filter(|child| child.kind() == kind).collect()
}

pub fn text_of<'s>(node: Node<'_>, text: &'s str) -> &'s str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The text of a node on one line, without comments.
pub fn folded(node: Node<'_>, text: &str) -> String {
    let mut kept = String::new();
    let mut at = node.start_byte();
    visit(node, |inner| {
        if inner.kind() == "comment" {
            kept.push_str(text.get(at..inner.start_byte()).unwrap_or_default());
            kept.push(' ');
            at = inner.end_byte();
        }
        inner.kind() != "comment"
    });
    kept.push_str(text.get(at..node.end_byte()).unwrap_or_default());
    kept.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ")
}
