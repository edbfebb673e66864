//! The filter of system calls. What it refuses fails with EACCES, so that code which can do without goes on; where somebody
//! listens, he is told first.
//!
//! One list says what is refused, for 64-bit and for 32-bit programs, which run natively beside them. It becomes a tree of
//! comparisons: the kernel walks through a filter for every number of a call when the filter is installed, and a chain of all
//! numbers would take milliseconds.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::calls::{
    ALWAYS, CLONE, CLONE3, Call, FCNTL, FCNTL64, FIRST_UNKNOWN, IOCTL, IOPRIO_SET, KILL, LEAVING, METADATA,
    OF_PROCESSES, SCHED_SETAFFINITY, SENDTO, SETPRIORITY, SIGNALLING, SIGNALLING_ANYBODY, SOCKETCALL,
    SOCKETPAIR, UNCOUNTED,
};

/// What a filter is about, beside what every filter refuses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wishes {
    /// It is about processes in a world of their own: files are seen read-only anyway, the scratch folder is bounded, and the
    /// only process that is not to be touched has the number 1.
    pub apart: bool,
    /// It is about a tool, which may use all memory there is. Where no better means hold, it may mark a file that it has open as a
    /// program, and must not leave its process group.
    pub tool: bool,
    /// A process that must not be signalled, where no better means protect it.
    pub protected: Option<i32>,
    /// Somebody will listen: see [`Filter::install_heard`].
    pub heard: bool,
}

/// A call and the cases in which it is refused; none: always.
struct Rule {
    call: Call,
    cases: Vec<Case>,
}

/// Conditions that hold together.
type Case = Vec<Condition>;

/// Which argument, how much of it, how it compares, with what.
type Condition = (u8, Length, Is, u64);

impl Rule {
    fn always(call: &Call) -> Rule {
        Rule { call: *call, cases: Vec::new() }
    }

    fn when(call: Call, cases: impl IntoIterator<Item = Case>) -> Rule {
        Rule { call, cases: cases.into_iter().collect() }
    }
}

/// As the kernel compares most arguments: 32 bits, whatever their sign.
fn is(place: u8, value: impl Into<i64>) -> Case {
    vec![(place, Length::Dword, Is::Eq, u64::from(value.into() as u32))]
}

fn is_not(place: u8, value: u64) -> Case {
    vec![(place, Length::Dword, Is::Ne, value)]
}

/// Attributes of files by `ioctl`, which no rule about files covers, and typing for the user.
const REQUESTS: [u64; 5] = [libc::TIOCSTI, libc::TIOCLINUX, 0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Who gets the signals of a descriptor, by `ioctl` (FIOSETOWN, SIOCSPGRP) and by `fcntl`.
const OWNERS: [u64; 2] = [0x8901, 0x8902];
const F_SETOWN: i64 = 8;
const F_SETOWN_EX: i64 = 15;

/// Locks, leases and watches by `fcntl`, 32-bit programs' own numbers among them: a file that may only be read can be kept
/// from others by them. F_SETLK, F_SETLKW, F_SETLK64, F_SETLKW64, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY.
const LOCKS: [i64; 8] = [6, 7, 13, 14, 37, 38, 1024, 1026];

/// What of `socketcall` names an address or makes a socket: its first argument says which call it is.
const SOCKET_CALLS: [i64; 10] = [1, 2, 3, 4, 5, 8, 11, 16, 18, 20];

const NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWTIME,
];

/// Argument of `setpriority` and `ioprio_set` by which one process is meant, and not a group or all of a user.
const PRIO_PROCESS: u64 = 0;
const IOPRIO_WHO_PROCESS: u64 = 1;

/// The process that watches over a world.
const INIT: i64 = 1;

