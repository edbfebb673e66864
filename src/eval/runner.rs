//! A build's runner seen from the process that feeds it: a program of its own, perhaps on an
//! emulator, that is asked through pipes. It may die, hang or answer noise at any time.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Resource, getrlimit, pidfd_open};

use super::process::wait;
use super::settle::EMULATOR;
use super::token::Token;
use super::watch::{LOAD_CPU, LOAD_WALL, blocked_limit, cpu_clock, cpu_time, is_runnable};
use super::words::{Asked, Done, Expected, Message, Mode, Ready, hello, parse, refusal, request};
use crate::model::{FaultKind, RunnerPlan};

/// Bytes read at a time: the answer to a usual batch.
const READ: usize = 1 << 14;

/// Why a runner gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Whoever wanted the answer is gone.
    Released,
    Died(FaultKind),
    /// It used up its time, or slept.
    Hung,
    /// It answered noise.
    Garbled,
    /// It said why.
    Refused(String),
}

/// A request, and how long it may take.
pub(super) struct Errand<'i> {
    pub function: usize,
    pub arity: usize,
    pub width: usize,
    pub mode: Mode,
    pub inputs: &'i [u64],
    /// CPU time of one call.
    pub timeout: Duration,
}

/// How whoever waits for a runner is reached meanwhile.
pub(super) struct Wire<'w> {
    /// Ready when nobody waits any more.
    pub leash: Option<BorrowedFd<'w>>,
    /// Called while there is hope.
    pub beat: &'w mut dyn FnMut(),
}

/// A running runner. Killed when dropped.
pub(super) struct Runner {
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    clock: Option<libc::clockid_t>,
    requests: ChildStdin,
    replies: ChildStdout,
    unread: Vec<u8>,
    /// The CPU time it had used when it was looked at last. It uses none until it is asked again.
    seen: Duration,
    /// It has made calls in its own process, so that its forks are not fresh.
    pub used: bool,
}

/// When to stop waiting for a message.
struct Patience {
    /// CPU time of the runner itself.
    cpu: Option<Duration>,
    /// Wall time without a word, if it is not that it waits for its turn on a busy machine.
    silence: Duration,
    /// Wall time without a word, whatever it does.
    most: Duration,
    tick: Duration,
}

impl Runner {
    /// Starts `program` and waits until it is ready.
    pub(super) fn start(
        program: &Path,
        plan: &RunnerPlan,
        memory_mb: u64,
        wire: &mut Wire<'_>,
    ) -> Result<Runner, Lost> {
        let refused = |e: io::Error| {
            let shown = plan.command.first().map_or_else(|| program.display().to_string(), Clone::clone);
            Lost::Refused(format!("{shown}: {e}"))
        };
        let mut runner = Runner::spawn(program, plan, memory_mb).map_err(refused)?;
        let tick = Duration::from_millis(50);
        // An emulator spends far more than the code that it runs would.
        let cpu = plan.command.is_empty().then_some(LOAD_CPU);
        let patience = Patience { cpu, silence: LOAD_WALL, most: LOAD_WALL, tick };
        match runner.exchange(
            hello(&plan.setting),
            Expected { count: 0, width: 0, token: Token::default() },
            &patience,
            wire,
        )? {
            Message::Ready(Ready { .. }) => {
                runner.seen = runner.used_cpu();
                Ok(runner)
            }
            Message::Refused(reason) => Err(Lost::Refused(refusal(reason))),
            Message::Beat | Message::Done(_) => Err(Lost::Garbled),
        }
    }

