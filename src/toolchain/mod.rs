//! The tools of this machine: which compilers there are, how they are run, what floating-point
//! environment their executables start in, and the facts about the host that results depend on.

mod arguments;
mod atoms;
mod atoms_clang;
mod atoms_gcc;
#[cfg(test)]
mod atoms_tests;
mod compiler;
mod expansion;
mod fast_math;
mod gcc_passes;
mod host;
mod libm;
mod loader;
mod objdump;
mod package;
mod probe;
mod process;
mod reach;
mod variables;
mod voided;
mod wrapper;

pub use atoms::{Atom, Atoms, Kind};
pub use compiler::{Compiler, Compilers, Family, Missing, find, locate, missing_tool, newest, versions_of};
pub use expansion::{expansion, vague_args};
pub use fast_math::fast_math_flags;
pub use gcc_passes::passes;
pub use host::{cpu_model, libm_identity};
pub use libm::{library_identity, library_of};
pub use loader::{
    Libraries, exported_symbols, is_system, libraries_of, libraries_of_program, open_symbols, own_libraries,
    soname,
};
pub use objdump::{disassemblers, no_disassembler};
pub use package::debian_package;
pub use probe::{PROBE_FILE, PROBE_SOURCE, RunnerWords, read_probe, read_runner};
pub use process::{End, Finished, Invocation, run, run_code, run_reading, search_path};
pub use reach::{ToolReach, with_folder};
pub use variables::deciding_variables;
pub use voided::voided;
pub use wrapper::{Wrapping, named_files};
