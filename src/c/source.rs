//! One C source: its text, and what is read from it when it is first asked for.

use std::sync::OnceLock;

use tree_sitter::Tree;

use super::index::Definitions;
use super::tree::{CFunction, functions, parse};

/// A text that is read as C. Any text is one, also one that is no C: then it defines nothing.
#[derive(Debug, Default)]
pub struct Source {
    text: String,
    /// None only when the grammar does not fit the parser.
    tree: OnceLock<Option<Tree>>,
    functions: OnceLock<Vec<CFunction>>,
    definitions: OnceLock<Definitions>,
}

impl Source {
    pub fn new(text: impl Into<String>) -> Source {
        Source { text: text.into(), ..Source::default() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The functions that the parser finds, with the statements in them that can be rewritten.
    pub fn functions(&self) -> &[CFunction] {
        self.functions.get_or_init(|| {
            self.tree().map(|tree| functions(tree.root_node(), &self.text)).unwrap_or_default()
        })
    }

    fn tree(&self) -> Option<&Tree> {
        self.tree.get_or_init(|| parse(&self.text)).as_ref()
    }

    /// What the file defines as its tokens say, also where macros and `#if` leave the parser without a tree.
    pub fn definitions(&self) -> &Definitions {
        self.definitions.get_or_init(|| Definitions::read(&self.text))
    }
}
