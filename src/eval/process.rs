//! The near end of a process that runs code under test: starts it, talks to it, ends it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame::{Inbox, frame};
use super::quarters::Quarters;
use super::slab::Slab;
use super::states::End;
use super::token::Token;
use crate::sandbox::{Launch, Launched, Place, Sandbox, remove_folder};

/// How often a waiting side looks around.
const TICK: Duration = Duration::from_millis(50);

/// How long a message may take from its first byte to its last.
const MESSAGE_TIME: Duration = Duration::from_secs(60);

/// How long a process may take to clean up before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// How long a process that watches over another may stand stopped.
const STANDSTILL: Duration = Duration::from_secs(2);

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
    child: Launched,
    requests: Option<File>,
    replies: File,
    inbox: Inbox,
    /// Of the last request.
    token: Token,
    slab: Slab,
    /// The other side cleans up and ends when this closes, also when this process is killed.
    leash: Option<OwnedFd>,
    /// Since when it has been seen stopped.
    stopped: Option<Instant>,
    _room: Room,
}

/// The folder the other side is in. That side makes it, so that none is left when this process is
/// killed before the other has started; each side removes it, because either may be killed.
struct Room(PathBuf);

impl Room {
    /// A name that no other process has: not even one that had this process's number before.
    fn new(sandbox: &Sandbox) -> io::Result<Room> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let name = format!("bitrift-{}-{count}-{now:x}", std::process::id());
        if let Some(scratch) = sandbox.scratch() {
            return Ok(Room(scratch.join(name)));
        }
        let folder = std::path::absolute(std::env::temp_dir())?;
        // Not to be told as a process that died without a word.
        rustix::fs::access(&folder, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|e| io::Error::other(format!("{} cannot be used: {e}", folder.display())))?;
        Ok(Room(folder.join(name)))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = remove_folder(&self.0);
    }
}

