//! What every unit does with an input: evaluates it on two builds, scores the pair, and keeps a bounded number of
//! samples that say where a range lies.

mod found;
mod mark;
mod probe;
mod spread;
mod thin;

pub use found::{Found, Score, keep_best};
pub use mark::Mark;
pub use probe::{Closing, EXAMPLES, Probe};
pub use spread::Spread;
pub use thin::{Hits, MOST_HITS};
