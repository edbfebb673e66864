//! What a user reads and sets of builds that are programs of their own: stamps of emulators, runners
//! that break off, rounding modes, precisions of the x87, other versions of libm's functions.

use std::collections::BTreeSet;

use crate::common::{Desk, comparison};
use serde_json::Value;

const AXES: &str = "[sources]\nfiles = [\"code.c\"]\nlibs = [\"m\"]\n[search]\nbudget = 2000\n\
                    [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[target]]\nname = \"native\"\n";

const AARCH64: &str = "[[target]]\nname = \"aarch64\"\ntriple = \"aarch64-linux-gnu\"\n\
                       compilers = { gcc = \"aarch64-linux-gnu-gcc\" }\n";

const BYTE: &str = "[[function]]\nsignature = \"int byte(int x)\"\ndomain = { x = \"[0, 255]\" }\n";

/// A lab whose one function differs on aarch64, which is emulated.
fn emulated(runner: &str) -> Desk {
    let desk = Desk::new();
    desk.write("code.c", "int byte(int x) { char c = (char)x; return c; }\n");
    desk.write("matrix.toml", &format!("[lab]\nbaseline = \"gcc/O2/native\"\n{AXES}{AARCH64}{runner}{BYTE}"));
    desk
}

#[test]
fn every_report_says_which_numbers_come_from_an_emulator() {
    let desk = emulated("runner = [\"qemu-aarch64\"]\n");
    desk.expect(0, &["run", "--quiet", "--out", "a"]).out_has("    emulated   ");
    desk.expect(0, &["report", "a"]).out_has("emulated: gcc/O2/aarch64");
    desk.expect(0, &["report", "a", "--markdown"]).out_has("| `sign` | `gcc/O2/aarch64` (emulated) |");
    let junit = desk.expect(0, &["report", "a", "--junit"]);
    junit.out_has("<property name=\"emulated\" value=\"yes\"/>");
    junit.out_has("8.0 bits from gcc/O2/native, in 1 range (emulated)");
    desk.expect(0, &["report", "a", "--sarif"])
        .out_has("byte under gcc/O2/aarch64 (emulated) is up to 8.0 bits");
    desk.expect(0, &["report", "a", "--github"]).out_has("gcc/O2/aarch64 (emulated) against gcc/O2/native");
    let csv = desk.expect(0, &["report", "a", "--samples"]).out;
    let mut rows = csv.lines().skip(1);
    assert!(rows.next().is_some() && rows.all(|row| row.contains(",gcc/O2/aarch64,true,")), "{csv}");
    desk.expect(0, &["report", "a", "--html"]);
    assert!(desk.read("a/report.html").contains("\"emulated\":[\"gcc/O2/aarch64\"]"));
    let said = desk.expect(0, &["eval", "byte", "-q", "--", "200"]).out;
    let stamped: Vec<&str> = said.lines().filter(|line| line.contains("emulated")).collect();
    assert!(stamped.len() == 1 && stamped[0].contains("gcc/O2/aarch64"), "{said}");
}

#[test]
fn a_target_that_cannot_be_run_says_how_to_mend_the_matrix() {
    let reason = |desk: &Desk, build: &str| {
        // Nothing is left to compare where the other build was the only one.
        let run = desk.bitrift(&["run", "--quiet", "--json"]).json();
        let rows = run["builds"].as_array().unwrap().clone();
        let row = rows.iter().find(|b| b["id"] == build).unwrap().clone();
        assert_ne!(row["status"], "built");
        row["reason"].as_str().unwrap().to_owned()
    };
    let words = reason(&emulated(""), "gcc/O2/aarch64");
    assert!(words.contains("give it a `runner`"), "{words}");
    let words = reason(&emulated("runner = [\"echo\"]\n"), "gcc/O2/aarch64");
    assert!(words.contains("`runner` of target aarch64 must run that program"), "{words}");
    let musl = "[[environment]]\nname = \"musl\"\nlibm = \"musl\"\n";
    let words = reason(&emulated(&format!("runner = [\"qemu-aarch64\"]\n{musl}")), "gcc/O2/aarch64/musl");
    assert!(words.contains("leave target aarch64 out of environment musl with [[exclude]]"), "{words}");
}