impl Process {
    /// Starts a process in a hidden role.
    pub(crate) fn spawn(quarters: &Quarters, role: &str) -> io::Result<Process> {
        let Quarters { program, limits, sandbox, .. } = quarters;
        sandbox.check()?;
        // Inside a sandbox, where temporary files go is its bounded scratch folder.
        let bounded = sandbox.is_inside_scratch().then(std::env::temp_dir);
        let slab = Slab::create(*limits, bounded.as_deref())?;
        let room = Room::new(sandbox)?;
        let (far, leash) = pipe_with(PipeFlags::CLOEXEC)?;
        // Clear of the standard streams, which are rearranged before the program begins.
        let (slab_fd, leash_fd) = (raise_fd(&slab.fd()?)?, raise_fd(&far)?);
        let (stdin, requests) = pipe_with(PipeFlags::CLOEXEC)?;
        let (replies, stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let kept = vec![slab_fd.as_raw_fd(), leash_fd.as_raw_fd()];
        let mut argv = vec!["bitrift".into(), role.into()];
        argv.extend(kept.iter().map(|fd| fd.to_string().into()));
        argv.push(room.0.clone().into());
        let mut variables = vec![("LC_ALL".into(), "C".into()), (ROLE.into(), role.into())];
        variables.extend(std::env::var_os(KEPT).map(|value| (KEPT.into(), value)));
        let launch = Launch {
            program,
            argv,
            variables,
            stdin: raise_fd(&stdin)?,
            stdout: raise_fd(&stdout)?,
            stderr: raise_fd(&File::options().write(true).open("/dev/null")?)?,
            kept,
            place: if sandbox.is_apart() { Place::World } else { Place::Here },
        };
        let child = launch.start()?;
        fcntl_setfl(&replies, OFlags::NONBLOCK)?;
        fcntl_setfl(&requests, OFlags::NONBLOCK)?;
        let mut process = Process {
            child,
            requests: Some(File::from(requests)),
            replies: File::from(replies),
            inbox: Inbox::new(0),
            token: Token::default(),
            slab,
            leash: Some(leash),
            stopped: None,
            _room: room,
        };
        // The first thing that it reads. One that is already gone is seen when it is asked.
        let _ = process.write(&frame(&**sandbox)?);
        Ok(process)
    }

    pub(crate) fn slab(&self) -> &Slab {
        &self.slab
    }

    /// Sends a request under a new token, which the reply to it must have.
    pub(crate) fn send<T: Serialize>(&mut self, request: &T) -> Result<(), Gone> {
        self.token = Token::draw();
        let message = frame(&(self.token, request)).map_err(|_| Gone::Died)?;
        self.write(&message)
    }

    fn write(&mut self, message: &[u8]) -> Result<(), Gone> {
        let requests = self.requests.as_mut().ok_or(Gone::Died)?;
        let (begun, mut left) = (Instant::now(), message);
        while !left.is_empty() {
            match requests.write(left) {
                Ok(written) => left = &left[written..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    let mut fds = [
                        PollFd::new(requests, PollFlags::OUT),
                        PollFd::new(&self.child.pidfd, PollFlags::IN),
                    ];
                    wait(&mut fds, TICK);
                    if !fds[1].revents().is_empty() || begun.elapsed() > MESSAGE_TIME {
                        return Err(Gone::Died);
                    }
                }
                Err(_) => return Err(Gone::Died),
            }
        }
        Ok(())
    }

    /// Waits for the reply to the last request, of at most so many bytes, however long it takes, as long as `go_on` says so.
    pub(crate) fn receive<T: DeserializeOwned>(
        &mut self,
        longest: usize,
        go_on: &mut dyn FnMut(&Slab) -> bool,
    ) -> Result<T, Gone> {
        self.inbox.expect(longest);
        let (mut looked, mut begun) = (Instant::now(), None);
        loop {
            if let Some((token, reply)) = self.inbox.take::<(Token, T)>().map_err(|_| Gone::Garbled)? {
                return if token == self.token { Ok(reply) } else { Err(Gone::Garbled) };
            }
            let mut fds =
                [PollFd::new(&self.replies, PollFlags::IN), PollFd::new(&self.child.pidfd, PollFlags::IN)];
            wait(&mut fds, TICK);
            let (readable, ended) = (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
            // By the clock: code under test that writes to the pipe must not keep anybody from looking around.
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                if self.is_stopped() {
                    self.slab.set_end(End::Stopped);
                    self.kill();
                    return Err(Gone::Died);
                }
                if !go_on(&self.slab) {
                    return Err(Gone::Stopped);
                }
                if self.inbox.has_begun() && begun.get_or_insert(looked).elapsed() > MESSAGE_TIME {
                    return Err(Gone::Garbled);
                }
            }
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
        }
    }

    /// Whether somebody has stopped it and lets it stand: it watches over others, who would never be ended.
    fn is_stopped(&mut self) -> bool {
        if stat_field(self.pid().as_raw_nonzero().get(), 0).as_deref() != Some("T") {
            self.stopped = None;
            return false;
        }
        self.stopped.get_or_insert_with(Instant::now).elapsed() >= STANDSTILL
    }

    pub(crate) fn pid(&self) -> Pid {
        self.child.pid
    }

    /// Gives the process a moment to end by itself, so that it can say how.
    pub(crate) fn await_end(&self, time: Duration) {
        wait(&mut [PollFd::new(&self.child.pidfd, PollFlags::IN)], time);
    }

    /// Lets the process go and waits until it and everything below it has ended.
    pub(crate) fn end(&mut self) {
        self.leash = None;
        self.requests = None;
        let mut fds = [PollFd::new(&self.child.pidfd, PollFlags::IN)];
        if !wait(&mut fds, GRACE) {
            // It is stuck; there is nothing more to be had from it than its death.
            self.child.kill();
        }
        self.child.wait();
    }

    /// Ends a process that is stuck in code under test, and its group: it would not hear that it is let go.
    pub(crate) fn kill(&mut self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
        self.child.kill();
        self.child.wait();
    }

    /// How the process that it watched over ended, or it itself, in words; call after `end`.
    pub(crate) fn status(&mut self) -> String {
        use std::os::unix::process::ExitStatusExt;
        let raw = match self.slab.end() {
            Some(End::Exit(code)) => (code & 0xff) << 8,
            Some(End::Signal(number)) => number,
            Some(end) => return end.fault().to_string(),
            None => return self.child.wait().to_string(),
        };
        std::process::ExitStatus::from_raw(raw).to_string()
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
    rustix::io::fcntl_dupfd_cloexec(fd, 100).map_err(|e| match e {
        rustix::io::Errno::INVAL => {
            io::Error::other("too few files may be open at once (`ulimit -n`); 256 are enough")
        }
        other => other.into(),
    })
}

/// CPU time of this process so far.
pub(super) fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    // Neither is ever negative, and nanoseconds are below 2^30.
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
