//! A build compared with itself never differs: the same command under two names, over all fixtures.

use std::path::{Path, PathBuf};

use crate::common::{Desk, names_in};
use serde_json::Value;

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A matrix with one flag set and the same compiler twice.
fn twice(command: &str, args: &[&str], folder: &Path, functions: &str) -> String {
    let args = args.iter().map(|a| format!("{a:?}")).collect::<Vec<_>>().join(", ");
    let folder = folder.display();
    format!(
        "[lab]\nbaseline = \"a\"\n[sources]\nfiles = [\"{folder}/*.c\"]\ninclude = [\"{folder}\"]\nlibs = [\"m\"]\n\
         [[compiler]]\nname = \"a\"\ncommand = \"{command}\"\n[[compiler]]\nname = \"b\"\ncommand = \"{command}\"\n\
         [[flags]]\nname = \"flags\"\nargs = [{args}]\n{functions}"
    )
}

/// Runs the same build twice and looks for anything that differs; returns the run.
fn compare_with_itself(command: &str, args: &[&str], folder: &Path, functions: &str) -> Value {
    let desk = Desk::new();
    desk.write("matrix.toml", &twice(command, args, folder, functions));
    let run = desk.expect(0, &["run", "--quiet", "--json"]).json();
    let rows = run["functions"].as_array().unwrap();
    assert!(rows.len() >= 18);
    for row in rows {
        let what = format!("{} with {command} {args:?}", row["name"]);
        let [comparison] = &row["comparisons"].as_array().unwrap()[..] else { panic!("{what}: {row:#}") };
        assert_eq!(comparison["build"], "b/flags/native");
        assert_eq!(comparison["ranges"], Value::Array(Vec::new()), "{what}");
        assert_eq!(comparison["class_changes"], Value::Object(Default::default()), "{what}");
        assert_eq!((&comparison["max_bits"], &comparison["witness"]), (&0.0.into(), &Value::Null), "{what}");
    }
    run
}

/// Nothing differs, everything was searched to the end, nothing failed.
fn is_clean(run: &Value) {
    for row in run["functions"].as_array().unwrap() {
        assert_eq!(
            (&row["status"], &row["stop_reason"]),
            (&"searched".into(), &"complete".into()),
            "{row:#}"
        );
        assert_eq!(row["faults"], Value::Array(Vec::new()), "{row:#}");
        assert!(row["evaluations"].as_u64().unwrap() > 100, "{row:#}");
    }
}

const SETS: [(&str, &[&str]); 6] = [
    ("gcc", &["-O0"]),
    ("gcc", &["-O2"]),
    ("gcc", &["-O3", "-ffast-math"]),
    ("gcc", &["-Ofast", "-march=native", "-flto"]),
    ("clang-16", &["-O3", "-ffast-math"]),
    ("tcc", &["-O0"]),
];

#[test]
fn no_build_of_the_quickstart_differs_from_itself() {
    let matrix = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("matrix.toml")).unwrap();
    let functions = &matrix[matrix.find("[[function]]").unwrap()..];
    for (command, args) in SETS {
        is_clean(&compare_with_itself(command, args, &fixtures("quickstart"), functions));
    }
}

#[test]
fn no_build_of_the_planted_differences_differs_from_itself() {
    let functions = std::fs::read_to_string(fixtures("planted").join("functions.toml")).unwrap();
    for (command, args) in &SETS[..3] {
        is_clean(&compare_with_itself(command, args, &fixtures("planted"), &functions));
    }
}

/// Functions of fixtures/faults but these.
fn fault_functions(but: &[&str]) -> String {
    let sources = names_in(&fixtures("faults")).into_iter();
    let names = sources.filter_map(|name| name.strip_suffix(".c").map(String::from));
    let names = names.filter(|name| !but.contains(&name.as_str()));
    names.map(|n| format!("[[function]]\nsignature = \"double fault_{n}(double x)\"\n")).collect()
}

#[test]
fn the_faults_do_not_differ_from_themselves_when_healthy() {
    is_clean(&compare_with_itself("gcc", &["-O2"], &fixtures("faults"), &fault_functions(&[])));
}

#[test]
fn a_fault_in_both_builds_is_a_fault_and_no_difference() {
    let settings = "[search]\nbudget = \"paper\"\ntimeout_ms = 20\nmax_faults = 2\n";
    // Where an overrun heap shows is luck, and who sleeps costs seconds of wall time each.
    let functions = format!("{settings}{}", fault_functions(&["heap_overrun", "asleep"]));
    let run = compare_with_itself("gcc", &["-O0", "-DFAULTY"], &fixtures("faults"), &functions);
    let row = crate::common::function(&run, "fault_segfault");
    let faults: Vec<_> =
        row["faults"].as_array().unwrap().iter().map(|f| (&f["build"], &f["kind"])).collect();
    assert!(faults.contains(&(&"a/flags/native".into(), &"SIGSEGV".into())), "{row:#}");
    assert!(faults.contains(&(&"b/flags/native".into(), &"SIGSEGV".into())), "{row:#}");
}
