//! Privileges: kept for as long as a world is furnished, then given up together with the means to get them back.

use std::io;

/// `struct __user_cap_header_struct` and `__user_cap_data_struct` of the kernel.
#[repr(C)]
struct CapHeader {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const VERSION_3: u32 = 0x2008_0522;
const CAP_SYS_ADMIN: u32 = 21;
/// More than any kernel has.
const MOST: libc::c_ulong = 63;

fn set(data: [CapData; 2]) -> io::Result<()> {
    let header = CapHeader { version: VERSION_3, pid: 0 };
    // SAFETY: the kernel reads a header and the two parts that its version has.
    let failed = unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) };
    if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Keeps the right to mount inside this world over an exec. Makes system calls and nothing else.
pub(super) fn keep_admin() -> io::Result<()> {
    let bit = 1 << CAP_SYS_ADMIN;
    set([CapData { effective: bit, permitted: bit, inheritable: bit }, CapData::default()])?;
    // SAFETY: changes a set of this process.
    let failed = unsafe {
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_RAISE,
            libc::c_ulong::from(CAP_SYS_ADMIN),
            0,
            0,
        )
    };
    if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Gives up every privilege, and those that an exec would bring.
pub(super) fn give_up() -> io::Result<()> {
    // SAFETY: changes sets of this process. A privilege that the kernel does not know, or that is not there, is none.
    unsafe {
        for privilege in 0..=MOST {
            libc::prctl(libc::PR_CAPBSET_DROP, privilege, 0, 0, 0);
        }
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    }
    set([CapData::default(); 2])
}

/// Lets this process meet a full disk, or a limit of the size of files, as an error that it can tell, and open as many files as it may.
pub(crate) fn expect_limits() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // SAFETY: sets a disposition, which those that this process starts take back.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(MOST_FILES).min(MOST_FILES);
    if limit.current.is_some_and(|current| current < most) {
        // Without it the usual number has to do.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum });
    }
}

/// More than a run of many jobs opens.
const MOST_FILES: u64 = 4096;

/// Keeps others of the same user from tracing this process and from reading its memory and environment.
pub(crate) fn hide() {
    // SAFETY: sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
}

/// Takes that back, for a process that runs code under test: what it finds of itself in /proc is its own.
pub(super) fn show() {
    // SAFETY: as above.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
}
