//! What a user reads: one `render` per report, and progress while a run is under way.
//! Renderers turn data into text; they never look at the terminal, a file or a search.

pub mod accept;
pub mod bench;
pub mod doctor;
pub mod evaluation;
pub mod gate;
pub mod plan;
pub mod progress;
pub mod replay;
pub mod table;

mod instructions;
mod material;
mod number;
mod ranges;
#[cfg(test)]
mod sample;
mod style;

pub use material::Material;
pub use style::Style;
