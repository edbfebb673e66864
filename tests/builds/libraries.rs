//! Shared libraries under test: each build gets the files that its matrix names and answers with them alone, what it
//! got is written down, and builds that cannot be loaded beside others are treated as what they are.

use std::path::Path;
use std::process::Command;

use crate::common::{Desk, comparison, entry, function};
use serde_json::Value;

/// Two flag sets of gcc, and a baseline.
fn axes(baseline: &str) -> String {
    format!(
        "[lab]\nname = \"libraries\"\nbaseline = \"{baseline}\"\n[search]\nbudget = \"paper\"\n[[compiler]]\nname = \"gcc\"\n\
         [[flags]]\nname = \"O0\"\nargs = [\"-O0\", \"-fno-builtin\"]\n[[flags]]\nname = \"O2\"\nargs = [\"-O2\", \"-fno-builtin\"]\n"
    )
}

/// A shared library with a SONAME, and further words for its link.
fn library(desk: &Desk, path: &str, soname: &str, text: &str, more: &[&str]) {
    desk.write(&format!("{path}.c"), text);
    let (file, source) = (desk.path(path), desk.path(&format!("{path}.c")));
    let soname = format!("-Wl,-soname,{soname}");
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-O1", "-fno-builtin", &soname, "-o"]).arg(file).arg(source).args(more);
    assert!(gcc.status().unwrap().success());
}

fn implementation(name: &str, lib: &str) -> String {
    format!("[[implementation]]\nname = \"{name}\"\nlibs = [\"{lib}\"]\n")
}

/// What a build answers, in decimal.
#[track_caller]
fn answer(desk: &Desk, words: &[&str], build: &str) -> String {
    let said = desk.expect(0, &[&["eval"], words].concat());
    let line = said.out.lines().find(|l| l.split_whitespace().next() == Some(build));
    let line = line.unwrap_or_else(|| panic!("no {build} in\n{}", said.shown()));
    let hex = line.split_whitespace().position(|word| word.starts_with("0x") || word.starts_with("-0x"));
    line.split_whitespace().nth(hex.unwrap() + 1).unwrap().to_owned()
}

#[track_caller]
fn bits(run: &Value, name: &str, build: &str) -> f64 {
    comparison(run, name, build)["max_bits"].as_f64().unwrap()
}

/// `lib_f` doubles what `inner` answers. The sources have an `inner` of their own.
fn interposed(desk: &Desk) {
    library(desk, "lib/libinner.so.1", "libinner.so.1", "double inner(double x) { return x; }\n", &[]);
    let inner = desk.path("lib/libinner.so.1").display().to_string();
    let text = "double inner(double);\ndouble lib_f(double x) { return inner(x) * 2; }\n";
    library(desk, "lib/libf.so.1", "libf.so.1", text, &[&inner]);
    desk.write("own.c", "double lib_f(double);\ndouble inner(double x) { return x + 1; }\ndouble own(double x) { return lib_f(x); }\n");
    desk.write("own.h", "double own(double);\ndouble lib_f(double);\n");
    let libs = "include = [\".\"]\nlibs = [\"lib/libf.so.1\", \"lib/libinner.so.1\"]\n";
    let matrix = format!(
        "{}[sources]\nfiles = [\"own.c\"]\n{libs}[[implementation]]\nname = \"lib\"\nheaders = [\"own.h\"]\n{libs}\
         [[function]]\nname = \"f\"\nparams = [\"double x\"]\ncall = \"own(x)\"\nheaders = [\"own.h\"]\n\
         calls = {{ lib = \"lib_f(x)\" }}\n",
        axes("gcc/O0/native")
    );
    desk.write("matrix.toml", &matrix);
}

#[test]
fn a_library_takes_no_symbol_from_the_code_of_another_implementation() {
    let desk = Desk::new();
    interposed(&desk);
    // As in a program: the sources' own `inner` comes before the library's, for the sources and nobody else.
    assert_eq!(answer(&desk, &["f", "3"], "gcc/O0/native"), "8");
    assert_eq!(answer(&desk, &["f", "3"], "gcc/O2/native"), "8");
    assert_eq!(answer(&desk, &["f", "3"], "lib:gcc/O0/native"), "6");
    let run = desk.expect(0, &["run", "--json", "--out", "run"]);
    run.err_has("gcc/O0/native is a program of its own: it defines inner, which its libf.so.1 takes");
    let json = run.json();
    assert!(bits(&json, "f", "lib:gcc/O0/native") > 40.0);
    assert_eq!(bits(&json, "f", "gcc/O2/native"), 0.0);
    let confirmed = desk.json("run/confirm.json");
    let rows = confirmed["witnesses"].as_object().unwrap();
    assert!(!rows.is_empty() && rows.values().all(|row| row["confirmed"] == "yes"), "{confirmed:#}");
}

