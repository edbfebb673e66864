//! What a user reads: one `render` per report, and progress while a run is under way.
//! Renderers turn data into text; they never look at the terminal, a file or a search.

pub mod accept;
pub mod bench;
pub mod compare;
pub mod confirm;
pub mod doctor;
pub mod evaluation;
pub mod explain;
pub mod gate;
pub mod github;
pub mod html;
pub mod junit;
pub mod markdown;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod plan;
pub mod progress;
pub mod replay;
pub mod repro;
pub mod samples;
pub mod sarif;
pub mod speed;
pub mod summary;
pub mod table;

mod cause;
mod digest;
mod instructions;
mod material;
mod number;
mod place;
mod ranges;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sample_explained;
mod style;
mod text;

pub use material::Material;
pub use style::Style;
