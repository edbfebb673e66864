//! What a bench says: strategies compared over functions and seeds. Pure statistics of stored rows;
//! nothing here searches, reads a file or prints.
//!
//! * `numbers` has medians, ratios and means, `sign_test` the exact test of wins against losses;
//! * `grid` puts the rows of a bench in order; each other file answers one question about it.

mod against;
mod contest;
mod grid;
mod numbers;
mod sign_test;
mod speed;
mod stability;
mod tally;
mod truth;

#[cfg(test)]
pub(crate) mod sample;

pub use against::{Against, NEAR_BITS, Shortfall, against};
pub use contest::{BEHIND_BITS, Behind, Duel, TIE_BITS, behind, duels};
pub use grid::Grid;
pub use numbers::{Spread, geometric_mean, mean, median, stability_ratio};
pub use sign_test::sign_test;
pub use speed::{Speed, Timing, speed};
pub use stability::{STEADY, Stability, stability};
pub use tally::{OVER, Tally, tallies};
pub use truth::{TruthTally, truth};
