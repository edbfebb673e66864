//! Numbers in the C sources that are worth trying as inputs: what a function under test, and the functions
//! it calls, compare with. Reads C as tokens; it is no parser and knows no types, so it may miss and may
//! offer a number that means nothing, which costs an evaluation. It also knows where functions are defined.

mod body;
mod expression;
mod file;
mod mine;
mod number;
mod token;

pub use body::Kind;
pub use mine::{Literal, MOST_LITERALS, Mine};
