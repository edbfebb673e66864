//! The system calls that confined code is refused, and what each is called: how a refusal is told.

/// A refused call, with its numbers in the two tables that an x86-64 kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub name: &'static str,
    pub number: i64,
    /// In 32-bit programs, which run natively beside 64-bit ones; None where those have no such call.
    pub number_32: Option<u32>,
}

const fn call(name: &'static str, number: i64, number_32: u32) -> Call {
    Call { name, number, number_32: Some(number_32) }
}

/// A call that only 32-bit programs have.
const fn narrow(name: &'static str, number_32: u32) -> Call {
    Call { name, number: NONE, number_32: Some(number_32) }
}

/// The number of what 64-bit programs have not.
const NONE: i64 = -1;

/// Refused whatever the arguments.
pub(super) const ALWAYS: &[Call] = &[
    // The network, and sockets that have a name on this machine.
    call("socket", libc::SYS_socket, 359),
    call("connect", libc::SYS_connect, 362),
    call("bind", libc::SYS_bind, 361),
    call("listen", libc::SYS_listen, 363),
    Call { name: "accept", number: libc::SYS_accept, number_32: None },
    call("accept4", libc::SYS_accept4, 364),
    // These take an address out of memory, where no filter sees it.
    call("sendmsg", libc::SYS_sendmsg, 370),
    call("sendmmsg", libc::SYS_sendmmsg, 345),
    // It does all of the above, and files, in the kernel's own name.
    call("io_uring_setup", libc::SYS_io_uring_setup, 425),
    call("io_uring_enter", libc::SYS_io_uring_enter, 426),
    call("io_uring_register", libc::SYS_io_uring_register, 427),
    // Other processes.
    call("ptrace", libc::SYS_ptrace, 26),
    call("process_vm_readv", libc::SYS_process_vm_readv, 347),
    call("process_vm_writev", libc::SYS_process_vm_writev, 348),
    call("process_madvise", libc::SYS_process_madvise, 440),
    call("pidfd_getfd", libc::SYS_pidfd_getfd, 438),
    call("kcmp", libc::SYS_kcmp, 349),
    call("migrate_pages", libc::SYS_migrate_pages, 294),
    call("move_pages", libc::SYS_move_pages, 317),
    // Shared by all processes of a machine.
    call("shmget", libc::SYS_shmget, 395),
    call("semget", libc::SYS_semget, 393),
    call("msgget", libc::SYS_msgget, 399),
    call("mq_open", libc::SYS_mq_open, 277),
    // Others' objects of that kind have numbers that anybody can read.
    call("shmat", libc::SYS_shmat, 397),
    call("shmctl", libc::SYS_shmctl, 396),
    Call { name: "semop", number: libc::SYS_semop, number_32: None },
    call("semtimedop", libc::SYS_semtimedop, 420),
    call("semctl", libc::SYS_semctl, 394),
    call("msgsnd", libc::SYS_msgsnd, 400),
    call("msgrcv", libc::SYS_msgrcv, 401),
    call("msgctl", libc::SYS_msgctl, 402),
    // All of these in one, for 32-bit programs.
    narrow("ipc", 117),
    call("mq_unlink", libc::SYS_mq_unlink, 278),
    call("add_key", libc::SYS_add_key, 286),
    call("request_key", libc::SYS_request_key, 287),
    call("keyctl", libc::SYS_keyctl, 288),
    // Namespaces, mounts and files by other ways than their paths.
    call("unshare", libc::SYS_unshare, 310),
    call("setns", libc::SYS_setns, 346),
    call("mount", libc::SYS_mount, 21),
    call("umount2", libc::SYS_umount2, 52),
    narrow("umount", 22),
    call("pivot_root", libc::SYS_pivot_root, 217),
    call("chroot", libc::SYS_chroot, 61),
    call("open_tree", libc::SYS_open_tree, 428),
    call("open_tree_attr", 467, 467),
    call("move_mount", libc::SYS_move_mount, 429),
    call("fsopen", libc::SYS_fsopen, 430),
    call("fsconfig", libc::SYS_fsconfig, 431),
    call("fsmount", libc::SYS_fsmount, 432),
    call("fspick", libc::SYS_fspick, 433),
    call("mount_setattr", libc::SYS_mount_setattr, 442),
    call("name_to_handle_at", libc::SYS_name_to_handle_at, 341),
    call("open_by_handle_at", libc::SYS_open_by_handle_at, 342),
    call("fanotify_init", libc::SYS_fanotify_init, 338),
    call("inotify_init", libc::SYS_inotify_init, 291),
    call("inotify_init1", libc::SYS_inotify_init1, 332),
    call("flock", libc::SYS_flock, 143),
    call("mknod", libc::SYS_mknod, 14),
    call("mknodat", libc::SYS_mknodat, 297),
    // The machine itself, and the kernel's inner parts.
    call("bpf", libc::SYS_bpf, 357),
    call("perf_event_open", libc::SYS_perf_event_open, 336),
    call("userfaultfd", libc::SYS_userfaultfd, 374),
    call("syslog", libc::SYS_syslog, 103),
    call("acct", libc::SYS_acct, 51),
    call("quotactl", libc::SYS_quotactl, 131),
    call("quotactl_fd", 443, 443),
    call("swapon", libc::SYS_swapon, 87),
    call("swapoff", libc::SYS_swapoff, 115),
    call("reboot", libc::SYS_reboot, 88),
    call("kexec_load", libc::SYS_kexec_load, 283),
    Call { name: "kexec_file_load", number: libc::SYS_kexec_file_load, number_32: None },
    call("init_module", libc::SYS_init_module, 128),
    call("finit_module", libc::SYS_finit_module, 350),
    call("delete_module", libc::SYS_delete_module, 129),
    call("iopl", libc::SYS_iopl, 110),
    call("ioperm", libc::SYS_ioperm, 101),
    call("sethostname", libc::SYS_sethostname, 74),
    call("setdomainname", libc::SYS_setdomainname, 121),
    call("settimeofday", libc::SYS_settimeofday, 79),
    narrow("stime", 25),
    call("clock_settime", libc::SYS_clock_settime, 264),
    narrow("clock_settime64", 404),
    call("adjtimex", libc::SYS_adjtimex, 124),
    call("clock_adjtime", libc::SYS_clock_adjtime, 343),
    narrow("clock_adjtime64", 405),
    call("vhangup", libc::SYS_vhangup, 111),
];

