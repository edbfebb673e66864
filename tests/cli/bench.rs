//! `bitrift bench`: strategies side by side, stored, interrupted, resumed, reported again.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Desk, contents, eventually};

const SMALL: [&str; 8] = ["bench", "--strategies", "cigen", "--seeds", "1..2", "--budget", "2000", "-q"];

/// The rows without what differs every time.
fn rows(bench: &Value) -> Vec<Value> {
    let mut rows = bench["rows"].as_array().unwrap().clone();
    for row in &mut rows {
        let row = row.as_object_mut().unwrap();
        assert!(row.remove("wall_s").unwrap().as_f64().unwrap() > 0.0);
        assert!(row.remove("busy_s").unwrap().as_f64().unwrap() > 0.0);
    }
    rows
}

#[test]
fn every_strategy_seed_and_function_has_a_row() {
    let desk = Desk::small();
    let said = desk.expect(0, &SMALL);
    said.out_has("FUNCTIONS OVER 48, 32, 8 AND 0 BITS").out_has("STABILITY OVER SEEDS");
    said.out_has("stored in results/bench-small.json and results/bench-small.md");
    assert_eq!(desk.list("results"), ["bench-small.json", "bench-small.md"]);
    let bench = desk.json("results/bench-small.json");
    assert_eq!((&bench["schema"], &bench["budget"]), (&"bitrift.bench/1".into(), &2000.into()));
    assert_eq!(bench["seeds"], serde_json::json!([1, 2]));
    assert_eq!(bench["functions"].as_array().unwrap().len(), 5);
    assert!(bench["builds"][0]["version"].as_str().unwrap().contains("gcc"));
    assert_eq!(bench["settings"]["timeout_ms"], 50);
    let rows = rows(&bench);
    assert_eq!(rows.len(), 10);
    let row = &rows[1];
    assert_eq!(
        (&row["function"], &row["seed"], &row["build"]),
        (&"planted".into(), &1.into(), &"gcc/O2/native".into())
    );
    assert!(row["max_bits"].as_f64().unwrap() > 48.0, "{row}");
    assert!(row["witness"][0].as_str().unwrap().starts_with("0x1."), "{row}");
    assert!((1..=2000).contains(&row["evaluations"].as_u64().unwrap()), "{row}");
    assert!(row["ranges"].as_u64().unwrap() >= 1 && row["stop_reason"].is_string(), "{row}");
    let markdown = desk.read("results/bench-small.md");
    assert!(markdown.starts_with("# Bench: small\n"), "{markdown}");
    let made = "Made by `bitrift bench --strategies cigen --seeds 1..2 --budget 2000`";
    assert!(markdown.contains(made), "{markdown}");
}

#[test]
fn a_bench_is_the_same_with_any_number_of_jobs_and_reported_again_from_its_file() {
    let desk = Desk::small();
    desk.expect(0, &[&SMALL[..], &["--out", "a", "--jobs", "1"]].concat());
    let json = desk.expect(0, &[&SMALL[..], &["--out", "b.json", "--jobs", "2", "--json"]].concat()).json();
    assert_eq!(rows(&json), rows(&desk.json("a.json")));
    assert_eq!(json, desk.json("b.json"));
    let again = desk.expect(0, &["bench", "a.json", "--markdown"]);
    assert_eq!(again.out, desk.read("a.md"));
    // What is stored can be held against another bench, and beside other measurements.
    let mut long = json;
    for row in long["rows"].as_array_mut().unwrap() {
        row["max_bits"] = if row["function"] == "planted" { 63.5.into() } else { 0.0.into() };
    }
    desk.write("long.json", &long.to_string());
    desk.write(
        "others.toml",
        "[timed]\nsource = \"a slower one\"\n[[timed.functions]]\nname = \"planted\"\nseconds = 9\nevaluations = 3",
    );
    let said =
        desk.expect(0, &["bench", "a.json", "--against", "long.json", "--reference", "others.toml", "--all"]);
    said.out_has("4 (80.0%)").out_has("cigen is below it on: planted ");
    said.out_has("geometric mean").out_has("a slower one").out_has("same");
    desk.expect(1, &["bench", "a.json", "--resume"]).err_has("only reported again");
    desk.expect(1, &["bench", "others.json"]).err_has("others.json");
}

