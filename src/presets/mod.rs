//! Presets: axes for the moves that many people make, added to those a matrix declares. What depends
//! on the machine (which versions there are, what a flag stands for) is asked from the compilers.

mod axes;
mod fast_math;
mod ports;
mod upgrade;

pub use axes::{PresetError, apply};
