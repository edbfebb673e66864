//! Ways to a green answer that were left over: commands that end well though nothing was evaluated, a baseline that moved
//! where only a witness shows it, a build that is never loaded.

use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::common::{Desk, Said};

const HEAD: &str = "[lab]\nname = \"left\"\nbaseline = \"gcc/O0/native\"\n[sources]\nfiles = [\"code.c\"]\n[[compiler]]\nname = \"gcc\"\n\
    [[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n";

/// A lab of functions `double NAME(double x)`, each on the domain from 1 to 2.
fn desk(functions: &[&str], source: &str) -> Desk {
    let desk = Desk::new();
    desk.write("code.c", source).write("matrix.toml", &matrix(functions));
    desk
}

fn matrix(functions: &[&str]) -> String {
    let function = |name: &&str| {
        format!("[[function]]\nsignature = \"double {name}(double x)\"\ndomain = {{ x = \"[1, 2]\" }}\n")
    };
    format!("{HEAD}{}", functions.iter().map(function).collect::<String>())
}

/// Differs between the builds from 1.5123 to 1.6456.
fn differing(name: &str) -> String {
    format!(
        "double {name}(double x)\n{{\n#ifdef __OPTIMIZE__\n    if (x > 1.5123 && x < 1.6456)\n        return x * 0.75;\n#endif\n\
         \x20   return x * 0.5;\n}}\n"
    )
}

#[test]
fn a_run_in_which_every_search_was_given_up_is_no_success() {
    let desk = desk(&["f"], "double f(double x) { *(volatile int *)0 = 1; return x; }\n");
    let said = desk.expect(3, &["run", "-q"]);
    said.out_has("given up after too many faults").err_has("nothing was searched");
    said.err_has("function f on build gcc/O2/native was not searched: given up after too many faults");
    said.err_has("max_faults").err_has("domain");
    // Answers that change say as little.
    desk.write("code.c", "double f(double x) { static int calls; return x + ++calls; }\n");
    let said = desk.expect(3, &["run", "-q"]);
    said.err_has("answers differently for the same input").err_has("no kept state");
    // One comparison that was searched is enough to speak of.
    desk.write("matrix.toml", &matrix(&["f", "g"]));
    let g = "double g(double x) { return x; }\n";
    desk.write("code.c", &format!("double f(double x) {{ *(volatile int *)0 = 1; return x; }}\n{g}"));
    desk.expect(0, &["run", "-q"]).out_has("given up after too many faults");
}

#[test]
fn a_replay_that_lost_one_witness_is_no_success() {
    let desk = desk(&["f", "g"], &format!("{}{}", differing("f"), differing("g")));
    desk.expect(0, &["run", "-q"]);
    desk.expect(0, &["replay", "-q"]).out_has("2 witnesses: 2 held");
    desk.write("matrix.toml", &matrix(&["g"]));
    let said = desk.expect(3, &["replay", "-q"]);
    said.out_has("function f is in the run but not in the matrix")
        .out_has("1 held, 0 moved, 0 gone, 1 unevaluated");
    said.err_has("1 of 2 witnesses could not be evaluated");
}

#[test]
fn a_doctor_who_found_something_broken_says_so_with_the_exit_code() {
    let desk = desk(&["f"], "double f(double x) { return x; }\n");
    desk.expect(0, &["doctor"]);
    let plain = matrix(&["f"]);
    let absent = "[[compiler]]\nname = \"acme\"\ncommand = \"acme-cc\"\n";
    desk.write(
        "matrix.toml",
        &plain.replace("[[flags]]\nname = \"O0\"", &format!("{absent}[[flags]]\nname = \"O0\"")),
    );
    desk.expect(3, &["doctor"])
        .out_has("missing")
        .err_has("2 builds cannot be made or run")
        .err_has("optional = true");
    let optional = format!("{absent}optional = true\n[[flags]]\nname = \"O0\"");
    desk.write("matrix.toml", &plain.replace("[[flags]]\nname = \"O0\"", &optional));
    desk.expect(0, &["doctor"]).out_has("skipped");
    desk.write("matrix.toml", &plain.replace("\"-O2\"", "\"-O2\", \"-fno-such-thing\""));
    desk.expect(3, &["doctor"]).out_has("broken").err_has("1 build cannot be made or run");
    desk.write("matrix.toml", &plain);
    desk.write("code.c", "double f(double x) { *(volatile int *)0 = 1; return x; }\n");
    desk.expect(3, &["doctor"]).out_has("SIGSEGV").err_has("2 trials of functions failed");
}

