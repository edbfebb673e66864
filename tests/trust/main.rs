//! Answers that pipelines rest on: no false alarm, the same bytes every time, a gate that holds.

#[path = "../common/mod.rs"]
mod common;

mod arguments;
mod declared;
mod gate;
mod harness;
mod no_false_alarm;
mod reproducible;
mod within;
