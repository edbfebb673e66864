//! Exit codes, help, and words that are not understood.

use std::fs::File;

use crate::common::Desk;

#[test]
fn help_explains_every_command_and_every_exit_code() {
    let said = Desk::new().expect(0, &["--help"]);
    for word in [
        "run",
        "bench",
        "plan",
        "doctor",
        "show",
        "report",
        "compare",
        "eval",
        "replay",
        "Examples:",
        "Exit codes:",
    ] {
        said.out_has(word);
    }
    for code in ["    0  ", "    1  ", "    2  ", "    3  ", "    4  ", "   70  ", "  130  "] {
        said.out_has(code);
    }
    said.out_lacks("__worker");
    assert!(said.err.is_empty(), "{}", said.shown());
}

#[test]
fn every_command_has_help_and_there_is_a_version() {
    let desk = Desk::new();
    for command in ["run", "bench", "plan", "doctor", "show", "report", "compare", "eval", "replay"] {
        desk.expect(0, &[command, "--help"]).out_has(&format!("Usage: bitrift {command}"));
    }
    assert_eq!(desk.expect(0, &["--version"]).out, format!("bitrift {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_is_not_understood_is_bad_usage_and_says_what_was_meant() {
    let desk = Desk::small();
    desk.expect(1, &["shwo"]).err_has("show");
    desk.expect(1, &["run", "--sed", "3"]).err_has("--seed");
    desk.expect(1, &["run", "--budget", "lots"]).err_has("`paper`");
    desk.expect(1, &["run", "--jobs", "0"]).err_has("--jobs");
    desk.expect(1, &["eval"]).err_has("FUNCTION");
    desk.expect(1, &["run", "no-such.toml"]).err_has("there is no file `no-such.toml`");
    Desk::new().expect(1, &[]).err_has("there is no file `matrix.toml`").err_has("give the file's path");
    desk.expect(1, &["run", "matrix.tml"]).err_has("did you mean `matrix.toml`?");
    assert!(!desk.exists("results"));
}

#[test]
fn output_that_cannot_be_written_is_an_internal_error_and_a_closed_pipe_is_none() {
    let desk = Desk::small();
    let full = || File::create("/dev/full").unwrap();
    let output = desk.command(&["plan"]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(70));
    assert!(String::from_utf8(output.stderr).unwrap().contains("failed to write to standard output"));
    // A reader such as `head` that has seen enough.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = desk.command(&["plan"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn a_folder_for_temporary_files_that_is_not_there_is_told_as_such() {
    let desk = Desk::small();
    let output = desk.command(&["run"]).env("TMPDIR", desk.path("nowhere")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("set TMPDIR"));
}

#[test]
fn a_run_goes_on_when_standard_error_cannot_be_written() {
    let desk = Desk::small();
    let said =
        desk.command(&["run", "--out", "out"]).stderr(File::create("/dev/full").unwrap()).output().unwrap();
    assert_eq!(said.status.code(), Some(0));
    assert!(desk.exists("out/run.json"));
}
