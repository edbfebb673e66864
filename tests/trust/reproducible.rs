//! The same experiment and seed give the same bytes: for any number of jobs, alone or in company,
//! in one go or interrupted and resumed.

use bitrift::model::StrategyName;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::common::{Desk, comparison, eventually, function};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Functions of the quickstart and two that fault, on three builds.
fn lab(more_builds: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let fixtures = fixtures.display();
    format!(
        "[lab]\nname = \"same\"\nbaseline = \"gcc/O0\"\n[search]\nbudget = 20000\nmax_faults = 8\n
[sources]
files = [\"{fixtures}/quickstart/*.c\", \"{fixtures}/faults/segfault.c\", \"{fixtures}/faults/exit.c\"]
include = [\"{fixtures}/quickstart\"]
libs = [\"m\"]
[[compiler]]
name = \"gcc\"
[[flags]]
name = \"O0\"
args = [\"-O0\"]
[[flags]]
name = \"O3-fast\"
args = [\"-O3\", \"-ffast-math\", \"-DFAULTY\"]
[[flags]]
name = \"O2\"
args = [\"-O2\"]
{more_builds}
[[function]]
signature = \"double reduced_sine(double x)\"
domain = {{ x = \"[-1e9, 1e9]\" }}
[[function]]
signature = \"double fault_segfault(double x)\"
[[function]]
signature = \"double quadratic_root(double a, double b, double c)\"
domain = {{ a = \"[-1e6, 1e6], != 0\" }}
[[function]]
signature = \"double harmonic(int n)\"
domain = {{ n = \"[1, 2000]\" }}
[[function]]
signature = \"float cbrt_newton(float x)\"
domain = {{ x = \"> 0\" }}
[[function]]
signature = \"double fault_exit(double x)\"
[[function]]
signature = \"double two_sum_error(double a, double b)\"
"
    )
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("matrix.toml", &lab(""));
    desk
}

/// What has to be the same: the result and the samples.
fn bytes(desk: &Desk, folder: &str) -> (String, String) {
    (desk.read(&format!("{folder}/run.json")), desk.read(&format!("{folder}/samples.jsonl")))
}

#[test]
fn every_strategy_gives_the_same_bytes_for_any_number_of_jobs() {
    let desk = desk();
    // A sweep takes one free parameter of few values, which these functions have not got.
    for strategy in StrategyName::ALL.into_iter().filter(|&name| name != StrategyName::Exhaustive) {
        let strategy = strategy.as_str();
        for jobs in ["1", "3"] {
            let out = format!("{strategy}-{jobs}");
            let search = ["--strategy", strategy, "--budget", "3000"];
            desk.expect(0, &[&["run", "-q", "--jobs", jobs, "--out", &out][..], &search].concat());
        }
        let same = bytes(&desk, &format!("{strategy}-1")) == bytes(&desk, &format!("{strategy}-3"));
        assert!(same, "{strategy} differs with three jobs");
        let run = desk.json(&format!("{strategy}-1/run.json"));
        assert_eq!(run["strategy"], strategy);
        assert!(comparison(&run, "reduced_sine", "gcc/O3-fast/native")["max_bits"].as_f64().unwrap() > 30.0);
    }
}

#[test]
fn any_number_of_jobs_and_any_repetition_gives_the_same_bytes() {
    let desk = desk();
    for (folder, jobs) in [("one", "1"), ("two", "2"), ("five", "5"), ("again", "2")] {
        desk.expect(0, &["run", "-q", "--jobs", jobs, "--out", folder]);
    }
    for folder in ["two", "five", "again"] {
        assert!(bytes(&desk, folder) == bytes(&desk, "one"), "{folder} differs from one");
    }
    let run = desk.json("one/run.json");
    assert!(!function(&run, "fault_segfault")["faults"].as_array().unwrap().is_empty());
    assert!(comparison(&run, "reduced_sine", "gcc/O3-fast/native")["max_bits"].as_f64().unwrap() > 40.0);
}

#[test]
fn another_seed_samples_other_inputs() {
    let desk = desk();
    desk.expect(0, &["run", "-q", "--out", "1", "--function", "reduced_sine", "--seed", "1"]);
    desk.expect(0, &["run", "-q", "--out", "2", "--function", "reduced_sine", "--seed", "2"]);
    let (one, two) = (desk.json("1/samples.jsonl"), desk.json("2/samples.jsonl"));
    let inputs = |samples: &Value| -> Vec<String> {
        samples["samples"].as_array().unwrap().iter().map(|s| s[0][0].to_string()).collect()
    };
    let (one, two) = (inputs(&one), inputs(&two));
    assert!(one.len() > 100);
    // Edge values are the same for every seed.
    let shared = one.iter().filter(|input| two.contains(input)).count();
    assert!(shared * 4 < one.len(), "{shared} of {} inputs are the same", one.len());
    let functions = |folder: &str| desk.json(&format!("{folder}/run.json"))["functions"].clone();
    assert_ne!(functions("1"), functions("2"));
}

#[test]
fn a_function_alone_or_with_fewer_others_has_the_same_entry() {
    let desk = desk();
    let whole = desk.expect(0, &["run", "-q", "--json"]).json();
    for name in ["reduced_sine", "fault_segfault", "quadratic_root", "cbrt_newton"] {
        let alone = desk.expect(0, &["run", "-q", "--json", "--function", name]).json();
        assert_eq!(function(&alone, name), function(&whole, name), "{name}");
        assert_eq!(alone["builds"], whole["builds"]);
    }
    let matrix = lab("").replace("[[function]]\nsignature = \"double fault_segfault(double x)\"\n", "");
    desk.write("matrix.toml", &matrix);
    let fewer = desk.expect(0, &["run", "-q", "--json"]).json();
    assert_eq!(fewer["functions"].as_array().unwrap().len(), 6);
    for row in fewer["functions"].as_array().unwrap() {
        assert_eq!(row, function(&whole, row["name"].as_str().unwrap()));
    }
}

#[test]
fn a_further_build_leaves_the_other_comparisons_as_they_are() {
    let desk = desk();
    let before = desk.expect(0, &["run", "-q", "--json"]).json();
    desk.write("matrix.toml", &lab("[[compiler]]\nname = \"clang\"\ncommand = \"clang-16\"\n"));
    let after = desk.expect(0, &["run", "-q", "--json"]).json();
    for row in before["functions"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        for old in row["comparisons"].as_array().unwrap() {
            let build = old["build"].as_str().unwrap();
            assert_eq!(comparison(&after, name, build), old, "{name} on {build}");
        }
        assert_eq!(function(&after, name)["comparisons"].as_array().unwrap().len(), 5);
        let faults = function(&after, name)["faults"].as_array().unwrap();
        for fault in row["faults"].as_array().unwrap() {
            assert!(faults.contains(fault), "{name}: {fault:#} not in {faults:#?}");
        }
    }
}

/// One quick function and slow ones, so that there is time between the first and the last.
fn slow_desk() -> Desk {
    let desk = Desk::private();
    let slow = |n: u32| {
        format!(
            "double slow_{n}(double x) {{ for (volatile int i = 0; i < 4000; i++) {{}} return PLANTED(x > {n} && x < 99) ? x : -x; }}\n"
        )
    };
    let source = format!("{}{}{}{}", crate::common::SMALL_C, slow(1), slow(2), slow(3));
    let entry = |name: &str| format!("[[function]]\nsignature = \"double {name}(double x)\"\n");
    let functions = ["planted", "slow_1", "slow_2", "slow_3"].map(entry).concat();
    desk.write("small.c", &source).write("matrix.toml", &format!("{}{functions}", crate::common::SMALL_AXES));
    desk
}

/// Starts a run and waits until its first function is in the journal.
fn start(desk: &Desk, folder: &str) -> Child {
    let mut command = desk.command(&["run", "--jobs", "2", "--out", folder]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = desk.path(folder).join("journal.jsonl");
    eventually("the first function is in the journal", || {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before it could be stopped");
        std::fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() >= 2 && text.ends_with('\n'))
    });
    assert!(!desk.processes().is_empty());
    child
}

fn stop(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
}

/// Finishes the run in a folder, which is then the same as one that was never stopped.
fn resume(desk: &Desk, folder: &str) {
    desk.expect(1, &["run", "-q", "--out", folder])
        .err_has("already holds an incomplete run")
        .err_has("--resume");
    desk.expect(1, &["run", "-q", "--out", folder, "--resume", "--seed", "9"]).err_has("another experiment");
    desk.expect(0, &["run", "--out", folder, "--resume"]).err_has("searching 4 functions, ");
    assert_eq!(
        desk.list(folder),
        ["confirm.json", "origin.json", "run.json", "samples.jsonl", "timing.json"]
    );
    assert!(desk.json(&format!("{folder}/timing.json"))["resumed"].as_u64().unwrap() >= 1);
    desk.expect(0, &["run", "-q", "--out", "whole"]);
    assert!(bytes(desk, folder) == bytes(desk, "whole"), "the resumed run differs");
    assert!(desk.list("tmp").is_empty(), "{:?}", desk.list("tmp"));
    assert!(desk.list("cache/tmp").is_empty(), "{:?}", desk.list("cache/tmp"));
}

#[test]
fn a_run_that_was_killed_leaves_no_process_and_is_resumed_to_the_same_bytes() {
    let desk = slow_desk();
    let mut child = start(&desk, "out");
    stop(&child, Signal::KILL);
    child.wait().unwrap();
    eventually("every worker and helper has ended", || desk.processes().is_empty());
    assert_eq!(desk.list("out"), ["journal.jsonl"]);
    desk.expect(1, &["show", "out"]).err_has("incomplete").err_has("of 4 functions");
    resume(&desk, "out");
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_is_resumed_to_the_same_bytes() {
    let desk = slow_desk();
    let child = start(&desk, "out");
    stop(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted with ") && said.contains("--resume --out out"), "{said}");
    assert!(desk.processes().is_empty(), "{:?}", desk.processes());
    assert_eq!(desk.list("out"), ["journal.jsonl"]);
    resume(&desk, "out");
}

#[test]
fn a_worker_killed_from_outside_is_replaced_and_nothing_else_changes() {
    let desk = slow_desk();
    let child = start(&desk, "out");
    let worker = desk.processes().into_iter().find(|line| line.contains("__worker")).unwrap();
    let pid: i32 = worker.split(' ').next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("worker replaced in slow_"), "{said}");
    assert_eq!(desk.json("out/timing.json")["worker_restarts"], 1);
    desk.expect(0, &["run", "-q", "--out", "whole"]);
    assert!(bytes(&desk, "out") == bytes(&desk, "whole"), "the run with a killed worker differs");
}

#[test]
fn a_run_interrupted_before_its_first_function_leaves_no_folder() {
    let desk = slow_desk();
    let mut command = desk.command(&["run", "--jobs", "1", "--function", "slow_*"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the run has begun", || desk.exists("results/0001-small/journal.jsonl"));
    stop(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("nothing is stored"), "{said}");
    assert!(desk.list("results").is_empty());
}
