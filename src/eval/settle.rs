//! What a process does before it lets code under test in: nothing to read, nothing to write on,
//! limits on memory and files, a room of its own, and default signals.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::process::{
    Resource, Rlimit, Signal, getpid, getppid, getrlimit, set_child_subreaper,
    set_parent_process_death_signal, setpgid, setrlimit,
};
use tempfile::TempDir;

use super::process::{LEASH_FD, SLAB_FD, raise_fd};
use super::slab::Slab;

/// Files written by code under test, and copies of objects, end here.
const MAX_FILE: u64 = 1 << 28;
const STACK: u64 = 8 << 20;

/// What a process in a hidden role has of the outside world.
pub(crate) struct Settled {
    pub requests: File,
    pub replies: File,
    pub slab: Slab,
    /// Ready when the other side has let go.
    pub leash: OwnedFd,
    /// The empty folder this process is in; removed with it.
    pub room: TempDir,
}

/// Takes over the descriptors that `Process::spawn` left and settles in.
pub(crate) fn settle() -> io::Result<Settled> {
    // Without its slab and leash this was started by hand.
    // SAFETY: nothing else in this process has used these numbers yet.
    let (slab, leash) = unsafe { (take(SLAB_FD)?, take(LEASH_FD)?) };
    let leash_high = raise_fd(&leash)?;
    let slab = Slab::open(raise_fd(&slab)?)?;
    let requests = File::from(raise_fd(&io::stdin())?);
    let replies = File::from(raise_fd(&io::stdout())?);
    let null = File::options().read(true).write(true).open("/dev/null")?;
    for standard in 0..=2 {
        // SAFETY: replaces a standard stream, which nothing in this role uses.
        if unsafe { libc::dup2(null.as_raw_fd(), standard) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    default_signals();
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, MAX_FILE)?;
    limit(Resource::Stack, STACK)?;
    limit(Resource::As, slab.memory_mb().saturating_mul(1 << 20))?;
    // What code under test leaves behind comes to this process, which ends it.
    set_child_subreaper(Some(getpid()))?;
    let room = tempfile::Builder::new().prefix("bitrift-").tempdir()?;
    std::env::set_current_dir(room.path())?;
    // SAFETY: this process has one thread.
    unsafe { std::env::set_var("TMPDIR", room.path()) };
    Ok(Settled { requests, replies, slab, leash: leash_high, room })
}

/// # Safety
/// Nothing else in the process may own the descriptor.
unsafe fn take(fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: asks about a number.
    if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: open, as just seen, and nobody else's by the caller's promise.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Rust's runtime ignores SIGPIPE and turns a stack overflow into an abort; code under test should
/// meet what a C program meets.
fn default_signals() {
    for number in 1..=libc::SIGRTMAX() {
        // SAFETY: sets a disposition; fails harmlessly for SIGKILL, SIGSTOP and libc's own.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
    // SAFETY: an all-zero set is a valid one, made empty by sigemptyset.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

fn limit(resource: Resource, wanted: u64) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    let value = Some(maximum.map_or(wanted, |most| wanted.min(most)));
    Ok(setrlimit(resource, Rlimit { current: value, maximum: value })?)
}

/// Which side of a fork this is.
pub(crate) enum Forked {
    Parent(rustix::process::Pid),
    Child,
}

/// Forks a child that leads its own process group and dies with this process.
///
/// # Safety
/// The process must have one thread.
pub(crate) unsafe fn fork() -> io::Result<Forked> {
    let parent = getpid();
    // SAFETY: single-threaded by the caller's promise, so the child may do what this process may.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let _ = setpgid(None, None);
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            if getppid() != Some(parent) {
                leave(0);
            }
            Ok(Forked::Child)
        }
        pid => {
            let pid = rustix::process::Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave 0"))?;
            // Both sides do it, so that neither can be too early.
            let _ = setpgid(Some(pid), Some(pid));
            Ok(Forked::Parent(pid))
        }
    }
}

/// When memory runs out, this process goes first, not the user's others.
pub(crate) fn volunteer_for_oom() {
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

/// Leaves at once: no destructors, no `atexit` of the code under test.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}
