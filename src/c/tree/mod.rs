//! A source as the parser sees it: functions and the full expressions in them, with their bytes.
//!
//! The parser sees the text before the preprocessor, so what macros make is not seen, and what cannot be
//! rewritten safely is left alone: a statement that is left out is never offered, a function that cannot be
//! rewritten says why.

mod braces;
mod function;
mod judge;
mod macros;
mod node;
mod statement;
mod units;

pub use function::{CFunction, functions};
pub use node::parse;
pub use statement::{CStatement, Form};
