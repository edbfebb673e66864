//! From the disassembly of a linked build to how many instructions of each function decide its bits:
//! fused multiply-adds, approximate reciprocals, x87 arithmetic, calls of vector mathematics; and to a digest of
//! each function's code, by which builds that have the same code of it are known.
//!
//! What a build is linked to is looked at and not what it is compiled to: with link-time optimisation
//! there is no machine code before. The text comes from the toolchain's own objdump, which knows every
//! instruction that its assembler writes, on every target there is a compiler for, and is installed
//! with it; a disassembler inside bitrift would lag behind both. Nothing here runs a tool.

mod code;
mod data;
mod digest;
mod kind;
mod listing;

pub use code::{Code, Own, defined_names};
pub use digest::Entry;