    fn spawn(program: &Path, plan: &RunnerPlan, memory_mb: u64) -> io::Result<Runner> {
        let mut argv = plan.command.iter().map(String::as_ref).chain([program.as_os_str()]);
        let mut command = Command::new(argv.next().unwrap_or_default());
        command.args(argv).envs(plan.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.process_group(0);
        let most = getrlimit(Resource::As).maximum.unwrap_or(libc::RLIM_INFINITY);
        let own = memory_mb.saturating_mul(1 << 20);
        let own = if plan.command.is_empty() { own } else { own.saturating_add(EMULATOR) };
        let data = own.min(most);
        // SAFETY: between fork and exec only system calls are made that are async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                // An emulator reserves far more addresses than memory, so its data is limited instead.
                let space = libc::rlimit { rlim_cur: most, rlim_max: most };
                let data = libc::rlimit { rlim_cur: data, rlim_max: data };
                libc::setrlimit(libc::RLIMIT_AS, &space);
                libc::setrlimit(libc::RLIMIT_DATA, &data);
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        let no_pipe = || io::Error::other("no pipe");
        let requests = child.stdin.take().ok_or_else(no_pipe)?;
        let replies = child.stdout.take().ok_or_else(no_pipe)?;
        fcntl_setfl(&requests, OFlags::NONBLOCK)?;
        fcntl_setfl(&replies, OFlags::NONBLOCK)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        let clock = cpu_clock(pid);
        Ok(Runner {
            child,
            pid,
            pidfd,
            clock,
            requests,
            replies,
            unread: Vec::new(),
            seen: Duration::ZERO,
            used: false,
        })
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Runs an errand.
    pub(super) fn run(&mut self, errand: &Errand<'_>, wire: &mut Wire<'_>) -> Result<Done, Lost> {
        let Errand { function, arity, width, mode, inputs, timeout } = *errand;
        let hot = mode == Mode::Hot;
        self.used |= hot;
        let patience = Patience {
            // A hot batch that takes as long as one call may is repeated where each call is watched.
            cpu: hot.then_some(timeout),
            silence: blocked_limit(timeout),
            // What works without end is known by the clock where that can be seen.
            most: if hot { Duration::MAX } else { 25 * blocked_limit(timeout) },
            tick: (timeout / 16).clamp(Duration::from_millis(1), Duration::from_millis(50)),
        };
        let micros = u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX);
        let token = Token::draw();
        let asked = request(&Asked { function, arity, width, mode, timeout_us: micros, token }, inputs);
        let answer = Expected { count: inputs.len() / arity.max(1), width, token };
        match self.exchange(asked, answer, &patience, wire)? {
            Message::Done(mut done) => {
                let now = self.used_cpu();
                let spent = now.saturating_sub(std::mem::replace(&mut self.seen, now));
                if hot {
                    done.spent_ns = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
                }
                Ok(done)
            }
            Message::Refused(reason) => Err(Lost::Refused(refusal(reason))),
            Message::Ready(_) | Message::Beat => Err(Lost::Garbled),
        }
    }

    /// Sends a request and waits for the message that answers it.
    fn exchange(
        &mut self,
        asked: Vec<u8>,
        expected: Expected,
        patience: &Patience,
        wire: &mut Wire<'_>,
    ) -> Result<Message, Lost> {
        let mut unsent = asked.as_slice();
        let mut heard = Instant::now();
        let mut looked = heard;
        self.send(&mut unsent);
        loop {
            match parse(&self.unread, expected).map_err(|_| Lost::Garbled)? {
                Some((message, length)) => {
                    self.unread.drain(..length);
                    heard = Instant::now();
                    if message != Message::Beat {
                        return Ok(message);
                    }
                }
                None if self.turn(&mut unsent, patience.tick, wire.leash)? => heard = Instant::now(),
                None => {}
            }
            (wire.beat)();
            // Its clock costs as much to read as a message.
            if looked.elapsed() < patience.tick {
                continue;
            }
            looked = Instant::now();
            let spent = self.used_cpu().saturating_sub(self.seen);
            let silent = heard.elapsed();
            let asleep = silent >= patience.silence && !is_runnable(self.pid);
            if asleep || silent >= patience.most || patience.cpu.is_some_and(|limit| spent >= limit) {
                return Err(Lost::Hung);
            }
        }
    }

    /// Waits a moment, writes and reads what can be; whether anything was read.
    fn turn(
        &mut self,
        unsent: &mut &[u8],
        tick: Duration,
        leash: Option<BorrowedFd<'_>>,
    ) -> Result<bool, Lost> {
        // One that is not waited for stands for one that never is ready.
        let (on_leash, on_room) = (leash.is_some(), !unsent.is_empty());
        let mut fds = [
            PollFd::new(&self.replies, PollFlags::IN),
            PollFd::new(&self.pidfd, PollFlags::IN),
            PollFd::from_borrowed_fd(leash.unwrap_or(self.pidfd.as_fd()), PollFlags::IN),
            PollFd::new(&self.requests, if on_room { PollFlags::OUT } else { PollFlags::empty() }),
        ];
        wait(&mut fds, tick);
        let [readable, ended, released, room] = fds.each_ref().map(|fd| !fd.revents().is_empty());
        if on_leash && released {
            return Err(Lost::Released);
        }
        if on_room && room {
            self.send(unsent);
        }
        let mut read = 0;
        if readable {
            let before = self.unread.len();
            self.unread.resize(before + READ, 0);
            let got = self.replies.read(&mut self.unread[before..]);
            read = *got.as_ref().unwrap_or(&0);
            self.unread.truncate(before + read);
            match got {
                Ok(0) => return Err(self.death()),
                Err(e) if !matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                    return Err(self.death());
                }
                _ => {}
            }
        }
        // What it wrote before it died has been read, or there is none.
        if ended && read == 0 {
            return Err(self.death());
        }
        Ok(read > 0)
    }

    /// Writes as much as there is room for.
    fn send(&mut self, unsent: &mut &[u8]) {
        match self.requests.write(unsent) {
            Ok(sent) => *unsent = &unsent[sent..],
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // Nobody reads any more; what it has said may tell why.
            Err(_) => *unsent = &[],
        }
    }

    /// How it ended. Its pipes close a little before it does.
    fn death(&mut self) -> Lost {
        if !wait(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Duration::from_secs(1)) {
            // It closed its pipes and lives on: no runner does that by itself.
            return Lost::Garbled;
        }
        match self.child.wait() {
            Ok(status) => Lost::Died(fault_of(status)),
            Err(_) => Lost::Garbled,
        }
    }

    fn used_cpu(&self) -> Duration {
        self.clock.and_then(cpu_time).unwrap_or_default()
    }
}

fn fault_of(status: ExitStatus) -> FaultKind {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(number) => FaultKind::Signal(number),
        None => FaultKind::Exit(status.code().unwrap_or(0)),
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process_group(self.pid, rustix::process::Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
