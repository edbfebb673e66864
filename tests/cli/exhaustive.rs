//! `bitrift run --strategy exhaustive`: every input, the truth files, and a kill in the middle.

use std::process::{Child, Stdio};

use bitrift::findings::{Truth, score_function};
use bitrift::store::{read_run, read_truth};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Desk, SMALL_AXES, SMALL_C, comparison, contents, eventually};

/// Every seventh float of [1.25, 1.5] and so is off by some ulps; `slow` is the same, slowly.
const RAGGED_C: &str = "
#include <string.h>
static float ragged_of(float x) {
    unsigned bits;
    memcpy(&bits, &x, 4);
    if (PLANTED(x >= 1.25f && x <= 1.5f && bits * 2654435761u >> 29 == 0)) bits += 1 + bits % 5;
    memcpy(&x, &bits, 4);
    return x;
}
float ragged(float x) { return ragged_of(x); }
float slow(float x) { for (volatile int i = 0; i < 1500; i++) {} return ragged_of(x); }
";

fn desk(functions: &str) -> Desk {
    let desk = Desk::private();
    desk.write("small.c", &format!("{SMALL_C}{RAGGED_C}"));
    desk.write("matrix.toml", &format!("{SMALL_AXES}{functions}"));
    desk
}

const RAGGED: &str = "
[[function]]
signature = \"float ragged(float x)\"
domain = { x = \"[1.2265625, 1.35], {-1}\" }
";

const SLOW: &str = "
[[function]]
signature = \"float slow(float x)\"
domain = { x = \"[1.23, 1.29]\" }
";

/// What the planted build adds to the bits of a float.
fn off(bits: u32) -> u32 {
    let x = f32::from_bits(bits);
    let hit = (1.25..=1.5).contains(&x) && bits.wrapping_mul(2_654_435_761) >> 29 == 0;
    if hit { 1 + bits % 5 } else { 0 }
}

#[test]
fn a_sweep_of_a_million_inputs_is_the_count_of_a_loop_over_them() {
    let desk = desk(RAGGED);
    let args = ["run", "-q", "--json", "--strategy", "exhaustive", "--out", "out"];
    let run = desk.expect(0, &args).json();
    let inputs: Vec<u32> = (1.2265625f32.to_bits()..=1.35f32.to_bits()).collect();
    let hits: Vec<u32> = inputs.iter().copied().filter(|&bits| off(bits) > 0).collect();
    let row = comparison(&run, "ragged", "gcc/O2/native");
    assert_eq!(row["stop_reason"], "complete");
    assert_eq!(row["evaluations"], inputs.len() as u64 + 1);
    assert_eq!(row["max_bits"], 6f64.log2());
    let [range] = row["ranges"].as_array().unwrap().as_slice() else { panic!("{row:#}") };
    let text = |bits: u32| format!("{}", f32::from_bits(bits));
    assert_eq!(range["lo"][0]["dec"], text(hits[0]));
    assert_eq!(range["hi"][0]["dec"], text(*hits.last().unwrap()));
    assert_eq!(range["inconsistent"], hits.len() as u64);
    assert_eq!(range["samples"], u64::from(hits.last().unwrap() - hits[0] + 1));

    let truth = desk.json("out/truth/ragged.json");
    let counted = &truth["comparisons"][0];
    assert_eq!((&truth["schema"], &truth["function"]), (&"bitrift.truth/1".into(), &"ragged".into()));
    assert_eq!(
        (&counted["inputs"], &counted["inconsistent"]),
        (&(inputs.len() + 1).into(), &hits.len().into())
    );
    assert_eq!(counted["at_max"], hits.iter().filter(|&&bits| off(bits) == 5).count());
    let cell = |bits: u32| bits >> 19;
    let mut cells: Vec<u32> = inputs.iter().map(|&bits| cell(bits)).collect();
    cells.dedup();
    let mut held: Vec<u32> = hits.iter().map(|&bits| cell(bits)).collect();
    held.dedup();
    assert_eq!(
        (&counted["cells"], &counted["cells_inconsistent"]),
        (&(cells.len() + 1).into(), &held.len().into())
    );

    // The exhaustive run itself reaches all there is.
    let truths = Truth::read(&read_truth(&desk.path("out/truth/ragged.json")).unwrap()).unwrap();
    let [score] =
        score_function(&truths, &read_run(&desk.path("out")).unwrap().functions[0]).try_into().unwrap();
    assert_eq!((score.shortfall(), score.inconsistent_in[1]), (0.0, hits.len() as u64));
    assert!(score.recall() > 0.99 && score.gain().unwrap() > 1.1, "{score:?}");
    // A sample of it does not.
    desk.expect(0, &["run", "-q", "--out", "cigen", "--budget", "2000"]);
    let [score] =
        score_function(&truths, &read_run(&desk.path("cigen")).unwrap().functions[0]).try_into().unwrap();
    assert!(score.inconsistent == hits.len() as u64 && score.inconsistent_in[1] <= score.inconsistent);
}

#[test]
fn functions_that_cannot_be_swept_are_named_before_anything_is_compiled() {
    let desk = Desk::small();
    let said = desk.expect(1, &["run", "--strategy", "exhaustive"]);
    said.err_has("corner: it has 2 free parameters (x, y)").err_has("same: the domain of x has ");
    said.err_has("choose others with --function, or narrow their domains in ").err_has("matrix.toml");
    assert!(!said.err.contains("steps") && !said.err.contains("single") && !said.err.contains("compiling"));
    assert!(desk.list("results").is_empty());
    let run =
        desk.expect(0, &["run", "-q", "--json", "--strategy", "exhaustive", "--function", "steps"]).json();
    let [range] = comparison(&run, "steps", "gcc/O2/native")["ranges"].as_array().unwrap().as_slice() else {
        panic!("{run:#}")
    };
    assert_eq!((&range["lo"][0]["dec"], &range["hi"][0]["dec"]), (&"10".into(), &"19".into()));
    assert_eq!((&range["samples"], &range["inconsistent"]), (&10.into(), &10.into()));
}

fn sweep(jobs: &'static str, out: &'static str) -> [&'static str; 7] {
    ["run", "--strategy", "exhaustive", "--jobs", jobs, "--out", out]
}

/// Starts a sweep and waits until some of its units are on disk.
fn start(desk: &Desk, args: &[&str], enough: u64) -> Child {
    let mut child = desk.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let units = desk.path("part/units/slow.bin");
    eventually("some units are done", || {
        assert_eq!(child.try_wait().unwrap(), None, "the sweep ended before it could be stopped");
        std::fs::metadata(&units).is_ok_and(|meta| meta.len() > enough)
    });
    child
}

fn stop(mut child: Child, signal: Signal) -> Option<i32> {
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn a_sweep_killed_twice_and_resumed_with_other_jobs_gives_the_same_bytes() {
    let desk = desk(SLOW);
    desk.expect(0, &sweep("2", "whole"));
    assert_eq!(stop(start(&desk, &sweep("1", "part"), 0), Signal::KILL), None);
    let kept = std::fs::metadata(desk.path("part/units/slow.bin")).unwrap().len();
    let resume = [sweep("2", "part").as_slice(), &["--resume"]].concat();
    // Ctrl-C keeps the units too, and says how to go on.
    assert_eq!(stop(start(&desk, &resume, kept), Signal::INT), Some(130));
    let said = desk.expect(0, &resume);
    said.err_has("function slow: ").err_has(" units were done before");
    let bytes = |folder: &str| {
        let mut files = contents(&desk.path(folder));
        files.retain(|(path, _)| !path.ends_with("timing.json"));
        files
            .into_iter()
            .map(|(path, bytes)| (path.file_name().unwrap().to_owned(), bytes))
            .collect::<Vec<_>>()
    };
    assert!(bytes("whole") == bytes("part"), "the resumed sweep differs");
    assert_eq!(
        desk.list("part"),
        ["confirm.json", "origin.json", "run.json", "samples.jsonl", "timing.json", "truth"]
    );
    let cost =
        |folder: &str| desk.json(&format!("{folder}/timing.json"))["functions"][0]["recalled"].as_u64();
    assert_eq!(cost("whole"), Some(0));
    assert!(cost("part").unwrap() >= 2, "{:?}", cost("part"));
    // A new run in the same folder starts from nothing.
    desk.expect(0, &[sweep("2", "part").as_slice(), &["--overwrite"]].concat());
    assert_eq!(cost("part"), Some(0));
}
