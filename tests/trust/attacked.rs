//! Ways to a false green that an attacker found: each ends red, incomplete, refused, or with the difference shown.

use crate::common::Desk;

const HEAD: &str = "[lab]\nname = \"attacked\"\nbaseline = \"gcc/O0/native\"\n[sources]\nfiles = [\"code.c\"]\n[search]\nbudget = 3000\n\
    [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"V\"\nargs = [\"-O2\"]\n";
const F: &str = "[[function]]\nsignature = \"double f(double x)\"\ndomain = { x = \"[1, 16]\" }\n";

fn desk(source: &str) -> Desk {
    let desk = Desk::private();
    desk.write("code.c", source).write("matrix.toml", &format!("{HEAD}{F}"));
    desk
}

fn accepted(source: &str) -> Desk {
    let desk = desk(source);
    desk.expect(0, &["run", "--out", "first", "-q"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate", "-q"]);
    desk
}

const DOUBLES: &str = "double f(double x) { return x * 2; }\n";

/// The next object got the number of the closed one, and the dynamic linker knows objects by name.
#[test]
fn code_that_closes_the_descriptor_of_its_object_does_not_become_the_other_build() {
    let source = "#include <unistd.h>\ndouble f(double x)\n{\n    static int done;\n    if (!done) {\n        done = 1;\n\
        \x20       for (int fd = 3; fd < 8; fd++)\n            close(fd);\n    }\n#ifdef __OPTIMIZE__\n    return x * 2.1;\n#endif\n    return x * 2;\n}\n";
    let desk = desk(source);
    let said = desk.bitrift(&["run", "--out", "out"]);
    said.out_lacks("no inconsistency found");
}

#[test]
fn a_header_that_appears_where_has_include_asked_for_it_is_compiled_in() {
    let desk = accepted(
        "#if __has_include(\"opt.h\")\n#include \"opt.h\"\n#else\n#define K 1.75\n#endif\ndouble f(double x) { return x * K; }\n",
    );
    desk.write("opt.h", "#define K 2.5\n");
    desk.expect(2, &["gate", "-q"]).out_has("baseline-moved");
}

#[test]
fn a_new_build_that_does_not_compile_is_not_green() {
    let desk = accepted(DOUBLES);
    let broken = "[[flags]]\nname = \"W\"\nargs = [\"-O3\", \"-fnonsense\"]\n";
    desk.write("matrix.toml", &format!("{HEAD}{broken}{F}"));
    desk.expect(3, &["gate", "-q", "--out", "second"]).out_has("gcc/W/native").out_has("incomplete");
    // Once accepted as it is, it is known.
    desk.expect(0, &["accept", "second"]);
    desk.expect(0, &["gate", "-q"]);
}

#[test]
fn a_new_function_that_a_build_lacks_is_not_green() {
    let desk = accepted(DOUBLES);
    desk.write(
        "code.c",
        &format!("{DOUBLES}#ifndef __OPTIMIZE__\ndouble g(double x) {{ return x; }}\n#endif\n"),
    );
    let g = "[[function]]\nsignature = \"double g(double x)\"\n";
    desk.write("matrix.toml", &format!("{HEAD}{F}{g}"));
    desk.expect(3, &["gate", "-q"]).out_has("g ").out_has("gcc/V/native");
}

#[test]
fn other_arguments_are_not_accepted_by_the_way() {
    let desk = accepted("double f(double x) { return x * 0.1 + x * 0.2 + x * 0.3; }\n");
    desk.write("matrix.toml", &format!("{HEAD}{F}").replace("[\"-O2\"]", "[\"-O1\"]"));
    desk.expect(2, &["gate", "-q", "--out", "second"]).out_has("changed");
    desk.expect(0, &["accept", "second"]).out_has("arguments were `-O2`, are `-O1`");
    desk.expect(2, &["gate", "-q"]);
    desk.expect(0, &["accept", "second", "--loosen"]);
    desk.expect(0, &["gate", "-q"]);
}

#[test]
fn another_metric_is_not_accepted_by_the_way() {
    let desk = accepted(DOUBLES);
    desk.write(
        "matrix.toml",
        &format!("{HEAD}{F}").replace("budget = 3000", "budget = 3000\nnan = \"payload\""),
    );
    desk.expect(0, &["run", "-q", "--out", "second"]);
    desk.expect(1, &["accept", "second"]).err_has("something else of a NaN or of a zero counts");
    desk.expect(0, &["accept", "second", "--loosen"]);
    desk.expect(0, &["gate", "-q"]);
}

/// No alarm either: of a baseline that times out in every block nothing is held, which is said.
#[test]
fn a_baseline_whose_results_cannot_be_held_is_told_and_no_alarm() {
    let desk = desk(
        "double f(double x)\n{\n    if (x == 1)\n        for (;;)\n            ;\n    return x * 1.5;\n}\n",
    );
    desk.write(
        "matrix.toml",
        &format!("{HEAD}{F}").replace("budget = 3000", "budget = 1900\ntimeout_ms = 50"),
    );
    desk.expect(0, &["run", "--out", "first", "-q"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate", "-q"]).out_has("holds no results of the baseline for 1 of 1 functions");
}
