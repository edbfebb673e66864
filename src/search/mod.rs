//! Searching for inconsistent inputs. A strategy plans units of work in phases; a unit runs next to
//! the loaded code and sees only an `Evaluator`. Nothing here knows of processes or threads.

mod strategy;
mod unit;

pub use strategy::{Strategy, create};
pub use unit::{Answer, Task, Unit, run_unit};
