//! Which arguments, code and variables results come from: the more special list of arguments wins, code that is the
//! same is told, and the caller's environment decides nothing.

use crate::common::{Desk, Said, comparison};

const C: &str = "\
#include <stdlib.h>
double fused(double a, double b, double c) { return a * b + c; }
double plain(double x) { return x + 1; }
double caller(double x) { return getenv(\"GLIBC_TUNABLES\") || getenv(\"LD_LIBRARY_PATH\") || getenv(\"LD_PRELOAD\") ? x : -x; }
";

fn desk(axes: &str) -> Desk {
    let desk = Desk::new();
    desk.write("lib.c", C).write(
        "matrix.toml",
        &format!(
            "[lab]\nname = \"arguments\"\n[search]\nbudget = 2000\n[sources]\nfiles = [\"lib.c\"]\n{axes}
[[function]]\nsignature = \"double fused(double a, double b, double c)\"
domain = {{ a = \"[1, 2]\", b = \"[1, 2]\", c = \"[-4, -1]\" }}
[[function]]\nsignature = \"double plain(double x)\"\n[[function]]\nsignature = \"double caller(double x)\"\n"
        ),
    );
    desk
}

const CONTRACTED: &str = "[[compiler]]\nname = \"gcc\"\nargs = [\"-ffp-contract=off\"]
[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[flags]]\nname = \"fma\"\nargs = [\"-O2\", \"-mfma\", \"-ffp-contract=fast\"]\n";

#[test]
fn a_flag_set_wins_over_the_compiler_and_the_plan_says_so() {
    let desk = desk(CONTRACTED);
    desk.expect(0, &["run", "-q", "--out", "run"]);
    let run = desk.json("run/run.json");
    assert!(comparison(&run, "fused", "gcc/fma/native")["max_bits"].as_f64().unwrap() > 0.0, "a green run");
    let said = desk.expect(0, &["plan"]);
    said.out_has("gcc -ffp-contract=off -O2 -mfma -ffp-contract=fast");
    said.out_has(
        "flags `fma` win over compiler `gcc`: `-ffp-contract=fast` comes behind `-ffp-contract=off`",
    );
    assert_eq!(said.out.matches("win over").count(), 1, "{}", said.shown());
}

#[test]
fn a_flag_set_wins_over_the_target() {
    let axes =
        "[[compiler]]\nname = \"gcc\"\nargs = [\"-O1\"]\n[[target]]\nname = \"native\"\nargs = [\"-O0\"]
[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n";
    let said = desk(axes).expect(0, &["plan"]);
    said.out_has("gcc -O1 -O0 -O2 ").out_has("flags `O2` win over target `native`: `-O2` comes behind `-O0`");
}

#[test]
fn builds_with_the_same_code_of_a_function_are_told_so() {
    let axes = "[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]
[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[flags]]\nname = \"O3\"\nargs = [\"-O3\"]
[[flags]]\nname = \"O3-fma\"\nargs = [\"-O3\", \"-mfma\"]\n";
    let desk = desk(axes);
    let told = |text: &str| {
        let line =
            |builds: &str| text.lines().find(|line| line.contains(builds)).unwrap_or_default().to_string();
        let all = line("the same machine code in gcc/O2/native, gcc/O3/native: ");
        assert!(all.contains("`fused`") && !all.contains("`plain`"), "{text}");
        assert!(
            text.lines().all(|line| !(line.contains("same machine code") && line.contains("O0"))),
            "{text}"
        );
    };
    // With AVX every instruction has another name, so that -mfma changes all functions that compute.
    let said = desk.expect(0, &["run", "--out", "run", "--function", "fused"]);
    told(&said.err);
    told(&desk.expect(0, &["doctor"]).out.replace("`fused`, `plain`", "`fused`"));
}

#[test]
fn functions_that_differ_in_a_constant_alone_have_other_code() {
    let axes = "[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"two\"\nargs = [\"-O2\", \"-DN=2.5\"]
[[flags]]\nname = \"three\"\nargs = [\"-O2\", \"-DN=3.5\"]\n";
    let desk = desk(axes);
    desk.write("lib.c", &C.replace("x + 1", "x + N"));
    let said = desk.expect(0, &["doctor"]);
    let same = said.out.lines().find(|line| line.contains("same machine code")).unwrap_or_default();
    assert!(same.contains("`fused`") && !same.contains("`plain`"), "{}", said.shown());
}

#[test]
fn a_build_that_asked_for_no_contraction_and_has_it_is_warned_of() {
    let axes = "[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"off\"\nargs = [\"-O2\", \"-mfma\", \"-ffp-contract=off\"]\n[[flags]]\nname = \"O1\"\nargs = [\"-O1\", \"-mfma\"]\n";
    let desk = desk(axes);
    let said = desk.expect(0, &["run", "--out", "run"]);
    assert!(!said.err.contains("-ffp-contract=off and has"), "{}", said.shown());
    desk.write("lib.c", &C.replace("a * b + c", "__builtin_fma(a, b, c)"));
    let warned = |said: &Said, text: &str| {
        assert!(
            text.contains("warning: gcc/off/native asked for -ffp-contract=off and has"),
            "{}",
            said.shown()
        );
    };
    let said = desk.expect(0, &["run", "--out", "again"]);
    warned(&said, &said.err);
    let said = desk.expect(0, &["doctor"]);
    warned(&said, &said.out);
}

#[test]
fn variables_of_the_caller_decide_nothing_and_are_told() {
    let axes = "[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]
[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[environment]]\nname = \"plain\"
[[environment]]\nname = \"tuned\"\nglibc_tunables = \"glibc.malloc.check=0\"\n";
    let desk = desk(axes);
    let run = |out: &str, variables: &[(&str, &str)]| {
        let args = ["run", "--out", out, "--function", "caller"];
        let mut command = desk.command(&args);
        command.envs(variables.iter().copied());
        let said = Said::of(command.output().unwrap(), &args);
        assert_eq!(said.code, 0, "{}", said.shown());
        said
    };
    let quiet = run("without", &[]);
    assert!(!quiet.err.contains("not handed on"), "{}", quiet.shown());
    let variables = [("GLIBC_TUNABLES", "glibc.malloc.check=0"), ("LD_LIBRARY_PATH", "/nowhere")];
    let told = run("with", &variables);
    for (name, value) in variables {
        told.err_has(&format!("{name} is set ({value}) and not handed on"));
    }
    assert_eq!(desk.read("with/run.json"), desk.read("without/run.json"));
    // The matrix's own variable still reaches its program.
    let stored = desk.json("with/run.json");
    assert!(comparison(&stored, "caller", "gcc/O0/native/tuned")["max_bits"].as_f64().unwrap() > 0.0);
    let mut command = desk.command(&["plan"]);
    let said = Said::of(command.env("LD_PRELOAD", "/nowhere/lib.so").output().unwrap(), &["plan"]);
    said.out_has("LD_PRELOAD is set (/nowhere/lib.so) and not handed on");
}
