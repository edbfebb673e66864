//! `bitrift explain` from the outside: every layer, what it leaves beside the run, and every way it can end.

use crate::common::{Desk, Said};
use serde_json::Value;

/// Three files: `sum_error` is folded to zero by reassociation in helper.c, `same` never differs.
const HELPER: &str = "double sum_error(double a, double b)
{
    double s = a + b;
    double t = s - a;
    return b - t;
}
";
const MAIN: &str = "double sum_error(double a, double b);
double twice_error(double a, double b)
{
    double e = sum_error(a, b);
    return e * 2;
}
double same(double a) { return a * 0.5; }
";

fn matrix(compiler: &str, fast: &str) -> String {
    format!(
        "[lab]\nname = \"why\"\nbaseline = \"c/O0/native\"\n\n[search]\nbudget = 4000\n\n[sources]\nfiles = [\"src/*.c\"]\nlibs = [\"m\"]\n\n\
         [[compiler]]\nname = \"c\"\ncommand = \"{compiler}\"\n\n\
         [[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n\n[[flags]]\nname = \"fast\"\nargs = [{fast}]\n\n\
         [[function]]\nsignature = \"double twice_error(double a, double b)\"\n\
         domain = {{ a = \"[1e3, 1e6]\", b = \"[1e-3, 1]\" }}\n\n\
         [[function]]\nsignature = \"double same(double a)\"\ndomain = {{ a = \"[1, 1e6]\" }}\n"
    )
}

const FAST: &str = "\"-O3\", \"-ffast-math\"";

/// A run of the small lab in `run`.
fn lab(compiler: &str) -> Desk {
    let desk = Desk::new();
    desk.write("src/helper.c", HELPER)
        .write("src/main.c", MAIN)
        .write("matrix.toml", &matrix(compiler, FAST));
    desk.expect(0, &["run", "--quiet", "--out", "run"]);
    desk
}

/// The id of the first finding of a run.
fn first(desk: &Desk) -> String {
    let run = desk.json("run/run.json");
    let functions = run["functions"].as_array().unwrap();
    let ranges = functions
        .iter()
        .flat_map(|f| f["comparisons"].as_array().unwrap())
        .flat_map(|c| c["ranges"].as_array().unwrap());
    ranges.map(|r| r["id"].as_str().unwrap().to_owned()).next().expect("a finding")
}

fn explain(desk: &Desk, more: &[&str]) -> Said {
    desk.expect(0, &[&["explain", "run", "--quiet"], more].concat())
}

/// The row of the first finding.
fn row(desk: &Desk) -> Value {
    desk.json("run/explain.json")["findings"][first(desk)].clone()
}

fn cost(file: &Value, what: &str) -> u64 {
    let rows = file["findings"].as_object().unwrap().values();
    let layers =
        rows.flat_map(|row| row["layers"].as_object().unwrap().values().cloned().collect::<Vec<_>>());
    layers.map(|layer| layer["cost"][what].as_u64().unwrap()).sum()
}

#[test]
fn clang_is_followed_from_the_file_to_the_statement_the_flags_and_the_pass() {
    let desk = lab("clang-16");
    let said = explain(&desk, &[&first(&desk)]);
    let row = row(&desk);
    let layers = &row["layers"];
    assert_eq!(row["explained"], "yes", "{row:#}");
    assert_eq!(layers["file"]["causes"][0][0]["file"], "src/helper.c", "{row:#}");
    assert_eq!(layers["function"]["causes"][0][0]["function"], "sum_error", "{row:#}");
    assert_eq!(layers["statement"]["standing"], "found", "{row:#}");
    let lines: Vec<u64> = layers["statement"]["causes"][0]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["line"].as_u64().unwrap())
        .collect();
    assert!(lines.iter().all(|line| (3..=5).contains(line)), "{row:#}");
    let flags = layers["flags"]["text"].as_str().unwrap();
    assert!(flags.contains("-fassociative-math"), "{flags}");
    let pass = layers["pass"]["causes"][0][0]["pass"].as_str().unwrap();
    assert!(pass.contains("Pass on sum_error"), "{pass}");
    said.out_has("in sum_error").out_has("-fassociative-math").out_has("compiles").out_has("evaluations");
    for layer in layers.as_object().unwrap().values() {
        assert!(layer["cost"]["evaluations"].is_u64() && layer["cost"]["compiles"].is_u64(), "{layer:#}");
    }
}

