//! Running a tool: directly, never through a shell, with a cleared environment and a wall timeout.
//!
//! A tool that fails, hangs or cannot be started is data; nothing here is an error.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// The most of a tool's output that is read, unless more is asked for.
const OUTPUT_LIMIT: u64 = 4 << 20;
/// How often a running tool is looked at for an interrupt.
const TICK: Duration = Duration::from_millis(100);

/// One run of a tool.
pub struct Invocation<'a> {
    pub program: &'a Path,
    /// The first entry is the name the tool sees of itself.
    pub argv: &'a [String],
    pub cwd: &'a Path,
    /// Where the tool puts its own temporary files.
    pub tmp: &'a Path,
    pub timeout: Duration,
    /// Set by an interrupt: the tool is stopped.
    pub cancel: Option<&'a AtomicBool>,
}

/// How a tool ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signaled(i32),
    TimedOut,
    Cancelled,
    /// The system's reason.
    NotStarted(String),
}

/// A tool's end and what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub end: End,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    pub fn success(&self) -> bool {
        self.end == End::Exited(0)
    }

    /// What went wrong, in the tool's own words where it has any.
    pub fn complaint(&self, tool: &str, timeout: Duration) -> String {
        let words = [&self.stderr, &self.stdout].into_iter().map(|s| s.trim_end()).find(|s| !s.is_empty());
        let end = match &self.end {
            End::Exited(0) => None,
            End::Exited(_) if words.is_some() => None,
            End::Exited(code) => Some(format!("{tool} ended with exit status {code} and no message")),
            End::Signaled(signal) => Some(format!("{tool} was killed by signal {signal}")),
            End::TimedOut => {
                Some(format!("{tool} did not finish within {} s and was stopped", timeout.as_secs_f64()))
            }
            End::Cancelled => Some(format!("{tool} was stopped by an interrupt")),
            End::NotStarted(reason) => Some(format!("{tool} could not be started: {reason}")),
        };
        [end.as_deref(), words].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// The PATH that commands are looked up in and that tools see.
pub fn search_path() -> OsString {
    std::env::var_os("PATH")
        .filter(|p| !p.is_empty())
        .unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into())
}

/// Runs a tool to its end, its timeout or an interrupt.
pub fn run(invocation: &Invocation) -> Finished {
    run_reading(invocation, OUTPUT_LIMIT)
}

/// The same, reading so many bytes of what it prints.
pub fn run_reading(invocation: &Invocation, limit: u64) -> Finished {
    let not_started = |e: io::Error| Finished {
        end: End::NotStarted(e.to_string()),
        stdout: String::new(),
        stderr: String::new(),
    };
    // Files and not pipes: a grandchild that keeps a pipe open cannot keep us waiting.
    let (mut stdout, mut stderr) = match (tempfile::tempfile(), tempfile::tempfile()) {
        (Ok(out), Ok(err)) => (out, err),
        (Err(e), _) | (_, Err(e)) => return not_started(e),
    };
    let end = match spawn(invocation, &stdout, &stderr) {
        Ok(child) => watch(child, invocation),
        Err(e) => return not_started(e),
    };
    Finished { end, stdout: read_back(&mut stdout, limit), stderr: read_back(&mut stderr, OUTPUT_LIMIT) }
}

