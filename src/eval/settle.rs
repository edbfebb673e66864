//! What a process does before it lets code under test in: nothing to read, nothing to write on,
//! limits on memory and files, a room of its own, and default signals.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::process::{
    Resource, Rlimit, Signal, getpid, getppid, getrlimit, set_child_subreaper,
    set_parent_process_death_signal, setpgid, setrlimit,
};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::frame::read_frame;
use super::process::{end_descendants, raise_fd};
use super::slab::Slab;
use super::states::End;
use super::watch::{Rules, watch};
use crate::sandbox::{Listener, Sandbox, remove_folder};

/// Files written by code under test, and copies of objects, end here.
const MAX_FILE: u64 = 1 << 28;
const STACK: u64 = 8 << 20;
/// An emulator's own memory: the code it has translated.
pub(super) const EMULATOR: u64 = 1 << 30;

/// What a process in a hidden role has of the outside world.
pub(crate) struct Settled {
    pub requests: File,
    pub replies: File,
    pub slab: Slab,
    /// Ready when the other side has let go.
    pub leash: OwnedFd,
    /// The empty folder this process is in.
    pub room: PathBuf,
    pub sandbox: Sandbox,
    /// Hears what the sandbox refuses; for the process that watches.
    pub listener: Option<Listener>,
}

impl Settled {
    /// Where copies of objects go; None: into memory. A sandbox with a bounded scratch folder refuses memory that no limit counts.
    pub(super) fn copies(&self) -> Option<&Path> {
        self.sandbox.has_scratch().then_some(self.room.as_path())
    }
}

/// Takes over the descriptors that `Process::spawn` left and settles in. Why it cannot is left in the slab.
pub(crate) fn settle() -> io::Result<Settled> {
    let slab = Slab::open(inherited(2)?)?;
    let begin = || {
        let means = take_means()?;
        let (listener, room) = confine(&means.sandbox, &slab)?;
        Ok((means, listener, room))
    };
    let (means, listener, room) = begin().inspect_err(|error| slab.set_unconfined(error))?;
    let Means { requests, replies, leash, sandbox } = means;
    Ok(Settled { requests, replies, slab, leash, room, sandbox, listener })
}

/// What `Process::spawn` hands over.
struct Means {
    requests: File,
    replies: File,
    leash: OwnedFd,
    sandbox: Sandbox,
}

fn take_means() -> io::Result<Means> {
    let leash = inherited(3)?;
    let mut requests = File::from(raise_fd(&io::stdin())?);
    let replies = File::from(raise_fd(&io::stdout())?);
    let null = File::options().read(true).write(true).open("/dev/null")?;
    for standard in 0..=2 {
        // SAFETY: replaces a standard stream, which nothing in this role uses.
        if unsafe { libc::dup2(null.as_raw_fd(), standard) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let sandbox: Sandbox =
        read_frame(&mut requests)?.ok_or_else(|| io::Error::other("nobody said how it is confined"))?;
    Ok(Means { requests, replies, leash, sandbox })
}

/// Enters the sandbox as the process that will watch, and a folder of its own.
fn confine(sandbox: &Sandbox, slab: &Slab) -> io::Result<(Option<Listener>, PathBuf)> {
    default_signals();
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, MAX_FILE)?;
    limit(Resource::Stack, STACK)?;
    limit_address_space(slab.memory_mb().saturating_mul(1 << 20))?;
    if let Some(most) = sandbox.most_processes() {
        limit(Resource::Nproc, most)?;
    }
    let listener = sandbox.enter()?;
    // What code under test leaves behind comes to this process, which ends it.
    set_child_subreaper(Some(getpid()))?;
    let room = PathBuf::from(std::env::args_os().nth(4).unwrap_or_default());
    fs::DirBuilder::new().mode(0o700).create(&room)?;
    std::env::set_current_dir(&room)?;
    // SAFETY: this process has one thread.
    unsafe { std::env::set_var("TMPDIR", &room) };
    Ok((listener, room))
}

/// Splits this process into one that watches, and ends here, and one that goes on and lets code under test in.
pub(crate) fn go_on_watched(mut settled: Settled, rules: Rules) -> io::Result<Settled> {
    // SAFETY: nothing in this process has started a thread.
    match unsafe { fork() }? {
        Forked::Child => {
            volunteer_for_oom();
            settled.listener = None;
            Ok(settled)
        }
        Forked::Parent(pid) => {
            let Settled { requests, replies, slab, leash, room, listener, .. } = settled;
            drop((requests, replies));
            let end = watch(pid, &slab, leash.as_fd(), listener.as_ref(), rules);
            end_descendants();
            if !matches!(slab.end(), Some(End::Unconfined(_))) {
                slab.set_end(end);
            }
            let _ = remove_folder(&room);
            leave(0)
        }
    }
}

/// Lets no more be reached than code under test may; call before it comes in. `emulated`: an emulator will be started from here,
/// which takes more addresses than it uses memory.
pub(crate) fn close(settled: &Settled, emulated: bool) -> io::Result<()> {
    if !settled.sandbox.is_off() {
        let memory = settled.slab.memory_mb().saturating_mul(1 << 20);
        limit(Resource::Data, memory.saturating_add(EMULATOR))?;
        if !emulated {
            limit(Resource::As, memory)?;
        }
    }
    settled.sandbox.close(&settled.room)
}

/// The descriptor whose number is this argument of the command line.
fn inherited(argument: usize) -> io::Result<OwnedFd> {
    let number = std::env::args().nth(argument).and_then(|text| text.parse::<i32>().ok());
    let by_hand = || io::Error::other("this subcommand is for processes that bitrift starts itself");
    let fd = number.filter(|fd| *fd > 2).ok_or_else(by_hand)?;
    // SAFETY: sets a flag on a number; fails when nothing is open there.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: open, as just seen, and left by the parent process for this one to own.
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

/// The soft limit alone: a runner on an emulator is given other limits.
fn limit_address_space(wanted: u64) -> io::Result<()> {
    let maximum = getrlimit(Resource::As).maximum;
    let current = Some(maximum.map_or(wanted, |most| wanted.min(most)));
    Ok(setrlimit(Resource::As, Rlimit { current, maximum })?)
}

/// Which side of a fork this is.
pub(super) enum Forked {
    Parent(rustix::process::Pid),
    Child,
}

/// Forks a child that leads its own process group and dies with this process.
///
/// # Safety
/// The process must have one thread.
pub(super) unsafe fn fork() -> io::Result<Forked> {
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

/// Keeps this process and those it starts on one CPU: a worker and the runners of its builds take turns, and
/// waking one on another CPU takes longer than a small batch. `lane` tells workers apart.
pub(crate) fn stay_on_one_cpu(lane: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    if let Some(&cpu) = cpus.get(lane % cpus.len().max(1)) {
        let mut one = CpuSet::new();
        one.set(cpu);
        // Without it everything is slower and nothing is wrong.
        let _ = sched_setaffinity(None, &one);
    }
}

/// When memory runs out, this process goes first, not the user's others.
fn volunteer_for_oom() {
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

/// Leaves at once: no destructors, no `atexit` of the code under test.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}
