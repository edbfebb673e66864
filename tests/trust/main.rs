//! Answers that pipelines rest on: no false alarm, the same bytes every time, a gate that holds, nothing clean that was not
//! searched.

#[path = "../common/mod.rs"]
mod common;

mod arguments;
mod attacked;
mod baseline;
mod bounded;
mod cache_processes;
mod cache_size;
mod declared;
mod equal;
mod gate;
mod harness;
mod leftover;
mod no_false_alarm;
mod plan;
mod reproducible;
mod sandbox;
mod stored;
mod stored_cache;
mod stored_runs;
mod unsearched;
mod upgrade;
mod wide;
mod within;
mod worst;
