//! A cache that several processes use, and that some of them empty meanwhile, gives nobody a wrong bit and nobody an error:
//! also on disks without locks and second names of files.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cache_size::{compiled, lab, state};
use crate::common::{Desk, SMALL_AXES, SMALL_C, SMALL_FUNCTIONS, contents, eventually};

const ROUNDS: usize = 12;

fn small() -> Desk {
    let desk = Desk::private();
    desk.write("small.c", SMALL_C).write("matrix.toml", &format!("{SMALL_AXES}{SMALL_FUNCTIONS}"));
    desk
}

/// Runs something while the cache is emptied over and over, in every way there is.
fn while_it_is_emptied(desk: &Desk, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut emptied = Vec::new();
        for args in [
            &["cache", "--size", "0"][..],
            &["cache", "--clear"],
            &["eval", "-q", "other", "1", "--matrix", "other.toml", "--cache-size", "1K"],
        ] {
            let done = &done;
            emptied.push(scope.spawn(move || {
                let mut rounds = 0;
                while !done.load(Ordering::Relaxed) {
                    desk.expect(0, args);
                    rounds += 1;
                }
                rounds
            }));
        }
        // Ends the others also when it fails.
        struct Ending<'a>(&'a AtomicBool);
        impl Drop for Ending<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let ending = Ending(&done);
        work();
        drop(ending);
        for rounds in emptied {
            assert!(rounds.join().unwrap() > ROUNDS / 4);
        }
    });
}

#[test]
fn processes_get_the_same_bits_while_others_empty_the_cache() {
    let desk = small();
    lab(&desk, "other", 7);
    let undisturbed = small();
    let eval = ["eval", "-q", "planted", "3"];
    let right = undisturbed.expect(0, &eval).out;
    let run = ["run", "-q", "--budget", "20000", "--out", "out"];
    undisturbed.expect(0, &run);
    while_it_is_emptied(&desk, || {
        for _ in 0..ROUNDS {
            assert_eq!(desk.expect(0, &eval).out, right);
        }
        for _ in 0..ROUNDS / 4 {
            desk.expect(0, &[&run[..], &["--overwrite"]].concat());
            assert_eq!(desk.read("out/run.json"), undisturbed.read("out/run.json"));
            assert_eq!(
                desk.json("out/confirm.json")["witnesses"],
                undisturbed.json("out/confirm.json")["witnesses"]
            );
        }
        desk.expect(0, &["explain", "-q", "out", "--function", "planted"]).out_has("planted");
        desk.expect(0, &["doctor"]);
    });
    assert!(desk.list("cache/tmp").is_empty(), "{:?}", desk.list("cache/tmp"));
}

#[test]
fn a_cache_that_is_cleared_under_a_search_takes_nothing_from_it() {
    let desk = small();
    let undisturbed = small();
    let args = ["run", "--no-confirm", "--budget", "3000000", "--function", "planted", "--out", "out"];
    undisturbed.expect(0, &args);
    let mut child = desk.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the search has begun", || desk.exists("out/journal.jsonl"));
    desk.expect(0, &["cache", "--clear"]).out_has("removed ");
    assert_eq!(state(&desk)["objects"]["files"], 0);
    assert!(child.try_wait().unwrap().is_none(), "the search is under way");
    assert!(child.wait().unwrap().success());
    assert_eq!(desk.read("out/run.json"), undisturbed.read("out/run.json"));
    assert!(desk.list("cache/tmp").is_empty());
}

/// What a disk is like that has neither locks nor second names of files.
const POOR_DISK: &str = "
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
static int refuse(void) { close(open(MARK, O_CREAT | O_WRONLY, 0600)); errno = ENOTSUP; return -1; }
int link(const char *a, const char *b) { return refuse(); }
int linkat(int a, const char *b, int c, const char *d, int e) { return refuse(); }
int flock(int fd, int operation) { errno = ENOLCK; return -1; }
";

