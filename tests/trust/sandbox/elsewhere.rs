//! The sandbox on machines that have less: without user namespaces, and in containers that hear system calls themselves.

use std::path::PathBuf;
use std::process::Command;

use crate::common::{Desk, Said};
use crate::sandbox::scene::{Scene, everyone};
use crate::sandbox::{answers, attacks};

/// A program that makes the machine smaller for the command behind its first word.
const SMALLER: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ERROR(n) { 6, 0, 0, SECCOMP_RET_ERRNO | (n) }
#define ALLOW { 6, 0, 0, SECCOMP_RET_ALLOW }
#define IF(number) { 0x15, 0, 1, (number) }
int main(int count, char **words) {
    /* As in many containers: whoever asks for a user namespace gets EPERM, and clone3 is not there. */
    struct sock_filter none[] = {
        { 0x20, 0, 0, offsetof(struct seccomp_data, nr) },
        IF(SYS_unshare), ERROR(1), IF(SYS_clone3), ERROR(38), { 0x15, 0, 3, SYS_clone },
        { 0x20, 0, 0, offsetof(struct seccomp_data, args[0]) }, { 0x45, 0, 1, CLONE_NEWUSER }, ERROR(1), ALLOW,
    };
    struct sock_filter all[] = { ALLOW };
    int hears = !strcmp(words[1], "heard");
    struct sock_fprog program = { hears ? 1 : sizeof none / sizeof *none, hears ? all : none };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, hears ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program);
    if (fd < 0) return 100;
    if (hears) fcntl(fd, F_SETFD, 0);
    execvp(words[2], words + 2);
    return 101;
}
"#;

fn smaller(scene: &Scene) -> PathBuf {
    scene.write("bin/smaller.c", SMALLER);
    let program = scene.path("bin/smaller");
    let mut gcc = Command::new("gcc");
    gcc.arg("-o").arg(&program).arg(scene.path("bin/smaller.c"));
    assert!(gcc.status().unwrap().success());
    program
}

#[test]
fn without_user_namespaces_most_attacks_are_held_and_a_run_names_what_is_not() {
    // What needs a world of its own, or Landlock's newest version, is another matter.
    let held = [
        "read_open",
        "read_by_program",
        "read_inherited",
        "write_append",
        "write_truncate",
        "write_chmod",
        "write_utimes",
        "write_inherited",
        "tcp",
        "udp",
        "unix_path",
        "pair_sendto",
        "pair_sendto_32",
        "every_family",
        "trace_victim",
        "memory_of_coordinator",
        "trace_watcher",
        "limit_victim",
        "slow_everyone",
        "io_uring",
        "unshare_user",
        "clone3_user",
        "calls_of_32_bit",
        "mount_tmpfs",
        "daemon_stays",
        "memory_raised",
        "load_read",
        "setup_write",
    ];
    for who in everyone() {
        let mut scene = crate::sandbox::lab(who);
        scene.through = vec![smaller(&scene).display().to_string(), "alone".into()];
        let matrix = std::fs::read_to_string(scene.path("lab/plain.toml")).unwrap();
        let honest = matrix.match_indices("[[function]]").nth(1).unwrap().0;
        scene.write("lab/short.toml", &matrix[..honest]);
        scene.remember();
        let mut few = attacks();
        few.retain(|attack| held.contains(&attack.name.as_str()));
        assert_eq!(few.len(), held.len());
        let surprises = crate::sandbox::surprises(&scene, &few, true);
        let said = scene.bitrift("plain", &["eval", "honest", "3"]);
        assert_eq!(answers(&said), ["1.5"], "{}", said.shown());
        let out = scene.path("out").display().to_string();
        let run = scene.bitrift_says("plain", &["run", "--overwrite", "--function", "honest", "--out", &out]);
        let line = run.err.lines().find(|line| line.contains("this kernel cannot keep code under test from"));
        let line = line.unwrap_or_else(|| panic!("{}", run.shown()));
        assert!(line.contains("see other processes") && line.contains("fill the disk"), "{line}");
        assert!(!line.contains("read your files"), "{line}");
        let doctor = scene.bitrift_says("short", &["doctor"]);
        let row = doctor.out.lines().find(|line| line.contains("sees no other processes"));
        assert!(row.is_some_and(|row| row.contains("nothing")), "{}", doctor.shown());
        let harm = scene.harm();
        assert!(
            harm.is_empty() && surprises.is_empty(),
            "{who:?}\n{}\n{}",
            harm.join("\n"),
            surprises.join("\n")
        );
    }
}

#[test]
fn where_a_container_hears_system_calls_code_is_confined_without_a_listener() {
    for who in everyone() {
        let mut scene = crate::sandbox::lab(who);
        scene.through = vec![smaller(&scene).display().to_string(), "heard".into()];
        let said = scene.bitrift("plain", &["eval", "honest", "3"]);
        assert_eq!(answers(&said), ["1.5"], "{}", said.shown());
        let said = scene.bitrift("plain", &["eval", "tcp", "1"]);
        assert_eq!(answers(&said), ["-13"], "{}", said.shown());
    }
}

/// Code that says it answers, byte by byte, and that it is busy: only a clock of one's own helps.
#[test]
fn an_answer_that_never_ends_is_ended_by_the_deadline_and_by_the_first_interrupt() {
    let code = r#"
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <unistd.h>
        double f(double x) {
            unsigned char length[4] = { 0, 0, 0, 1 };
            for (;;) {
                for (int fd = 3; fd < 256; fd++) {
                    struct stat about;
                    if (fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
                        (void)!write(fd, length, 4), length[0] = length[3] = 0;
                }
                usleep(10000);
                /* The page by which it is watched is the only shared memory: it seems to make calls. */
                FILE *maps = fopen("/proc/self/maps", "r");
                char line[512];
                while (maps && fgets(line, sizeof line, maps)) {
                    unsigned long from, to;
                    char rights[8];
                    if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && !strcmp(rights, "rw-s"))
                        for (int k = 0; k < 4; k++) ((volatile unsigned long *)from)[k]++;
                }
                if (maps) fclose(maps);
            }
        }
    "#;
    let desk = Desk::private();
    let axes = crate::common::SMALL_AXES.replace("budget = \"paper\"", "budget = 1000\ntimeout_ms = 500");
    desk.write("small.c", code)
        .write("matrix.toml", &format!("{axes}[[function]]\nsignature = \"double f(double x)\"\n"));
    let begun = std::time::Instant::now();
    let said: Said = desk.bitrift(&["run", "-q", "--deadline-s", "4", "--out", "late"]);
    assert!(said.code == 3 || said.code == 4, "{}", said.shown());
    assert!(begun.elapsed().as_secs() < 45, "{:?}\n{}", begun.elapsed(), said.shown());
}
