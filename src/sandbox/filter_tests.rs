//! What filters answer, found out by going through them as the kernel does.

use super::*;

const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

/// The answer of a filter to a call, and how many steps that took.
fn answer(filter: &Filter, arch: u32, number: u32, args: [u64; 6]) -> (u32, usize) {
    let word = |offset: u32| match offset {
        NUMBER => number,
        ARCH => arch,
        offset => {
            let (place, half) = ((offset as usize - 16) / 8, offset % 8);
            if half == 0 { args[place] as u32 } else { (args[place] >> 32) as u32 }
        }
    };
    let (mut at, mut loaded, mut steps) = (0, 0u32, 0);
    loop {
        let step = &filter.0[at];
        steps += 1;
        at += 1;
        let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
        match step.code {
            LOAD => loaded = word(step.k),
            JUMP => at += step.k as usize,
            JUMP_IF_EQUAL => at += jump(loaded == step.k),
            JUMP_IF_AT_LEAST => at += jump(loaded >= step.k),
            // BPF_JMP | BPF_JGT | BPF_K, BPF_ALU | BPF_AND | BPF_K
            0x25 => at += jump(loaded > step.k),
            0x54 => loaded &= step.k,
            END => return (step.k, steps),
            code => panic!("a step with the code {code:#x}"),
        }
    }
}

fn all_wishes() -> Vec<Wishes> {
    let mut all = Vec::new();
    for tool in [false, true] {
        for apart in [false, true] {
            for protected in [None, Some(4711)] {
                all.extend([false, true].map(|heard| Wishes { apart, tool, protected, heard }));
            }
        }
    }
    all
}

#[test]
fn each_rule_holds_for_programs_of_both_widths_and_in_every_case_that_it_names() {
    for wishes in all_wishes() {
        let filter = Filter::new(wishes).unwrap();
        let refusal = if wishes.heard { TOLD } else { errno(libc::EACCES) };
        for rule in rules(wishes) {
            let numbers = [
                (AUDIT_ARCH_X86_64, u32::try_from(rule.call.number).ok()),
                (AUDIT_ARCH_I386, rule.call.number_32),
            ];
            for (arch, number) in numbers {
                let Some(number) = number else { continue };
                let cases: Vec<Case> =
                    if rule.cases.is_empty() { vec![Case::new()] } else { rule.cases.clone() };
                for case in cases {
                    let mut args = [0; 6];
                    for (place, _, is, value) in &case {
                        args[usize::from(*place)] = if *is == Is::Ne { value + 1 } else { *value };
                    }
                    let got = answer(&filter, arch, number, args).0;
                    assert_eq!(got, refusal, "{wishes:?}: {} {case:?}", rule.call.name);
                }
            }
        }
    }
}

#[test]
fn every_call_that_is_refused_at_times_has_a_number_in_both_tables_or_belongs_to_one_alone() {
    let refused = |wishes| rules(wishes).into_iter().map(|rule| rule.call);
    for call in all_wishes().into_iter().flat_map(refused) {
        // 32-bit programs have these in `socketcall` and `ipc` alone, or not at all.
        let alone = ["accept", "semop", "kexec_file_load"];
        assert!(call.number_32.is_some() || alone.contains(&call.name), "{}", call.name);
    }
}

#[test]
fn what_code_needs_is_allowed_and_found_in_few_steps() {
    let filter = Filter::new(Wishes { apart: true, heard: true, ..Wishes::default() }).unwrap();
    let needed = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_openat,
        libc::SYS_mmap,
        libc::SYS_execve,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_wait4,
        libc::SYS_rseq,
    ];
    for number in needed {
        let (answer, steps) = answer(&filter, AUDIT_ARCH_X86_64, number as u32, [7; 6]);
        assert!(answer == ALLOWED && steps < 30, "{number}: {answer:#x} after {steps}");
    }
    // 32-bit write and exit.
    for number in [4, 1] {
        assert_eq!(answer(&filter, AUDIT_ARCH_I386, number, [7; 6]).0, ALLOWED);
    }
    let pair = [libc::AF_UNIX.unsigned_abs().into(), 1, 0, 0, 0, 0];
    for (arch, number) in [(AUDIT_ARCH_X86_64, libc::SYS_socketpair as u32), (AUDIT_ARCH_I386, 360)] {
        assert_eq!(answer(&filter, arch, number, pair).0, ALLOWED);
        assert_eq!(answer(&filter, arch, number, [2, 1, 0, 0, 0, 0]).0, TOLD);
    }
}

#[test]
fn calls_that_nobody_looked_at_and_other_machines_are_refused() {
    let filter = Filter::new(Wishes::default()).unwrap();
    let missing = errno(libc::ENOSYS);
    for number in [FIRST_UNKNOWN, 1000, 0x4000_0000, 0x4000_0029, u32::MAX] {
        for arch in [AUDIT_ARCH_X86_64, AUDIT_ARCH_I386] {
            assert_eq!(answer(&filter, arch, number, [0; 6]).0, missing);
        }
    }
    assert_eq!(answer(&filter, AUDIT_ARCH_X86_64, 435, [0; 6]).0, missing);
    let aarch64 = 0xc000_00b7;
    assert_eq!(answer(&filter, aarch64, 0, [0; 6]).0, libc::SECCOMP_RET_KILL_PROCESS);
}
