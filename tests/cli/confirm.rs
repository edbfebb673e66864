//! Witnesses in plain executables: what `bitrift run` and `bitrift confirm` say of them.

use crate::common::Desk;

const AXES: &str = "
[lab]
name = \"plain\"
baseline = \"gcc/O0/native\"

[search]
budget = \"paper\"

[sources]
files = [\"plain.c\"]
libs = [\"m\"]

[[compiler]]
name = \"gcc\"

[[flags]]
name = \"O0\"
args = [\"-O0\"]
";

/// A lab of one source with one function, `double f(double x)`.
fn desk(code: &str, axes: &str) -> Desk {
    let desk = Desk::new();
    let function = "\n[[function]]\nsignature = \"double f(double x)\"\n";
    desk.write("plain.c", code).write("matrix.toml", &format!("{AXES}{axes}{function}"));
    desk
}

const O2: &str = "\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n";

/// `1 of 1 witness confirmed`, with as many as the run has.
fn all_confirmed(desk: &Desk, run: &str) -> String {
    let confirm = desk.json(&format!("{run}/confirm.json"));
    let witnesses = confirm["witnesses"].as_object().unwrap();
    assert!(!witnesses.is_empty());
    assert!(witnesses.values().all(|row| row["confirmed"] == "yes"), "{confirm}");
    let noun = if witnesses.len() == 1 { "witness" } else { "witnesses" };
    format!("{0} of {0} {noun} confirmed in plain executables\n", witnesses.len())
}

#[test]
fn a_run_confirms_its_witnesses_and_its_own_file_stays_the_same() {
    let desk = Desk::small();
    let said = desk.expect(0, &["run", "--out", "with"]);
    said.out_has(&all_confirmed(&desk, "with")).out_lacks("NOT confirmed");
    said.err_has("witnesses in plain executables");
    desk.expect(0, &["run", "-q", "--no-confirm", "--out", "without"]).out_lacks("confirmed");
    assert_eq!(desk.read("with/run.json"), desk.read("without/run.json"));
    assert!(!desk.exists("without/confirm.json"));
    // Again, and nothing is compiled twice.
    let said = desk.expect(0, &["confirm", "without"]);
    said.err_has("compiled 0 files");
    assert_eq!(said.out, all_confirmed(&desk, "without"));
    assert_eq!(desk.read("with/confirm.json"), desk.read("without/confirm.json"));
    desk.expect(0, &["show", "without"]).out_has(&all_confirmed(&desk, "with"));
    let all = desk.expect(0, &["confirm", "without", "--all"]);
    all.out_has("\nyes ").out_has("planted#gcc/O2/native.1\n");
}

#[test]
fn a_difference_that_only_loadable_code_shows_is_not_confirmed() {
    let code = "
#if defined(__OPTIMIZE__) && defined(__PIC__) && !defined(__PIE__)
double f(double x) { return x >= 2 && x < 8 ? x * 3 : x; }
#else
double f(double x) { return x; }
#endif
";
    let desk = desk(code, O2);
    let said = desk.expect(0, &["run", "-q"]);
    said.out_has("0 of 1 witness confirmed in plain executables, 1 NOT confirmed\n");
    said.out_has("NOT confirmed: plain executables\n");
    let confirm = desk.json("results/0001-plain/confirm.json");
    let row = &confirm["witnesses"]["f#gcc/O2/native.1"];
    assert_eq!(row["confirmed"], "no");
    assert_eq!(row["baseline"], row["variant"]);
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("gcc/O2/native answers ") && reason.ends_with("the difference is gone"),
        "{reason}"
    );
    let said = desk.expect(0, &["confirm"]);
    said.out_has("\nNO ").out_has("f#gcc/O2/native.1\n").out_has("  plain ");
    let said = desk.expect(0, &["repro", "f#gcc/O2/native.1", "-q", "--out", "shown"]);
    said.err_has("f#gcc/O2/native.1 is not confirmed, so its script will say so");
}

#[test]
fn a_build_that_is_no_program_leaves_its_witnesses_open() {
    let code = "
#ifdef __TINYC__
double f(double x) { return x >= 2 && x < 8 ? x * 3 : x; }
#else
double f(double x) { return x; }
#endif
int main(void) { return 0; }
";
    // tcc's linker insists on one main; gcc's is told which one counts.
    let desk = desk(code, &format!("{O2}\n[[compiler]]\nname = \"tcc\"\n"));
    let said = desk.expect(0, &["run", "-q"]);
    said.out_has("could not be tried\n").out_lacks("NOT confirmed");
    let confirm = desk.json("results/0001-plain/confirm.json");
    let row = &confirm["witnesses"]["f#tcc/O0/native.1"];
    assert_eq!(row["confirmed"], "unknown");
    assert!(row["reason"].as_str().unwrap().contains("main"), "{row}");
}

#[test]
fn forced_environments_and_other_libraries_are_confirmed_as_they_are() {
    let code = "#include <math.h>\ndouble f(double x) { return exp(x) * 0x1p-1030; }\n";
    let axes = "
[[flags]]
name = \"fast\"
args = [\"-O2\", \"-ffast-math\"]

[[flags]]
name = \"fast-kept\"
args = [\"-O2\", \"-ffast-math\"]
fpenv = \"ieee\"

[[environment]]
name = \"own\"

[[environment]]
name = \"up\"
rounding = \"up\"

[[environment]]
name = \"ftz\"
fpenv = \"ftz\"

[[environment]]
name = \"musl\"
libm = \"musl\"
";
    let desk = desk(code, axes);
    let matrix = desk.read("matrix.toml").replace("\"gcc/O0/native\"", "\"gcc/O0/native/own\"");
    desk.write("matrix.toml", &matrix);
    let said = desk.expect(0, &["run", "-q"]);
    said.out_has(&all_confirmed(&desk, "results/0001-plain"));
    let confirm = desk.json("results/0001-plain/confirm.json");
    for build in ["gcc/fast/native/own", "gcc/O0/native/up", "gcc/O0/native/ftz", "gcc/fast/native/musl"] {
        assert!(confirm["witnesses"][format!("f#{build}.1")].is_object(), "{build} in {confirm}");
    }
}

#[test]
fn an_emulated_build_is_confirmed_on_its_emulator() {
    let code = "
#if defined(__aarch64__) && defined(__OPTIMIZE__)
double f(double x) { return x >= 2 && x < 8 ? x * 3 : x; }
#else
double f(double x) { return x; }
#endif
";
    let target = "
[[target]]
name = \"native\"

[[target]]
name = \"aarch64\"
triple = \"aarch64-linux-gnu\"
compilers = { gcc = \"aarch64-linux-gnu-gcc\" }
runner = [\"qemu-aarch64\", \"-L\", \"/usr/aarch64-linux-gnu\"]
";
    let desk = desk(code, &format!("{O2}{target}"));
    desk.expect(0, &["run", "-q"]).out_has(&all_confirmed(&desk, "results/0001-plain"));
    let said = desk.expect(0, &["repro", "f#gcc/O2/aarch64.1", "-q"]);
    assert_eq!(said.out, "sh repro/f-gcc-O2-aarch64.1/run.sh\n");
    let script = desk.read("repro/f-gcc-O2-aarch64.1/run.sh");
    assert!(script.contains("$(ask qemu-aarch64 -L /usr/aarch64-linux-gnu ./variant/repro)"), "{script}");
}

#[test]
fn witnesses_of_a_function_that_changed_are_open_and_the_rest_is_confirmed() {
    let desk = Desk::small();
    desk.expect(0, &["run", "-q", "--no-confirm"]);
    let matrix = desk.read("matrix.toml").replace("double planted(double x)", "double planted(float x)");
    let source = desk.read("small.c").replace("double planted(double x)", "double planted(float x)");
    desk.write("matrix.toml", &matrix).write("small.c", &source);
    desk.expect(0, &["confirm", "-q"])
        .out_has(", 1 could not be tried")
        .out_has("was stored as double (double x)");
}
