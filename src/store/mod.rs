//! The only reader and writer of `results/`.
//!
//! A run folder holds
//! * `run.json`: the result, schema `bitrift.run/1`, the same bytes for the same experiment and seed;
//! * `samples.jsonl`: a bounded, equally reproducible part of the samples;
//! * `timing.json`: everything that differs from run to run (times, date, jobs, cache hits);
//! * `confirm.json`: which witnesses a plain executable confirms, schema `bitrift.confirm/1`;
//! * `explain.json`: why findings differ, schema `bitrift.explain/1`;
//! * `speed.json`: time per call by build and function, schema `bitrift.speed/1`;
//! * `truth/NAME.json`: of a function whose every input was evaluated, exact counts, schema `bitrift.truth/1`;
//! * `gate.json`: the verdict, when a gate made the run, schema `bitrift.gate/1`;
//! * `origin.json`: the matrix it was made from, and what it was to hold, schema `bitrift.origin/1`;
//! * `journal.jsonl`: only while the run is under way, one line per finished function;
//! * `units/NAME.bin`: only while a long search of that function is under way, the answers so far;
//! * `.next`: only while another run is under way that is to replace this one, that run.
//!
//! `run.json` is written last and the journal removed after it: a folder with `run.json` is
//! complete, one with only a journal is not. Every file appears whole or not at all, and one process at a time writes
//! a run (`Claim`). Lines of a journal and frames of units have check sums; files beside `run.json` have its digest.
//! A bench is `<stem>.json` and `<stem>.md`, with its journal in `<stem>.work` until it is complete.
//! The lock file, schema `bitrift.lock/1`, is wherever its owner commits it.
//! Run folders under `results/` are named `0001-quickstart`: a number that counts up over all runs,
//! so that names sort by age without a clock, and the lab's name.

mod atomic;
mod bench;
mod beside;
mod check;
mod claim;
mod date;
mod error;
mod files;
mod fingerprint;
mod fold;
mod folder;
mod journal;
mod locate;
mod lock;
mod lock_values;
mod name;
mod read;
mod reference;
mod repro;
mod seal;
mod timing;
mod truth;
mod units;

pub use bench::{BenchPlace, Opening, bench_json, read_bench};
pub use beside::{Beside, page_path, write_text, write_with};
pub use claim::Claim;
pub use date::utc_date;
pub use error::StoreError;
pub use fingerprint::Fingerprint;
pub use folder::{FolderState, RunFolder};
pub use journal::{Journal, JournalEntry};
pub use lock::{lock_json, read_lock, write_lock};
pub use lock_values::{read_values, write_values};
pub use name::{latest_incomplete, resolve};
pub use read::{open_run, read_run, run_json};
pub use reference::read_reference;
pub use repro::{REPRO_SCRIPT, write_repro};
pub use timing::{FunctionTiming, TIMING_SCHEMA, Timing};
pub use truth::{read_truth, read_truths};
pub use units::{UnitKey, UnitLog};
