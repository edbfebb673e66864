//! Watching a process from outside while it runs code under test: no handler in it, no trust in it.
//!
//! The process writes a number before each call. While the number stands still its CPU clock
//! decides, so that a busy machine gives no false timeouts; wall time only catches what sleeps.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, pidfd_open, waitpid,
};

use super::process::{stat_field, wait};
use super::slab::Slab;
use super::states::{End, Phase};
use crate::sandbox::Listener;

/// A process in no call may compute this long between two signs of life, or sleep this long.
const BUSY_CPU: Duration = Duration::from_secs(600);
const BUSY_WALL: Duration = Duration::from_secs(60);
/// The same for loading an object, its constructors and `setup`.
pub(crate) const LOAD_CPU: Duration = Duration::from_secs(10);
pub(crate) const LOAD_WALL: Duration = Duration::from_secs(60);

/// How many times the wall time of a sleeping call one may take that waits for its turn on a busy machine.
const PATIENCE: u32 = 20;

/// When a call has taken too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    cpu: Duration,
    /// For a call that uses no CPU time.
    wall: Duration,
    /// A call this long that does return is counted.
    near: Duration,
    tick: Duration,
    /// CPU time and wall time of all calls together, where their number is known: code that writes to the page can pretend that each
    /// of its calls is a new one.
    whole: Option<[Duration; 2]>,
}

impl Rules {
    /// For a worker with builds side by side. A call of half the timeout is enough to repeat the
    /// work in cautious mode, which decides; so both together stay below two timeouts.
    pub(crate) fn hot(timeout: Duration) -> Rules {
        Rules {
            cpu: timeout / 2,
            wall: 2 * timeout + Duration::from_millis(500),
            near: Duration::MAX,
            tick: tick(timeout),
            whole: None,
        }
    }

    /// For a process that itself watches those that make the calls: it loads, and waits.
    pub(crate) fn loading() -> Rules {
        let (cpu, wall, near) = (Duration::MAX, Duration::MAX, Duration::MAX);
        Rules { cpu, wall, near, tick: Duration::from_millis(20), whole: None }
    }

    /// For a process whose end names one input.
    pub(crate) fn cautious(timeout: Duration, near: Duration) -> Rules {
        Rules { cpu: timeout, wall: blocked_limit(timeout), near, tick: tick(timeout), whole: None }
    }

    /// The same for so many calls: as long as that many which are just not too long may take, and some patience.
    pub(super) fn of_calls(self, calls: usize) -> Rules {
        let calls = u32::try_from(calls).unwrap_or(u32::MAX).saturating_add(1);
        let cpu = self.cpu.saturating_mul(calls).saturating_add(LOAD_CPU);
        let wall = self.wall.saturating_mul(calls.saturating_add(PATIENCE));
        Rules { whole: Some([cpu, wall]), ..self }
    }
}

/// Wall time after which a call that uses no CPU time is given up.
pub(crate) fn blocked_limit(timeout: Duration) -> Duration {
    10 * timeout + Duration::from_secs(2)
}

fn tick(timeout: Duration) -> Duration {
    (timeout / 16).max(Duration::from_millis(1))
}

/// Waits for the end of a child, ends it when it breaks the rules or `leash` closes, and reaps it.
/// The child must lead a process group of its own, which is killed with it.
pub(crate) fn watch(
    pid: Pid,
    slab: &Slab,
    leash: BorrowedFd<'_>,
    listener: Option<&Listener>,
    rules: Rules,
) -> End {
    // What is refused is nothing that is waited for, so that nothing but an end is seen.
    let mut answer = || {
        if let Some(listener) = listener {
            listener.answer(&|refused| slab.refuse(refused));
        }
        false
    };
    let line = listener.map(|listener| (listener.as_fd(), &mut answer as &mut dyn FnMut() -> bool));
    attend(pid, slab, leash, line, rules).unwrap_or(End::Released)
}

/// A descriptor to listen on, and what takes in what came there: true for what was waited for.
pub(super) type Line<'a> = (BorrowedFd<'a>, &'a mut dyn FnMut() -> bool);

