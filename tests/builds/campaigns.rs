//! The campaigns on real libraries, in small: their sources are fetched when they are not there, a few of
//! their functions are searched with a small budget.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::common::{Desk, comparison};
use bitrift::compile::{Cache, Settings, compile_all};
use bitrift::lab::{Means, tool_reach};
use bitrift::model::{Artifact, FunctionStatus, NoEvents};
use bitrift::toolchain::Compilers;
use serde_json::Value;

const FAST: &str = "clang-16/O3-fast/native";

/// The folder of a fixture with its sources fetched. The script says what to install when it cannot.
fn fetched(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    // Two at once would unpack over each other.
    static ONE: Mutex<()> = Mutex::new(());
    let _turn = ONE.lock();
    let output = Command::new(folder.join("fetch")).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fixtures/{name}/fetch failed:\n{words}");
    folder
}

/// A run of some functions of a fixture's matrix.
fn run(fixture: &str, functions: &[&str]) -> Value {
    let matrix = fetched(fixture).join("matrix.toml").display().to_string();
    let mut args = vec!["run", &matrix, "--budget", "paper", "--quiet", "--json", "--strict"];
    args.extend(functions.iter().flat_map(|name| ["--function", name]));
    Desk::new().expect(0, &args).json()
}

#[track_caller]
fn bits(run: &Value, function: &str) -> f64 {
    comparison(run, function, FAST)["max_bits"].as_f64().unwrap()
}

#[test]
fn gsl_shows_what_fast_math_costs_it() {
    let names = ["gsl_sf_airy_Ai", "gsl_sf_log", "gsl_sf_exp", "gsl_pow_2", "gsl_sf_bessel_J0"];
    let run = run("gsl", &names);
    for name in ["gsl_sf_airy_Ai", "gsl_sf_log", "gsl_pow_2"] {
        assert!(bits(&run, name) > 48.0, "{name}: {}", bits(&run, name));
    }
    assert_eq!(bits(&run, "gsl_sf_exp"), 0.0);
    // Away from the roots of J0 it is 2 bits; the seams are where the rest is.
    assert!(bits(&run, "gsl_sf_bessel_J0") > 16.0, "{}", bits(&run, "gsl_sf_bessel_J0"));
}

#[test]
fn musl_shows_what_fast_math_costs_it() {
    let run = run("musl", &["sinf", "log1pf", "fabsf"]);
    assert!(bits(&run, "sinf") > 25.0, "{}", bits(&run, "sinf"));
    let small = bits(&run, "log1pf");
    assert!(small > 0.0 && small < 8.0, "{small}");
    assert_eq!(bits(&run, "fabsf"), 0.0);
}

#[test]
fn musl_is_tested_alone_and_what_clang_refuses_costs_no_other_function() {
    let experiment = bitrift::matrix::load(&fetched("musl").join("matrix.toml")).unwrap();
    let plan = bitrift::plan::expand(&experiment).unwrap();
    let desk = Desk::new();
    let cache = Cache::open(desk.cache()).unwrap();
    let (timeout, cancel, compilers) = (
        Settings::TIMEOUT,
        &AtomicBool::new(false),
        &Compilers::new(tool_reach(&experiment, &Means::default())),
    );
    let settings = Settings { jobs: 2, timeout, cancel, compilers };
    let compiled = compile_all(&experiment, &plan.builds, &cache, &settings, &NoEvents).unwrap();
    for artifact in &compiled.artifacts {
        // A math function that is not among the sources would come from the system's libraries.
        assert_eq!(undefined_symbols(artifact), [""; 0], "{}", artifact.build);
    }
    let missing = |artifact: &Artifact| -> Vec<(String, String)> {
        let statuses = experiment.functions.iter().zip(&artifact.object().unwrap().functions);
        let missing = statuses.filter_map(|(function, status)| match status {
            FunctionStatus::Missing { message } => Some((function.name.clone(), message.clone())),
            FunctionStatus::Ready { .. } => None,
        });
        missing.collect()
    };
    assert_eq!(missing(&compiled.artifacts[0]), []);
    let refused = missing(&compiled.artifacts[1]);
    let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["nearbyintf", "ilogbf"]);
    assert!(refused.iter().all(|(_, words)| words.contains("FENV_ACCESS")), "{refused:?}");
}

/// What a build takes from elsewhere; weak symbols are those of the compiler's start files.
fn undefined_symbols(artifact: &Artifact) -> Vec<String> {
    let object = artifact.object().unwrap_or_else(|| panic!("{artifact:?}"));
    let output = Command::new("nm").args(["-D", "--undefined-only"]).arg(&object.path).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| line.trim_start().starts_with("U ")).map(str::to_owned).collect()
}

/// The case study of CIGEN's paper, section 4.4, which CIEL needed an input for: two sides of zero, two statements.
#[test]
fn the_two_sides_of_airy_ai_have_the_causes_that_the_paper_found() {
    let matrix = fetched("gsl").join("matrix.toml").display().to_string();
    let desk = Desk::new();
    let words = ["--quiet", "--function", "gsl_sf_airy_Ai"];
    desk.expect(
        0,
        &[&["run", &matrix, "--budget", "paper", "--no-confirm", "--out", "run"], &words[..]].concat(),
    );
    let words = ["explain", "run", "--matrix", &matrix, "--layer", "statement", "--quiet", "--json"];
    let file = desk.expect(0, &words).json();
    let run = desk.json("run/run.json");
    let ranges = comparison(&run, "gsl_sf_airy_Ai", FAST)["ranges"].as_array().unwrap();
    let worst = |negative: bool| {
        let side = ranges.iter().filter(|r| r["lo"][0]["dec"].as_str().unwrap().starts_with('-') == negative);
        let bits = |r: &&Value| r["max_bits"].as_f64().unwrap();
        side.max_by(|a, b| bits(a).total_cmp(&bits(b))).unwrap()["id"].as_str().unwrap()
    };
    for (negative, function, text) in [
        (true, "gsl_sf_cos_e", "((abs_x - y * P1) - y * P2) - y * P3"),
        (false, "gsl_sf_airy_Ai_e", "exp(-2.0*x32/3.0)"),
    ] {
        let layer = &file["findings"][worst(negative)]["layers"]["statement"];
        assert_eq!(layer["standing"], "found", "{layer:#}");
        let suspect = &layer["causes"][0][0];
        assert_eq!(suspect["function"], function, "{layer:#}");
        assert!(suspect["text"].as_str().unwrap().contains(text), "{layer:#}");
        assert_eq!(layer["causes"].as_array().unwrap().len(), 1, "{layer:#}");
    }
}
