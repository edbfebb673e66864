//! A build's shared object, loaded from a private copy into this process.

use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::{MemfdFlags, memfd_create};

use super::EvalError;
use super::guard::{Shim, keeping_registers};
use crate::model::{BuiltObject, FunctionStatus};

/// The object's own code and libraries answer for a symbol before those of this program: a library's `sin` would
/// lose to the libm that bitrift is linked with.
#[cfg(target_env = "gnu")]
const OWN_FIRST: i32 = libc::RTLD_DEEPBIND;
#[cfg(not(target_env = "gnu"))]
const OWN_FIRST: i32 = 0;

/// A loaded object; `setup` has run. Stays loaded until the process ends.
pub(crate) struct Object {
    library: Library,
    file: String,
    functions: Vec<FunctionStatus>,
    /// Kept open for as long as the object is loaded.
    _copy: OwnedFd,
}

impl Object {
    /// Loads a copy of the object, because the dynamic linker shares globals between two loads of one file: in memory, or in a
    /// folder where memory of that kind is not to be had.
    pub(crate) fn load(object: &BuiltObject, copies: Option<&Path>) -> Result<Object, EvalError> {
        let file = object.file_name();
        let failed = |reason: String| EvalError::Load { name: file.clone(), reason };
        let copy = private_copy(object, copies).map_err(|e| failed(e.to_string()))?;
        let name = unused_name(&copy);
        let library = keeping_registers(|| {
            // SAFETY: this process exists to be ruined by what the object's constructors do.
            unsafe { Library::open(Some(&name), RTLD_NOW | RTLD_LOCAL | OWN_FIRST) }
        })
        .map_err(|e| failed(chain(&e).replace(&name, "the object")))?;
        if let Some(symbol) = &object.setup_symbol {
            // SAFETY: the shim generator gives setup this type; see above for what it may do.
            let setup = unsafe { library.get::<unsafe extern "C" fn()>(symbol.as_bytes()) }
                .map_err(|e| failed(chain(&e)))?;
            // SAFETY: as above.
            keeping_registers(|| unsafe { setup() });
        }
        Ok(Object { library, file, functions: object.functions.clone(), _copy: copy })
    }

    /// The entry point of a function of the experiment.
    pub(crate) fn shim(&self, function: usize) -> Result<Shim, EvalError> {
        let failed = |reason: String| EvalError::Load { name: self.file.clone(), reason };
        let symbol = match self.functions.get(function) {
            Some(FunctionStatus::Ready { symbol }) => symbol,
            Some(FunctionStatus::Missing { message }) => return Err(failed(message.clone())),
            None => return Err(failed(format!("it has no function number {function}"))),
        };
        // SAFETY: the shim generator gives every entry point this type.
        let shim = unsafe { self.library.get::<Shim>(symbol.as_bytes()) };
        shim.map(|symbol| *symbol).map_err(|e| failed(chain(&e)))
    }
}

/// A path of the copy that no load had before. The dynamic linker knows objects by name, and code under test may close
/// descriptors that are not its own, after which the next copy has the number of another.
fn unused_name(copy: &OwnedFd) -> String {
    static LOADS: AtomicUsize = AtomicUsize::new(0);
    let detour = "./".repeat(LOADS.fetch_add(1, Ordering::Relaxed));
    format!("/proc/self/fd/{detour}{}", copy.as_raw_fd())
}

fn private_copy(object: &BuiltObject, copies: Option<&Path>) -> io::Result<OwnedFd> {
    let mut from = File::open(&object.path)?;
    let mut copy = match copies {
        Some(folder) => tempfile::tempfile_in(folder)?,
        None => File::from(memfd_create("bitrift-object", MemfdFlags::CLOEXEC)?),
    };
    io::copy(&mut from, &mut copy)?;
    Ok(copy.into())
}

/// libloading's own text is only "dlopen failed"; the linker's words are the source.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}
