//! Starts a program in a world of its own, or beside this one. Rust's own way cannot: the first process of a new world has to be
//! made by the call that makes the world.
//!
//! A program that knows how (a worker) furnishes its world itself, and is its first process. Any other is started in a cage by a
//! first process of ours, a copy of this one that does nothing but wait: the first process of a world ignores signals that
//! would end others, `abort` among them, and a program must end as it would outside.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};

use super::apart::{FLAGS, Identity};
use super::cage::Cage;
use super::image::{Image, whole};
use super::privileges;

/// What to start.
pub(crate) struct Launch<'a> {
    pub program: &'a Path,
    /// The first is the name that the program sees of itself.
    pub argv: Vec<OsString>,
    /// All of its environment.
    pub variables: Vec<(OsString, OsString)>,
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// Further descriptors that it keeps, at their numbers. All others are closed.
    pub kept: Vec<RawFd>,
    pub place: Place<'a>,
}

/// Where a program is started.
pub(crate) enum Place<'a> {
    /// In the folder that this process is in.
    Here,
    /// The same in a world of its own, which the program furnishes.
    World,
    /// In a folder, and in a cage if there is one. It ends with the thread that started it.
    Folder(&'a Path, Option<&'a Cage>),
}

/// A process that was started; its own group leads with its number.
pub(crate) struct Launched {
    pub pid: Pid,
    pub pidfd: OwnedFd,
    ended: Option<ExitStatus>,
    /// Where the first process of a cage says how the program ended.
    told: Option<File>,
}

/// `struct clone_args` of the kernel, as long as its first version was.
#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
}

/// The exit code of a process that could not become the program.
const NOT_STARTED: i32 = 127;

impl Launch<'_> {
    pub(crate) fn start(&self) -> io::Result<Launched> {
        let image = Image::new(self.program, &self.argv, &self.variables)?;
        let (folder, cage) = match &self.place {
            Place::Here | Place::World => (None, None),
            Place::Folder(folder, cage) => (Some(whole(folder.as_os_str())?), *cage),
        };
        let flags = match &self.place {
            Place::World => FLAGS,
            Place::Here | Place::Folder(..) => cage.map_or(0, Cage::flags),
        };
        let identity = (flags != 0).then(Identity::here);
        let (trouble, far) = pipe_with(PipeFlags::CLOEXEC)?;
        // Only a first process of ours has something to say.
        let apart = cage.is_some() && flags != 0;
        let (told, telling) = if apart {
            pipe_with(PipeFlags::CLOEXEC).map(|(a, b)| (Some(a), Some(b)))?
        } else {
            (None, None)
        };
        let begin = || -> io::Error {
            let prepare = || {
                if self.ends_with_us() && is_alone(far.as_raw_fd()) {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                identity.as_ref().map_or(Ok(()), Identity::take)?;
                self.settle()?;
                cage.map_or(Ok(()), Cage::enter)?;
                // SAFETY: a whole string.
                let moved = folder.as_ref().map_or(0, |folder| unsafe { libc::chdir(folder.as_ptr()) });
                check(moved)?;
                telling.as_ref().map_or(Ok(()), |telling| stay_first(telling.as_raw_fd()))
            };
            prepare().err().unwrap_or_else(|| image.become_it())
        };
        let (pid, pidfd) = match clone(flags)? {
            None => {
                let number = begin().raw_os_error().unwrap_or(libc::EINVAL).to_ne_bytes();
                // SAFETY: writes a few bytes of this stack and ends the process, without any destructor.
                unsafe {
                    libc::write(far.as_raw_fd(), number.as_ptr().cast(), number.len());
                    libc::_exit(NOT_STARTED)
                }
            }
            Some(born) => born,
        };
        drop((far, telling));
        let mut launched = Launched { pid, pidfd, ended: None, told: told.map(File::from) };
        // It comes to its end when the program begins.
        let mut number = [0; 4];
        if File::from(trouble).read_exact(&mut number).is_ok() {
            launched.kill();
            launched.wait();
            return Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number)));
        }
        Ok(launched)
    }

    /// Asks for the end of the new process with that of the thread that starts it, where that is so; whether it is.
    fn ends_with_us(&self) -> bool {
        let with_us = matches!(self.place, Place::Folder(..));
        if with_us {
            // SAFETY: sets what this process is sent; it cannot fail for this signal.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
        }
        with_us
    }

    /// What the new process does in any case before it becomes the program. Makes system calls and nothing else.
    fn settle(&self) -> io::Result<()> {
        // SAFETY: these change this process's own group, descriptors and signals, which no other thread of it has.
        unsafe {
            check(libc::setpgid(0, 0))?;
            for (standard, fd) in [&self.stdin, &self.stdout, &self.stderr].into_iter().enumerate() {
                check(libc::dup2(fd.as_raw_fd(), standard as RawFd))?;
            }
            // Whoever started this program may have left it descriptors, of secrets too.
            close_on_exec(3);
            for &fd in &self.kept {
                check(libc::fcntl(fd, libc::F_SETFD, 0))?;
            }
            for number in 1..=libc::SIGRTMAX() {
                // Fails harmlessly for SIGKILL, SIGSTOP and libc's own.
                libc::signal(number, libc::SIG_DFL);
            }
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            check(libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut()))
        }
    }
}

