//! Running a tool: directly, never through a shell, with a cleared environment and a wall timeout, inside a cage that lets it
//! write nothing but a folder of its own.
//!
//! A tool that fails, hangs or cannot be started is data; nothing here is an error.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::reach::ToolReach;
use crate::sandbox::{Cage, Launch, Launched, Place};

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
    /// The folder of this run alone, where the tool may write.
    pub own: &'a Path,
    /// Where the tool puts its temporary files: its own folder, or one below it.
    pub tmp: &'a Path,
    pub reach: &'a ToolReach,
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
    /// It ran in a cage, which may be why it failed.
    pub caged: bool,
}

/// How tools say that they may not.
const REFUSED: [&str; 2] = ["Permission denied", "Read-only file system"];
const CAGED: &str = "(the sandbox lets compilers read the project, the system and what `[sandbox] read` names, and write nothing \
    but their output; or use --no-sandbox)";

impl Finished {
    pub(super) fn not_started(why: &io::Error) -> Finished {
        let end = End::NotStarted(why.to_string());
        Finished { end, stdout: String::new(), stderr: String::new(), caged: false }
    }

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
        let refused = self.caged
            && !self.success()
            && words.is_some_and(|words| REFUSED.iter().any(|refused| words.contains(refused)));
        let parts = [end.as_deref(), words, refused.then_some(CAGED)];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
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
    run_in(invocation.reach.cage(invocation), invocation, limit)
}

/// Runs a program with code under test, which reaches no more than such code ever does: it is asked something.
pub fn run_code(invocation: &Invocation) -> Finished {
    run_in(invocation.reach.cage_of_code(invocation), invocation, OUTPUT_LIMIT)
}

fn run_in(cage: io::Result<Option<Cage>>, invocation: &Invocation, limit: u64) -> Finished {
    // Files and not pipes: a grandchild that keeps a pipe open cannot keep us waiting.
    let begin = || Ok::<_, io::Error>((cage?, tempfile::tempfile()?, tempfile::tempfile()?));
    let (cage, mut stdout, mut stderr) = match begin() {
        Ok(begun) => begun,
        Err(e) => return Finished::not_started(&e),
    };
    let end = match spawn(invocation, cage.as_ref(), &stdout, &stderr) {
        Ok(launched) => watch(launched, invocation),
        Err(e) => return Finished::not_started(&e),
    };
    let (stdout, stderr) = (read_back(&mut stdout, limit), read_back(&mut stderr, OUTPUT_LIMIT));
    Finished { end, stdout, stderr, caged: cage.is_some() }
}

