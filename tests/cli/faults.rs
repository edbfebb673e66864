//! Whole runs over `fixtures/faults`: every fault is a row with function, build and exact input, and the
//! healthy builds do not notice.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Sleeping inputs cost seconds each; the pool's own tests cover them.
const LEFT_OUT: &str = "fault_asleep";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What the head of each fixture says: function and fault.
fn fixtures() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("fixtures/faults")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let after = |key: &str, end: &str| {
            let (_, rest) = text.split_once(key).unwrap();
            rest.split_once(end).unwrap().0.trim().to_owned()
        };
        found.push((after("function: double ", "("), after("fault: ", " on [2, 4)")));
    }
    found.retain(|(name, _)| name != LEFT_OUT);
    found.sort();
    found
}

struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    /// A copy of the fixtures, with the faulty build or without it.
    fn new(with_faulty: bool) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let copy =
            Command::new("cp").arg("-r").arg(root().join("fixtures/faults")).arg(folder.path()).status();
        assert!(copy.unwrap().success());
        let matrix = folder.path().join("faults/matrix.toml");
        let mut text = std::fs::read_to_string(&matrix).unwrap();
        if !with_faulty {
            text = text.replace("[[flags]]\nname = \"faulty\"\nargs = [\"-O0\", \"-DFAULTY\"]\n", "");
            assert!(!text.contains("FAULTY"));
        }
        let asleep =
            "[[function]]\nsignature = \"double fault_asleep(double x)\"\ndomain = { x = \"[-100, 100]\" }\n";
        assert!(text.contains(asleep));
        std::fs::write(&matrix, text.replace(asleep, "")).unwrap();
        Lab { folder }
    }

    fn bitrift(&self, args: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_bitrift"))
            .args(args)
            .current_dir(self.folder.path())
            .env("BITRIFT_CACHE", self.folder.path().join("cache"))
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?} ended with {}:\n{errors}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    fn run(&self) -> Value {
        let json = self.bitrift(&["run", "faults/matrix.toml", "--quiet", "--json", "--out", "run"]);
        serde_json::from_str(&json).unwrap()
    }
}

fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap()
}

fn processes_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let inside =
            |link: &str| std::fs::read_link(entry.path().join(link)).is_ok_and(|p| p.starts_with(folder));
        if inside("cwd") || inside("exe") {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[test]
fn every_fault_is_a_row_with_its_input_and_healthy_builds_do_not_notice() {
    let with = Lab::new(true);
    let run = with.run();
    let without = Lab::new(false).run();
    let fixtures = fixtures();
    assert!(fixtures.len() >= 20);
    for (name, fault) in &fixtures {
        let find = |run: &Value| rows(run, "functions").iter().find(|f| f["name"] == **name).unwrap().clone();
        let (row, alone) = (find(&run), find(&without));
        assert_eq!(rows(&alone, "faults"), [] as [Value; 0], "{name}");
        let healthy = |row: &Value| {
            let all = rows(row, "comparisons").iter();
            all.filter(|c| c["build"] == "gcc/O2/native").cloned().collect::<Vec<_>>()
        };
        assert_eq!(healthy(&row), healthy(&alone), "{name}: the healthy build changed");
        assert_eq!(healthy(&row).len(), 1);
        check_faults(&with, name, fault, &row);
    }
    assert_eq!(processes_below(with.folder.path()), [] as [String; 0]);
}

/// The rows of one function say what its fixture says, and the example repeats alone.
fn check_faults(lab: &Lab, name: &str, fault: &str, row: &Value) {
    let faults = rows(row, "faults");
    match fault {
        "none" => assert!(faults.is_empty(), "{name}: {faults:?}"),
        "any" => {}
        _ => assert_eq!(faults.len(), 1, "{name}: {faults:?}"),
    }
    for found in faults {
        let kind = found["kind"].as_str().unwrap();
        assert_eq!(found["build"], "gcc/faulty/native", "{name}");
        assert!(
            fault == "any" || kind == fault || (fault == "crash" && kind.starts_with("SIG")),
            "{name}: {kind}"
        );
        assert!(found["count"].as_u64().unwrap() > 0);
        if kind == "nondeterministic" || kind == "state-dependent" {
            continue;
        }
        let examples = rows(found, "examples");
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            let x: f64 = example[0]["dec"].as_str().unwrap().parse().unwrap();
            assert!((2.0..4.0).contains(&x), "{name} is healthy at {x}");
        }
        let input = examples[0][0]["hex"].as_str().unwrap();
        let text = lab.bitrift(&["eval", name, input, "--matrix", "faults/matrix.toml", "--quiet"]);
        let line = text.lines().find(|l| l.starts_with("gcc/faulty/native")).unwrap();
        assert!(line.contains(kind), "{name} at {input}, alone: {line}");
    }
}
