//! Shared libraries under test: each build gets the files that its matrix names and answers with them alone, what it
//! got is written down, and builds that cannot be loaded beside others are treated as what they are.

use std::process::Command;

use crate::common::{Desk, comparison, entry};
use crate::implementations::answer;
use bitrift::compile::{Settings, compile_all};
use bitrift::lab::{Lab, LabError, Means, tool_reach};
use bitrift::model::NoEvents;
use bitrift::store::Fingerprint;
use bitrift::toolchain::Compilers;
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

/// Two libraries of one SONAME.
fn good_and_bad(desk: &Desk) {
    for (folder, factor) in [("good", "2"), ("bad", "3")] {
        let text = format!("double v(double x) {{ return x * {factor}; }}\n");
        library(desk, &format!("{folder}/libv.so.1"), "libv.so.1", &text, &[]);
    }
}

#[test]
fn an_argument_that_leads_to_another_file_fails_the_build_with_both_names() {
    let desk = Desk::new();
    good_and_bad(&desk);
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
    good_and_bad(&desk);
    let function = "[[function]]\nsignature = \"double v(double x)\"\n";
    desk.write(
        "matrix.toml",
        &format!("{}{}{function}", axes("good:gcc/O0/native"), implementation("good", "good/libv.so.1")),
    );
    let output = desk.command(&["eval", "v", "5"]).env("LD_LIBRARY_PATH", desk.path("bad")).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains(" 10"), "{out}");
}

/// A library that adds K, and a matrix in which the sources are the baseline.
fn added(desk: &Desk, k: &str) {
    let text = format!("double added(double x) {{ return x + {k}; }}\n");
    library(desk, "lib/libadd.so.1", "libadd.so.1", &text, &[]);
    desk.write("own.c", "double added(double x) { return x + 1; }\n");
    let function = "[[function]]\nsignature = \"double added(double x)\"\n";
    let sources = "[sources]\nfiles = [\"own.c\"]\n";
    let lib = implementation("lib", "lib/libadd.so.1");
    desk.write("matrix.toml", &format!("{}{sources}{lib}{function}", axes("gcc/O0/native")));
}

#[test]
fn a_run_and_a_lock_have_the_digests_of_libraries_and_a_changed_one_is_told() {
    let desk = Desk::new();
    added(&desk, "1.5");
    let run = desk.expect(0, &["run", "--json", "-q", "--out", "run"]).json();
    let libraries = &entry(&run["builds"], "id", "lib:gcc/O0/native")["libraries"];
    let digest = libraries["lib/libadd.so.1"].as_str().unwrap().to_owned();
    assert_eq!((digest.len(), libraries.as_object().unwrap().len()), (16, 1), "{libraries}");
    assert!(entry(&run["builds"], "id", "gcc/O0/native").get("libraries").is_none());
    desk.expect(0, &["accept", "run"]);
    let lock = desk.json("bitrift.lock.json");
    assert_eq!(lock["builds"]["lib:gcc/O0/native"]["libraries"]["lib/libadd.so.1"], digest.as_str());
    assert!(lock["builds"]["gcc/O0/native"].get("libraries").is_none());

    added(&desk, "1.25");
    let said = desk.bitrift(&["gate", "-q"]);
    said.out_has(&format!("lib:gcc/O0/native: libraries was `lib/libadd.so.1 ({digest})`, is"));
    let file = desk.expect(0, &["explain", "run", "-q", "--json"]).json();
    let findings = file["findings"].as_object().unwrap();
    assert!(!findings.is_empty());
    for row in findings.values() {
        assert_eq!(row["reason"], "changed since the run: lib/libadd.so.1; run it again", "{row:#}");
    }
}

#[test]
fn a_journal_is_bound_to_the_libraries_of_its_builds() {
    let desk = Desk::new();
    let fingerprint = |k: &str| {
        added(&desk, k);
        let means = Means { cache: Some(desk.cache().into()), ..Means::default() };
        let lab = Lab::open(&desk.path("matrix.toml"), means).unwrap();
        let settings = Settings {
            jobs: 1,
            timeout: Settings::TIMEOUT,
            cancel: &lab.cancel,
            compilers: &Compilers::new(tool_reach(&lab.experiment, &Means::default())),
        };
        let Lab { experiment, plan, cache, .. } = &lab;
        let made = compile_all(experiment, &plan.builds, cache, &settings, &NoEvents).unwrap();
        Fingerprint::of("lab", &experiment.search, &experiment.functions, &made.artifacts).hex()
    };
    let before = fingerprint("1.5");
    assert_eq!(fingerprint("1.5"), before);
    assert_ne!(fingerprint("1.25"), before);
}

