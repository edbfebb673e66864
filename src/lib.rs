//! bitrift: finds the input ranges where builds of the same C code disagree, and by how many bits.
//!
//! Data flows through the modules in the order of ARCHITECTURE.md and never back.

pub mod audit;
pub mod bench;
pub mod c;
pub mod cli;
pub mod commands;
pub mod compile;
pub mod eval;
pub mod explain;
pub mod findings;
pub mod fp;
pub mod gate;
pub mod lab;
pub mod matrix;
pub mod model;
pub mod plan;
pub mod pool;
pub mod presets;
pub mod ranges;
pub mod report;
pub mod sandbox;
pub mod search;
pub mod store;
pub mod toolchain;
