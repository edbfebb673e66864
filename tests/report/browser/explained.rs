//! What was found out about the small run: two causes in sources, one in the environment, one finding without any.

use serde_json::{Value, json};

use super::stored::BASELINE;

/// With a tab, which the shown and the copied text keep.
pub const PATCH: &str = "--- a/src/beta.c\n+++ b/src/beta.c\n@@ -3,2 +3,3 @@\n+#pragma precise\n \treturn x < 1 && x > 0; /* <b> */\n";

fn layer(standing: &str, causes: Value, text: &str) -> Value {
    json!({"standing": standing, "causes": causes, "text": text,
        "cost": {"compiles": 3, "links": 2, "evaluations": 14}})
}

fn row(layers: Value) -> Value {
    json!({"explained": "yes", "inputs": "0", "asked": ["environment", "flags", "statement"], "layers": layers,
        "fragility": {"neighbour_bits": 60.0, "bits": 52.0, "ill_conditioned": true}})
}

fn cause(build: &str, causes: &Value, certain: bool, findings: &[&str]) -> Value {
    json!({"baseline": BASELINE, "build": build, "causes": causes, "text": "in one line", "certain": certain,
        "findings": findings})
}

/// The text of `explain.json`; `name` stands wherever a name can.
pub fn explained(name: &str) -> Value {
    let statement = |file: &str, line: u64| {
        json!({"file": file, "function": name, "line": line,
        "column": 9, "text": format!("{name} * x")})
    };
    let beta = json!([[statement("src/deep/beta.c", 14)]]);
    let alpha = json!([[statement(name, 3), statement("src/alpha.c", 4)], [statement("src/alpha.c", 9)]]);
    let flushing = json!([[{"environment": "flushing"}]]);
    let of_beta = row(json!({
        "environment": layer("nothing", json!([]), "it stays with subnormals kept"),
        "flags": layer("found", json!([[{"flag": "-fassociative-math"}, {"flag": "-O3"}], [{"flag": name}]]), name),
        "statement": layer("found", beta.clone(), "one statement"),
        "pass": layer("found", json!([[{"pass": "reassoc"}]]), "the reassoc pass"),
    }));
    let mut with_fix = cause("clang/O3-fast/native", &beta, true, &["beta#b.1", "beta#b.2"]);
    with_fix["fix"] = json!({"patch": PATCH, "what": name, "cured": 2, "of": 2, "ns": [4.0, 5.5]});
    json!({"schema": "bitrift.explain/1",
        "findings": {
            "beta#b.1": of_beta, "beta#b.2": of_beta,
            "alpha#b.1": row(json!({"statement": layer("likely", alpha.clone(), name)})),
            "alpha#a.1": row(json!({"environment": layer("found", flushing.clone(), "it flushes")})),
            "gamma#a.1": {"explained": "unavailable", "reason": format!("no {name}"), "inputs": "0", "asked": [],
                "layers": {}},
        },
        "causes": [
            with_fix,
            cause("clang/O3-fast/native", &alpha, false, &["alpha#b.1"]),
            cause("gcc/O2/native", &flushing, true, &["alpha#a.1"]),
        ],
        "safe": [{"build": "clang/O3-fast/native", "baseline": BASELINE, "limit": 8.0, "args": ["-O3", name],
            "kept": (0..15).map(|n| format!("-fkept{n}")).collect::<Vec<_>>(), "given_up": ["-fassociative-math", name],
            "within": 3, "of": 3, "ns": [9.0, 4.25, 4.0], "cost": {"compiles": 1, "links": 1, "evaluations": 1},
            "note": name}]})
}