#[test]
fn a_disk_without_locks_and_second_names_has_a_cache_too() {
    let desk = small();
    lab(&desk, "other", 7);
    let right = small().expect(0, &["eval", "-q", "planted", "3"]).out;
    let (mark, shim) = (desk.path("mark"), desk.path("poor.so"));
    desk.write("poor.c", &POOR_DISK.replace("MARK", &format!("{:?}", mark.display().to_string())));
    let made = std::process::Command::new("gcc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&shim, &desk.path("poor.c")])
        .status();
    assert!(made.unwrap().success());
    let ask = |args: &[&str]| {
        let output = desk.command(args).env("LD_PRELOAD", &shim).output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{words}");
        (String::from_utf8(output.stdout).unwrap(), words)
    };
    assert_eq!(ask(&["eval", "planted", "3"]).0, right);
    assert!(mark.exists(), "it was asked for a second name");
    let (out, words) = ask(&["eval", "planted", "3"]);
    assert!(out == right && words.contains("compiled 0 files"), "{words}");
    // With the limit of another process, too.
    ask(&["eval", "other", "1", "--matrix", "other.toml", "--cache-size", "0"]);
    assert_eq!(ask(&["eval", "planted", "3"]).0, right);
    while_it_is_emptied(&desk, || {
        for _ in 0..ROUNDS / 2 {
            assert_eq!(ask(&["eval", "planted", "3"]).0, right);
        }
    });
}

#[test]
fn what_a_process_uses_is_used_also_where_another_one_removed_it() {
    let desk = Desk::private();
    lab(&desk, "first", 1);
    lab(&desk, "second", 2);
    compiled(&desk, "first", &[]);
    // Its own entries are the newest, and the first ones go.
    compiled(&desk, "second", &["--cache-size", "0"]);
    assert!(compiled(&desk, "first", &[]) > 0);
    assert_eq!(compiled(&desk, "first", &[]), 0);
}

/// The objects of a lab in a cache that is no part of any project; one of them by its path.
fn others_objects(desk: &Desk) -> (tempfile::TempDir, String) {
    let cache = tempfile::tempdir().unwrap();
    lab(desk, "other", 7);
    compiled(desk, "other", &["--cache", cache.path().to_str().unwrap()]);
    let (path, _) = contents(&cache.path().join("objects")).remove(0);
    (cache, path.display().to_string())
}

#[test]
fn compilers_read_the_objects_of_their_own_run_and_no_others() {
    let desk = Desk::private();
    let (cache, object) = others_objects(&desk);
    lab(&desk, "first", 1);
    desk.script(
        "curious",
        &format!("cat {object} > /dev/null 2>&1 && {{ echo leaked >&2; exit 1; }}\nexec gcc \"$@\""),
    );
    let matrix = desk.read("first.toml").replace("name = \"gcc\"", "name = \"gcc\"\ncommand = \"./curious\"");
    desk.write("curious.toml", &matrix);
    let eval = ["eval", "first", "1", "--matrix", "curious.toml", "--cache", cache.path().to_str().unwrap()];
    // It links its own, and has read nothing else.
    desk.expect(0, &eval).out_has("0x1p+1");
    desk.expect(4, &[&eval[..], &["--no-sandbox"]].concat()).err_has("leaked");
}

#[test]
fn code_under_test_reads_the_objects_of_its_own_run_and_no_others() {
    let desk = Desk::private();
    let (cache, object) = others_objects(&desk);
    lab(&desk, "first", 1);
    let names = cache.path().join("tmp").display().to_string();
    desk.write(
        "first.c",
        &format!(
            "#include <dirent.h>\n#include <stdio.h>\ndouble first(double x) {{\n    \
             return x + (fopen(\"{object}\", \"r\") ? 16 : 0) + (opendir(\"{names}\") ? 32 : 0);\n}}\n"
        ),
    );
    let eval = ["eval", "first", "1", "--matrix", "first.toml", "--cache", cache.path().to_str().unwrap()];
    desk.expect(0, &eval).out_has("0x1p+0");
    desk.expect(0, &[&eval[..], &["--no-sandbox"]].concat()).out_has("0x1.88p+5");
    assert!(fs::metadata(&object).is_ok());
}