/// All that is refused.
fn rules(wishes: Wishes) -> Vec<Rule> {
    let further: &[Call] = match (wishes.apart, wishes.tool) {
        (true, true) => &[],
        (true, false) => UNCOUNTED,
        (false, _) => METADATA,
    };
    let leaving = if wishes.tool && !wishes.apart { LEAVING } else { &[] };
    let always = ALWAYS.iter().chain(further).chain(leaving);
    let marks = |call: &&Call| wishes.tool && call.number == libc::SYS_fchmod;
    let mut rules: Vec<Rule> = always.filter(|call| !marks(call)).map(Rule::always).collect();

    // A sibling of whoever makes it would not end with him.
    let sibling = (wishes.tool && !wishes.apart).then_some(libc::CLONE_PARENT);
    let bits = NAMESPACES.into_iter().chain(sibling).map(|bit| u64::from(bit.unsigned_abs()));
    rules.push(Rule::when(CLONE, bits.map(|bit| vec![(0, Length::Qword, Is::MaskedEq(bit), bit)])));
    let unix = libc::AF_UNIX.unsigned_abs().into();
    rules.push(Rule::when(SOCKETPAIR, [is_not(0, unix)]));
    rules.push(Rule::when(SENDTO, [vec![(4, Length::Qword, Is::Ne, 0)]]));
    rules.push(Rule::when(SOCKETCALL, SOCKET_CALLS.map(|inner| is(0, inner))));
    let owners = wishes.protected.map(|_| OWNERS);
    let requests = REQUESTS.into_iter().chain(owners.into_iter().flatten());
    rules.push(Rule::when(IOCTL, requests.map(|request| vec![(1, Length::Dword, Is::Eq, request)])));
    let givers = wishes.protected.map(|_| [F_SETOWN, F_SETOWN_EX]);
    let commands = LOCKS.into_iter().chain(givers.into_iter().flatten());
    let commands: Vec<Case> = commands.map(|command| is(1, command)).collect();
    rules.extend([FCNTL, FCNTL64].map(|call| Rule::when(call, commands.clone())));
    rules.extend(OF_PROCESSES.iter().map(|(call, place)| of_process(*call, *place, wishes)));
    rules.extend(wishes.protected.into_iter().flat_map(of_signals));
    rules
}

/// A limit, a priority or the CPUs may be the caller's own only, or, in a world of its own, of any process that does not watch. A thread may choose its own CPUs by its number, which nobody outside has there.
fn of_process(call: Call, place: u8, wishes: Wishes) -> Rule {
    let others = match wishes.apart && (wishes.tool || call == SCHED_SETAFFINITY) {
        true => is(place, INIT),
        false => is_not(place, 0),
    };
    let all = match call {
        SETPRIORITY => Some(is_not(0, PRIO_PROCESS)),
        IOPRIO_SET => Some(is_not(0, IOPRIO_WHO_PROCESS)),
        _ => None,
    };
    Rule::when(call, all.into_iter().chain([others]))
}

/// Ways to signal a process.
fn of_signals(pid: i32) -> Vec<Rule> {
    let mut rules = vec![Rule::when(KILL, [is(0, pid), is(0, -pid), is(0, -1)])];
    rules.extend(SIGNALLING.iter().map(|call| Rule::when(*call, [is(0, pid)])));
    rules.extend(SIGNALLING_ANYBODY.iter().map(Rule::always));
    rules
}

/// A program for the kernel.
#[derive(Clone)]
pub(super) struct Filter(BpfProgram);

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
const AUDIT_ARCH_I386: u32 = 0x4000_0003;
/// Where a filter finds the number of the call, and which of both tables it is in.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;

// BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JA, BPF_JMP | BPF_JEQ | BPF_K, BPF_JMP | BPF_JGE | BPF_K, BPF_RET | BPF_K
const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const END: u16 = 0x06;

/// SECCOMP_RET_USER_NOTIF: it is told to whoever listens, and his answer is the call's.
const TOLD: u32 = 0x7fc0_0000;

fn errno(number: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | number.unsigned_abs()
}

impl Filter {
    pub(super) fn new(wishes: Wishes) -> io::Result<Filter> {
        let rules = rules(wishes);
        let refusal = if wishes.heard { TOLD } else { errno(libc::EACCES) };
        let wide = table(&rules, refusal, |call| u32::try_from(call.number).ok())?;
        let narrow = table(&rules, refusal, |call| call.number_32)?;
        let mut program = vec![step(LOAD, ARCH, 0, 0), step(JUMP_IF_EQUAL, AUDIT_ARCH_I386, 0, 1)];
        program.push(step(JUMP, wide.len() as u32 + 2, 0, 0));
        program.extend([step(JUMP_IF_EQUAL, AUDIT_ARCH_X86_64, 1, 0), end(libc::SECCOMP_RET_KILL_PROCESS)]);
        program.extend(wide);
        program.extend(narrow);
        Ok(Filter(program))
    }

    /// Installs the filter on this thread. Makes system calls and nothing else, so that it may be called between fork and exec.
    pub(super) fn install(&self) -> io::Result<()> {
        self.set(libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW).map(drop)
    }

    /// Installs the filter and gives the descriptor at which refusals are heard.
    pub(super) fn install_heard(&self) -> io::Result<OwnedFd> {
        let fd = self.set(libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW | libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
        // SAFETY: the kernel has just made it for this process.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn set(&self, flags: libc::c_ulong) -> io::Result<i32> {
        let program = libc::sock_fprog {
            // A program has a few hundred instructions; the kernel takes 4,096.
            len: self.0.len() as u16,
            filter: self.0.as_ptr().cast_mut().cast(),
        };
        // SAFETY: sets a flag of this process; without it, only a privileged one may have filters.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel copies the program, whose instructions have the kernel's own layout.
        let done = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done as i32) }
    }
}