fn spawn(invocation: &Invocation, cage: Option<&Cage>, stdout: &File, stderr: &File) -> io::Result<Launched> {
    let Some((name, args)) = invocation.argv.split_first() else {
        return Err(io::Error::other("empty command line"));
    };
    let tmp = || OsString::from(invocation.tmp);
    let environment = [
        ("PATH", search_path()),
        ("LC_ALL", "C".into()),
        // What a tool finds in the user's own would be in no key, and is not its business.
        ("HOME", tmp()),
        ("TMPDIR", tmp()),
        // __DATE__ and __TIME__ would make every object different.
        ("SOURCE_DATE_EPOCH", "0".into()),
    ];
    // A compiler finds its parts by its own name; a relative path would mislead it in another folder.
    let name = if name.contains('/') { invocation.program.into() } else { OsString::from(name) };
    let launch = Launch {
        program: invocation.program,
        argv: [name].into_iter().chain(args.iter().map(OsString::from)).collect(),
        variables: environment.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        stdin: raised(&File::open("/dev/null")?)?,
        stdout: raised(stdout)?,
        stderr: raised(stderr)?,
        kept: Vec::new(),
        place: Place::Folder(invocation.cwd, cage),
    };
    let mut attempts = 0;
    loop {
        match launch.start() {
            // Another thread's child holds a freshly written program open until its exec.
            Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy && attempts < 50 => {
                attempts += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

/// A copy of a descriptor that is clear of the standard streams, which are rearranged before a program begins.
fn raised(file: &File) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(file, 3)?)
}

fn watch(mut launched: Launched, invocation: &Invocation) -> End {
    let deadline = Instant::now() + invocation.timeout;
    let stopped = loop {
        // It keeps its number until it is waited for, and with it the group's.
        let exited = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(launched.pid), exited) {
            Ok(Some(_)) => break None,
            Ok(None) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(e) => break Some(End::NotStarted(e.to_string())),
        }
        if invocation.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            break Some(End::Cancelled);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break Some(End::TimedOut);
        }
        let mut fds = [PollFd::new(&launched.pidfd, PollFlags::IN)];
        // An interrupted wait only means looking again.
        let _ = poll(&mut fds, Timespec::try_from(left.min(TICK)).ok().as_ref());
    };
    // The whole group: nothing that a tool started outlives it. Both fail only when all are gone.
    let _ = kill_process_group(launched.pid, Signal::KILL);
    launched.kill();
    let status = launched.wait();
    stopped.unwrap_or_else(|| end_of(status))
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
    use crate::sandbox::{Held, Project};
    use rustix::process::geteuid;

    fn sh(script: &str, timeout: Duration, cancel: Option<&AtomicBool>) -> Finished {
        let own = tempfile::tempdir().unwrap();
        reaching(&ToolReach::default(), own.path(), script, (timeout, cancel))
    }

    /// A shell in its own folder.
    fn reaching(
        reach: &ToolReach,
        own: &Path,
        script: &str,
        (timeout, cancel): (Duration, Option<&AtomicBool>),
    ) -> Finished {
        let argv = ["sh", "-c", script].map(String::from);
        let program = Path::new("/bin/sh");
        run(&Invocation { program, argv: &argv, cwd: own, own, tmp: own, reach, timeout, cancel })
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
        let tmp = tempfile::tempdir().unwrap();
        let argv = [String::from("nope")];
        let program = Path::new("/nonexistent/nope");
        let reach = &ToolReach::default();
        let (own, timeout, cancel) = (tmp.path(), LONG, None);
        let done = run(&Invocation { program, argv: &argv, cwd: own, own, tmp: own, reach, timeout, cancel });
        assert!(done.complaint("nope", LONG).contains("could not be started: No such file"), "{done:?}");
    }

    #[test]
    fn much_output_neither_blocks_nor_is_read_whole() {
        let done = sh("yes | head -c 10000000", LONG, None);
        assert!(done.success());
        assert_eq!(u64::try_from(done.stdout.len()).unwrap(), OUTPUT_LIMIT);
    }

    #[test]
    fn a_caged_tool_writes_its_own_folder_and_nothing_else() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let victim = other.path().join("victim");
        std::fs::write(&victim, "whole").unwrap();
        let shown = victim.display();
        let ways = [
            format!("echo broken > {shown}"),
            format!("rm -f {shown}"),
            format!("mv {shown} ./mine"),
            format!("ln {shown} ./mine && echo broken > ./mine"),
            format!("ln -s {shown} ./link; echo broken > ./link"),
            format!("chmod 000 {shown}"),
            format!("touch {shown}.new"),
        ];
        for way in ways {
            let done = reaching(&ToolReach::default(), own.path(), &way, (LONG, None));
            assert!(!done.success(), "{way}");
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "whole", "{way}");
            assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 1, "{way}");
        }
        let done = reaching(&ToolReach::default(), own.path(), "echo x > a && mv a b && cat b", (LONG, None));
        assert_eq!(done.stdout, "x\n");
        let done = reaching(&ToolReach::off(), own.path(), &format!("echo y > {shown}"), (LONG, None));
        assert!(done.success() && std::fs::read_to_string(&victim).unwrap() == "y\n", "{done:?}");
    }

    #[test]
    fn a_caged_tool_reads_what_it_was_given_and_says_why_not_the_rest() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = other.path().join("secret");
        std::fs::write(&secret, "content").unwrap();
        let script = format!("cat \"$(echo {} | tr : /)\"", secret.display().to_string().replace('/', ":"));
        let refused = reaching(&ToolReach::default(), own.path(), &script, (LONG, None));
        let words = refused.complaint("sh", LONG);
        assert!(words.contains("Permission denied\n(the sandbox lets compilers read"), "{words}");
        for reach in [ToolReach::new(vec![other.path().into()], Project::default()), ToolReach::off()] {
            assert_eq!(reaching(&reach, own.path(), &script, (LONG, None)).stdout, "content");
        }
    }

    #[test]
    fn a_caged_tool_has_no_sockets_and_sees_no_other_process() {
        let socket = "python3 -c 'import socket; socket.socket()'";
        let done = sh(socket, LONG, None);
        assert!(!done.success() && done.stderr.contains("PermissionError"), "{done:?}");
        let me = std::process::id();
        assert!(!sh(&format!("kill -0 {me}"), LONG, None).success());
        assert!(!sh(&format!("cat /proc/{me}/environ"), LONG, None).success());
        assert!(
            !Held::here().namespaces || !sh("cat /proc/1/environ /proc/self/status", LONG, None).success()
        );
    }

    #[test]
    fn a_caged_tool_has_a_bounded_number_of_processes() {
        // For root the limit of a user does not count: numbers of processes begin anew below the bound.
        let script = "ulimit -Hu; for k in {1..1100}; do : & [ $! -le 1024 ] || echo above; wait; done";
        let done = sh(&format!("bash -c '{script}'"), LONG, None);
        let (limit, above) = done.stdout.split_once('\n').unwrap_or_default();
        let by_user = limit.parse::<u64>().is_ok_and(|limit| limit <= 1024) && !geteuid().is_root();
        assert!(!Held::here().processes || by_user || above.is_empty(), "{done:?}");
    }

    #[test]
    fn what_a_tool_leaves_running_ends_with_it() {
        let own = tempfile::tempdir().unwrap();
        let script = "(sleep 0.4; echo late > late) & setsid sh -c 'sleep 0.4; echo late > later' & exit 0";
        assert!(reaching(&ToolReach::default(), own.path(), script, (LONG, None)).success());
        std::thread::sleep(Duration::from_millis(1200));
        let left: Vec<_> = std::fs::read_dir(own.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn a_caged_compiler_compiles_and_links() {
        for command in ["gcc", "clang-16", "tcc"] {
            let own = tempfile::tempdir().unwrap();
            std::fs::write(own.path().join("x.c"), "#include <math.h>\nint main(void) { return 0; }\n")
                .unwrap();
            let script = format!("{command} -c x.c -o x.o && {command} x.o -o x -lm");
            let done = reaching(&ToolReach::default(), own.path(), &script, (LONG, None));
            assert!(done.success(), "{command}: {done:?}");
        }
    }
}