#[test]
fn gcc_is_followed_to_the_function() {
    let desk = lab("gcc");
    explain(&desk, &[&first(&desk)]);
    let row = row(&desk);
    assert_eq!(row["layers"]["function"]["standing"], "found", "{row:#}");
    assert_eq!(row["layers"]["function"]["causes"][0][0]["function"], "sum_error", "{row:#}");
    assert_eq!(row["layers"]["statement"]["standing"], "stopped", "{row:#}");
    assert!(row["layers"]["statement"]["text"].as_str().unwrap().contains("single statement"), "{row:#}");
    let flags = row["layers"]["flags"]["text"].as_str().unwrap();
    assert!(flags.contains("-fassociative-math"), "{flags}");
    assert_ne!(row["layers"]["pass"]["standing"], "stopped", "{row:#}");
}

#[test]
fn a_second_time_nothing_is_compiled() {
    let desk = lab("clang-16");
    explain(&desk, &[]);
    let before = desk.json("run/explain.json");
    assert!(cost(&before, "compiles") > 0, "{before:#}");
    explain(&desk, &[]);
    assert_eq!(desk.json("run/explain.json"), before);
    // Also when every layer is asked again: the objects are in the cache.
    explain(&desk, &["--again"]);
    let again = desk.json("run/explain.json");
    assert_eq!((cost(&again, "compiles"), cost(&again, "links")), (0, 0), "{again:#}");
    assert_eq!(again["causes"][0]["causes"], before["causes"][0]["causes"]);
}

#[test]
fn the_patch_applies_and_takes_the_findings_away() {
    for compiler in ["clang-16", "gcc"] {
        let desk = lab(compiler);
        let patch = explain(&desk, &["--patch"]);
        patch.out_has("--- a/src/helper.c");
        desk.write("fix.diff", &patch.out);
        let done = std::process::Command::new("patch")
            .args(["-p1", "-i", "fix.diff"])
            .current_dir(desk.path(""))
            .output();
        let done = done.expect("patch is installed");
        assert!(done.status.success(), "{}{}", patch.out, String::from_utf8_lossy(&done.stdout));
        let run = desk.expect(0, &["run", "--quiet", "--json", "--out", "after"]).json();
        let comparison = crate::common::comparison(&run, "twice_error", "c/fast/native");
        assert_eq!(comparison["max_bits"], 0.0, "{compiler}: {}\n{comparison:#}", patch.out);
    }
}

