//! What this machine's kernel lets a sandbox hold, found out by trying.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{apart, files};

/// The means that a kernel offers. Which of them a run used decides no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Landlock's version; 0 for none.
    pub landlock: u32,
    /// Filters of system calls, and whether refusals can be heard.
    pub filters: bool,
    pub heard: bool,
    /// Namespaces of users, processes, mounts and System V objects, with a new /proc and a bounded scratch folder.
    pub namespaces: bool,
    /// The number of processes can be bounded.
    pub processes: bool,
    /// Who asks, where signals to him can be refused by no better means.
    asking: i32,
}

/// Landlock's first version that keeps signals inside.
const SIGNALS: u32 = 6;
/// Its first version that keeps files from being cut short.
const TRUNCATE: u32 = 3;

impl Held {
    /// What holds here. Asked once.
    pub fn here() -> Held {
        static HERE: OnceLock<Held> = OnceLock::new();
        *HERE.get_or_init(|| {
            let (namespaces, bounded) = apart::try_out();
            let root = rustix::process::getuid().is_root();
            Held {
                landlock: files::version(),
                filters: has_action(libc::SECCOMP_RET_ERRNO),
                heard: has_action(0x7fc0_0000),
                namespaces,
                // The kernel's own limit for a user does not count for root, and is set where it counts one world alone.
                processes: bounded || (namespaces && !root && apart::kernel() >= (5, 14)),
                asking: rustix::process::getpid().as_raw_nonzero().get(),
            }
        })
    }

    /// The process that a filter has to protect from signals, if nothing else does.
    pub(super) fn protected(&self) -> Option<i32> {
        (self.landlock < SIGNALS).then_some(self.asking)
    }

    /// The same on a kernel that has less: Landlock of at most this version, namespaces or none. What is not there cannot be
    /// asked for. For tests of what holds on other machines.
    pub fn limited(self, landlock: u32, namespaces: bool) -> Held {
        let namespaces = namespaces && self.namespaces;
        Held { landlock: self.landlock.min(landlock), namespaces, ..self }
    }

    /// What a sandbox is there for, each with what holds it here.
    pub fn promises(&self) -> Vec<Promise> {
        let landlock = |from: u32| (self.landlock >= from).then(|| format!("Landlock {}", self.landlock));
        let namespaces = || self.namespaces.then(|| "namespaces".to_string());
        let filters = || self.filters.then(|| "a filter of system calls".to_string());
        let promise = |holds, otherwise, by: [Option<String>; 2]| {
            let by: Vec<String> = by.into_iter().flatten().collect();
            Promise { holds, otherwise, by: (!by.is_empty()).then(|| by.join(", ")) }
        };
        let bounded = self.processes.then(|| "the kernel's limits".to_string());
        vec![
            promise("reads no files of yours", "read your files", [landlock(1), None]),
            promise("writes no files of yours", "write your files", [landlock(1), namespaces()]),
            promise(
                "empties no files of yours",
                "empty files that are yours",
                [landlock(TRUNCATE), namespaces()],
            ),
            promise("changes no modes of files", "change modes of your files", [filters(), namespaces()]),
            promise("has no sockets, traces nothing", "open sockets, trace processes", [filters(), None]),
            promise("sees no other processes", "see other processes", [namespaces(), None]),
            promise("signals no other processes", "signal your processes", [landlock(SIGNALS), namespaces()]),
            promise("has a bounded scratch folder", "fill the disk", [namespaces(), None]),
            promise("has a bounded number of processes", "start processes without end", [bounded, None]),
        ]
    }

    /// What code under test can do on this machine that a sandbox should refuse, in words; nothing where all holds.
    pub fn gaps(&self) -> Vec<&'static str> {
        self.promises()
            .iter()
            .filter(|promise| promise.by.is_none())
            .map(|promise| promise.otherwise)
            .collect()
    }
}

/// Something that a sandbox should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Of code under test.
    pub holds: &'static str,
    /// What it can do where that does not hold.
    pub otherwise: &'static str,
    /// The means that hold it; None where nothing does.
    pub by: Option<String>,
}

/// Whether filters know an action.
fn has_action(action: u32) -> bool {
    const GET_ACTION_AVAIL: libc::c_uint = 2;
    // SAFETY: the kernel reads one number.
    unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}