/// Builds that are apart: they are linked with a libm that is not bitrift's.
fn other_libm(desk: &Desk) {
    let asked = Command::new("gcc").arg("-print-file-name=libm.so.6").output().unwrap();
    std::fs::create_dir(desk.path("lm")).unwrap();
    let libm = String::from_utf8(asked.stdout).unwrap();
    std::fs::copy(libm.trim(), desk.path("lm/libm.so.6")).unwrap();
    desk.write(
        "own.c",
        "#include <math.h>\ndouble sum(double x) {\n    double s = 0;\n    for (int i = 1; i < 10; i++)\n        \
         s += x / i * i;\n    return s + sin(x);\n}\n",
    );
    let flags = "[[flags]]\nname = \"fast\"\nargs = [\"-O3\", \"-ffast-math\"]\n";
    let more = "[sources]\nfiles = [\"own.c\"]\nlibs = [\"lm/libm.so.6\"]\n\
        [[function]]\nsignature = \"double sum(double x)\"\ndomain = { x = \"[1, 2]\" }\n";
    desk.write("matrix.toml", &format!("{}{flags}{more}", axes("gcc/O0/native")));
}

#[test]
fn builds_that_are_apart_name_their_own_libm_and_are_explained_and_timed_as_programs() {
    let desk = Desk::new();
    other_libm(&desk);
    let run = desk.expect(0, &["run", "--json", "-q", "--out", "run"]).json();
    let libm = std::fs::canonicalize(desk.path("lm/libm.so.6")).unwrap();
    for build in run["builds"].as_array().unwrap() {
        let told = build["libm"].as_str().unwrap();
        assert!(told.starts_with(libm.to_str().unwrap()), "{told}");
    }
    assert!(bits(&run, "sum", "gcc/fast/native") > 0.0);
    let file = desk.expect(0, &["explain", "run", "-q", "--json", "--layer", "flags"]).json();
    let findings = file["findings"].as_object().unwrap();
    assert!(!findings.is_empty());
    for row in findings.values() {
        assert_eq!(row["layers"]["flags"]["standing"], "found", "{row:#}");
    }
    let speed = desk.expect(0, &["speed", "run", "-q", "--json"]).json();
    let builds = speed["builds"].as_array().unwrap();
    assert_eq!(builds.len(), 3);
    assert!(builds.iter().all(|row| row["emulated"] == true), "{speed:#}");
}

#[test]
fn a_function_does_not_meet_what_another_left_behind_in_a_program() {
    let desk = Desk::new();
    library(
        &desk,
        "one/libv.so.1",
        "libv.so.1",
        "double a(double x) { return x; }\ndouble b(double x) { return x; }\n",
        &[],
    );
    let text = "static int seen;\ndouble a(double x) { seen = 1; return x + 1; }\ndouble b(double x) { return seen ? x * 1.5 : x; }\n";
    library(&desk, "two/libv.so.1", "libv.so.1", text, &[]);
    let functions = "[[function]]\nsignature = \"double a(double x)\"\n[[function]]\nsignature = \"double b(double x)\"\n";
    let (one, two) = (implementation("one", "one/libv.so.1"), implementation("two", "two/libv.so.1"));
    desk.write("matrix.toml", &format!("{}{one}{two}{functions}", axes("one:gcc/O0/native")));
    for jobs in ["1", "3"] {
        let run = desk.expect(0, &["run", "--json", "-q", "-j", jobs]).json();
        assert!(bits(&run, "a", "two:gcc/O0/native") > 40.0);
        assert_eq!(bits(&run, "b", "two:gcc/O0/native"), 0.0, "-j {jobs}");
    }
}

#[test]
fn a_plan_has_the_lines_of_a_build_that_is_a_program_because_of_its_libraries() {
    let desk = Desk::new();
    versions(&desk);
    let plan = desk.expect(0, &["plan"]);
    plan.out_has(
        "new:gcc/O0/native\n  # a program of its own: its libv.so.1 is not that of old:gcc/O0/native\n",
    );
    let (old, new) = plan.out.split_once("new:gcc/O0/native").unwrap();
    assert!(old.contains("-shared") && !old.contains("bitrift_runner"), "{old}");
    assert!(new.contains("-o bitrift_runner") && !new.contains("-shared"), "{new}");
}

#[test]
fn what_a_library_needs_is_found_in_its_folder_and_in_the_library_path() {
    let desk = Desk::new();
    for (folder, factor) in [("near", "3"), ("deps", "4")] {
        let text = format!("double dep_{folder}(double x) {{ return x * {factor}; }}\n");
        library(&desk, &format!("{folder}/libdep_{folder}.so"), &format!("libdep_{folder}.so"), &text, &[]);
    }
    for (folder, needs, k) in [("near", "near", "1"), ("far", "deps", "2")] {
        let text =
            format!("double dep_{needs}(double);\ndouble v(double x) {{ return dep_{needs}(x) + {k}; }}\n");
        let dep = desk.path(&format!("{needs}/libdep_{needs}.so")).display().to_string();
        library(&desk, &format!("{folder}/libv.so.1"), "libv.so.1", &text, &[&dep]);
    }
    let function = "[[function]]\nsignature = \"double v(double x)\"\n";
    let near = implementation("near", "near/libv.so.1");
    let far = implementation("far", "far/libv.so.1") + "library_path = [\"deps\"]\n";
    // Either is loaded once and a program of its own once.
    for (first, second) in [(&near, &far), (&far, &near)] {
        desk.write("matrix.toml", &format!("{}{first}{second}{function}", axes("near:gcc/O0/native")));
        assert_eq!(answer(&desk, &["v", "10"], "near:gcc/O0/native"), "31");
        assert_eq!(answer(&desk, &["v", "10"], "far:gcc/O0/native"), "42");
    }
    let wrong = far.replace("[\"deps\"]", "[\"-Ldeps\"]");
    desk.write("matrix.toml", &format!("{}{near}{wrong}{function}", axes("near:gcc/O0/native")));
    desk.expect(1, &["plan"]).err_has("a folder of libraries is written without `-L`");
}

