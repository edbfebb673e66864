//! bitrift: finds the input ranges where builds of the same C code disagree, and by how many bits.
//!
//! Data flows through the modules in the order of ARCHITECTURE.md and never back.

pub mod eval;
pub mod fp;
pub mod model;
pub mod ranges;
pub mod search;