/// Refused where a read-only view of all files is not to be had: no rule about files covers them.
pub(super) const METADATA: &[Call] = &[
    call("chmod", libc::SYS_chmod, 15),
    call("fchmod", libc::SYS_fchmod, 94),
    call("fchmodat", libc::SYS_fchmodat, 306),
    call("fchmodat2", 452, 452),
    call("chown", libc::SYS_chown, 182),
    call("lchown", libc::SYS_lchown, 16),
    call("fchown", libc::SYS_fchown, 95),
    narrow("chown32", 212),
    narrow("lchown32", 198),
    narrow("fchown32", 207),
    call("fchownat", libc::SYS_fchownat, 298),
    call("utime", libc::SYS_utime, 30),
    call("utimes", libc::SYS_utimes, 271),
    call("futimesat", libc::SYS_futimesat, 299),
    call("utimensat", libc::SYS_utimensat, 320),
    narrow("utimensat_time64", 412),
    call("setxattr", libc::SYS_setxattr, 226),
    call("lsetxattr", libc::SYS_lsetxattr, 227),
    call("fsetxattr", libc::SYS_fsetxattr, 228),
    call("removexattr", libc::SYS_removexattr, 235),
    call("lremovexattr", libc::SYS_lremovexattr, 236),
    call("fremovexattr", libc::SYS_fremovexattr, 237),
    call("setxattrat", 463, 463),
    call("removexattrat", 466, 466),
    call("file_setattr", 469, 469),
];

/// Numbers from here on are calls that nobody looked at: there are none of them, in either table.
pub(super) const FIRST_UNKNOWN: u32 = 470;

/// Refused where memory that no limit counts has a better place, the bounded scratch folder.
pub(super) const UNCOUNTED: &[Call] =
    &[call("memfd_create", libc::SYS_memfd_create, 356), call("memfd_secret", libc::SYS_memfd_secret, 447)];

/// Refused to tools: whoever leaves the process group of a tool would outlive it.
pub(super) const LEAVING: &[Call] =
    &[call("setsid", libc::SYS_setsid, 66), call("setpgid", libc::SYS_setpgid, 57)];