fn spawn(invocation: &Invocation, stdout: &File, stderr: &File) -> io::Result<Child> {
    let Some((name, args)) = invocation.argv.split_first() else {
        return Err(io::Error::other("empty command line"));
    };
    let mut command = Command::new(invocation.program);
    command
        .args(args)
        .current_dir(invocation.cwd)
        .env_clear()
        .env("PATH", search_path())
        .env("LC_ALL", "C")
        .env("HOME", std::env::var_os("HOME").unwrap_or_else(|| invocation.tmp.into()))
        .env("TMPDIR", invocation.tmp)
        // __DATE__ and __TIME__ would make every object different.
        .env("SOURCE_DATE_EPOCH", "0")
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .process_group(0);
    // A compiler finds its parts by its own name; a relative path would mislead it in another folder.
    if !name.contains('/') {
        command.arg0(name);
    }
    let mut attempts = 0;
    loop {
        match command.spawn() {
            // Another thread's child holds a freshly written program open until its exec.
            Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy && attempts < 50 => {
                attempts += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

fn watch(mut child: Child, invocation: &Invocation) -> End {
    let deadline = Instant::now() + invocation.timeout;
    let pid = Pid::from_child(&child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty());
    let stopped = loop {
        match child.try_wait() {
            Ok(Some(status)) => return end_of(status),
            Ok(None) => {}
            Err(e) => return End::NotStarted(e.to_string()),
        }
        if invocation.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            break End::Cancelled;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break End::TimedOut;
        }
        let tick = left.min(TICK);
        match &pidfd {
            Ok(fd) => {
                let mut fds = [PollFd::new(fd, PollFlags::IN)];
                // An interrupted wait only means looking again.
                let _ = poll(&mut fds, Timespec::try_from(tick).ok().as_ref());
            }
            Err(_) => std::thread::sleep(tick.min(Duration::from_millis(5))),
        }
    };
    // The whole group: a driver's passes must not outlive it. Both fail only when all are gone.
    let _ = kill_process_group(pid, Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
    stopped
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        (None, None) => End::NotStarted("unknown status".into()),
    }
}

fn read_back(file: &mut File, limit: u64) -> String {
    let mut bytes = Vec::new();
    // What cannot be read back is only a message.
    let _ = file.rewind().and_then(|()| file.take(limit).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration, cancel: Option<&AtomicBool>) -> Finished {
        let argv = ["sh", "-c", script].map(String::from);
        let tmp = std::env::temp_dir();
        run(&Invocation { program: Path::new("/bin/sh"), argv: &argv, cwd: &tmp, tmp: &tmp, timeout, cancel })
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn the_output_and_the_exit_status_come_back() {
        let done = sh("echo out; echo err >&2; exit 3", LONG, None);
        assert_eq!(done.end, End::Exited(3));
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(done.complaint("sh", LONG), "err");
    }

    #[test]
    fn the_environment_is_cleared() {
        let done = sh("env | cut -d= -f1 | sort", LONG, None);
        let names: Vec<&str> =
            done.stdout.lines().filter(|n| !matches!(*n, "_" | "PWD" | "SHLVL" | "OLDPWD")).collect();
        assert_eq!(names, ["HOME", "LC_ALL", "PATH", "SOURCE_DATE_EPOCH", "TMPDIR"]);
    }

    #[test]
    fn a_hanging_tool_is_stopped_with_its_children() {
        let start = Instant::now();
        let done = sh("echo $$; sleep 60 & wait", Duration::from_millis(300), None);
        assert_eq!(done.end, End::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(10));
        let group: i32 = done.stdout.trim().parse().unwrap();
        // A killed grandchild stays a zombie until init has taken notice of it.
        let ended = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            only_zombies(group)
        });
        assert!(ended, "a child outlived the timeout");
        assert!(
            done.complaint("sh", Duration::from_millis(300)).starts_with("sh did not finish within 0.3 s")
        );
    }

    fn only_zombies(group: i32) -> bool {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.filter_map(|p| std::fs::read_to_string(p.path().join("stat")).ok()).all(|stat| {
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
            fields.get(2) != Some(&group.to_string().as_str()) || fields.first() == Some(&"Z")
        })
    }

    #[test]
    fn an_interrupt_stops_a_tool() {
        let cancel = AtomicBool::new(true);
        assert_eq!(sh("sleep 60", LONG, Some(&cancel)).end, End::Cancelled);
    }

    #[test]
    fn a_killed_tool_and_one_that_is_not_there_say_so() {
        let killed = sh("kill -9 $$", LONG, None);
        assert_eq!(killed.complaint("cc", LONG), "cc was killed by signal 9");
        let tmp = std::env::temp_dir();
        let argv = [String::from("nope")];
        let program = Path::new("/nonexistent/nope");
        let done =
            run(&Invocation { program, argv: &argv, cwd: &tmp, tmp: &tmp, timeout: LONG, cancel: None });
        assert!(done.complaint("nope", LONG).contains("could not be started: No such file"), "{done:?}");
    }

    #[test]
    fn much_output_neither_blocks_nor_is_read_whole() {
        let done = sh("yes | head -c 10000000", LONG, None);
        assert!(done.success());
        assert_eq!(u64::try_from(done.stdout.len()).unwrap(), OUTPUT_LIMIT);
    }
}
