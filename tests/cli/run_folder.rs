//! The folder of a run: never overwritten unasked, never half-written, whatever the names.

use std::fs;

use crate::common::{Desk, SMALL_AXES, SMALL_C, SMALL_FUNCTIONS, contents};

#[test]
fn runs_are_numbered_and_out_is_the_folder_itself() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["run", "-q", "--out", "deep/er/out"]).out_has("stored in deep/er/out\n");
    assert_eq!(desk.list("results"), ["0001-small", "0002-small"]);
    assert_eq!(
        desk.list("deep/er/out"),
        ["confirm.json", "origin.json", "run.json", "samples.jsonl", "timing.json"]
    );
}

#[test]
fn a_run_that_is_there_is_replaced_only_when_asked() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q", "--out", "out"]);
    let before = contents(&desk.path("out"));
    let said = desk.expect(1, &["run", "-q", "--out", "out", "--seed", "2"]);
    said.err_has("out already holds a complete run").err_has("--overwrite");
    assert_eq!(contents(&desk.path("out")), before);
    desk.expect(0, &["run", "-q", "--out", "out", "--seed", "2", "--overwrite"]);
    assert_eq!(desk.json("out/run.json")["seed"], 2);
    // Nothing is left to resume.
    desk.expect(1, &["run", "--out", "out", "--resume", "--seed", "2"]).err_has("out is complete");
    desk.expect(1, &["run", "--resume"]).err_has("nothing to resume in results");
}

#[test]
fn a_folder_of_the_users_own_files_is_never_touched() {
    let desk = Desk::small();
    desk.write("thesis/chapter.tex", "dear")
        .write("thesis/run.json", "{\"mine\": true}")
        .write("file", "text");
    let before = contents(&desk.path("thesis"));
    for overwrite in [&[][..], &["--overwrite"]] {
        let args = [&["run", "-q", "--out", "thesis"], overwrite].concat();
        desk.expect(1, &args).err_has("thesis");
        desk.expect(1, &[&["run", "-q", "--out", "file"], overwrite].concat()).err_has("file");
    }
    assert_eq!(contents(&desk.path("thesis")), before);
    assert_eq!(desk.read("file"), "text");
}

#[test]
fn a_results_folder_that_cannot_be_made_is_told() {
    let desk = Desk::small();
    desk.write("results", "a file");
    let said = desk.expect(1, &["run", "-q"]);
    said.err_has("error: ").err_has("results");
    assert_eq!(desk.read("results"), "a file");
}

#[test]
fn hostile_names_neither_leave_the_folder_nor_reach_the_terminal() {
    let desk = Desk::new();
    let source = "we ird/a 'b' $(touch pwned) \u{1b}[31m.c";
    desk.write(source, SMALL_C);
    let axes = SMALL_AXES.replace("\"small\"", "\"../../up \\u001b[31m\\nname\"").replace(
        "[\"small.c\"]",
        "[\"we ird/*.c\"]\ninclude = [\"we ird\"]\ndefines = [\"TEXT=\\\"; $(touch pwned) \\u001b[2J\\\"\"]",
    );
    desk.write("matrix.toml", &format!("{axes}{SMALL_FUNCTIONS}"));
    let said = desk.expect(0, &["run"]);
    said.out_has("..-..-up---31m-name").out_has("x in [2, 8");
    assert_eq!(desk.list("results"), ["0001-..-..-up---31m-name"]);
    desk.expect(0, &["show"]).out_has("up \\u{1b}[31m");
    for said in [&said, &desk.expect(0, &["show", "--all"]), &desk.expect(0, &["plan"])] {
        assert!(!said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'), "{}", said.shown());
    }
    // The compiler's own words repeat the names.
    desk.write(source, "double same(double x) { return }");
    let said = desk.expect(4, &["run"]);
    assert!(!said.err.contains('\u{1b}'), "{}", said.shown());
    assert!(!desk.exists("pwned") && !desk.exists("tmp/pwned"));
}

#[test]
fn nothing_stays_behind_among_temporary_files() {
    let desk = Desk::private();
    desk.write("small.c", SMALL_C).write("matrix.toml", &format!("{SMALL_AXES}{SMALL_FUNCTIONS}"));
    for args in [&["run"][..], &["eval", "planted", "3"], &["replay"], &["doctor"], &["plan"]] {
        desk.expect(0, args);
        assert!(desk.list("tmp").is_empty(), "{args:?}: {:?}", desk.list("tmp"));
        assert!(desk.list("cache/tmp").is_empty(), "{args:?}: {:?}", desk.list("cache/tmp"));
        assert!(desk.processes().is_empty(), "{args:?}: {:?}", desk.processes());
    }
    fs::remove_dir_all(desk.cache()).unwrap();
    desk.expect(0, &["show"]);
    assert!(!desk.cache().exists());
}
