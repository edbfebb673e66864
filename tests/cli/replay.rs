//! `bitrift replay`

use crate::common::{Desk, SMALL_AXES};

/// The small lab with a finished run.
fn desk() -> Desk {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q"]);
    desk
}

/// Witnesses of the run on disk.
fn witnesses(desk: &Desk) -> usize {
    let run = desk.json("results/0001-small/run.json");
    let ranges = |f: &serde_json::Value| f["comparisons"][0]["ranges"].as_array().unwrap().len();
    run["functions"].as_array().unwrap().iter().map(ranges).sum()
}

#[test]
fn every_witness_of_a_fresh_run_holds() {
    let desk = desk();
    let count = witnesses(&desk);
    assert!(count >= 4);
    let said = desk.expect(0, &["replay"]);
    assert_eq!(said.out, format!("{count} witnesses: {count} held, 0 moved, 0 gone\n"));
    said.err_has("compiled 0 files");
    let all = desk.expect(0, &["replay", "1", "--all"]);
    assert_eq!(all.out.matches("\nheld ").count(), count, "{}", all.shown());
    desk.expect(0, &["replay", "0001-small", "--function", "steps"]).out_has("1 witness: 1 held");
    // Built as the run was: with the functions it had.
    desk.expect(0, &["run", "-q", "--function", "steps"]);
    desk.expect(0, &["replay"]).err_has("compiled 0 files").out_has("1 witness: 1 held");
    desk.expect(1, &["replay", "--function", "stepz"]).err_has("did you mean `steps`?");
}

#[test]
fn a_difference_that_was_mended_is_gone() {
    let desk = desk();
    desk.write(
        "small.c",
        &desk.read("small.c").replace("x * 3 : x; }\ndouble corner", "x : x; }\ndouble corner"),
    );
    let said = desk.expect(0, &["replay"]);
    said.out_has("gone     planted#gcc/O2/native.1\n").out_has("1 gone\n").out_has("0 moved");
    said.out_lacks("steps#");
}

#[test]
fn a_difference_that_became_another_has_moved() {
    let desk = desk();
    desk.write("matrix.toml", &desk.read("matrix.toml").replace("\"-O2\"]", "\"-O2\", \"-DPLUS=1\"]"));
    let source =
        desk.read("small.c").replace("? x * 3 : x; }\ndouble corner", "? x * 3 + PLUS : x; }\ndouble corner");
    desk.write("small.c", &format!("#ifndef PLUS\n#define PLUS 0\n#endif\n{source}"));
    let said = desk.expect(0, &["replay", "--function", "planted"]);
    said.out_has("moved    planted#gcc/O2/native.1\n")
        .out_has(" bits)\n")
        .out_has("1 witness: 0 held, 1 moved, 0 gone");
}

#[test]
fn a_witness_that_now_crashes_has_moved() {
    let desk = desk();
    let source = desk
        .read("small.c")
        .replace("? x * 3 : x; }\ndouble corner", "? *(volatile double *)0 : x; }\ndouble corner");
    desk.write("small.c", &source);
    let said = desk.expect(0, &["replay", "--function", "planted"]);
    said.out_has("-> SIGSEGV").out_has("1 moved");
}

#[test]
fn what_is_no_longer_there_is_told_and_the_rest_is_replayed() {
    let desk = desk();
    let count = witnesses(&desk);
    // A function that the matrix lost.
    let matrix = desk.read("matrix.toml");
    desk.write(
        "matrix.toml",
        &matrix.replace("[[function]]\nsignature = \"double planted(double x)\"\n", ""),
    );
    let said = desk.expect(3, &["replay"]);
    said.out_has("unevaluated  planted#gcc/O2/native.1")
        .out_has("function planted is in the run but not in the matrix");
    said.out_has(&format!("{count} witnesses: {} held, 0 moved, 0 gone, 1 unevaluated", count - 1));
    // A function of another type.
    let source = desk.read("small.c");
    desk.write("matrix.toml", &matrix.replace("double steps(int n)", "double steps(long n)"));
    desk.write("small.c", &source.replace("double steps(int n)", "double steps(long n)"));
    desk.expect(3, &["replay"]).out_has("was stored as double (int32_t n)").out_has("1 unevaluated");
    desk.write("small.c", &source);
    // A build that the matrix lost.
    desk.write("matrix.toml", &matrix.replace("name = \"O2\"", "name = \"O2-new\""));
    let said = desk.expect(3, &["replay", "--function", "steps"]);
    said.out_has("gcc/O2/native: not a build of the matrix any more")
        .out_has("0 held, 0 moved, 0 gone, 1 unevaluated");
    // A function that a build lost.
    desk.write("matrix.toml", &matrix);
    desk.write("small.c", &desk.read("small.c").replace("float single", "static float single"));
    desk.expect(3, &["replay", "--function", "single"]).out_has("unevaluated").out_has("single");
}

#[test]
fn a_baseline_that_fails_to_build_is_said_with_its_own_code() {
    let desk = desk();
    desk.write("small.c", "double same(double x) { return x }");
    desk.expect(4, &["replay"]).err_has("the baseline gcc/O0/native cannot be used").err_has("small.c:1");
}

#[test]
fn a_run_without_witnesses_is_nothing_to_worry_about() {
    let desk = Desk::small();
    desk.write("matrix.toml", &format!("{SMALL_AXES}[[function]]\nsignature = \"double same(double x)\"\n"));
    desk.expect(0, &["run", "-q"]);
    assert_eq!(desk.expect(0, &["replay", "-q"]).out, "0 witnesses: 0 held, 0 moved, 0 gone\n");
}
