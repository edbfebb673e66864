//! Searching for inconsistent inputs. A strategy plans units of work in phases; a unit runs next to
//! the loaded code and sees only an `Evaluator`. Nothing here knows of processes or threads.

mod budget;
mod cigen;
mod comparison;
mod dense;
mod edge;
mod edge_values;
mod evolve;
mod evolve_argmin;
mod exhaustive;
mod finish;
mod found;
mod lattice;
mod ledger;
mod phases;
mod probe;
mod runs;
mod sampler;
mod sampling;
mod scout;
mod split;
mod strategy;
mod survey;
mod sweep;
mod thin;
mod tighten;
mod unit;

pub use exhaustive::unfit as unfit_for_exhaustive;
pub use strategy::{Strategy, create, run_here};
pub use unit::{Answer, Task, Unit, run_unit};
