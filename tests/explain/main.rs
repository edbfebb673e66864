//! Causes found against known guilt.

#[path = "../common/mod.rs"]
mod common;

mod causes;
mod contraction;
mod explain_injections;
mod folders;
mod injections;
mod injections_hold;
