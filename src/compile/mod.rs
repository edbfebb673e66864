//! From builds to loadable objects: command lines, generated shims, a content-addressed cache, and
//! compiling in parallel. A build that fails is an artifact that says why; the others go on.
//!
//! Whole builds and mixes go the same way; a build is a mix of one. In the order data flows:
//!
//! | file | what |
//! |---|---|
//! | `material` | what a build is made of: sources, setup, shims |
//! | `shelf` | its libraries, and where the loader finds them |
//! | `shim`, `harness` | the generated C: calls of functions, the runner and its table |
//! | `shims` | the shims of all functions, and which of them share a file |
//! | `command` | the exact command lines of a build |
//! | `support` | those of the matrix's own harness, the same for all builds of a target |
//! | `ready` | a build whose compiler is there, with its objects as requests |
//! | `mix` | which build each source and shim comes from; makes mixes for trials |
//! | `assembly` | the requests of a mix, their objects, the link |
//! | `pipeline` | what all assemblies of a process share: tools, objects made, counts of steps |
//! | `object`, `shim_object`, `within`, `link` | one object, one file of shims, one source with shims at its end, one link, through the cache |
//! | `message` | the tools' words, and which shim they blame |
//! | `fpenv`, `program`, `libraries`, `audit` | what is asked of a build: registers, runner, library files, instructions |
//! | `compiled` | builds of an experiment as artifacts |
//! | `apart` | all of them, those that cannot be loaded beside the others as programs of their own |
//! | `bench`, `cache`, `key`, `inflight`, `deps`, `folders` | running one tool; when an answer is known already |
//! | `session`, `used`, `marker`, `stock`, `drawer` | what a process has of a cache; how large a cache is, and what goes first |
//! | `prototypes`, `spellings` | whether what a matrix declares is what headers and sources declare |
//! | `repro`, `relocate` | a finding's own C file and command lines, without bitrift |

mod apart;
mod assembly;
mod audit;
mod bench;
mod cache;
mod command;
mod compiled;
mod deps;
mod drawer;
mod error;
mod folders;
mod fpenv;
mod harness;
mod inflight;
mod key;
mod libraries;
mod link;
mod marker;
mod material;
mod message;
mod mix;
mod object;
mod opened;
mod pipeline;
mod program;
mod prototypes;
mod ready;
mod relocate;
mod repro;
#[cfg(test)]
mod samples;
mod session;
mod shelf;
mod shim;
mod shim_object;
mod shims;
mod spellings;
mod stock;
mod support;
mod used;
mod within;

pub use apart::{compile_all, foreseen};
pub use bench::Failure as MixError;
pub use cache::Cache;
pub use command::{CommandLine, command_lines};
pub use compiled::{BuildObjects, Compiled, Settings, compile_grouped};
pub use error::CompileError;
pub use mix::{Mix, Mixed, Mixer, Part};
pub use prototypes::{Claim, Prototypes, Verdict};
pub use relocate::Relocation;
pub use repro::{REPRO_FILE, ReproCall, repro_lines, repro_text, setting_words};
pub use stock::{Inventory, Stock};
pub use used::Used;