#[test]
fn the_safe_set_gives_up_what_is_guilty_and_keeps_the_level() {
    for compiler in ["clang-16", "gcc"] {
        let desk = lab(compiler);
        explain(&desk, &[]).out_has("flags that may stay").out_has("give up");
        let safe = desk.json("run/explain.json")["safe"][0].clone();
        let words = |key: &str| -> Vec<String> {
            safe[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(words("given_up"), ["-fassociative-math"], "{safe:#}");
        assert!(words("kept").contains(&"-O3".to_owned()), "{safe:#}");
        assert_eq!(safe["within"], safe["of"], "{safe:#}");
        assert_eq!(safe["ns"].as_array().unwrap().len(), 3, "{safe:#}");
        // The promise, tried by a run of its own.
        let args: Vec<String> = words("args").iter().map(|arg| format!("{arg:?}")).collect();
        desk.write("safe.toml", &matrix(compiler, &args.join(", ")));
        let run = desk.expect(0, &["run", "safe.toml", "--quiet", "--json", "--out", "safe"]).json();
        let comparison = crate::common::comparison(&run, "twice_error", "c/fast/native");
        assert_eq!(comparison["max_bits"], 0.0, "{compiler}: {safe:#}");
    }
}

#[test]
fn the_safe_set_gives_up_start_up_code_that_flushes() {
    let desk = Desk::new();
    let everywhere = matrix("clang-16", FAST).replace("domain = { a = \"[1, 1e6]\" }\n", "");
    desk.write("src/helper.c", HELPER).write("src/main.c", MAIN).write("matrix.toml", &everywhere);
    desk.expect(0, &["run", "--quiet", "--out", "run", "--function", "same"]);
    explain(&desk, &[]).out_has("the environment: flushing").out_has("start-up code");
    let safe = desk.json("run/explain.json")["safe"][0].clone();
    assert_eq!(safe["given_up"].as_array().unwrap().len(), 1, "{safe:#}");
    assert!(!safe["args"].as_array().unwrap().iter().any(|arg| arg == "-ffast-math"), "{safe:#}");
    assert_eq!(safe["within"], safe["of"], "{safe:#}");
}

#[test]
fn only_the_layers_asked_for_are_looked_at() {
    let desk = lab("clang-16");
    explain(&desk, &[&first(&desk), "--layer", "file"]);
    let layers: Vec<String> = row(&desk)["layers"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(layers, ["environment", "file"]);
    explain(&desk, &[&first(&desk), "--layer", "function,flags"]);
    let layers: Vec<String> = row(&desk)["layers"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(layers, ["environment", "file", "flags", "function"]);
}

#[test]
fn a_source_that_changed_since_the_run_is_named() {
    let desk = lab("clang-16");
    desk.write("src/helper.c", &HELPER.replace("b - t", "b - t + 0"));
    explain(&desk, &[]).out_has("src/helper.c").out_has("run it again");
    assert_eq!(row(&desk)["explained"], "source-changed");
}

#[test]
fn a_witness_that_no_longer_differs_is_said_to_be_gone() {
    let desk = lab("clang-16");
    desk.write("matrix.toml", &matrix("clang-16", "\"-O2\""));
    explain(&desk, &[]).out_has("the difference is gone");
    assert_eq!(row(&desk)["explained"], "gone");
}

#[test]
fn a_compiler_that_disappeared_is_named() {
    let desk = lab("clang-16");
    desk.write("matrix.toml", &matrix("clang-99", FAST));
    explain(&desk, &[]).out_has("clang-99 not found");
    assert_eq!(row(&desk)["explained"], "unavailable");
}

#[test]
fn a_mix_that_crashes_costs_one_trial() {
    let desk = Desk::new();
    // Each file alone as the variant has it, the other calls what is not there.
    let a = "#ifdef __OPTIMIZE__\nstatic const double t = 3;\nconst double *table(void) { return &t; }\n#else\n\
             const double *table(void) { return 0; }\n#endif\n";
    let b = "const double *table(void);\ndouble twice_error(double a, double b) {\n#ifdef __OPTIMIZE__\n  return a + *table();\n\
             #else\n  return a + b * 0;\n#endif\n}\ndouble same(double a) { return a; }\n";
    desk.write("src/a.c", a).write("src/b.c", b).write("matrix.toml", &matrix("gcc", "\"-O2\""));
    desk.expect(0, &["run", "--quiet", "--out", "run"]);
    explain(&desk, &[&first(&desk)]);
    let row = row(&desk);
    let file = &row["layers"]["file"];
    let names: Vec<&str> =
        file["causes"][0].as_array().unwrap().iter().map(|s| s["file"].as_str().unwrap()).collect();
    assert_eq!(names, ["src/a.c", "src/b.c"], "{row:#}");
    assert!(file["text"].as_str().unwrap().contains("SIGSEGV"), "{row:#}");
}

#[test]
fn another_libm_or_rounding_is_the_environments_doing() {
    let desk = Desk::new();
    desk.write("src/e.c", "#include <math.h>\ndouble e(double x) { return tgamma(x) / 3; }\n");
    let matrix = "[lab]\nname = \"libm\"\nbaseline = \"gcc/O1/native/glibc\"\n[search]\nbudget = 4000\n[sources]\nfiles = [\"src/e.c\"]\nlibs = [\"m\"]\n\
                  [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O1\"\nargs = [\"-O1\"]\n\
                  [[environment]]\nname = \"glibc\"\n[[environment]]\nname = \"musl\"\nlibm = \"musl\"\n\
                  [[environment]]\nname = \"up\"\nrounding = \"up\"\n\
                  [[function]]\nsignature = \"double e(double x)\"\ndomain = { x = \"[2, 20]\" }\n";
    desk.write("matrix.toml", matrix);
    desk.expect(0, &["run", "--quiet", "--out", "run"]);
    explain(&desk, &["--layer", "environment"]);
    let file = desk.json("run/explain.json");
    for (build, part) in [("gcc/O1/native/musl", "libm"), ("gcc/O1/native/up", "rounding")] {
        let causes =
            file["causes"].as_array().unwrap().iter().filter(|c| c["build"] == build).collect::<Vec<_>>();
        assert!(!causes.is_empty(), "{build}: {file:#}");
        for cause in causes {
            assert_eq!(cause["causes"][0][0]["environment"], part, "{build}: {cause:#}");
        }
    }
}

#[test]
fn mistakes_in_the_words_are_answered_with_what_was_expected() {
    let desk = lab("gcc");
    desk.expect(1, &["explain", "run", "twice_eror#c/fast/native.1"]).err_has("did you mean");
    desk.expect(1, &["explain", "run", "--layer", "sentence"]).err_has("statement");
    desk.expect(1, &["explain", "nowhere"]);
    desk.expect(1, &["explain", "run", "--limit", "-3"]);
    desk.expect(1, &["explain", "run", "--function", "nope*"]).err_has("twice_error");
}