#[test]
fn an_explanation_is_asked_again_when_the_implementation_is_called_or_made_in_another_way() {
    let desk = Desk::new();
    desk.write("own.c", "#ifdef __OPTIMIZE__\ndouble own(double x) { return x * K * 2; }\n#else\ndouble own(double x) { return x * K; }\n#endif\n");
    let matrix = |k: &str, setup: &str| {
        format!(
            "setup = \"{setup}\"\n{}[sources]\nfiles = [\"own.c\"]\ndefines = [\"K={k}\"]\n[[function]]\nsignature = \"double own(double x)\"\n",
            axes("gcc/O0/native")
        )
    };
    desk.write("matrix.toml", &matrix("1", ";"));
    desk.expect(0, &["run", "-q", "--out", "run"]);
    let mut digests = Vec::new();
    for (k, setup) in [("1", ";"), ("1", "(void)0;"), ("1.0", "(void)0;")] {
        desk.write("matrix.toml", &matrix(k, setup));
        let file = desk.expect(0, &["explain", "run", "-q", "--json"]).json();
        let row = file["findings"].as_object().unwrap().values().next().unwrap().clone();
        digests.push(row["inputs"].as_str().unwrap().to_owned());
    }
    assert!(digests[0] != digests[1] && digests[1] != digests[2], "{digests:?}");
}

#[test]
fn a_library_whose_path_has_odd_signs_is_linked_again_when_it_changes() {
    let desk = Desk::private();
    let path = "me@work, a=b/libv.so.1";
    library(&desk, path, "libv.so.1", "double v(double x) { return x; }\n", &[]);
    let functions = "[[function]]\nsignature = \"double v(double x)\"\n[[function]]\nsignature = \"double w(double x)\"\n";
    desk.write(
        "matrix.toml",
        &format!("{}{}{functions}", axes("odd:gcc/O0/native"), implementation("odd", path)),
    );
    assert_eq!(answer(&desk, &["v", "5"], "odd:gcc/O0/native"), "5");
    library(
        &desk,
        path,
        "libv.so.1",
        "double v(double x) { return x; }\ndouble w(double x) { return x * 2; }\n",
        &[],
    );
    assert_eq!(answer(&desk, &["w", "5"], "odd:gcc/O0/native"), "10");
}

#[test]
fn a_function_keeps_its_place_when_the_linker_blames_one_whose_name_goes_on() {
    let desk = Desk::new();
    desk.write("own.c", "double f(double x) { return x; }\n").write("n.h", "double nope(double);\n");
    let matrix = axes("gcc/O0/native").replace("-fno-builtin", "-g");
    let more = "[sources]\nfiles = [\"own.c\"]\ninclude = [\".\"]\n[[function]]\nsignature = \"double f(double x)\"\n\
        [[function]]\nname = \"f-wide\"\nparams = [\"double x\"]\ncall = \"nope(x)\"\nheaders = [\"n.h\"]\n";
    desk.write("matrix.toml", &format!("{matrix}{more}"));
    assert_eq!(answer(&desk, &["f", "3"], "gcc/O0/native"), "3");
    assert_eq!(answer(&desk, &["f", "3"], "gcc/O2/native"), "3");
}

#[test]
fn a_lab_has_at_least_one_job_and_a_program_that_serves_nobody_is_told_what_to_call() {
    let desk = Desk::new();
    added(&desk, "1.5");
    let means = Means { cache: Some(desk.cache().into()), jobs: Some(0), ..Means::default() };
    let lab = Lab::open(&desk.path("matrix.toml"), means).unwrap();
    assert_eq!(lab.jobs, 1);
    // The `main` of this test program is the harness's.
    let error = lab.build_all(&NoEvents).err().unwrap();
    assert!(
        matches!(error, LabError::NotServed) && error.to_string().contains("bitrift::lab::serve()"),
        "{error}"
    );
    // Such a process would start itself again, and again.
    let output = desk.command(&["eval", "added", "1"]).env("BITRIFT_ROLE", "__worker").output().unwrap();
    assert!(!output.status.success());
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("bitrift::lab::serve()"), "{err}");
}
