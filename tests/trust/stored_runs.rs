//! Commands about a stored run: they find its matrix, go on with what they had, and judge the part that was asked for.

use std::fs;
use std::process::Stdio;

use crate::common::{Desk, SMALL_C, contents, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Functions that -ffast-math changes, each by a statement of its own.
fn fragile(functions: usize) -> Desk {
    let desk = Desk::new();
    let (mut code, mut matrix) = (
        String::new(),
        String::from(
            "[lab]\nname = \"fragile\"\nbaseline = \"gcc/O0\"\n[search]\nbudget = 2000\n[sources]\nfiles = [\"code.c\"]\n\
         [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"fast\"\n\
         args = [\"-O3\", \"-ffast-math\"]\n",
        ),
    );
    for n in 1..=functions {
        code.push_str(&format!(
            "double f{n}(double x)\n{{\n    double y = x + {n};\n    return y - {n};\n}}\n"
        ));
        matrix.push_str(&format!(
            "[[function]]\nsignature = \"double f{n}(double x)\"\ndomain = {{ x = \"[1e-3, 1]\" }}\n"
        ));
    }
    desk.write("code.c", &code).write("matrix.toml", &matrix);
    desk
}

fn patches(file: &Value) -> Vec<Value> {
    let causes = file["causes"].as_array().unwrap();
    let mut patches: Vec<Value> = causes.iter().map(|cause| cause["fix"]["patch"].clone()).collect();
    patches.sort_by_key(ToString::to_string);
    patches
}

#[test]
fn an_interrupted_explanation_prints_what_it_has_and_goes_on_with_it() {
    let desk = fragile(4);
    desk.expect(0, &["run", "-q", "--no-confirm", "--out", "run"]);
    fs::create_dir(desk.path("whole")).unwrap();
    for (path, bytes) in contents(&desk.path("run")) {
        fs::write(desk.path("whole").join(path.file_name().unwrap()), bytes).unwrap();
    }
    let mut command = desk.command(&["explain", "run", "-q", "--matrix", "matrix.toml"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("a finding is explained", || desk.exists("run/explain.json"));
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{out}{err}");
    assert!(out.contains("code.c") && out.contains(" cause"), "{out}{err}");
    let begun = desk.json("run/explain.json");
    assert!(
        begun["causes"].as_array().unwrap().iter().any(|cause| cause["fix"].is_null()),
        "it came too late"
    );
    desk.expect(0, &["explain", "run", "-q"]);
    desk.expect(0, &["explain", "whole", "-q", "--matrix", "matrix.toml"]);
    let (resumed, whole) = (desk.json("run/explain.json"), desk.json("whole/explain.json"));
    assert_eq!(patches(&resumed), patches(&whole));
    assert!(patches(&whole).iter().all(|patch| !patch.is_null()));
    // What is answered is not asked again.
    let again = desk.read("run/explain.json");
    desk.expect(0, &["explain", "run", "-q"]);
    assert_eq!(desk.read("run/explain.json"), again);
}

#[test]
fn a_run_knows_its_matrix_wherever_both_are() {
    let desk = Desk::new();
    let matrix =
        format!("{}[[function]]\nsignature = \"double planted(double x)\"\n", crate::common::SMALL_AXES);
    desk.write("lab/small.c", SMALL_C).write("lab/own.toml", &matrix);
    desk.expect(0, &["run", "-q", "lab/own.toml", "--out", "lab/runs/first"]);
    let works = |run: &str| {
        desk.expect(0, &["replay", run, "-q"]).out_has("1 held");
        desk.expect(0, &["confirm", "--run", run, "-q"]);
        desk.expect(0, &["explain", run, "-q", "--layer", "environment"]);
        desk.expect(0, &["repro", "--run", run, "-q", "--all", "--out", "shown"]);
        desk.expect(0, &["eval", "-q", "planted", "3", "--run", run]).out_has("gcc/O2");
        desk.expect(0, &["speed", run, "-q"]);
    };
    works("lab/runs/first");
    // Moved together, and the run alone.
    fs::rename(desk.path("lab"), desk.path("elsewhere")).unwrap();
    works("elsewhere/runs/first");
    desk.expect(0, &["run", "-q", "--matrix", "elsewhere/own.toml"]);
    fs::create_dir(desk.path("deep")).unwrap();
    fs::rename(desk.path("results/0001-small"), desk.path("deep/alone")).unwrap();
    works("deep/alone");
    // The latest run serves a command that needs none; one that names a matrix is not asked.
    desk.expect(0, &["run", "-q", "elsewhere/own.toml"]);
    desk.expect(0, &["eval", "-q", "planted", "3"]).out_has("gcc/O2");
    fs::rename(desk.path("elsewhere/own.toml"), desk.path("gone.toml")).unwrap();
    desk.expect(1, &["replay", "deep/alone"]).err_has("own.toml").err_has("--matrix");
    fs::rename(desk.path("gone.toml"), desk.path("elsewhere/own2.toml")).unwrap();
    desk.expect(0, &["replay", "deep/alone", "-q", "--matrix", "elsewhere/own2.toml"]);
}

#[test]
fn the_bytes_of_a_run_do_not_depend_on_where_it_is_stored() {
    let desk = Desk::small();
    for out in ["a", "b/c/d"] {
        desk.expect(0, &["run", "-q", "--out", out, "--function", "planted"]);
    }
    for file in ["run.json", "samples.jsonl", "confirm.json"] {
        assert_eq!(desk.read(&format!("a/{file}")), desk.read(&format!("b/c/d/{file}")), "{file}");
    }
}

#[test]
fn a_gate_of_some_functions_judges_these_and_says_that_it_was_partial() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["accept"]);
    desk.expect(0, &["gate", "-q"]).out_lacks("partial");
    // `corner` is gone from the matrix, and `single` moves: neither is asked for.
    let matrix = desk.read("matrix.toml");
    let without = matrix.replace("[[function]]\nsignature = \"double corner(double x, double y)\"\n", "");
    assert!(without.len() < matrix.len());
    desk.write("matrix.toml", &without);
    desk.write(
        "small.c",
        &SMALL_C.replace(
            "float single(float x) { return PLANTED(x >= 2 && x < 8)",
            "float single(float x) { return PLANTED(x >= 2 && x < 99)",
        ),
    );
    desk.expect(3, &["gate", "-q"]).err_has("function corner is in the lock and not in the matrix");
    let said = desk.expect(0, &["gate", "-q", "--function", "planted", "--function", "st*", "--out", "part"]);
    said.out_has("green (partial: 2 of 5 functions of the lock)");
    let gate = desk.json("part/gate.json");
    assert_eq!(gate["partial"]["functions"], serde_json::json!(["planted", "steps"]));
    assert_eq!((&gate["partial"]["of"], &gate["verdict"]), (&Value::from(5), &Value::from("green")));
    desk.expect(2, &["gate", "-q", "--function", "single"])
        .out_has("red (partial: 1 of 5 functions of the lock)");
    desk.expect(3, &["gate", "-q", "--function", "corner"]).err_has("function corner is in the lock");
    desk.expect(1, &["gate", "-q", "--function", "nope"]).err_has("no function matches `nope`");
    // What was not asked for is not forgotten.
    desk.expect(1, &["accept", "part", "--prune"]).err_has("partial");
}
