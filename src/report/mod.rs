//! What a user reads: one `render` per report, and progress while a run is under way.
//! Renderers turn data into text; they never look at the terminal, a file or a search.
//!
//! * A run: `table` (with `ranges`, `instructions`), `summary`, `markdown`, `html` for people; `junit`, `sarif`,
//!   `github` for pipelines; `samples` and `parquet` for Python or R. All of them take a `Material`.
//! * The answer of a command: `plan`, `doctor`, `evaluation`, `replay`, `confirm`, `repro`, `explain`, `speed`,
//!   `compare`, `accept`, `gate`, `bench`, `cache`.
//! * While work is under way: `progress`.
//! * Shared: `style` (colours and widths), `number`, `text` (made safe), `place`, `cause`, `digest`.

pub mod accept;
pub mod bench;
pub mod cache;
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
mod unsearched;

pub use material::Material;
pub use style::Style;
