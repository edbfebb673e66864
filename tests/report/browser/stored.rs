//! Hand-made runs in a folder, and their pages.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::Desk;

pub const BASELINE: &str = "gcc/O0/native";

pub fn number(x: f64) -> Value {
    // Powers of two: the exact text is short, and Rust writes the shortest decimal.
    let sign = if x.is_sign_negative() { "-" } else { "" };
    let hex =
        if x == 0.0 { format!("{sign}0x0p+0") } else { format!("{sign}0x1p{:+}", x.abs().log2() as i32) };
    let dec = format!("{x:?}");
    json!({"hex": hex, "dec": dec.strip_suffix(".0").unwrap_or(&dec)})
}

fn build(id: &str) -> Value {
    json!({"id": id, "compiler": "gcc", "version": "gcc 12", "flags": ["-O2"], "target": "native",
        "fpenv": "ieee", "emulated": false, "status": "built", "reason": ""})
}

/// A range with the same bounds for each parameter.
pub fn range(id: &str, params: usize, (lo, hi): (f64, f64), bits: f64) -> Value {
    json!({"id": id, "lo": vec![number(lo); params], "hi": vec![number(hi); params],
        "edges": vec![json!({"lo": "sharp", "hi": "ragged"}); params],
        "samples": 100, "inconsistent": 90, "mean_bits": bits / 2.0, "max_bits": bits,
        "witness": {"inputs": vec![number(hi); params], "baseline": number(1.0), "variant": number(2.0)},
        "category": if bits > 48.0 { "magnitude" } else { "digits" }})
}

pub fn comparison(build: &str, bits: f64, ranges: Vec<Value>) -> Value {
    json!({"build": build, "baseline": BASELINE, "evaluations": 1000, "stop_reason": "complete",
        "max_bits": bits, "witness": ranges.first().map(|r| &r["witness"]), "class_changes": {}, "ranges": ranges})
}

pub fn function(name: &str, params: &[&str], comparisons: Vec<Value>) -> Value {
    let rows: Vec<Value> = params.iter().map(|p| json!({"name": p, "type": "double"})).collect();
    json!({"name": name, "params": rows, "result": "double", "domains": vec![""; params.len()],
        "status": "searched", "stop_reason": "complete", "evaluations": 1000,
        "comparisons": comparisons, "faults": [], "missing": {}})
}

pub fn run(name: &str, builds: &[&str], functions: Vec<Value>) -> Value {
    let builds: Vec<Value> = builds.iter().map(|id| build(id)).collect();
    json!({"schema": "bitrift.run/1", "bitrift": "0.1.0", "name": name, "seed": 1, "strategy": "auto",
        "budget": 1000, "host": {"cpu": "x86", "libm": "glibc"}, "baseline": BASELINE,
        "builds": builds, "functions": functions})
}

/// Writes a run with its samples and makes its page.
pub fn page_of(desk: &Desk, run: &Value, samples: &[Value]) -> PathBuf {
    let lines: Vec<String> = samples.iter().map(Value::to_string).collect();
    desk.write("run/run.json", &run.to_string()).write("run/samples.jsonl", &lines.join("\n"));
    let said = desk.expect(0, &["report", "run", "--html"]);
    assert_eq!(said.out, "run/report.html\n");
    desk.path("run/report.html")
}

/// Samples of a function at powers of two, alternately below and above zero; every third differs.
pub fn samples(name: &str, params: &[&str], builds: &[&str], count: usize) -> Value {
    let sample = |k: usize| {
        let sign = if k.is_multiple_of(2) { "" } else { "-" };
        let inputs: Vec<String> = (0..params.len()).map(|p| format!("{sign}0x1p{:+}", k % 400 + p)).collect();
        let bits = builds
            .iter()
            .enumerate()
            .map(|(b, _)| if k.is_multiple_of(3) { (k + b) as f64 % 64.0 } else { 0.0 });
        json!([inputs, bits.collect::<Vec<_>>()])
    };
    json!({"function": name, "params": params, "builds": builds,
        "samples": (0..count).map(sample).collect::<Vec<_>>()})
}

/// Four functions on three builds, of one, two and three parameters.
pub fn small() -> (Value, Vec<Value>) {
    let builds = [BASELINE, "gcc/O2/native", "clang/O3-fast/native"];
    let functions = vec![
        function(
            "beta",
            &["x"],
            vec![
                comparison(builds[1], 0.0, vec![]),
                comparison(
                    builds[2],
                    52.0,
                    vec![range("beta#b.1", 1, (-16.0, -2.0), 52.0), range("beta#b.2", 1, (2.0, 64.0), 20.0)],
                ),
            ],
        ),
        function(
            "alpha",
            &["x", "y"],
            vec![
                comparison(builds[1], 3.0, vec![range("alpha#a.1", 2, (1.0, 8.0), 3.0)]),
                comparison(builds[2], 40.0, vec![range("alpha#b.1", 2, (1.0, 8.0), 40.0)]),
            ],
        ),
        function(
            "gamma",
            &["a", "b", "c"],
            vec![comparison(builds[1], 9.0, vec![range("gamma#a.1", 3, (1.0, 8.0), 9.0)])],
        ),
        function(
            "delta",
            &["x"],
            vec![comparison(builds[1], 0.0, vec![]), comparison(builds[2], 0.0, vec![])],
        ),
    ];
    let params: [(&str, &[&str]); 4] =
        [("beta", &["x"]), ("alpha", &["x", "y"]), ("gamma", &["a", "b", "c"]), ("delta", &["x"])];
    let samples = params.map(|(name, params)| samples(name, params, &builds[1..], 300));
    (run("small", &builds, functions), samples.into())
}

/// Eighteen functions of a dozen ranges on two builds: the page has both the matrix and a function, and is long.
pub fn few() -> (Value, Vec<Value>) {
    let builds = [BASELINE, "gcc/O2/native"];
    let names: Vec<String> = (0..18).map(|f| format!("f{f:02}")).collect();
    let row = |name: &String| {
        let at = |r: i32| (2f64.powi(r * 8), 2f64.powi(r * 8 + 4));
        let ranges = (0..12).map(|r| range(&format!("{name}#b.{r}"), 1, at(r), 50.0));
        function(name, &["x"], vec![comparison(builds[1], 50.0, ranges.collect())])
    };
    let drawn = names.iter().map(|name| samples(name, &["x"], &builds[1..], 20));
    (run("few", &builds, names.iter().map(row).collect()), drawn.collect())
}
