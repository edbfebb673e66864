//! `bitrift compare` on real runs: other code, other functions, other compilers.

use crate::common::{Desk, SMALL_AXES, entry};

/// The small lab, then the same with `planted` clean, `corner` worse, `single` elsewhere and `steps` as it was.
fn desk() -> Desk {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q"]);
    let moved = desk
        .read("small.c")
        .replace(
            "double planted(double x) { return PLANTED(x >= 2 && x < 8)",
            "double planted(double x) { return PLANTED(0)",
        )
        .replace("y < 0x1p200) ? 1 : 2", "y < 0x1p200) ? 1e300 : 2")
        .replace(
            "float single(float x) { return PLANTED(x >= 2 && x < 8)",
            "float single(float x) { return PLANTED(x >= 64 && x < 512)",
        );
    desk.write("small.c", &moved);
    desk.expect(0, &["run", "-q"]);
    desk
}

#[test]
fn what_moved_between_two_runs_is_named_and_the_rest_is_unchanged() {
    let desk = desk();
    let json = desk.expect(0, &["compare", "1", "2", "--json"]).json();
    let changes = |name: &str| -> Vec<String> {
        let function = entry(&json["functions"], "function", name);
        let ranges = function["builds"][0]["ranges"].as_array().unwrap();
        ranges.iter().map(|r| r["change"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(changes("planted"), ["gone"]);
    assert_eq!(changes("corner"), ["worse"]);
    assert_eq!(changes("single"), ["new", "gone"]);
    assert_eq!(changes("steps"), ["unchanged"]);
    assert!(changes("same").is_empty());
    assert_eq!(json["schema"], "bitrift.compare/1");
    assert!(json["differences"].as_array().unwrap().is_empty(), "{json:#}");

    let said = desk.expect(0, &["compare", "1"]);
    said.out_has("results/0001-small -> results/0002-small, 5 functions in both: 1 new, 1 worse, 2 gone");
    said.out_has("worse").out_lacks("steps");
    desk.expect(0, &["compare", "1", "2", "--all"]).out_has("steps");
    desk.expect(0, &["compare", "1", "2", "--markdown"]).out_has("| `corner` | `gcc/O2/native` | worse |");
    desk.expect(0, &["compare", "1", "2", "--function", "steps"]).out_has("1 function in both: 1 unchanged");
}

#[test]
fn a_pipeline_may_fail_on_what_is_new_or_worse() {
    let desk = desk();
    desk.expect(2, &["compare", "1", "2", "--fail-on", "new"]).err_has("1 new (--fail-on)");
    desk.expect(2, &["compare", "1", "2", "--fail-on", "new,worse"]).err_has("1 new, 1 worse");
    desk.expect(0, &["compare", "1", "1", "--fail-on", "new,worse"]).out_has("4 unchanged");
    // Within 64 bits nothing can be worse; nor does anything change its class.
    desk.expect(0, &["compare", "1", "2", "--fail-on", "new,worse", "--tolerance", "64"]).out_lacks("gone");
    desk.expect(0, &["compare", "1", "2", "--fail-on", "worse", "--function", "single"]);
}

#[test]
fn two_versions_of_a_compiler_are_matched_by_a_map_and_named() {
    let desk = Desk::small();
    let functions = desk.read("matrix.toml").replace(SMALL_AXES, "");
    for (name, command) in [("gcc-11", "gcc-11"), ("gcc", "gcc")] {
        let axes = SMALL_AXES
            .replace("name = \"gcc\"", &format!("name = \"{name}\"\ncommand = \"{command}\""))
            .replace("gcc/O0", &format!("{name}/O0"));
        desk.write("matrix.toml", &(axes + &functions));
        desk.expect(0, &["run", "-q"]);
    }
    let said = desk.expect(0, &["compare", "1", "2"]);
    said.out_has("only in the first:").out_has("gcc-11/O2/native (not in the other run)");
    let said = desk.expect(0, &["compare", "1", "2", "--map", "gcc-11=gcc", "--all"]);
    said.out_has("compiler: gcc").out_has("(2 builds)").out_has("gcc-11/O2/native -> gcc/O2/native");
    said.out_has("4 unchanged").out_lacks("only in");
    desk.expect(1, &["compare", "1", "2", "--map", "gcc-9=gcc"]).err_has("gcc-11/O2/native");
    desk.expect(1, &["compare", "1", "2", "--map", "gcc-9"]).err_has("gcc-12=gcc-13");
}

#[test]
fn other_functions_and_other_levels_are_listed_and_what_both_have_is_compared() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q", "--function", "planted", "--function", "same"]);
    let matrix = desk.read("matrix.toml") + "\n[[flags]]\nname = \"O3\"\nargs = [\"-O3\"]\n";
    desk.write("matrix.toml", &matrix);
    desk.expect(0, &["run", "-q", "--function", "planted", "--function", "steps"]);
    let said = desk.expect(0, &["compare", "1", "2"]);
    said.out_has("functions: same").out_has("functions: steps");
    said.out_has("gcc/O3/native (not in the other run)").out_has("1 function in both: 1 unchanged");
}

#[test]
fn runs_that_are_not_there_and_senseless_options_are_told() {
    let desk = desk();
    desk.expect(1, &["compare", "1", "7"]).err_has("7");
    desk.expect(1, &["compare"]).err_has("<A>");
    desk.expect(1, &["compare", "1", "2", "--tolerance", "-1"]).err_has("between 0 and 64");
    desk.expect(1, &["compare", "1", "2", "--function", "nope"]).err_has("functions of the runs");
    desk.expect(1, &["compare", "1", "2", "--fail-on", "gone"]).err_has("new, worse");
    desk.write("newer/run.json", "{\"schema\": \"bitrift.run/99\"}");
    desk.expect(1, &["compare", "newer", "1"]).err_has("newer bitrift");
    desk.expect(1, &["compare", "1", "newer"]).err_has("newer bitrift");
}
