//! The near end of a process that runs code under test: starts it, talks to it, ends it.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::CallLimits;
use super::frame::{Inbox, write_frame};
use super::slab::Slab;
use super::token::Token;

/// How often a waiting side looks around.
const TICK: Duration = Duration::from_millis(50);

/// How long a process may take to clean up before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// What the environment of code under test keeps: where temporary files go. Variables that choose libraries or
/// variants of their functions decide results, and no result records them, so that none is kept.
const KEPT: &str = "TMPDIR";

/// Set in the environment of processes that this program starts from itself: what they are for.
const ROLE: &str = "BITRIFT_ROLE";

/// Whether this process was started to run code under test.
pub fn has_role() -> bool {
    std::env::var_os(ROLE).is_some()
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum Gone {
    /// The process ended.
    Died,
    /// What came is not the answer to the request: code under test wrote to the pipe.
    Garbled,
    /// Whoever waited lost interest.
    Stopped,
}

/// A process of this program in a hidden role, with a slab shared with it.
pub(crate) struct Process {
    child: Child,
    pidfd: OwnedFd,
    requests: Option<ChildStdin>,
    replies: ChildStdout,
    inbox: Inbox,
    /// Of the last request.
    token: Token,
    slab: Slab,
    /// The other side cleans up and ends when this closes, also when this process is killed.
    leash: Option<OwnedFd>,
    _room: Room,
}

/// The folder the other side is in. That side makes it, so that none is left when this process is
/// killed before the other has started; each side removes it, because either may be killed.
struct Room(PathBuf);

impl Room {
    /// A name that no other process has: not even one that had this process's number before.
    fn new() -> io::Result<Room> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let name = format!("bitrift-{}-{count}-{now:x}", std::process::id());
        let folder = std::path::absolute(std::env::temp_dir())?;
        // Not to be told as a process that died without a word.
        rustix::fs::access(&folder, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|e| io::Error::other(format!("{} cannot be used: {e}", folder.display())))?;
        Ok(Room(folder.join(name)))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Process {
    /// Starts `program` with the hidden subcommand `role`.
    pub(crate) fn spawn(program: &Path, role: &str, limits: CallLimits) -> io::Result<Process> {
        let slab = Slab::create(limits)?;
        let room = Room::new()?;
        let (far, leash) = pipe_with(PipeFlags::CLOEXEC)?;
        // Clear of the standard streams, which are rearranged between fork and exec.
        let (slab_fd, leash_fd) = (raise_fd(&slab.fd())?, raise_fd(&far)?);
        let kept = [slab_fd.as_raw_fd(), leash_fd.as_raw_fd()];
        let mut command = Command::new(program);
        command.arg0("bitrift").arg(role).args(kept.map(|fd| fd.to_string())).arg(&room.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.process_group(0).env_clear().env("LC_ALL", "C").env(ROLE, role);
        if let Some(value) = std::env::var_os(KEPT) {
            command.env(KEPT, value);
        }
        // SAFETY: between fork and exec only fcntl is called, which is async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                let failed = kept.iter().any(|&fd| libc::fcntl(fd, libc::F_SETFD, 0) < 0);
                if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
            });
        }
        let mut child = command.spawn()?;
        let requests = child.stdin.take();
        let replies = child.stdout.take().ok_or_else(|| io::Error::other("no reply pipe"))?;
        fcntl_setfl(&replies, OFlags::NONBLOCK)?;
        let pid = Pid::from_child(&child);
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Process {
            child,
            pidfd,
            requests,
            replies,
            inbox: Inbox::default(),
            token: Token::default(),
            slab,
            leash: Some(leash),
            _room: room,
        })
    }

    pub(crate) fn slab(&self) -> &Slab {
        &self.slab
    }

    /// Sends a request under a new token, which the reply to it must have.
    pub(crate) fn send<T: Serialize>(&mut self, request: &T) -> Result<(), Gone> {
        let requests = self.requests.as_mut().ok_or(Gone::Died)?;
        self.token = Token::draw();
        write_frame(requests, &(self.token, request)).map_err(|_| Gone::Died)
    }

    /// Waits for the reply to the last request, however long it takes, as long as `go_on` says so.
    pub(crate) fn receive<T: DeserializeOwned>(
        &mut self,
        go_on: &mut dyn FnMut(&Slab) -> bool,
    ) -> Result<T, Gone> {
        loop {
            if let Some((token, reply)) = self.inbox.take::<(Token, T)>().map_err(|_| Gone::Garbled)? {
                return if token == self.token { Ok(reply) } else { Err(Gone::Garbled) };
            }
            let mut fds =
                [PollFd::new(&self.replies, PollFlags::IN), PollFd::new(&self.pidfd, PollFlags::IN)];
            let ready = wait(&mut fds, TICK);
            let (readable, ended) = (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
            if readable {
                // Most replies are short, and room for more has to be cleared first.
                let room = self.inbox.wanted().max(1 << 10);
                match self.inbox.fill(&mut self.replies, room) {
                    Ok(0) => return Err(Gone::Died),
                    Ok(_) => continue,
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return Err(Gone::Died),
                }
            }
            // A process that code under test left behind may hold the pipe open, so its end alone
            // is not enough to see a death.
            if ended {
                return Err(Gone::Died);
            }
            if !ready && !go_on(&self.slab) {
                return Err(Gone::Stopped);
            }
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Gives the process a moment to end by itself, so that it can say how.
    pub(crate) fn await_end(&self, time: Duration) {
        wait(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], time);
    }

    /// Lets the process go and waits until it and everything below it has ended.
    pub(crate) fn end(&mut self) {
        self.leash = None;
        self.requests = None;
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        if !wait(&mut fds, GRACE) {
            // It is stuck; there is nothing more to be had from it than its death.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }

    /// Ends a process that is stuck in code under test, and its group: it would not hear that it is let go.
    pub(crate) fn kill(&mut self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.wait();
    }

    /// How the process itself ended, in words; call after `end`.
    pub(crate) fn status(&mut self) -> String {
        self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Polls; whether anything is ready. An interrupted wait counts as nothing.
pub(crate) fn wait(fds: &mut [PollFd<'_>], time: Duration) -> bool {
    let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    poll(fds, Some(&time)).is_ok_and(|count| count > 0)
}

/// Ends every process whose parent is this one, and what those leave behind in turn. This process
/// must be a subreaper, so that nothing below it can slip away to init.
pub(crate) fn end_descendants() {
    use rustix::process::{WaitOptions, kill_process, wait as wait_any};
    for _ in 0..5000 {
        match wait_any(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => return,
            Ok(None) => {}
            _ => continue,
        }
        for pid in children() {
            let _ = kill_process_group(pid, Signal::KILL);
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The processes whose parent is this one, by a look through /proc.
pub(crate) fn children() -> Vec<Pid> {
    let me = rustix::process::getpid().as_raw_nonzero().to_string();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| stat_field(*pid, 1).as_ref() == Some(&me))
        .filter_map(Pid::from_raw)
        .collect()
}

/// A word of /proc/PID/stat behind the program's name: 0 is the state, 1 the parent.
pub(crate) fn stat_field(pid: i32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, brackets too.
    stat.rsplit_once(')')?.1.split_whitespace().nth(field).map(Into::into)
}

/// A copy of a descriptor that closes on exec and stays clear of the low numbers.
pub(crate) fn raise_fd(fd: &impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 100)?)
}

/// CPU time of this process so far.
pub(super) fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // Neither is ever negative, and nanoseconds are below 2^30.
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
