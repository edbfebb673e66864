//! `bitrift show`

use std::fs;
use std::path::Path;

use crate::common::{Desk, names_in};

/// Two runs: 0001-small with every function, 0002-small with `planted` alone.
fn desk() -> Desk {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["run", "-q", "--function", "planted"]);
    desk
}

#[test]
fn the_latest_run_is_meant_unless_a_folder_a_name_or_a_number_says_otherwise() {
    let desk = desk();
    desk.expect(0, &["show"]).out_has("1 function:");
    for name in [
        "1",
        "0001",
        "0001-small",
        "results/0001-small",
        &desk.path("results/0001-small").display().to_string(),
    ] {
        desk.expect(0, &["show", name]).out_has("5 functions:");
    }
    desk.expect(1, &["show", "7"]).err_has("7");
    desk.expect(1, &["show", "nonsense"]).err_has("nonsense");
}

#[test]
fn what_run_printed_is_printed_again() {
    let desk = Desk::small();
    let run = desk.expect(0, &["run"]);
    assert_eq!(run.out, format!("{}\nstored in results/0001-small\n", desk.expect(0, &["show"]).out));
}

#[test]
fn json_is_run_json_itself() {
    let desk = desk();
    assert_eq!(desk.expect(0, &["show", "1", "--json"]).out, desk.read("results/0001-small/run.json"));
    let some = desk.expect(0, &["show", "1", "--json", "--function", "s*"]).json();
    let names: Vec<_> = some["functions"].as_array().unwrap().iter().map(|f| f["name"].clone()).collect();
    assert_eq!(names, ["same", "steps", "single"]);
}

#[test]
fn functions_are_chosen_by_glob_and_an_unknown_one_is_an_error() {
    let desk = desk();
    let said = desk.expect(0, &["show", "1", "--function", "cor*", "--function", "steps"]);
    said.out_has("corner").out_has("steps").out_has("2 functions:").out_lacks("single");
    desk.expect(1, &["show", "--function", "plan"]).err_has("functions of the run: `planted`");
}

#[test]
fn all_shows_the_ranges_that_the_table_leaves_out() {
    let desk = Desk::small();
    let four = "double four(double x) { return PLANTED((x > 1 && x < 4) || (x > 0x1p40 && x < 0x1p42) \
        || (x < -1 && x > -4) || (x < -0x1p40 && x > -0x1p42)) ? 0.1 : 1; }\n\
        double quarters(double x, double y) { return PLANTED(x * y > 0) ? 0.1 : 1; }\n";
    desk.write("small.c", &(desk.read("small.c") + four));
    let functions = "[[function]]\nsignature = \"double four(double x)\"\n\
        [[function]]\nsignature = \"double quarters(double x, double y)\"\n";
    desk.write("matrix.toml", &format!("{}{functions}", crate::common::SMALL_AXES));
    let said = desk.expect(0, &["run", "--out", "out", "--budget", "30000"]);
    // Of one parameter three ranges are shown, of several one; the hint names the run.
    said.out_has("+ 1 more range: bitrift show out --all");
    assert_eq!(said.out.matches("  x in [").count(), 3 + 1, "{}", said.shown());
    let all = desk.expect(0, &["show", "out", "--all"]);
    all.out_lacks("more range");
    let ranges = |i: usize| said_ranges(&desk, i);
    assert_eq!(all.out.matches("  x in [").count(), ranges(0) + ranges(1), "{}", all.shown());
    assert_eq!(ranges(0), 4);
}

fn said_ranges(desk: &Desk, function: usize) -> usize {
    desk.json("out/run.json")["functions"][function]["comparisons"][0]["ranges"].as_array().unwrap().len()
}

#[test]
fn without_a_run_the_way_to_make_one_is_told() {
    let said = Desk::small().expect(1, &["show"]);
    said.err_has("results").err_has("bitrift run");
}

#[test]
fn a_folder_that_is_no_run_or_incomplete_is_told_apart() {
    let desk = Desk::small();
    desk.write("notes/todo.txt", "buy milk");
    desk.expect(1, &["show", "notes"]).err_has("notes");
    desk.expect(1, &["show", "small.c"]).err_has("small.c");
    desk.write("results/0001-x/run.json", "{\"schema\": \"bitrift.run/99\"}");
    desk.expect(1, &["show"]).err_has("newer bitrift");
    desk.write("results/0002-x/run.json", "{\"schema\": \"bitrift.run/1\", ");
    desk.expect(1, &["show"]).err_has("0002-x");
}

#[test]
fn no_hostile_run_file_makes_show_or_replay_fail_other_than_in_words() {
    let desk = Desk::small();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    for name in names_in(&folder).iter().filter(|n| n.ends_with(".json")) {
        fs::create_dir_all(desk.path("run")).unwrap();
        fs::copy(folder.join(name), desk.path("run/run.json")).unwrap();
        for args in [["show", "run", "--all"], ["replay", "run", "-q"]] {
            let said = desk.bitrift(&args);
            // The matrix has no function of the good run, so that no witness is left to replay.
            let expected = match (name.as_str(), args[0]) {
                ("good.json", "show") => vec![0],
                ("good.json", _) => vec![3],
                _ => vec![0, 1],
            };
            assert!(expected.contains(&said.code), "{name}: {}", said.shown());
            assert!(said.code == 0 || said.err.starts_with("error: "), "{name}: {}", said.shown());
            assert!(
                !said.err.contains("panicked") && !said.out.contains('\u{1b}'),
                "{name}: {}",
                said.shown()
            );
        }
    }
}
