//! `bitrift run` when something cannot be built: rows and exit codes, never a crash.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Desk, SMALL_AXES, SMALL_C, entry, eventually, function};

const ABSENT: &str = "[[compiler]]\nname = \"clang\"\ncommand = \"clang-99\"\noptional = true\n";
const BAD_FLAG: &str = "[[flags]]\nname = \"bad\"\nargs = [\"-O2\", \"-fno-such-thing\"]\n";

fn desk(more: &str) -> Desk {
    let desk = Desk::small();
    desk.write("matrix.toml", &(desk.read("matrix.toml") + more));
    desk
}

#[test]
fn a_compiler_that_is_absent_is_shown_as_skipped_with_its_package() {
    let desk = desk(ABSENT);
    let said = desk.expect(0, &["run", "--out", "out"]);
    said.out_has("clang/O2/native  skipped  clang-99 not found; Debian package clang-99");
    said.out_has("4 builds (2 not built)").err_has("clang/O2/native skipped: clang-99 not found");
    let run = desk.json("out/run.json");
    let build = entry(&run["builds"], "id", "clang/O0/native");
    assert_eq!(
        (&build["status"], &build["reason"]),
        (&"skipped".into(), &"clang-99 not found; Debian package clang-99".into())
    );
    assert_eq!(function(&run, "planted")["comparisons"].as_array().unwrap().len(), 1);
}

#[test]
fn a_failed_build_is_a_row_with_the_compilers_words_and_the_others_go_on() {
    let desk = desk(BAD_FLAG);
    let said = desk.expect(0, &["run", "--out", "out"]);
    said.out_has("gcc/bad/native  failed").out_has("-fno-such-thing").out_has("planted");
    let run = desk.json("out/run.json");
    let build = entry(&run["builds"], "id", "gcc/bad/native");
    assert_eq!(build["status"], "failed");
    assert!(build["reason"].as_str().unwrap().contains("unrecognized command-line option"), "{build:#}");
    assert_eq!(function(&run, "planted")["comparisons"].as_array().unwrap().len(), 1);
}

#[test]
fn strict_says_what_could_not_be_evaluated_after_storing_the_rest() {
    for (more, line) in [
        (ABSENT, "build clang/O0/native skipped: clang-99 not found"),
        (BAD_FLAG, "build gcc/bad/native failed: "),
    ] {
        let desk = desk(more);
        let said = desk.expect(3, &["run", "--strict", "--out", "out"]);
        said.err_has("not everything could be evaluated (--strict)").err_has(line);
        said.out_has("stored in out");
        assert_eq!(
            desk.list("out"),
            ["confirm.json", "origin.json", "run.json", "samples.jsonl", "timing.json"]
        );
    }
    desk("").expect(0, &["run", "--strict"]);
}

#[test]
fn a_function_that_one_build_lacks_is_told_with_the_linkers_words() {
    let desk = desk("[[function]]\nsignature = \"double plain_only(double x)\"\n");
    desk.write(
        "small.c",
        &format!("{SMALL_C}#ifndef __OPTIMIZE__\ndouble plain_only(double x) {{ return x; }}\n#endif\n"),
    );
    let said = desk.expect(0, &["run", "--out", "out"]);
    said.out_has("not in build").out_has("plain_only").out_has("undefined reference");
    let run = desk.json("out/run.json");
    let row = function(&run, "plain_only");
    assert_eq!((&row["status"], row["comparisons"].as_array().unwrap().len()), (&"partial".into(), 0));
    assert!(row["missing"]["gcc/O2/native"].as_str().unwrap().contains("undefined reference"), "{row:#}");
    assert!(function(&run, "planted")["comparisons"][0]["max_bits"].as_f64().unwrap() > 50.0);
    desk.expect(3, &["run", "--strict", "-q"]).err_has("build gcc/O2/native lacks function plain_only");
}

#[test]
fn a_function_that_the_baseline_lacks_is_missing_and_the_others_are_searched() {
    let desk = desk("[[function]]\nsignature = \"double fast_only(double x)\"\n");
    desk.write(
        "small.c",
        &format!("{SMALL_C}#ifdef __OPTIMIZE__\ndouble fast_only(double x) {{ return x; }}\n#endif\n"),
    );
    let run = desk.expect(0, &["run", "-q", "--json"]).json();
    let row = function(&run, "fast_only");
    assert_eq!((&row["status"], &row["stop_reason"]), (&"missing".into(), &"missing".into()));
    assert_eq!(run["functions"].as_array().unwrap().len(), 6);
    desk.expect(3, &["run", "--strict", "-q"]).err_has("lacks function fast_only");
}

#[test]
fn a_baseline_that_cannot_be_used_ends_the_run_with_its_own_code_and_leaves_no_folder() {
    let desk = Desk::small();
    let matrix = desk.read("matrix.toml");
    desk.write("matrix.toml", &matrix.replace("name = \"gcc\"", "name = \"gcc\"\ncommand = \"gcc-99\""));
    desk.expect(4, &["run"])
        .err_has("the baseline gcc/O0/native cannot be used: gcc-99 not found; Debian package gcc-99");
    desk.write("matrix.toml", &matrix.replace("\"-O0\"]", "\"-fno-such-thing\"]"));
    desk.expect(4, &["run"]).err_has("cannot be used:\ngcc: error:").err_has("-fno-such-thing");
    desk.write("matrix.toml", &matrix).write("small.c", "double same(double x) { return y; }\n");
    let said = desk.expect(4, &["run", "--out", "out"]);
    said.err_has("small.c:1").err_has("y");
    assert!(said.out.is_empty(), "{}", said.shown());
    desk.write("small.c", "int nothing;\n");
    desk.expect(4, &["run"])
        .err_has("the baseline gcc/O0/native has none of the functions")
        .err_has("no source of [sources] defines `same` (matrix.toml:");
    assert!(!desk.exists("results") && !desk.exists("out"));
}

#[test]
fn an_interrupt_while_compiling_ends_the_compiler_too() {
    let desk = Desk::private();
    let slow = desk.script("slow-cc", "[ \"$1\" = --version ] && exec gcc --version\nsleep 600");
    let axes = SMALL_AXES.replace("name = \"gcc\"", &format!("name = \"gcc\"\ncommand = \"{slow}\""));
    desk.write("small.c", SMALL_C).write("matrix.toml", &format!("{axes}{}", crate::common::SMALL_FUNCTIONS));
    let child = desk.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("a compiler is at work", || desk.processes().iter().any(|line| line.contains("sleep 60")));
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted while compiling"), "{said}");
    // What the compiler started dies with it, if not in the same instant.
    eventually("no process is left", || desk.processes().is_empty());
    assert!(!desk.exists("results") && desk.list("cache/tmp").is_empty());
}

#[test]
fn what_is_wrong_with_the_matrix_or_the_options_is_told_before_anything_is_done() {
    let desk = Desk::private();
    desk.write("small.c", SMALL_C);
    let bad = format!("{SMALL_AXES}\n[[function]]\nsignatur = \"double same(double x)\"\n");
    desk.write("matrix.toml", &bad);
    let said = desk.expect(1, &["run"]);
    said.err_has("matrix.toml:24").err_has("signatur").err_has("`signature`");
    desk.write("matrix.toml", &bad.replace("signatur ", "signature "));
    let said = desk.expect(1, &["run", "--strategy", "cigne"]);
    said.err_has("there is no strategy `cigne`; did you mean `cigen`?");
    desk.write("matrix.toml", "this is not toml");
    desk.expect(1, &["run"]).err_has("this is not valid TOML");
    assert!(!desk.exists("results") && !desk.cache().exists());
}
