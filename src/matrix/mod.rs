//! The matrix file: TOML read into a raw mirror that remembers places, then resolved into an
//! `Experiment`. Every error says what is wrong and where, what was expected and how to mend it.
//! Nothing here runs a compiler, and builds are named by the plan, not here.
//!
//! In the order a matrix is read:
//! * `load` reads the file and those it names; `keys` and `place` read TOML tables and remember where things stand;
//! * `raw` is the matrix as it is written, `raw_domain` a domain in it;
//! * `lab` resolves the raw matrix into an `Experiment`, table by table: `sources`, `implementation`, `axes`, `args`,
//!   `harness`, `environment`, `limit`, `search`, `function`, `within`;
//! * a function is its `signature` with types judged by `c_type`, its `interface` (coordinates in, results out) and the
//!   `domain` of each coordinate, which is a set of `intervals`;
//! * `names` holds names to their rules; `problem` and `error` are what a user reads.

mod args;
mod axes;
mod c_type;
mod comparison;
mod domain;
mod environment;
mod error;
mod files_of;
mod function;
mod harness;
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
mod raw_domain;
mod sandbox;
mod search;
mod signature;
mod sources;
mod within;

pub use error::MatrixError;
pub use load::load;
pub use problem::{Spot, point};

pub(crate) use crate::model::{nearest, quoted};