/// Whether nobody reads from a pipe any more: whoever started this process is gone.
fn is_alone(far: RawFd) -> bool {
    let mut seen = libc::pollfd { fd: far, events: 0, revents: 0 };
    // SAFETY: one structure.
    unsafe { libc::poll(&mut seen, 1, 0) };
    seen.revents & libc::POLLERR != 0
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets go of all descriptors from this one on when a program begins. Makes system calls and nothing else.
fn close_on_exec(first: libc::c_uint) {
    // SAFETY: sets a flag on numbers; where nothing is open, that fails harmlessly.
    unsafe {
        let flag = libc::CLOSE_RANGE_CLOEXEC as libc::c_int;
        if libc::close_range(first, libc::c_uint::MAX, flag) == 0 {
            return;
        }
        // Before Linux 5.11.
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        for fd in first..limit.rlim_cur.min(1 << 20) as libc::c_uint {
            libc::fcntl(fd as RawFd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Goes on in a second process; the first waits for it, says how it ended, and ends everything by its own end. Makes system
/// calls and nothing else.
fn stay_first(telling: RawFd) -> io::Result<()> {
    // This copy holds what bitrift knows: the second process must not look into it.
    privileges::hide();
    // SAFETY: this process has one thread, and makes system calls and nothing else on both sides.
    unsafe {
        // The C library's own fork takes locks that other threads of the process this is a copy of may have held.
        let second = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32;
        if second <= 0 {
            return check(second);
        }
        let telling_number = telling as libc::c_uint;
        if telling_number > 0 {
            libc::close_range(0, telling_number - 1, 0);
        }
        libc::close_range(telling_number + 1, libc::c_uint::MAX, 0);
        let mut status = 0;
        loop {
            match libc::waitpid(-1, &mut status, 0) {
                pid if pid == second => break,
                -1 if *libc::__errno_location() != libc::EINTR => break,
                _ => {}
            }
        }
        let bytes = status.to_ne_bytes();
        libc::write(telling, bytes.as_ptr().cast(), bytes.len());
        libc::_exit(0)
    }
}

impl Launched {
    pub(crate) fn kill(&self) {
        if self.ended.is_none() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }

    /// Waits for its end; how that was.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        let status = loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Ok(Some((_, status))) => break ExitStatus::from_raw(status.as_raw()),
                Err(rustix::io::Errno::INTR) | Ok(None) => {}
                // Somebody else has taken notice of it.
                Err(_) => break ExitStatus::from_raw(0),
            }
        };
        let mut number = [0; 4];
        let told = self.told.take().and_then(|mut told| told.read_exact(&mut number).ok());
        let status = told.map_or(status, |()| ExitStatus::from_raw(i32::from_ne_bytes(number)));
        *self.ended.insert(status)
    }
}

/// Makes a process like this one; None in the new one, where nothing but system calls may be made: other threads of this process
/// may hold any lock, and are not there to let it go.
fn clone(flags: i32) -> io::Result<Option<(Pid, OwnedFd)>> {
    if flags == 0 {
        // Inside a sandbox there is no other way.
        // SAFETY: the new process makes system calls and nothing else.
        return match unsafe { libc::fork() } {
            0 => Ok(None),
            born if born > 0 => {
                let pid = Pid::from_raw(born).ok_or_else(io::Error::last_os_error)?;
                Ok(Some((pid, pidfd_open(pid, PidfdFlags::empty())?)))
            }
            _ => Err(io::Error::last_os_error()),
        };
    }
    let mut pidfd: RawFd = -1;
    let args = CloneArgs {
        flags: u64::from((flags | libc::CLONE_PIDFD).cast_unsigned()),
        pidfd: &raw mut pidfd as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArgs::default()
    };
    // SAFETY: without shared memory this is a fork; the kernel writes one descriptor.
    match unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<CloneArgs>()) } {
        0 => Ok(None),
        born if born > 0 => {
            // The kernel's numbers of processes fit.
            let pid = Pid::from_raw(born as i32).ok_or_else(io::Error::last_os_error)?;
            // SAFETY: the kernel has made it for this process.
            Ok(Some((pid, unsafe { OwnedFd::from_raw_fd(pidfd) })))
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// Does something in a process like this one, in new namespaces, and gives its code; None if there could be none.
pub(super) fn in_a_fork(flags: i32, work: &mut dyn FnMut() -> i32) -> Option<i32> {
    match clone(flags).ok()? {
        None => {
            let code = work();
            // SAFETY: ends the process, without any destructor.
            unsafe { libc::_exit(code) }
        }
        Some((pid, pidfd)) => Launched { pid, pidfd, ended: None, told: None }.wait().code(),
    }
}