#[test]
fn what_one_implementation_sets_in_a_library_is_not_set_for_another() {
    let desk = Desk::new();
    let text = "static double level = 1;\nvoid set_level(double x) { level = x; }\ndouble leveled(double x) { return x * level; }\n";
    library(&desk, "lib/liblevel.so.1", "liblevel.so.1", text, &[]);
    desk.write("level.h", "void set_level(double);\ndouble leveled(double);\n");
    let lib = "libs = [\"lib/liblevel.so.1\"]\nheaders = [\"level.h\"]\ninclude = [\".\"]\nflags = [\"*\"]\n";
    let matrix = format!(
        "{}[[implementation]]\nname = \"quiet\"\n{lib}[[implementation]]\nname = \"loud\"\n{lib}setup = \"set_level(5);\"\n\
         [[function]]\nsignature = \"double leveled(double x)\"\n",
        axes("quiet:gcc/O0/native")
    );
    desk.write("matrix.toml", &matrix);
    let run = desk.expect(0, &["run", "--json"]);
    // Flags alone are no reason: both builds of an implementation are loaded, and only the other one's are apart.
    let notes: Vec<&str> = run.err.lines().filter(|line| line.contains("program of its own")).collect();
    let wanted = "is a program of its own: it would share liblevel.so.1, and what is set in it, with quiet:gcc/O0/native, another implementation";
    assert_eq!(notes.len(), 2, "{}", run.shown());
    for (note, build) in notes.iter().zip(["loud:gcc/O0/native", "loud:gcc/O2/native"]) {
        assert!(note.contains(&format!("{build} {wanted}")), "{note}");
    }
    let json = run.json();
    assert_eq!(bits(&json, "leveled", "quiet:gcc/O2/native"), 0.0);
    assert!(bits(&json, "leveled", "loud:gcc/O0/native") > 40.0);
    assert_eq!(answer(&desk, &["leveled", "2"], "quiet:gcc/O2/native"), "2");
    assert_eq!(answer(&desk, &["leveled", "2"], "loud:gcc/O2/native"), "10");
}

/// Two versions of a library in one folder; the link of their SONAME leads to the newer one.
fn versions(desk: &Desk) {
    for version in ["1", "2"] {
        let text = format!("double v(double x) {{ return x + {version}; }}\n");
        library(desk, &format!("lib/libv.so.1.{version}"), "libv.so.1", &text, &[]);
    }
    std::os::unix::fs::symlink("libv.so.1.2", desk.path("lib/libv.so.1")).unwrap();
    let function = "[[function]]\nsignature = \"double v(double x)\"\n";
    let (old, new) = (implementation("old", "lib/libv.so.1.1"), implementation("new", "lib/libv.so.1.2"));
    desk.write("matrix.toml", &format!("{}{old}{new}{function}", axes("old:gcc/O0/native")));
}

#[test]
fn the_library_file_that_is_named_is_the_one_that_answers() {
    let desk = Desk::private();
    versions(&desk);
    assert_eq!(answer(&desk, &["v", "10"], "old:gcc/O0/native"), "11");
    assert_eq!(answer(&desk, &["v", "10"], "new:gcc/O0/native"), "12");
    let run = desk.expect(0, &["run", "--json", "-q", "--out", "run"]).json();
    assert!(bits(&run, "v", "new:gcc/O0/native") > 40.0);
    let confirmed = desk.json("run/confirm.json");
    let rows = confirmed["witnesses"].as_object().unwrap();
    assert!(rows.values().all(|row| row["confirmed"] == "yes"), "{confirmed:#}");
    // What the loader needs is made again where it was lost, though the objects are known.
    std::fs::remove_dir_all(desk.cache().join("libraries")).unwrap();
    assert_eq!(answer(&desk, &["v", "10"], "old:gcc/O0/native"), "11");
}

#[test]
fn an_argument_that_leads_to_another_file_fails_the_build_with_both_names() {
    let desk = Desk::new();
    for (folder, factor) in [("good", "2"), ("bad", "3")] {
        let text = format!("double v(double x) {{ return x * {factor}; }}\n");
        library(&desk, &format!("{folder}/libv.so.1"), "libv.so.1", &text, &[]);
    }
    let bad = desk.path("bad").display().to_string();
    let flags = format!("[[flags]]\nname = \"astray\"\nargs = [\"-Wl,-rpath,{bad}\"]\n");
    let function = "[[function]]\nsignature = \"double v(double x)\"\n";
    let libs = implementation("good", "good/libv.so.1") + "flags = [\"*\"]\n";
    desk.write("matrix.toml", &format!("{}{flags}{libs}{function}", axes("good:gcc/O0/native")));
    let run = desk.expect(0, &["run", "--json", "-q"]).json();
    let row = entry(&run["builds"], "id", "good:gcc/astray/native");
    assert_eq!(row["status"], "failed", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("/good/libv.so.1") && reason.contains("/bad/libv.so.1"), "{reason}");
}

#[test]
fn the_callers_library_path_does_not_replace_a_named_file() {
    let desk = Desk::new();
    for (folder, factor) in [("good", "2"), ("other", "3")] {
        let text = format!("double v(double x) {{ return x * {factor}; }}\n");
        library(&desk, &format!("{folder}/libv.so.1"), "libv.so.1", &text, &[]);
    }
    let function = "[[function]]\nsignature = \"double v(double x)\"\n";
    desk.write(
        "matrix.toml",
        &format!("{}{}{function}", axes("good:gcc/O0/native"), implementation("good", "good/libv.so.1")),
    );
    let output =
        desk.command(&["eval", "v", "5"]).env("LD_LIBRARY_PATH", desk.path("other")).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains(" 10"), "{out}");
}