#[test]
fn a_bench_that_is_there_is_added_to_or_replaced_only_when_asked() {
    let desk = Desk::small();
    let bench = |more: &[&'static str]| -> Vec<&'static str> {
        [&["bench", "-q", "--strategies", "cigen", "--budget", "1000", "--out", "out/"], more].concat()
    };
    desk.expect(0, &bench(&["--seeds", "1"]));
    let before = contents(&desk.path("out"));
    let one = rows(&desk.json("out/bench-small.json"));
    desk.expect(1, &bench(&["--seeds", "1,2"])).err_has("already holds a bench").err_has("--resume");
    desk.expect(1, &bench(&["--seeds", "2", "--resume"])).err_has("more than was asked for (seed 1)");
    desk.expect(1, &bench(&["--seeds", "1..2", "--resume", "--timeout-ms", "40"])).err_has("other settings");
    desk.write("thesis.md", "dear");
    desk.expect(1, &["bench", "-q", "--out", "thesis", "--overwrite"]).err_has("not a bench");
    assert_eq!(desk.read("thesis.md"), "dear");
    desk.expect(0, &bench(&["--seeds", "2,1", "--resume"]));
    assert_ne!(contents(&desk.path("out")), before);
    let both = rows(&desk.json("out/bench-small.json"));
    assert_eq!((both.len(), &both[5..]), (10, &one[..]));
    desk.expect(0, &bench(&["--seeds", "2", "--overwrite"]));
    assert_eq!(rows(&desk.json("out/bench-small.json")), both[..5]);
    assert_eq!(desk.list("out"), ["bench-small.json", "bench-small.md"]);
}

#[test]
fn a_killed_bench_goes_on_with_the_same_rows() {
    let desk = Desk::small();
    let args = ["bench", "--strategies", "cigen", "--seeds", "1..2", "--budget", "300000", "--jobs", "1"];
    desk.expect(0, &[&args[..], &["--out", "whole"]].concat());
    let cut = [&args[..], &["--out", "cut"]].concat();
    let mut child = desk.command(&cut).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = desk.path("cut.work/journal.jsonl");
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    eventually("two rows are journalled", || lines() >= 3);
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert!(!desk.exists("cut.json") && lines() < 11, "killed while at work");
    desk.expect(1, &cut).err_has("was interrupted").err_has("--resume");
    let said = desk.expect(0, &[&cut[..], &["--resume"]].concat());
    said.err_has("of them done before").err_has("[2/2] cigen, seed 2: ");
    assert_eq!(rows(&desk.json("cut.json")), rows(&desk.json("whole.json")));
    assert!(!desk.exists("cut.work"));
}

#[test]
fn what_cannot_be_benched_is_told_before_anything_is_compiled() {
    let desk = Desk::small();
    desk.expect(1, &["bench", "--strategies", "cigne"]).err_has("did you mean `cigen`?");
    desk.expect(1, &["bench", "--seeds", "3..1"]).err_has("both ends included");
    desk.expect(1, &["bench", "--against", "nothing.json"]).err_has("nothing.json");
    desk.write("others.toml", "[timed]\nsource = \"x\"\n[[timed.functions]]\nname = \"f\"\nsecond = 9");
    desk.expect(1, &["bench", "--reference", "others.toml"]).err_has("others.toml").err_has("`second`");
    desk.write("run.json", "{\"schema\": \"bitrift.run/1\"}");
    desk.expect(1, &["bench", "run.json"]).err_has("expected \"bitrift.bench/1\"");
    assert!(!desk.exists("results"));
}
