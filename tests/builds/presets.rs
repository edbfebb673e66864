//! Every preset as a user meets it: three lines of a matrix, the compilers of this machine, one run.

use std::collections::BTreeSet;

use crate::common::{Desk, comparison};
use serde_json::Value;

/// One function for each thing that the presets tell apart.
const SOURCE: &str = "
#include <math.h>
double fused(double a, double b, double c) { return a * b + c; }
double wide(double a, double b) { return (a * b) / b; }
double gamma_of(double x) { return tgamma(x); }
double third(double x) { return x / 3; }
double same(double x) { return x * 0.5; }
";

const FUNCTIONS: &str = "
[[function]]
signature = \"double fused(double a, double b, double c)\"
domain = { a = \"[1, 2]\", b = \"[1, 2]\", c = \"[-4, -1]\" }
[[function]]
signature = \"double wide(double a, double b)\"
domain = { a = \"[1, 2]\", b = \"[1, 2]\" }
[[function]]
signature = \"double gamma_of(double x)\"
domain = { x = \"[1, 20]\" }
[[function]]
signature = \"double third(double x)\"
domain = { x = \"[1, 2]\" }
[[function]]
signature = \"double same(double x)\"
domain = { x = \"[1, 2]\" }
";

/// The run of a preset in which every build must be there.
fn run_of(preset: &str) -> Value {
    let desk = Desk::new();
    let lab = format!("[lab]\npresets = [\"{preset}\"]\n[search]\nbudget = 4000\n");
    let sources = "[sources]\nfiles = [\"code.c\"]\nlibs = [\"m\"]\n";
    desk.write("code.c", SOURCE).write("matrix.toml", &format!("{lab}{sources}{FUNCTIONS}"));
    desk.expect(0, &["run", "--quiet", "--json", "--strict"]).json()
}

fn builds(run: &Value) -> BTreeSet<&str> {
    run["builds"].as_array().unwrap().iter().map(|b| b["id"].as_str().unwrap()).collect()
}

/// The builds on which a function differs from the baseline.
fn movers<'a>(run: &'a Value, function: &str) -> BTreeSet<&'a str> {
    let row = run["functions"].as_array().unwrap().iter().find(|f| f["name"] == function).unwrap();
    let moved =
        row["comparisons"].as_array().unwrap().iter().filter(|c| c["max_bits"].as_f64().unwrap() > 0.0);
    moved.map(|c| c["build"].as_str().unwrap()).collect()
}

#[test]
fn port_arm_tells_contraction_from_everything_else() {
    let run = run_of("port-arm");
    let fused = movers(&run, "fused");
    assert!(fused.iter().any(|b| b.starts_with("gcc/") && b.ends_with("/aarch64")), "{fused:?}");
    assert!(fused.iter().any(|b| b.starts_with("clang") && b.contains("/aarch64")), "{fused:?}");
    assert!(fused.iter().any(|b| b.contains("fma") && b.ends_with("/native")), "{fused:?}");
    for function in ["wide", "third", "same"] {
        assert_eq!(movers(&run, function), BTreeSet::new(), "{function}");
    }
    let row = run["functions"].as_array().unwrap().iter().find(|f| f["name"] == "fused").unwrap();
    let divided: Vec<&str> =
        row["camps"].as_array().unwrap().iter().map(|c| c["divided_by"].as_str().unwrap()).collect();
    assert!(!divided.is_empty(), "{row:#}");
    assert!(divided.iter().all(|words| words.contains("all aarch64 builds")), "{divided:?}");
}

#[test]
fn port_musl_moves_what_comes_from_the_libm_and_nothing_else() {
    let run = run_of("port-musl");
    let moved = movers(&run, "gamma_of");
    assert!(!moved.is_empty() && moved.iter().all(|build| build.ends_with("/musl")), "{moved:?}");
    for function in ["fused", "wide", "third", "same"] {
        assert_eq!(movers(&run, function), BTreeSet::new(), "{function}");
    }
}

#[test]
fn x87_shows_double_rounding_and_sse_on_the_same_target_does_not() {
    let run = run_of("x87");
    let moved = movers(&run, "wide");
    assert!(!moved.is_empty() && moved.iter().all(|b| b.contains("i686") && !b.contains("sse")), "{moved:?}");
    assert!(builds(&run).iter().any(|b| b.contains("i686") && b.contains("sse")), "{:?}", builds(&run));
    assert_eq!(movers(&run, "same"), BTreeSet::new());
}

#[test]
fn upgrade_compares_the_two_newest_versions_of_one_compiler() {
    let run = run_of("upgrade");
    let compilers: BTreeSet<&str> = builds(&run).iter().map(|b| b.split('/').next().unwrap()).collect();
    assert_eq!(compilers.len(), 2, "{compilers:?}; gcc-11 and gcc-12 are there: apt-get install gcc-11");
    assert!(compilers.iter().all(|c| c.starts_with("gcc-")), "{compilers:?}");
    let older = run["baseline"].as_str().unwrap();
    let version = |id: &str| id.split('/').next().unwrap()[4..].parse::<u32>().unwrap();
    assert!(builds(&run).iter().all(|b| version(older) <= version(b)), "{older}");
    let newer = builds(&run).into_iter().find(|b| version(b) > version(older)).unwrap();
    assert_eq!(comparison(&run, "same", newer)["max_bits"], 0.0);
}

#[test]
fn fast_math_shows_which_flag_costs_what() {
    let run = run_of("fast-math");
    let third = movers(&run, "third");
    assert!(third.iter().any(|b| b.contains("reciprocal")), "{third:?}");
    let flags = builds(&run).len();
    assert!(flags >= 6, "{:?}", builds(&run));
    // Division by a constant is all there is to change in it.
    let innocent = ["signed-zeros", "finite-math", "errno", "trapping"];
    assert!(!third.iter().any(|b| innocent.iter().any(|flag| b.contains(flag))), "{third:?}");
    assert_eq!(movers(&run, "same"), BTreeSet::new());
}
