//! Searching for inconsistent inputs. A strategy plans units of work in phases; a unit runs next to the loaded code
//! and sees only an `Evaluator`. Nothing here knows of processes or threads.
//!
//! In the order a search runs:
//!
//! 1. `task` is what a search is given, `strategy` the planner that is made for it: `cigen` (also the default,
//!    `auto`), one of the `rivals`, or `sweep` for every input there is.
//!    Where a domain names infinities, NaN or -0, `fringe` tries those before the strategy begins.
//! 2. The strategy plans `unit`s. `sample` says which inputs are tried first; `streams` names every random choice.
//! 3. A unit runs in a worker: `evaluate` scores inputs on two builds and keeps what matters; `sample`, `seams`,
//!    `tighten`, `evolve`, `rivals` and `sweep` have a unit each, or several.
//! 4. Answers go into the `ledger`, which knows what is left of the budget and makes the result in the end.
//!
//! Within `cigen`: survey, strata, seams along `lines`, clustering into candidate ranges, dense samples,
//! tightening, and the `finale`; what the default adds to the paper's algorithm is in `course`.

mod agenda;
mod cigen;
mod evaluate;
mod evolve;
mod fringe;
mod ledger;
mod rivals;
mod sample;
mod seams;
mod strategy;
mod streams;
mod sweep;
mod task;
mod tighten;
mod unit;

pub use evaluate::Score;
pub use sample::{anchors, is_ordinary, ordinary_inputs, specials};
pub use strategy::{Strategy, create, run_here};
pub use sweep::unfit as unfit_for_exhaustive;
pub use task::Task;
pub use unit::{Answer, Unit, run_unit};
