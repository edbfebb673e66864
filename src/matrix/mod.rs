//! The matrix file: TOML read into a raw mirror that remembers places, then resolved into an
//! `Experiment`. Every error says what is wrong and where, what was expected and how to mend it.
//! Nothing here runs a compiler, and builds are named by the plan, not here.

mod args;
mod axes;
mod c_type;
mod domain;
mod environment;
mod error;
mod function;
mod implementation;
mod interface;
mod intervals;
mod keys;
mod lab;
mod limit;
mod load;
mod names;
mod place;
mod problem;
mod raw;
mod search;
mod signature;
mod sources;

pub use error::MatrixError;
pub use load::load;

pub(crate) use crate::model::{nearest, quoted};