#[test]
fn a_gate_of_functions_that_the_lock_has_not_is_refused() {
    let desk = desk(&["f"], &format!("{}{}", differing("f"), differing("fresh")));
    desk.expect(0, &["run", "-q", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.write("matrix.toml", &matrix(&["f", "fresh"]));
    let said = desk.expect(1, &["gate", "-q", "--function", "fr*"]);
    said.err_has("`fresh`").err_has("bitrift run").err_has("bitrift accept");
    desk.expect(0, &["gate", "-q", "--function", "f"]).out_has("green");
}

/// A lab that was accepted, and the one input of its lock.
fn accepted() -> (Desk, String) {
    let desk = desk(&["f"], &differing("f"));
    desk.expect(0, &["run", "-q", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate", "-q"]).out_has("green");
    let witness = witness(&desk)["inputs"][0]["hex"].as_str().unwrap().to_owned();
    (desk, witness)
}

fn witness(desk: &Desk) -> Value {
    let ranges = &desk.json("bitrift.lock.json")["functions"]["f"]["builds"]["gcc/O2/native"]["ranges"];
    assert_eq!(ranges.as_array().unwrap().len(), 1, "{ranges}");
    ranges[0]["witness"].clone()
}

/// All builds move alike at one input: twice the result, and as many bits between them.
fn moved_at(input: &str) -> String {
    differing("f")
        .replacen('{', &format!("{{\n    if (x == {input})\n        x *= 2;"), 1)
        .replace("x > 1.5123 && x < 1.6456", &format!("(x > 1.5123 && x < 1.6456) || x == 2 * {input}"))
}

#[test]
fn a_baseline_that_moved_at_an_accepted_witness_alone_is_red_until_it_is_accepted() {
    let (desk, input) = accepted();
    desk.write("code.c", &moved_at(&input));
    let red = desk.expect(2, &["gate", "-q", "--out", "second"]);
    red.out_has("baseline-moved").out_has(" -> ").out_has(&input);
    let gate = desk.json("second/gate.json");
    let finding = &gate["findings"][0];
    assert_eq!((&finding["kind"], &finding["build"]), (&"baseline-moved".into(), &"gcc/O0/native".into()));
    assert!(finding["bits"].as_f64().unwrap() > 1.0, "{finding}");
    assert_eq!(finding["witness"]["inputs"][0]["hex"], *input);
    assert_eq!(finding["text"], "at 1 of 1 accepted witnesses");
    assert_eq!(gate["findings"].as_array().unwrap().len(), 1, "{gate}");
    assert!(gate["notes"].as_array().unwrap().iter().all(|note| note["kind"] != "baseline-moved"), "{gate}");
    // Without --loosen it stays out.
    let before = witness(&desk);
    desk.expect(0, &["accept", "second"]).out_has("baseline moved at 1 of 1 accepted witnesses");
    assert_eq!(witness(&desk), before);
    desk.expect(2, &["gate", "-q"]).out_has("baseline-moved");
    desk.expect(0, &["accept", "second", "--loosen"]);
    desk.expect(0, &["gate", "-q"]).out_has("green");
}

#[test]
fn a_witness_that_a_smaller_search_did_not_meet_is_accepted_with_the_baseline_of_today() {
    let (desk, input) = accepted();
    let before = witness(&desk);
    desk.write("code.c", &moved_at(&input));
    desk.expect(2, &["gate", "-q", "--budget", "20000", "--out", "second"]).out_has("baseline-moved");
    desk.expect(0, &["accept", "second", "--loosen"]);
    let ranges = &desk.json("bitrift.lock.json")["functions"]["f"]["builds"]["gcc/O2/native"]["ranges"];
    let stale = |range: &&Value| range["witness"]["baseline"] == before["baseline"];
    assert_eq!(ranges.as_array().unwrap().iter().filter(stale).count(), 0, "{ranges}");
    desk.expect(0, &["gate", "-q"]).out_has("green");
}

#[test]
fn a_zero_of_the_baseline_that_lost_its_sign_is_a_note_where_signs_of_zeros_do_not_count() {
    let source = |zero: &str| {
        format!(
            "double f(double x)\n{{\n#ifdef __OPTIMIZE__\n    if (x > 1.5123 && x < 1.6456)\n        return x;\n#endif\n    return {zero};\n}}\n"
        )
    };
    let desk = desk(&["f"], &source("0.0"));
    desk.expect(0, &["run", "-q", "--out", "first"]);
    desk.expect(0, &["accept", "first"]);
    desk.write("code.c", &source("-0.0"));
    desk.expect(0, &["gate", "-q"]).out_has("the baseline answers differently at").out_has("green");
    desk.expect(2, &["gate", "-q", "--bitwise"]).out_has("baseline-moved");
}

#[test]
fn a_constructor_that_never_ends_is_given_up_by_its_cpu_time() {
    let spins = "__attribute__((constructor)) static void spin(void) { for (;;); }\n";
    let desk =
        desk(&["f"], &format!("double f(double x) {{ return x; }}\n#ifdef __OPTIMIZE__\n{spins}#endif\n"));
    let said = desk.expect(3, &["run", "-q", "--out", "out"]);
    said.err_has("nothing was compared");
    let run = desk.json("out/run.json");
    let why = run["builds"][1]["reason"].as_str().unwrap();
    assert!(why.contains("it did not finish within 10 s of CPU time"), "{why}");
}

/// Runs in a shell that has the tools of a compiler and no other.
fn without_musl(desk: &Desk, args: &[&str]) -> Said {
    let bin = desk.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for tool in ["gcc", "as", "ld", "objdump", "nm"] {
        let _ = symlink(format!("/usr/bin/{tool}"), bin.join(tool));
    }
    Said::of(desk.command(args).env("PATH", bin).output().unwrap(), args)
}

#[test]
fn an_environment_that_this_machine_cannot_make_is_told_unless_it_is_optional() {
    let desk = desk(&["f"], "double f(double x) { return x; }\n");
    let plain = matrix(&["f"]).replace("gcc/O0/native", "gcc/O0/native/plain");
    let musl = "[[environment]]\nname = \"plain\"\n[[environment]]\nname = \"musl\"\nlibm = \"musl\"\n";
    desk.write("matrix.toml", &format!("{plain}{musl}"));
    let said = without_musl(&desk, &["run", "-q"]);
    assert_eq!(said.code, 3, "{}", said.shown());
    said.err_has("gcc/O2/native/musl").err_has("musl-gcc").err_has("environment");
    desk.write("matrix.toml", &format!("{plain}{musl}optional = true\n"));
    let said = without_musl(&desk, &["run", "-q"]);
    assert_eq!(said.code, 0, "{}", said.shown());
    said.out_has("skipped");
}

#[test]
fn the_example_of_the_matrix_page_is_valid_by_itself() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/matrix.md")).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let desk = Desk::new();
    desk.write("matrix.toml", example);
    desk.write("more-functions.toml", "[[function]]\nsignature = \"double more(double x)\"\n");
    desk.write("deps/README", "")
        .write("data/coefficients.txt", "")
        .write("harness/log.c", "int logged;\n")
        .write("include/my_errors.h", "void my_error_handler_off(void);\n");
    desk.write(
        "src/geodesic.c",
        "static double polyval(int n, double x) { return n * x; }\ndouble more(double x) { return polyval(2, x); }\n\
         double quadratic_root(double a, double b, double c) { return a + b + c; }\nvoid my_error_handler_off(void) {}\n",
    );
    desk.expect(0, &["plan"]).out_has("gcc/O0/native/plain  (baseline)").out_has("clang/O2/aarch64/upward");
}