/// Limits, priorities and CPUs of processes, each with where its arguments name the process. 0 is the caller himself.
pub(super) const OF_PROCESSES: &[(Call, u8)] = &[
    (call("prlimit64", libc::SYS_prlimit64, 340), 0),
    (SETPRIORITY, 1),
    (IOPRIO_SET, 1),
    (SCHED_SETAFFINITY, 0),
    (call("sched_setscheduler", libc::SYS_sched_setscheduler, 156), 0),
    (call("sched_setparam", libc::SYS_sched_setparam, 154), 0),
    (call("sched_setattr", libc::SYS_sched_setattr, 351), 0),
];

pub(super) const SETPRIORITY: Call = call("setpriority", libc::SYS_setpriority, 97);
pub(super) const IOPRIO_SET: Call = call("ioprio_set", libc::SYS_ioprio_set, 289);
pub(super) const SCHED_SETAFFINITY: Call = call("sched_setaffinity", libc::SYS_sched_setaffinity, 241);

pub(super) const CLONE: Call = call("clone", libc::SYS_clone, 120);
/// Its flags are in memory, where no filter sees them. C libraries fall back to `clone` when there is none.
pub(super) const CLONE3: Call = call("clone3", libc::SYS_clone3, 435);
pub(super) const SOCKETPAIR: Call = call("socketpair", libc::SYS_socketpair, 360);
pub(super) const SENDTO: Call = call("sendto", libc::SYS_sendto, 369);
pub(super) const IOCTL: Call = call("ioctl", libc::SYS_ioctl, 54);
/// It carries sockets' calls of 32-bit programs, with arguments in memory but for the first, which says what it does.
pub(super) const SOCKETCALL: Call = narrow("socketcall", 102);

/// Refused for some arguments only.
const SOMETIMES: &[Call] = &[CLONE, SOCKETPAIR, SENDTO, IOCTL, SOCKETCALL, FCNTL, FCNTL64];

pub(super) const KILL: Call = call("kill", libc::SYS_kill, 37);
pub(super) const FCNTL: Call = call("fcntl", libc::SYS_fcntl, 55);
/// `fcntl` of 32-bit programs that know large files.
pub(super) const FCNTL64: Call = narrow("fcntl64", 221);

/// Refused where a process that must not be signalled has no better protection: those that name it first.
pub(super) const SIGNALLING: &[Call] = &[
    call("tgkill", libc::SYS_tgkill, 270),
    call("rt_sigqueueinfo", libc::SYS_rt_sigqueueinfo, 178),
    call("rt_tgsigqueueinfo", libc::SYS_rt_tgsigqueueinfo, 335),
    call("pidfd_open", libc::SYS_pidfd_open, 434),
];

/// The same for those that name it by a thread, or by an open file.
pub(super) const SIGNALLING_ANYBODY: &[Call] =
    &[call("tkill", libc::SYS_tkill, 238), call("pidfd_send_signal", libc::SYS_pidfd_send_signal, 424)];

/// All of them, in an order that processes of one program agree on.
fn all() -> impl Iterator<Item = &'static Call> {
    let of_processes = OF_PROCESSES.iter().map(|(call, _)| call);
    let of_signals = [KILL].iter().chain(SIGNALLING).chain(SIGNALLING_ANYBODY);
    let lists = [ALWAYS, METADATA, UNCOUNTED, LEAVING, SOMETIMES];
    lists.into_iter().flatten().chain(of_processes).chain(of_signals)
}

/// The place of a refused call among all, by its number and whether the program has 32 bits.
pub(super) fn place_of(number: i64, is_32: bool) -> Option<usize> {
    all().position(|call| match is_32 {
        true => call.number_32.map(i64::from) == Some(number),
        false => call.number == number,
    })
}

/// What the call at a place is called.
pub(super) fn name_at(place: usize) -> Option<&'static str> {
    all().nth(place).map(|call| call.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_call_has_one_place_and_comes_back_by_its_number() {
        let names: BTreeSet<&str> = all().map(|call| call.name).collect();
        assert_eq!(names.len(), all().count());
        for (place, call) in all().enumerate() {
            assert_eq!(name_at(place), Some(call.name));
            if call.number >= 0 {
                assert_eq!(place_of(call.number, false), Some(place));
            }
            if let Some(number) = call.number_32 {
                assert_eq!(place_of(i64::from(number), true), Some(place), "{}", call.name);
            }
        }
    }
}
