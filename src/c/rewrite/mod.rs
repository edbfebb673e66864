//! Sources written again with some of their code precise: as if it were compiled without `-ffast-math` and its
//! parts, while the rest of the file keeps its options. Text comes in and text goes out; nothing is compiled here.
//!
//! Clang takes its pragmas at the start of any block, also of a statement expression, so that single
//! expressions can be precise. GCC knows only whole functions. Neither brings back subnormals: that options
//! let the program flush them is a property of the process or of the whole function.
//!
//! What is written to find a statement (`Source::precise`) is stricter than what is written to mend it
//! (`Source::fixed`): the first takes any form that works, the second one that a person would accept.

mod dialect;
mod diff;
mod edit;
mod fix;
mod layout;
mod precise;
mod remedy;

pub use dialect::Dialect;
pub use diff::unified_diff;
pub use fix::Fix;
pub use remedy::Remedy;