/// As `watch`; but None, with the child alive, when what was waited for came on the line.
pub(super) fn attend(
    pid: Pid,
    slab: &Slab,
    leash: BorrowedFd<'_>,
    mut line: Option<Line<'_>>,
    rules: Rules,
) -> Option<End> {
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return Some(kill(pid, End::Released)) };
    let mut pace = Pace::start(pid, slab);
    loop {
        // The leash never carries a byte: it is ready when its other end is closed.
        let mut fds =
            vec![PollFd::new(&pidfd, PollFlags::IN), PollFd::from_borrowed_fd(leash, PollFlags::IN)];
        fds.extend(line.iter().map(|(fd, _)| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        let ready = wait(&mut fds, rules.tick);
        let released = !fds[1].revents().is_empty();
        let news = fds.get(2).map_or(PollFlags::empty(), PollFd::revents);
        if let Ok(Some((_, status))) = waitpid(Some(pid), WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            slab.add_near(pace.near_call(rules));
            if let Some(number) = status.stopping_signal() {
                return Some(kill(pid, End::Signal(number)));
            }
            let _ = kill_process_group(pid, Signal::KILL);
            return Some(end_of(status));
        }
        if released {
            return Some(kill(pid, End::Released));
        }
        if news.contains(PollFlags::HUP) {
            // The far end is closed, mostly because the child is about to end.
            line = None;
        } else if !news.is_empty() && line.as_mut().is_some_and(|(_, is_answer)| is_answer()) {
            slab.add_near(pace.near_call(rules));
            return None;
        }
        // Noise on the line is no reason to look away.
        if (!ready || !news.is_empty()) && pace.breaks(slab, rules) {
            // What the calls before the one that does not end have taken, since this watch began.
            slab.add_spent(pace.since_cpu.saturating_sub(pace.begun_cpu));
            return Some(kill(pid, End::Timeout));
        }
    }
}

/// Kills a child and reaps it; `end` unless it was ending by itself.
pub(super) fn kill(pid: Pid, end: End) -> End {
    let _ = kill_process_group(pid, Signal::KILL);
    let _ = kill_process(pid, Signal::KILL);
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(Some((_, status))) if end == End::Released => match end_of(status) {
                End::Signal(number) if number == Signal::KILL.as_raw() => return end,
                own => return own,
            },
            _ => return end,
        }
    }
}

fn end_of(status: WaitStatus) -> End {
    let exited = status.exit_status().map(End::Exit);
    exited.or(status.terminating_signal().map(End::Signal)).unwrap_or(End::Released)
}

/// What was last seen of a process, and since when.
struct Pace {
    pid: Pid,
    clock: Option<libc::clockid_t>,
    sequence: u64,
    phase: Phase,
    /// When it was first looked at, and the CPU time it had used then.
    begun: Instant,
    begun_cpu: Duration,
    since_cpu: Duration,
    since_wall: Instant,
    /// CPU time used since then.
    cpu: Duration,
}

impl Pace {
    fn start(pid: Pid, slab: &Slab) -> Pace {
        let mut pace = Pace {
            pid,
            clock: cpu_clock(pid),
            sequence: slab.sequence(),
            phase: slab.phase(),
            begun: Instant::now(),
            begun_cpu: Duration::ZERO,
            since_cpu: Duration::ZERO,
            since_wall: Instant::now(),
            cpu: Duration::ZERO,
        };
        pace.begun_cpu = pace.used();
        pace.since_cpu = pace.begun_cpu;
        pace
    }

    fn used(&self) -> Duration {
        self.clock.and_then(cpu_time).unwrap_or(self.since_cpu)
    }

    fn breaks(&mut self, slab: &Slab, rules: Rules) -> bool {
        let (sequence, phase) = (slab.sequence(), slab.phase());
        let used = self.used();
        let all = [used.saturating_sub(self.begun_cpu), self.begun.elapsed()];
        if rules.whole.is_some_and(|most| all[0] >= most[0] || all[1] >= most[1]) {
            return true;
        }
        if (sequence, phase) != (self.sequence, self.phase) {
            slab.add_near(self.near_call(rules));
            (self.sequence, self.phase) = (sequence, phase);
            (self.since_cpu, self.since_wall) = (used, Instant::now());
            self.cpu = Duration::ZERO;
            return false;
        }
        self.cpu = used.saturating_sub(self.since_cpu);
        let wall = self.since_wall.elapsed();
        let (cpu_limit, wall_limit) = match phase {
            // It waits for work, which takes no time. Whoever says so and computes has written to the page himself.
            Phase::Idle => return self.cpu >= LOAD_CPU,
            Phase::Busy => (BUSY_CPU, BUSY_WALL),
            Phase::Load(_) => (LOAD_CPU, LOAD_WALL),
            Phase::Call(_) => (rules.cpu, rules.wall),
        };
        // One that waits for its turn on a busy machine is not asleep.
        let asleep = wall >= wall_limit && self.cpu < wall / 64 && !is_runnable(self.pid);
        self.cpu >= cpu_limit
            || asleep
            || (wall >= wall_limit.saturating_mul(PATIENCE) && phase != Phase::Busy)
    }

    /// 1 when the call last seen ran long enough to be close to the timeout. It began up to a tick
    /// before it was first seen.
    fn near_call(&self, rules: Rules) -> u64 {
        let near = matches!(self.phase, Phase::Call(_)) && self.cpu.saturating_add(rules.tick) >= rules.near;
        u64::from(near)
    }
}

pub(super) fn is_runnable(pid: Pid) -> bool {
    stat_field(pid.as_raw_nonzero().get(), 0).as_deref() == Some("R")
}

pub(super) fn cpu_clock(pid: Pid) -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: writes one clock id.
    let failed = unsafe { libc::clock_getcpuclockid(pid.as_raw_nonzero().get(), &mut clock) };
    (failed == 0).then_some(clock)
}

pub(super) fn cpu_time(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec; a clock whose process is gone is an error.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) };
    (failed == 0).then(|| Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32))
}
