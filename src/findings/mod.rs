//! From what a search returned to what a reader gets: rows with exact and readable numbers, a
//! category per range, what could not be evaluated, and whether a stored witness still holds.
//! Nothing here touches a file or prints.

mod bench_row;
mod builds;
mod camps;
mod category;
mod confirm;
mod finding;
mod pareto;
mod replay;
mod row;
mod select;
mod shortfall;
mod truth;
mod truth_score;
mod unsearched;

pub use bench_row::bench_row;
pub use builds::build_row;
pub use camps::{Looks, Place};
pub use confirm::confirm_row;
pub use finding::{answer_word, finding, finding_ids};
pub use pareto::{BuildCost, build_costs, front};
pub use replay::{ReplayError, StoredWitness, Verdict, judge, replayable, stored_witnesses, witnesses};
pub use row::function_row;
pub use select::{select, select_explained};
pub use shortfall::{shortfalls, wanting};
pub use truth::{Truth, TruthError, TruthHead, truth_file};
pub use truth_score::{TruthCount, score, score_function};
pub use unsearched::{Unsearched, compares, is_searched, mends, searches, unsearched};
