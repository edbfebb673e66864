//! Searching for inconsistent inputs. A strategy plans units of work in phases; a unit runs next to
//! the loaded code and sees only an `Evaluator`. Nothing here knows of processes or threads.

mod auto;
mod bgrt;
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
mod ga;
mod gene;
mod hsed;
mod keepsake;
mod lattice;
mod layers;
mod ledger;
mod lsga;
mod mcmc;
mod phases;
mod probe;
mod random;
mod rival;
mod runs;
mod sampler;
mod sampling;
mod scout;
mod seam;
mod specials;
mod split;
mod strategy;
mod survey;
mod sweep;
mod thin;
mod tighten;
mod unit;
mod walk;
mod zoom;

pub use exhaustive::unfit as unfit_for_exhaustive;
pub use specials::specials;
pub use strategy::{Strategy, create, run_here};
pub use unit::{Answer, Task, Unit, run_unit};
