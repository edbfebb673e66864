//! `[harness]`: code beside the functions under test that no build's flags may touch.

use crate::common::{Desk, comparison};

/// Says how it was compiled.
const HARNESS_C: &str = "\
double how(double x)
{
#ifdef __FAST_MATH__
    x += 1;
#endif
#ifdef __OPTIMIZE__
    x += 2;
#endif
#ifdef __clang__
    x += 4;
#endif
    return x * KEY;
}
";

fn desk(compilers: &str, harness: bool) -> Desk {
    let desk = Desk::new();
    let (files, table) = match harness {
        true => {
            ("files = [\"lib.c\"]", "[harness]\nfiles = [\"harness/*.c\"]\nargs = [\"-O1\", \"-DKEY=0.5\"]\n")
        }
        false => ("files = [\"lib.c\", \"harness/*.c\"]\ndefines = [\"KEY=0.5\"]", ""),
    };
    desk.write("harness/how.c", HARNESS_C).write("harness/how.h", "double how(double x);\n");
    desk.write("lib.c", "double twice(double x) { return x * 2; }\n").write(
        "matrix.toml",
        &format!(
            "[lab]\nname = \"harness\"\nbaseline = \"gcc/O0/native\"\n[search]\nbudget = 1000\n[sources]\n{files}
include = [\"harness\"]\n{table}{compilers}[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]
[[flags]]\nname = \"fast\"\nargs = [\"-O3\", \"-ffast-math\"]
[[function]]\nname = \"generated\"\nparams = [\"double x\"]\nheaders = [\"how.h\"]
body = \"double twice(double); return twice(how(x));\"\ndomain = {{ x = \"[1, 100]\" }}\n"
        ),
    );
    desk
}

const NATIVE: &str = "[[compiler]]\nname = \"gcc\"\n[[compiler]]\nname = \"clang\"\ncommand = \"clang-16\"\n[[target]]\nname = \"native\"\n";

fn bits(desk: &Desk, build: &str) -> f64 {
    comparison(&desk.json("run/run.json"), "generated", build)["max_bits"].as_f64().unwrap()
}

#[test]
fn harness_files_are_the_same_code_in_all_builds() {
    let tested = desk(NATIVE, false);
    tested.expect(0, &["run", "-q", "--out", "run"]);
    assert!(bits(&tested, "gcc/fast/native") > 10.0, "the flags under test reach it where it is a source");
    let harness = desk(NATIVE, true);
    harness.expect(0, &["run", "-q", "--out", "run"]);
    for build in ["gcc/fast/native", "clang/O0/native", "clang/fast/native"] {
        assert_eq!(bits(&harness, build), 0.0, "{build}");
    }
    let planned = harness.expect(0, &["plan"]);
    planned.out_has("# harness harness/how.c").out_has("gcc -O1 -DKEY=0.5 -fPIC -c");
    assert_eq!(planned.out.matches("clang-16 -O1").count(), 0, "{}", planned.shown());
}

#[test]
fn harness_files_are_linked_into_programs_of_other_targets() {
    let desk = desk(
        "[[compiler]]\nname = \"gcc\"\n[[target]]\nname = \"native\"\n[[target]]\nname = \"aarch64\"
triple = \"aarch64-linux-gnu\"\ncompilers = { gcc = \"aarch64-linux-gnu-gcc\" }
runner = [\"qemu-aarch64\", \"-L\", \"/usr/aarch64-linux-gnu\"]\n",
        true,
    );
    desk.expect(0, &["run", "-q", "--out", "run", "--budget", "300"]);
    assert_eq!((bits(&desk, "gcc/O0/aarch64"), bits(&desk, "gcc/fast/aarch64")), (0.0, 0.0));
}

#[test]
fn a_file_in_harness_and_sources_is_refused() {
    let desk = desk(NATIVE, true);
    let matrix = desk.read("matrix.toml").replace("\"lib.c\"]", "\"lib.c\", \"harness/*.c\"]");
    desk.write("matrix.toml", &matrix).expect(1, &["plan"]).err_has("is in [harness] and among the sources");
}
