//! bitrift as a library: the program of `examples/ranges.rs`, with workers that are this very program. It has no test
//! harness, because a worker's `main` must begin with `serve`.

#[path = "../examples/ranges.rs"]
#[allow(dead_code)]
mod example;

use example::{Range, ranges};

/// Sums of three numbers: with -ffast-math the order is the compiler's, and `(x + 1) - 1` is `x`.
const MATRIX: &str = r#"
[lab]
name = "library"
baseline = "gcc/O0/native"

[sources]
files = ["lost.c"]

[[compiler]]
name = "gcc"

[[flags]]
name = "O0"
args = ["-O0"]

[[flags]]
name = "fast"
args = ["-O2", "-ffast-math"]

[[function]]
signature = "double lost(double x)"
domain = { x = "[1e-20, 1]" }
"#;

fn main() {
    bitrift::lab::serve();
    the_example_finds_where_small_numbers_are_lost();
    println!("the example finds where small numbers are lost: ok");
}

fn the_example_finds_where_small_numbers_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("matrix.toml"), MATRIX).unwrap();
    std::fs::write(at("lost.c"), "double lost(double x) { return (x + 1.0) - 1.0; }\n").unwrap();
    let found = ranges(at("matrix.toml").to_str().unwrap(), "lost").unwrap();
    assert!(!found.is_empty());
    for Range { build, ends, bits } in &found {
        assert_eq!(build, "gcc/fast/native");
        let [(lo, hi)] = ends.as_slice() else { panic!("one parameter, {} ends", ends.len()) };
        assert!((1e-20..=1.0).contains(lo) && lo <= hi && *hi <= 1.0, "{lo} {hi}");
        assert!(*bits > 0.0);
    }
    let (lo, hi) = found.iter().fold((1.0, 0.0), |(lo, hi), r| (r.ends[0].0.min(lo), r.ends[0].1.max(hi)));
    // Below half an ulp of 1 the sum is 1 whatever x is; above it some of its bits are lost.
    assert!(lo <= 1e-19 && hi >= 0.4, "[{lo}, {hi}]");
    assert!(ranges(at("matrix.toml").to_str().unwrap(), "found").is_err());
}
