//! Builds that are programs of their own: other targets on emulators, other libms, other environments.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{Desk, comparison};
use serde_json::Value;

/// What the tests need beside the usual compilers, and the packages that bring it.
const TOOLS: [(&str, &str); 13] = [
    ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
    ("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross"),
    ("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"),
    ("powerpc64le-linux-gnu-gcc", "gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"),
    ("s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu libc6-dev-s390x-cross"),
    ("i686-linux-gnu-gcc", "gcc-i686-linux-gnu libc6-dev-i386-cross"),
    ("musl-gcc", "musl-tools"),
    ("qemu-aarch64", "qemu-user"),
    ("qemu-arm", "qemu-user"),
    ("qemu-riscv64", "qemu-user"),
    ("qemu-ppc64le", "qemu-user"),
    ("qemu-s390x", "qemu-user"),
    ("qemu-i386", "qemu-user"),
];

fn need_targets() {
    let path = std::env::var_os("PATH").unwrap();
    for (tool, packages) in TOOLS {
        let found = std::env::split_paths(&path).any(|folder| folder.join(tool).exists());
        assert!(found, "{tool} is not installed: apt-get install {packages}");
    }
}

/// A desk with sources and the axes of all targets.
fn all_targets(source: &str, functions: &str) -> Desk {
    need_targets();
    let desk = Desk::new();
    let target = |name: &str, triple: &str, more: &str| {
        format!(
            "[[target]]\nname = \"{name}\"\ntriple = \"{triple}\"\ncompilers = {{ gcc = \"{triple}-gcc\"{more} }}\n"
        )
    };
    let emulated = [
        ("aarch64", "aarch64-linux-gnu", ", clang = \"clang-16\""),
        ("arm", "arm-linux-gnueabihf", ""),
        ("riscv64", "riscv64-linux-gnu", ""),
        ("ppc64le", "powerpc64le-linux-gnu", ""),
        ("s390x", "s390x-linux-gnu", ""),
    ];
    let mut matrix = String::from(
        "[lab]\nbaseline = \"gcc/O2/native\"\n[sources]\nfiles = [\"code.c\"]\nlibs = [\"m\"]\n\
         [search]\nbudget = 4000\nmax_faults = 4\n\
         [[compiler]]\nname = \"gcc\"\n[[compiler]]\nname = \"clang\"\ncommand = \"clang-16\"\n\
         [[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[target]]\nname = \"native\"\n",
    );
    matrix.push_str(&target("i686", "i686-linux-gnu", ""));
    for (name, triple, more) in emulated {
        matrix.push_str(&format!("{}runner = [\"qemu-{name}\"]\n", target(name, triple, more)));
    }
    matrix.push_str(functions);
    desk.write("code.c", source).write("matrix.toml", &matrix);
    desk
}

/// A function on every variant.
fn comparisons<'a>(run: &'a Value, function: &str) -> &'a [Value] {
    let row = run["functions"].as_array().unwrap().iter().find(|f| f["name"] == function).unwrap();
    row["comparisons"].as_array().unwrap()
}