#[test]
fn a_reply_that_is_cut_off_costs_no_more_than_asking_again() {
    // The greeting is 64 bytes, the answer to a batch 48 and 8 for each input; whatever is longer is cut.
    let cut = "\"$@\" | { dd bs=1 count=300 2>/dev/null";
    for (end, starts_cut) in [("kill -9 0", 1000), ("sleep 60", 3)] {
        let desk = Desk::small();
        std::fs::create_dir(desk.path("starts")).unwrap();
        let starts = desk.path("starts");
        let starts = starts.display();
        let cutter = desk.script(
            "cutter",
            &format!(
                "[ \"$2\" = --probe ] && exec \"$@\"\ntouch {starts}/$$\n\
                 if [ $(ls {starts} | wc -l) -le {starts_cut} ]; then {cut}; {end}; }}; else exec \"$@\"; fi"
            ),
        );
        let target = format!(
            "[[target]]\nname = \"native\"\n[[target]]\nname = \"odd\"\ncompilers = {{ gcc = \"gcc\" }}\nrunner = [\"{cutter}\"]\n"
        );
        let axes = crate::common::SMALL_AXES
            .replace("\"gcc/O0\"", "\"gcc/O0/native\"")
            .replace("budget = \"paper\"", "budget = 2000\ntimeout_ms = 5");
        let function = "[[function]]\nsignature = \"double planted(double x)\"\n";
        // The script counts its starts in a file, which nothing in a sandbox could write.
        desk.write("matrix.toml", &format!("{axes}{target}{function}"));
        let run = desk.expect(0, &["run", "--quiet", "--no-sandbox", "--json", "--strict"]).json();
        let restarts = std::fs::read_dir(desk.path("starts")).unwrap().count();
        assert!(restarts > 3, "{restarts} starts: nothing was cut");
        let row = &run["functions"][0];
        assert_eq!(row["faults"], Value::Array(Vec::new()), "{row:#}");
        for build in ["gcc/O2/native", "gcc/O2/odd"] {
            let found = comparison(&run, "planted", build);
            assert_eq!(found["ranges"].as_array().unwrap().len(), 1, "{found:#}");
        }
        assert_eq!(comparison(&run, "planted", "gcc/O0/odd")["max_bits"], 0.0);
        assert_eq!(desk.processes(), Vec::<String>::new());
    }
}

/// The environments in which a function differs, on a target.
fn moved(run: &Value, function: &str, target: &str) -> BTreeSet<String> {
    let row = run["functions"].as_array().unwrap().iter().find(|f| f["name"] == function).unwrap();
    let differing =
        row["comparisons"].as_array().unwrap().iter().filter(|c| c["max_bits"].as_f64().unwrap() > 0.0);
    let ids = differing.map(|c| c["build"].as_str().unwrap());
    ids.filter_map(|id| id.strip_prefix(&format!("gcc/O2/{target}/")).map(str::to_owned)).collect()
}

#[test]
fn rounding_precision_and_tunables_move_what_they_are_about() {
    let desk = Desk::new();
    desk.write(
        "code.c",
        "#include <math.h>\ndouble third(double x) { return x / 3; }\ndouble half(double x) { return x / 2; }\n\
         double kept(double x) { return x * x - x; }\ndouble sine(double x) { return sin(x); }\n",
    );
    let i686 = "[[target]]\nname = \"i686\"\ntriple = \"i686-linux-gnu\"\ncompilers = { gcc = \"i686-linux-gnu-gcc\" }\n";
    let environments: String = [
        ("plain", ""),
        ("up", "rounding = \"up\""),
        ("down", "rounding = \"down\""),
        ("zero", "rounding = \"zero\""),
        ("double", "x87_precision = \"double\""),
        ("no-fma", "glibc_tunables = \"glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4\""),
    ]
    .iter()
    .map(|(name, more)| format!("[[environment]]\nname = \"{name}\"\n{more}\n"))
    .collect();
    let functions: String =
        [("third", "[1, 2]"), ("half", "[1, 2]"), ("kept", "[1, 2]"), ("sine", "[1, 1000]")]
            .iter()
            .map(|(name, x)| {
                format!("[[function]]\nsignature = \"double {name}(double x)\"\ndomain = {{ x = \"{x}\" }}\n")
            })
            .collect();
    let axes = AXES.replace("2000", "20000");
    let lab = "[lab]\nbaseline = \"gcc/O2/native/plain\"\n";
    desk.write("matrix.toml", &format!("{lab}{axes}{i686}{environments}{functions}"));
    let run = desk.expect(0, &["run", "--quiet", "--json", "--strict"]).json();
    let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<BTreeSet<String>>();
    assert_eq!(moved(&run, "third", "native"), names(&["up", "down", "zero"]));
    assert_eq!(moved(&run, "half", "native"), names(&[]));
    // With 53 bits of significand the x87 computes as everybody else.
    assert!(moved(&run, "kept", "i686").contains("plain"));
    assert!(!moved(&run, "kept", "i686").contains("double"));
    // Where this machine has fma, glibc has a version of sin with it, and another without.
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    if cpu.split_whitespace().any(|flag| flag == "fma") {
        assert!(moved(&run, "sine", "native").contains("no-fma"), "{:?}", moved(&run, "sine", "native"));
    }
    assert!(!moved(&run, "third", "native").contains("no-fma"));
}
