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
mod finish;
mod found;
mod lattice;
mod phases;
mod probe;
mod sampler;
mod sampling;
mod scout;
mod specials;
mod split;
mod strategy;
mod survey;
mod thin;
mod tighten;
mod unit;

pub use specials::specials;
pub use strategy::{Strategy, create, run_here};
pub use unit::{Answer, Task, Unit, run_unit};
