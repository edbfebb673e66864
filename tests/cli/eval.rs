//! `bitrift eval`

use crate::common::Desk;

/// Functions of every kind of parameter, and one that crashes when optimised.
fn desk() -> Desk {
    let desk = Desk::small();
    let more = "
#include <stdlib.h>
double identity(double x) { return x; }
float narrow(float x) { return x; }
double low(unsigned char n) { return n; }
double wide(long long n) { return (double)(n >> 62); }
double three(double a, float b, int c) { return a + b + c; }
double crash(double x) { return PLANTED(x > 1) ? *(volatile double *)0 : x; }
double leave(double x) { if (PLANTED(x > 1)) exit(7); return x; }
double spin(double x) { for (volatile int i = 1; PLANTED(x > 1) && i;) {} return x; }
#ifndef __OPTIMIZE__
double only_plain(double x) { return x; }
#else
double only_fast(double x) { return x; }
#endif
";
    desk.write("small.c", &(desk.read("small.c") + more));
    let functions = [
        "double identity(double x)",
        "float narrow(float x)",
        "double low(unsigned char n)",
        "double wide(long long n)",
        "double three(double a, float b, int c)",
        "double crash(double x)",
        "double leave(double x)",
        "double spin(double x)",
        "double only_plain(double x)",
        "double only_fast(double x)",
    ];
    let entries = functions.map(|f| format!("[[function]]\nsignature = \"{f}\"\n")).concat();
    desk.write("matrix.toml", &(desk.read("matrix.toml") + &entries));
    desk
}

/// The words of the line of a build.
fn line(out: &str, build: &str) -> Vec<String> {
    let line = out.lines().find(|l| l.starts_with(build)).unwrap_or_else(|| panic!("no {build} in\n{out}"));
    line.split_whitespace().skip(1).map(Into::into).collect()
}

#[test]
fn one_input_is_shown_on_every_build_in_hex_and_decimal_with_its_bits() {
    let said = desk().expect(0, &["eval", "planted", "0x1.8p+1"]);
    said.out_has("  x = 0x1.8p+1 = 3\n");
    assert_eq!(line(&said.out, "gcc/O0/native"), ["0x1.8p+1", "3", "baseline"]);
    assert_eq!(line(&said.out, "gcc/O2/native"), ["52.7", "0x1.2p+3", "9"]);
}

#[test]
fn numbers_may_be_written_as_people_write_them() {
    let desk = desk();
    for (text, exact) in [
        ("-1.5", "-0x1.8p+0 = -1.5"),
        ("1e-310", "= 1e-310"),
        ("-0", "-0x0p+0 = -0"),
        ("-0x1.8p-3", "-0x1.8p-3 = -0.1875"),
        ("-inf", "x = -inf"),
        ("nan", "nan:0x7ff8000000000000 = nan"),
        ("nan:0x7ff8000000000abc", "nan:0x7ff8000000000abc = nan"),
    ] {
        desk.expect(0, &["eval", "identity", text]).out_has(exact);
    }
    // A float is rounded as the parameter is, before the call.
    desk.expect(0, &["eval", "narrow", "0.1"]).out_has("x = 0x1.99999ap-4 = 0.1");
    desk.expect(0, &["eval", "wide", "-9223372036854775808"])
        .out_has("n = -9223372036854775808")
        .out_has("-2");
    desk.expect(0, &["eval", "three", "-1", "0x1p-1", "-3"]).out_has("-0x1.cp+1");
}

#[test]
fn a_wrong_value_is_told_before_anything_is_compiled() {
    let desk = desk();
    desk.expect(1, &["eval", "corner", "1"]).err_has("corner takes 2 values (double x, double y), not 1");
    desk.expect(1, &["eval", "same", "1", "2"]).err_has("same takes 1 value (double x), not 2");
    desk.expect(1, &["eval", "same", "one"]).err_has("parameter x: `one` is not a number");
    desk.expect(1, &["eval", "steps", "1.5"]).err_has("parameter n: `1.5` is not an integer");
    desk.expect(1, &["eval", "low", "256"]).err_has("does not fit uint8_t (0 to 255)");
    let said = desk.expect(1, &["eval", "plantd", "1"]);
    said.err_has("no function matches `plantd`; did you mean `planted`?").err_has("`corner`");
    assert!(!said.err.contains("compiled"), "{}", said.shown());
}

#[test]
fn a_fault_is_the_outcome_of_the_build_that_has_it() {
    let desk = desk();
    for (function, fault) in [("crash", "SIGSEGV"), ("leave", "exit 7"), ("spin", "timeout")] {
        let said = desk.expect(0, &["eval", function, "2"]);
        assert_eq!(line(&said.out, "gcc/O0/native"), ["0x1p+1", "2", "baseline"]);
        let words = line(&said.out, "gcc/O2/native").join(" ");
        assert!(words.starts_with(&format!("- {fault}")), "{}", said.shown());
        assert_eq!(line(&desk.expect(0, &["eval", function, "1"]).out, "gcc/O2/native")[0], "0.0");
    }
}

#[test]
fn a_build_without_the_function_says_so_and_nothing_is_compared_with_it() {
    let desk = desk();
    let said = desk.expect(0, &["eval", "only_plain", "2"]);
    assert_eq!(line(&said.out, "gcc/O0/native").last().unwrap(), "baseline");
    said.out_has("undefined reference to").out_has("`only_plain'");
    let said = desk.expect(0, &["eval", "only_fast", "2"]);
    assert_eq!(line(&said.out, "gcc/O2/native"), ["-", "0x1p+1", "2"]);
}

#[test]
fn progress_is_silenced_by_quiet() {
    let desk = desk();
    desk.expect(0, &["eval", "same", "1"]).err_has("from the cache");
    assert_eq!(desk.expect(0, &["eval", "same", "1", "-q"]).err, "");
}
