//! Why two builds differ at an input: from the environment through file, flags, function and statement to the
//! compiler's pass. Every layer asks by trying: builds are compiled, mixed and evaluated, nothing is guessed.
//!
//! * `case` is a finding and when an answer shows the same difference, `scene` where mixes are tried, `delta`
//!   the search for the smallest guilty parts;
//! * one file per layer, `answer` runs them in order and recognises causes that are known already;
//! * `cause` groups findings, `fix` offers a patch, `safe` the flags that may stay.

mod answer;
mod case;
mod cause;
mod delta;
mod environment;
mod error;
mod expand;
mod file;
mod fix;
mod flags;
mod fragile;
mod function;
mod include;
mod inquiry;
mod pass;
mod reference;
mod safe;
mod scene;
mod statement;
mod text;
mod whole;

pub use answer::{Explainer, Known, is_answered, needed, since};
pub use case::Case;
pub use cause::regroup;
pub use environment::Pair;
pub use error::ExplainError;
pub use fix::{Fixed, fix_all};
pub use safe::{Question, Safe, gives_up};
pub use scene::{Desk, Side};
pub use whole::Workshop;
