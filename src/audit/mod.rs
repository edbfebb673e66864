//! From the disassembly of a linked build to how many instructions of each function decide its bits:
//! fused multiply-adds, approximate reciprocals, x87 arithmetic, calls of vector mathematics.
//!
//! What a build is linked to is looked at and not what it is compiled to: with link-time optimisation
//! there is no machine code before. The text comes from the toolchain's own objdump, which knows every
//! instruction that its assembler writes, on every target there is a compiler for, and is installed
//! with it; a disassembler inside bitrift would lag behind both. Nothing here runs a tool.

mod code;
mod kind;
mod listing;

pub use code::{Code, Own, defined_names};
