//! The tools of this machine: which compilers there are, how they are run, what floating-point
//! environment their executables start in, and the facts about the host that results depend on.

mod compiler;
mod host;
mod package;
mod probe;
mod process;

pub use compiler::{Compiler, Family, Missing, find, locate, missing_tool};
pub use host::{cpu_model, libm_identity};
pub use package::debian_package;
pub use probe::{PROBE_FILE, PROBE_SOURCE, read_probe};
pub use process::{End, Finished, Invocation, run, search_path};
