//! Static functions under test: their own source is compiled with the calls at its end, wherever builds are made.

use crate::common::{Desk, comparison, function};

const C: &str = "\
#include \"lib.h\"
#ifdef __OPTIMIZE__
#define PLANTED 1
#else
#define PLANTED 0
#endif
static double inner(double x) { return PLANTED && x >= 2 && x < 8 ? x * 3 : x; }
static double other(double x) { return inner(x) + LIB; }
double outer(double x) { return inner(x) * 2; }
";

fn desk(more: &str) -> Desk {
    let desk = Desk::new();
    desk.write("src/lib.c", C).write("src/lib.h", "#define LIB 1.0\n").write(
        "matrix.toml",
        &format!(
            "[lab]\nname = \"within\"\nbaseline = \"gcc/O0/native\"\n[search]\nbudget = 3000\n[sources]
files = [\"src/*.c\"]\n[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]
[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[target]]\nname = \"native\"\n{more}
[[function]]\nsignature = \"double inner(double x)\"\nwithin = \"lib.c\"
[[function]]\nname = \"twice\"\nparams = [\"double x\"]\ncall = \"2 * other(x)\"\nwithin = \"src/lib.c\"
[[function]]\nsignature = \"double outer(double x)\"\n"
        ),
    );
    desk
}

#[test]
fn a_static_function_is_searched_confirmed_explained_and_shown_apart() {
    let desk = desk("[[compiler]]\nname = \"tcc\"\n");
    desk.expect(0, &["run", "-q", "--out", "run"]);
    let run = desk.json("run/run.json");
    assert_eq!(comparison(&run, "inner", "tcc/O0/native")["max_bits"].as_f64(), Some(0.0));
    for name in ["inner", "twice", "outer"] {
        let found = comparison(&run, name, "gcc/O2/native");
        assert!(found["max_bits"].as_f64().unwrap() > 40.0, "{name}: {found:#}");
    }
    assert_eq!(function(&run, "inner")["source"]["line"], 7);
    let confirm = desk.json("run/confirm.json").to_string();
    assert!(!confirm.contains("\"not\"") && confirm.contains("inner#gcc/O2/native"), "{confirm}");
    desk.expect(0, &["explain", "run", "inner#gcc/O2/native.1"]).out_has("src/lib.c");
    desk.expect(0, &["repro", "run", "inner#gcc/O2/native.1", "--out", "repro"]);
    let script =
        std::process::Command::new("sh").arg("run.sh").current_dir(desk.path("repro")).output().unwrap();
    let said = String::from_utf8_lossy(&script.stdout).into_owned();
    assert!(script.status.success(), "{said}{}", String::from_utf8_lossy(&script.stderr));
}

#[test]
fn a_static_function_is_reached_on_another_target_too() {
    let desk = desk(
        "[[target]]\nname = \"aarch64\"\ntriple = \"aarch64-linux-gnu\"\ncompilers = { gcc = \"aarch64-linux-gnu-gcc\" }
runner = [\"qemu-aarch64\", \"-L\", \"/usr/aarch64-linux-gnu\"]\n",
    );
    desk.expect(0, &["run", "-q", "--out", "run", "--function", "inner", "--budget", "500"]);
    let run = desk.json("run/run.json");
    assert!(comparison(&run, "inner", "gcc/O2/aarch64")["max_bits"].as_f64().unwrap() > 40.0);
    assert_eq!(comparison(&run, "inner", "gcc/O0/aarch64")["max_bits"].as_f64(), Some(0.0));
}

#[test]
fn a_call_within_a_source_that_does_not_compile_costs_no_other_function() {
    let desk = desk("");
    let matrix = desk.read("matrix.toml").replace("2 * other(x)", "2 * nothing_of_the_kind(x)[0]");
    desk.write("matrix.toml", &matrix).expect(0, &["run", "-q", "--out", "run"]);
    let run = desk.json("run/run.json");
    assert!(
        function(&run, "twice")["missing"]["gcc/O0/native"].as_str().unwrap().contains("nothing_of_the_kind")
    );
    for name in ["inner", "outer"] {
        assert_eq!(function(&run, name)["status"], "searched", "{name}");
    }
}

#[test]
fn a_source_that_there_is_not_is_answered_with_those_there_are() {
    let desk = desk("");
    let matrix = desk.read("matrix.toml").replace("within = \"lib.c\"", "within = \"lub.c\"");
    desk.write("matrix.toml", &matrix)
        .expect(1, &["plan"])
        .err_has("`lub.c` is none of the sources")
        .err_has("src/lib.c");
}
