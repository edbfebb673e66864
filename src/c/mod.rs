//! C sources, read by one reader: what stands in them, what they define, and how they are written again.
//!
//! The map, from text to meaning:
//! * `lexeme`: text into words, numbers, marks, comments with their bytes and lines. The only lexer.
//! * `number`: what a number is worth. `token`: the code of a file apart from its directives.
//! * `directive`: the includes of a file, the conditions around them, the file's guard.
//! * `types`: the words of C's types and the scalars they spell.
//! * `declaration`: prototypes and declarations in parts. Pointers, arrays, structures by value and the
//!   functions that a header declares, with the comments beside them, belong here.
//! * `tree`: the parser's tree (tree-sitter) into functions and the full expressions in them. Operators and
//!   constants to be changed for mutants, and the fields of structures, belong here.
//! * `source`: one file, from which all of these are read once, when first asked for.
//! * `index`: all sources of an experiment: who defines what, who calls whom, numbers that are compared with.
//! * `rewrite`: a source with some of its code precise; edits by bytes and diffs, which mutants can share.
//!
//! Two readers of functions remain on purpose: `tree` is exact and leaves alone what it does not understand,
//! as rewriting must; `index::definitions` goes by tokens and guesses, as looking for numbers may.

mod declaration;
mod directive;
mod index;
mod lexeme;
mod number;
mod rewrite;
mod source;
mod token;
mod tree;
mod types;

pub use declaration::{Prototype, declaration, is_identifier, is_keyword, split_type};
pub use directive::{Guard, Include, Includes};
pub use index::{Found, Heading, Literal, LiteralKind, MOST_LITERALS, SourceIndex};
pub use lexeme::{Lexeme, LexemeKind};
pub use rewrite::{Dialect, Fix, Remedy, unified_diff};
pub use source::Source;
pub use tree::{CFunction, CStatement};
pub use types::{NoScalar, is_type_word, scalar_of, scalar_words};
