//! All sources of an experiment: where functions are defined, who calls whom, and the numbers that a function
//! under test and those it calls compare with, which are worth trying as inputs.

mod body;
mod constant;
mod definitions;
mod heading;
mod loader;
mod source_index;

pub use body::LiteralKind;
pub use definitions::Definitions;
pub use heading::Heading;
pub use source_index::{Found, Literal, MOST_LITERALS, SourceIndex};