/// The rules of programs of one width. Numbers that nobody looked at, x32's among them, are calls that do not exist, and so is
/// `clone3`.
fn table(rules: &[Rule], refusal: u32, number: fn(&Call) -> Option<u32>) -> io::Result<BpfProgram> {
    let mut numbered: Vec<(u32, &Rule)> =
        rules.iter().filter_map(|rule| Some((number(&rule.call)?, rule))).collect();
    numbered.sort_by_key(|(number, _)| *number);
    let leaf = |group: &[(u32, &Rule)]| Ok((group[0].0, leaf(group, refusal)?));
    let leaves: Vec<(u32, BpfProgram)> = numbered.chunks(LEAF).map(leaf).collect::<io::Result<_>>()?;
    let missing = end(errno(libc::ENOSYS));
    let mut program = vec![step(LOAD, NUMBER, 0, 0)];
    program.extend([step(JUMP_IF_AT_LEAST, FIRST_UNKNOWN, 0, 1), missing.clone()]);
    program.extend(
        number(&CLONE3).into_iter().flat_map(|number| [step(JUMP_IF_EQUAL, number, 0, 1), missing.clone()]),
    );
    program.extend(tree(&leaves));
    Ok(program)
}

/// Calls that are compared one after the other.
const LEAF: usize = 6;

/// Some rules, for a number that was loaded.
fn leaf(rules: &[(u32, &Rule)], refusal: u32) -> io::Result<BpfProgram> {
    let mut program = BpfProgram::new();
    for (number, rule) in rules {
        match rule.cases.is_empty() {
            true => program.extend([step(JUMP_IF_EQUAL, *number, 0, 1), end(refusal)]),
            false => program.extend(compiled(*number, rule, refusal)?),
        }
    }
    program.push(end(libc::SECCOMP_RET_ALLOW));
    Ok(program)
}

/// Leads to the one of these, each with its first number, in which a number would be.
fn tree(leaves: &[(u32, BpfProgram)]) -> BpfProgram {
    match leaves {
        [] => vec![end(libc::SECCOMP_RET_ALLOW)],
        [(_, only)] => only.clone(),
        _ => {
            let (low, high) = leaves.split_at(leaves.len() / 2);
            let (first, low) = (high[0].0, tree(low));
            // The only jump that goes further than 255.
            let mut program = vec![step(JUMP_IF_AT_LEAST, first, 0, 1), step(JUMP, low.len() as u32, 0, 0)];
            program.extend(low);
            program.extend(tree(high));
            program
        }
    }
}

/// A rule with cases, for a number that was loaded; what it is not about goes on behind it. The crate knows 64-bit programs
/// alone, whose arguments are where those of 32-bit ones are.
fn compiled(number: u32, rule: &Rule, refusal: u32) -> io::Result<BpfProgram> {
    let failed = |e: seccompiler::BackendError| io::Error::other(e.to_string());
    let case = |case: &Case| {
        let condition = |(place, length, is, value): &Condition| {
            SeccompCondition::new(*place, length.clone(), is.clone(), *value)
        };
        SeccompRule::new(case.iter().map(condition).collect::<Result<_, _>>()?)
    };
    let cases = rule.cases.iter().map(case).collect::<Result<_, _>>().map_err(failed)?;
    // The crate has no action that is told to a listener; its place is kept by one that is not used here.
    let kept = SeccompAction::Trace(0);
    let rules = [(i64::from(number), cases)].into();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, kept, TargetArch::x86_64);
    let mut program: BpfProgram = filter.and_then(TryInto::try_into).map_err(failed)?;
    // It begins with the table and the number, which are known here, and ends with what is true of all other numbers.
    let begins = [LOAD, JUMP_IF_EQUAL, END, LOAD];
    let as_expected = program.iter().map(|step| step.code).take(begins.len()).eq(begins);
    match program.pop() {
        Some(last) if as_expected && last.code == END && last.k == libc::SECCOMP_RET_ALLOW => {}
        _ => return Err(io::Error::other("the compiled filter is not as expected")),
    }
    let told = |step: &sock_filter| step.code == END && step.k == libc::SECCOMP_RET_TRACE;
    let steps = program.into_iter().skip(begins.len());
    Ok(steps.map(|step| if told(&step) { end(refusal) } else { step }).collect())
}

fn step(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn end(action: u32) -> sock_filter {
    step(END, action, 0, 0)
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