/// The builds on which a function differs from the baseline.
fn movers(run: &Value, function: &str) -> BTreeSet<String> {
    let differs =
        |c: &&Value| c["max_bits"].as_f64().unwrap() > 0.0 || !c["ranges"].as_array().unwrap().is_empty();
    comparisons(run, function)
        .iter()
        .filter(differs)
        .map(|c| c["build"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_reason_to_differ_shows_on_its_side_of_its_axis_and_nowhere_else() {
    need_targets();
    let matrix = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/porting/matrix.toml");
    let args = ["run", matrix.to_str().unwrap(), "--quiet", "--json", "--strict"];
    let run = Desk::new().expect(0, &args).json();
    let x87 = "gcc/O2/i686/plain";
    let ftz = ["gcc/O2/native/ftz", "clang/O2/native/ftz"];
    let musl = ["gcc/O2/native/musl", "clang/O2/native/musl"];
    let fma = ["gcc/O2-fma/native/plain", "clang/O2-fma/native/plain"];
    let arm64 = ["gcc/O2/aarch64/plain", "clang/O2/aarch64/plain"];
    let wide = ["gcc/O2/riscv64/plain", "gcc/O2/ppc64le/plain", "gcc/O2/s390x/plain"];
    let arm = "gcc/O2/arm/plain";
    let foreign: Vec<&str> = arm64.into_iter().chain(wide).chain([arm]).collect();
    let with = |more: &[&'static str], others: &[&'static str]| -> BTreeSet<String> {
        more.iter().chain(others).map(ToString::to_string).collect()
    };
    for name in ["itself", "itself_float", "itself_long"] {
        assert_eq!(movers(&run, name), with(&[], &[]));
        // The sign of a zero has no bits, but it is a bit of the argument.
        let changes = comparisons(&run, name).iter().map(|c| &c["class_changes"]);
        assert!(changes.clone().all(|c| c.as_object().unwrap().is_empty()), "{changes:?}");
    }
    for (name, words) in [
        ("halved", "all ftz builds | the rest"),
        ("double_rounded", "gcc/O2/i686/plain | the rest"),
        ("widened_char", "all aarch64 builds, gcc/O2/arm/plain"),
    ] {
        let row = run["functions"].as_array().unwrap().iter().find(|f| f["name"] == name).unwrap();
        let camps = row["camps"].as_array().unwrap();
        let named = |camp: &Value| camp["divided_by"].as_str().unwrap().starts_with(words);
        assert!(!camps.is_empty() && camps.iter().all(named), "{name}: {camps:#?}");
    }
    assert_eq!(movers(&run, "contracted"), with(&[x87], &[&arm64[..], &wide, &fma].concat()));
    assert_eq!(movers(&run, "double_rounded"), with(&[x87], &[]));
    assert_eq!(movers(&run, "halved"), with(&ftz, &[]));
    assert!(movers(&run, "by_exp").is_superset(&with(&musl, &[])));
    assert!(movers(&run, "by_tgamma").is_superset(&with(&musl, &[])));
    for name in ["by_exp", "by_tgamma"] {
        // The same libm with other flags, or in this code's own flushing, answers the same.
        assert!(movers(&run, name).is_disjoint(&with(&ftz, &fma)), "{name}: {:?}", movers(&run, name));
    }
    assert_eq!(movers(&run, "widened_char"), with(&foreign, &[]));
    assert_eq!(movers(&run, "through_long_double"), with(&[x87], &foreign));
    assert_eq!(movers(&run, "truncated"), with(&foreign, &[]));
    assert_eq!(movers(&run, "summed"), with(&[x87], &["gcc/O3-assoc/native/plain"]));
    let emulated = |id: &str| {
        run["builds"].as_array().unwrap().iter().find(|b| b["id"] == id).unwrap()["emulated"] == true
    };
    assert!(foreign.iter().all(|id| emulated(id)) && !emulated(x87) && !emulated(musl[0]));
    for build in run["builds"].as_array().unwrap().iter().filter(|b| b["emulated"] == true) {
        let known = &build["arithmetic"];
        assert!(known["cases"].as_u64().unwrap() >= 56, "{build:#}");
        assert_eq!(known["wrong"], Value::Array(Vec::new()), "{build:#}");
    }
}

const HOSTILE: &str = r#"
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile double sink;
static int deep(volatile char *p) { volatile char more[4096]; more[0] = *p; return deep(more) + more[1]; }
double hostile(int what) {
    switch (what) {
    case 1: for (;;) sink += 1;
    case 2: abort();
    case 3: exit(7);
    case 4: *(volatile int *)8 = 1; break;
    case 5: fesetround(FE_UPWARD); break;
    case 6: { char c = 1; return deep(&c); }
    case 7: raise(SIGSTOP); break;
    case 8: printf("noise on standard output\n"); fflush(stdout); break;
    case 9: for (int fd = 3; fd < 200; fd++) { if (write(fd, "noise", 5) < 0) sink = 1; } break;
    case 10: for (int fd = 3; fd < 200; fd++) close(fd); break;
    case 11: kill(getppid(), SIGKILL); for (;;) pause();
    }
    return what + 0.5;
}
"#;

const HOSTILE_FUNCTION: &str =
    "[[function]]\nsignature = \"double hostile(int what)\"\ndomain = { what = \"[0, 10]\" }\n";

#[test]
fn whatever_code_does_on_a_target_costs_the_outcome_of_its_own_input() {
    let desk = all_targets(HOSTILE, HOSTILE_FUNCTION);
    for (what, outcome) in [
        ("0", "0.5"),
        ("1", "timeout"),
        ("2", "SIGABRT"),
        ("3", "exit 7"),
        ("4", "SIGSEGV"),
        ("5", "fpenv"),
        ("6", "SIGSEGV"),
        ("7", "SIGSTOP"),
        ("8", "8.5"),
        ("9", "9.5"),
        ("10", "10.5"),
    ] {
        let said = desk.expect(0, &["eval", "hostile", "-q", "--", what]);
        let builds: Vec<&str> = said.out.lines().filter(|line| line.contains("/O2/")).collect();
        assert_eq!(builds.len(), 9, "{}", said.shown());
        for line in builds {
            assert!(line.contains(outcome), "{what} in {line}\n{}", said.shown());
        }
    }
    // The runner itself is killed, by what it runs.
    let said = desk.expect(0, &["eval", "hostile", "-q", "--", "11"]);
    for line in said.out.lines().filter(|line| line.contains("/O2/") && !line.contains("native")) {
        assert!(line.contains("SIGKILL"), "{}", said.shown());
    }
    assert_eq!(desk.processes(), Vec::<String>::new());
}

#[test]
fn a_search_goes_on_beside_inputs_that_cost_their_runner() {
    let desk = all_targets(HOSTILE, HOSTILE_FUNCTION);
    let matrix = desk
        .read("matrix.toml")
        .replace("[[target]]\nname = \"arm\"", "[[exclude]]\ntarget = \"[pr]*\"\n[[target]]\nname = \"arm\"");
    desk.write("matrix.toml", &matrix.replace("max_faults = 4", "max_faults = 40"));
    let run = desk.expect(0, &["run", "--quiet", "--json"]).json();
    let row = &run["functions"][0];
    for target in ["aarch64", "s390x", "i686", "arm"] {
        let build = format!("gcc/O2/{target}");
        let same = comparison(&run, "hostile", &build);
        assert_eq!(same["max_bits"], 0.0, "{same:#}");
        let faults = row["faults"].as_array().unwrap().iter().filter(|f| f["build"] == build.as_str());
        let kinds: BTreeSet<&str> = faults.map(|f| f["kind"].as_str().unwrap()).collect();
        for kind in ["timeout", "SIGABRT", "exit 7", "SIGSEGV", "fpenv", "SIGSTOP"] {
            assert!(kinds.contains(kind), "{build} has {kinds:?}");
        }
    }
    assert_eq!(desk.processes(), Vec::<String>::new());
}

#[test]
fn a_target_that_cannot_be_built_or_run_here_is_a_row_and_the_rest_goes_on() {
    let desk = all_targets(
        "double same(double x) { return x; }",
        "[[function]]\nsignature = \"double same(double x)\"\n",
    );
    let matrix = desk.read("matrix.toml");
    let matrix = matrix
        .replace("\"s390x-linux-gnu-gcc\"", "\"sparc64-linux-gnu-gcc\"")
        .replace("qemu-arm", "qemu-armless");
    desk.write("matrix.toml", &matrix);
    // All else is done; neither is optional.
    let run = desk.expect(3, &["run", "--quiet", "--json", "--out", "a"]).json();
    let row = |id: &str| run["builds"].as_array().unwrap().iter().find(|b| b["id"] == id).unwrap().clone();
    let s390x = row("gcc/O2/s390x");
    assert_eq!(
        (&s390x["status"], &s390x["reason"]),
        (&"skipped".into(), &"sparc64-linux-gnu-gcc not found; Debian package gcc-sparc64-linux-gnu".into())
    );
    let arm = row("gcc/O2/arm");
    assert_eq!(
        (&arm["status"], &arm["reason"]),
        (&"skipped".into(), &"qemu-armless not found; Debian package qemu-user".into())
    );
    assert_eq!(row("gcc/O2/aarch64")["status"], "built");
    assert_eq!(comparison(&run, "same", "gcc/O2/aarch64")["max_bits"], 0.0);
    desk.expect(3, &["run", "--quiet", "--strict", "--out", "b"]).err_has("qemu-armless not found");
}

#[test]
fn a_runner_that_is_none_is_told_from_one_that_works() {
    let desk = Desk::small();
    let axes = crate::common::SMALL_AXES;
    for (text, words) in [
        ("echo this is no message of any runner there ever was", "that is no message"),
        ("exit 3", "ended with exit 3 before it was ready"),
        ("kill -SEGV $$", "ended with SIGSEGV before it was ready"),
    ] {
        // Probing asks for one line; after that nothing of the script is a runner.
        let script = desk.script(
            "emulator",
            &format!("case \"$2\" in --probe) printf 'mxcsr 1f80 x87 37f\\ncases 1\\n';; *) {text};; esac"),
        );
        let target = format!(
            "[[target]]\nname = \"native\"\n[[target]]\nname = \"odd\"\ncompilers = {{ gcc = \"gcc\" }}\nrunner = [\"{script}\"]\n"
        );
        let axes = axes.replace("\"gcc/O0\"", "\"gcc/O0/native\"");
        desk.write("matrix.toml", &format!("{axes}{target}{}", crate::common::SMALL_FUNCTIONS));
        let run = desk.expect(0, &["run", "--quiet", "--json"]).json();
        let odd = run["builds"].as_array().unwrap().iter().find(|b| b["id"] == "gcc/O0/odd").unwrap();
        assert_eq!(odd["status"], "failed");
        assert!(odd["reason"].as_str().unwrap().contains(words), "{odd:#}");
        assert_eq!(comparison(&run, "planted", "gcc/O2/native")["ranges"].as_array().unwrap().len(), 1);
    }
}

/// NaNs that are made and NaNs that are passed on.
const NANS: &str = r#"
#include <math.h>
#include <string.h>
double made(double x) { volatile double below = -x; return sqrt(below); }
double passed(double x) {
    unsigned long long bits = 0x7ff8000000001234ull;
    double nan;
    memcpy(&nan, &bits, sizeof nan);
    volatile double kept = nan;
    return kept * x;
}
"#;

const NAN_FUNCTIONS: &str = "[[function]]\nsignature = \"double made(double x)\"\ndomain = { x = \"[1, 2]\" }\n\
                             [[function]]\nsignature = \"double passed(double x)\"\ndomain = { x = \"[1, 2]\" }\n";

#[test]
fn what_counts_of_a_nan_is_said_in_the_matrix_and_nothing_counts_by_default() {
    let desk = all_targets(NANS, NAN_FUNCTIONS);
    let changed = |run: &Value, function: &str| -> BTreeSet<String> {
        let row = run["functions"].as_array().unwrap().iter().find(|f| f["name"] == function).unwrap();
        let changes = row["comparisons"].as_array().unwrap().iter();
        let of = |c: &Value, name: &str| c["class_changes"][name].as_u64().is_some_and(|count| count > 0);
        let named = changes.filter(|c| of(c, "nan-sign") || of(c, "nan-payload"));
        let target = |c: &Value| c["build"].as_str().unwrap().rsplit_once('/').unwrap().1.to_owned();
        named.map(target).collect()
    };
    let run = |nan: &str| desk.expect(0, &["run", "--quiet", "--json", "--nan", nan, "--out", nan]).json();
    let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<BTreeSet<String>>();
    let any = run("any");
    assert_eq!((changed(&any, "made"), changed(&any, "passed")), (names(&[]), names(&[])));
    // x86 makes negative NaNs, all others positive ones.
    let sign = run("sign");
    assert_eq!(changed(&sign, "made"), names(&["aarch64", "arm", "riscv64", "ppc64le", "s390x"]));
    assert_eq!(changed(&sign, "passed"), names(&[]));
    // RISC-V answers with one NaN whatever came in.
    let payload = run("payload");
    assert_eq!(changed(&payload, "passed"), names(&["riscv64"]));
    assert_eq!(payload["functions"][0]["comparisons"][0]["max_bits"], 0.0);
}

#[test]
fn a_finding_that_is_only_flushing_says_so_and_one_that_is_not_does_not() {
    let desk = Desk::new();
    desk.write(
        "code.c",
        "double halved(double x) { return x * 0.5; }\ndouble third(double x) { return x / 3; }\n",
    );
    desk.write(
        "matrix.toml",
        "[lab]\nbaseline = \"gcc/O2/native\"\n[sources]\nfiles = [\"code.c\"]\n[search]\nbudget = 20000\n\
         [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n\
         [[flags]]\nname = \"fast\"\nargs = [\"-O2\", \"-ffast-math\"]\n\
         [[function]]\nsignature = \"double halved(double x)\"\n[[function]]\nsignature = \"double third(double x)\"\n",
    );
    let run = desk.expect(0, &["run", "--quiet", "--json", "--out", "a"]).json();
    let without = |function: &str| -> Vec<String> {
        let ranges = comparison(&run, function, "gcc/fast/native")["ranges"].as_array().unwrap().clone();
        ranges.iter().map(|r| r["without_flushing"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!without("halved").is_empty() && without("halved").iter().all(|word| word == "agrees"));
    assert!(without("third").iter().any(|word| word == "differs"), "{:?}", without("third"));
    desk.expect(0, &["show", "a"]).out_has("gone with subnormals kept (FTZ, DAZ off)");
}

#[test]
fn a_c_library_that_changed_is_linked_again() {
    need_targets();
    let desk = Desk::new();
    let library = desk.path("libc.a");
    // No script: of a compiler that is one nothing is cached.
    let text = format!(
        "#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n{{\n\
         \x20   for (int i = 1; i < argc; i++)\n        if (strcmp(argv[i], \"-print-file-name=libc.a\") == 0)\n\
         \x20           return puts(\"{}\") < 0;\n    argv[0] = \"i686-linux-gnu-gcc\";\n    return execvp(argv[0], argv);\n}}\n",
        library.display()
    );
    desk.write("other-gcc.c", &text);
    let compiler = desk.path("other-gcc").display().to_string();
    let made =
        std::process::Command::new("gcc").args(["-o", &compiler]).arg(desk.path("other-gcc.c")).status();
    assert!(made.unwrap().success());
    desk.write("code.c", "double same(double x) { return x; }").write("libc.a", "one");
    desk.write(
        "matrix.toml",
        &format!(
            "[lab]\nbaseline = \"gcc/O2/native\"\n[sources]\nfiles = [\"code.c\"]\n[search]\nbudget = 100\n\
             [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[target]]\nname = \"native\"\n\
             [[target]]\nname = \"i686\"\ntriple = \"i686-linux-gnu\"\ncompilers = {{ gcc = \"{compiler}\" }}\n\
             [[function]]\nsignature = \"double same(double x)\"\n"
        ),
    );
    let compiled = |out: &str| -> u64 {
        desk.expect(0, &["run", "--quiet", "--strict", "--out", out]);
        let timing: Value = serde_json::from_str(&desk.read(&format!("{out}/timing.json"))).unwrap();
        timing["compiled"].as_u64().unwrap()
    };
    assert!(compiled("a") > 0);
    assert_eq!(compiled("b"), 0);
    desk.write("libc.a", "two");
    assert_eq!(compiled("c"), 1, "the link of the program, and nothing else");
}
