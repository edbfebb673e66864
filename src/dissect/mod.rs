//! C sources taken apart into functions and statements, and written again with some of them precise: as if
//! they were compiled without `-ffast-math` and its parts, while the rest of the file keeps its options.
//!
//! Text comes in and text goes out; nothing is compiled or read here. The parser sees the text before the
//! preprocessor, so what macros make is not seen, and what cannot be rewritten safely is left alone: a
//! statement that is left out is never offered, a function that cannot be rewritten says why.
//!
//! Clang takes its pragmas at the start of any block, also of a statement expression, so that single
//! expressions can be precise. GCC knows only whole functions. Neither brings back subnormals: that options
//! let the program flush them is a property of the process or of the whole function.
//!
//! What is written to find a statement (`CFile::precise`) is stricter than what is written to mend it
//! (`CFile::fixed`): the first takes any form that works, the second one that a person would accept.

mod braces;
mod dialect;
mod diff;
mod edit;
mod file;
mod fix;
mod function;
mod judge;
mod layout;
mod macros;
mod remedy;
mod statement;
mod syntax;
mod units;

pub use dialect::Dialect;
pub use diff::unified_diff;
pub use file::CFile;
pub use fix::Fix;
pub use function::CFunction;
pub use remedy::Remedy;
pub use statement::CStatement;
