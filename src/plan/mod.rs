//! The plan: every cell of the matrix that is a build, in the order of the file, and the baseline.
//! Nothing here looks whether a compiler exists.

mod baseline;
mod error;
mod expand;
mod limits;
mod winner;

pub use error::PlanError;
pub use expand::{Plan, expand};
pub use winner::changed_winners;
