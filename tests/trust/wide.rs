//! Functions of several values: no value hides behind another one, and no value is taken for another.

use crate::common::{Desk, comparison};

const HEAD: &str = "[lab]\nname = \"wide\"\nbaseline = \"gcc/O0/native\"\n[sources]\nfiles = [\"code.c\"]\n[search]\nbudget = 3000\n\
    [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"other\"\nargs = [\"-O0\", \"-DOTHER\"]\n";

const TWO: &str = "[[function]]\nsignature = \"void two(double x, double *a, double *b)\"\nresults = [\"*a\", \"*b\"]\ndomain = { x = \"[1, 2]\" }\n";

/// A lab of one function, which has the given lines under -DOTHER and else gives its parameter twice.
fn desk(other: &str) -> Desk {
    let desk = Desk::new();
    desk.write("matrix.toml", &format!("{HEAD}{TWO}")).write("code.c", &source(other));
    desk
}

fn source(other: &str) -> String {
    format!(
        "#include <math.h>\nvoid two(double x, double *a, double *b)\n{{\n    *a = x;\n    *b = x;\n#ifdef OTHER\n    {other}\n#endif\n}}\n"
    )
}

#[test]
fn a_value_that_becomes_nan_does_not_hide_behind_an_ulp_of_another() {
    let desk = desk("*a = x * (1 + 1e-15);\n    *b = NAN;");
    desk.expect(0, &["run", "--out", "out"]).out_has("class-change");
    let run = desk.json("out/run.json");
    let row = comparison(&run, "two", "gcc/other/native");
    assert_eq!(row["ranges"][0]["category"], "class-change");
    assert!(row["class_changes"]["finite-to-nan"].as_u64().is_some_and(|count| count > 0), "{row}");
}

#[test]
fn a_value_that_was_equal_and_differs_now_is_red_beside_an_accepted_difference_of_another() {
    let desk = desk("*a = x * (1 + 1e-10);");
    desk.expect(0, &["run", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate"]);
    desk.write("code.c", &source("*a = x * (1 + 1e-10);\n    *b = x * (1 + 1e-11);"));
    desk.expect(2, &["gate", "--out", "second"]).out_has("*b: ");
    // It can be accepted, and is green from then on.
    desk.expect(0, &["accept", "second", "--loosen"]);
    desk.expect(0, &["gate"]);
}

#[test]
fn results_in_another_order_are_refused_and_not_replayed() {
    let desk = desk("*a = x * (1 + 1e-10);");
    desk.expect(0, &["run", "--out", "out"]);
    desk.expect(0, &["accept", "out"]);
    let swapped = TWO.replace("\"*a\", \"*b\"", "\"*b\", \"*a\"");
    desk.write("matrix.toml", &format!("{HEAD}{swapped}"));
    desk.bitrift(&["replay", "out"]).out_has("0 held, 0 moved, 0 gone, 1 unevaluated");
    desk.expect(3, &["gate"]).err_has("(double *b, double *a) (double x)");
}

#[test]
fn an_expression_of_calls_has_pointers_where_the_signature_has_them() {
    let desk = desk("*b = x * (1 + 1e-10);");
    desk.write("more.c", "void o_two(double x, double *a, double *b)\n{\n    *a = x;\n    *b = 2 * x;\n}\n");
    desk.write("more.h", "void o_two(double x, double *a, double *b);\n");
    let other = "[[implementation]]\nname = \"more\"\nfiles = [\"more.c\"]\ninclude = [\".\"]\nheaders = [\"more.h\"]\n";
    desk.write("matrix.toml", &format!("{HEAD}{other}{TWO}calls = {{ more = \"o_two(x, a, b)\" }}\n"));
    desk.expect(0, &["eval", "two", "1.5"]).out_has("*b = 3\n").out_has("*b = 1.5\n");
}

/// A helper that is lost while witnesses are confirmed leaves no values but the worst one's.
#[test]
fn a_run_whose_confirmation_was_lost_can_be_read() {
    let desk = Desk::new();
    let text = "#include <signal.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n\
        static int in_helper(void)\n{\n    char line[512] = {0}, path[64];\n    snprintf(path, sizeof path, \"/proc/%d/cmdline\", getppid());\n\
        \x20   FILE *file = fopen(path, \"r\");\n    if (!file)\n        return 0;\n    size_t n = fread(line, 1, sizeof line - 1, file);\n    fclose(file);\n\
        \x20   for (size_t i = 0; i < n; i++)\n        if (!line[i])\n            line[i] = ' ';\n    return strstr(line, \"__helper\") != 0;\n}\n\
        int f(double x, double *v)\n{\n    *v = x;\n#ifdef OTHER\n    *v = x * (1 + 1e-10);\n#endif\n    if (x > 1.5 && in_helper())\n        kill(getppid(), 9);\n    return 7;\n}\n";
    desk.write("code.c", text);
    let function = "[[function]]\nsignature = \"int f(double x, double *v)\"\nresults = [\"return\", \"*v\"]\ndomain = { x = \"[1, 2]\" }\n";
    desk.write("matrix.toml", &format!("{HEAD}{function}"));
    desk.bitrift(&["run", "--out", "out"]);
    desk.expect(0, &["show", "out"]);
}
