//! Evaluating inputs on builds. A search sees only the `Evaluator` trait.
//!
//! Code under test may loop, crash, exit, or ruin the process it runs in, so it runs only in
//! processes made for it, and each of those has a process that watches it from outside:
//!
//! * `slab` is the memory the two share: what is being called, inputs, outcomes;
//! * `guard` makes the calls (the loop itself is C, harness-c/guard.c);
//! * `object` loads a build, `native` holds several side by side;
//! * `helper` and `cautious` are the two ends of cautious mode, where an `offspring` of the helper runs
//!   batches until one of them costs it;
//! * `relay` feeds a build that is a program of its own, in a worker (`relays`) or in a helper: `runner`
//!   starts and watches that program, `words` are what is said (the program is harness-c/runner.c);
//! * `settle` is what a process does before it lets code under test in;
//! * `quarters` is how such processes are started, and in which sandbox; what that refuses comes back there;
//! * `watch` ends what does not return; `process` and `frame` start processes and talk to them, `token` binds a reply to its
//!   request.
//!
//! Nothing here installs a signal handler or jumps out of a call: after a fault a process is gone,
//! and with it every lock, heap and stack the fault left broken.

mod cautious;
mod counting;
mod evaluator;
mod fake;
mod frame;
mod guard;
mod helper;
mod leftovers;
mod native;
mod object;
mod offspring;
mod plan;
mod process;
mod quarters;
mod relay;
mod relays;
mod runner;
mod settle;
mod slab;
mod states;
mod token;
mod watch;
mod words;

pub(crate) use cautious::{Call, Helpers};
pub use counting::Counting;
pub use evaluator::{EvalError, Evaluator};
pub use fake::{Fake, FakeBuild};
pub(crate) use frame::{read_frame, write_frame};
pub use helper::helper_main;
pub(crate) use native::{Host, Native, STRAYS_EXIT, Selection, THIS_PROGRAM};
pub use plan::{CallLimits, LoadPlan};
pub use process::has_role;
pub(crate) use process::{Gone, Process};
pub(crate) use quarters::Quarters;
pub(crate) use settle::{Settled, close, go_on_watched, leave, settle, stay_on_one_cpu};
pub(crate) use states::{End, Phase, unconfined};
pub(crate) use token::Token;
pub(crate) use watch::Rules;
