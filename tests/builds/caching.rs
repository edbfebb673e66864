//! What is compiled again, and what is not.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use bitrift::compile::{Cache, Settings, compile_all};
use bitrift::lab::{Means, tool_reach};
use bitrift::model::{Callee, Event, NoEvents};
use bitrift::toolchain::Compilers;

use crate::lab::{Lab, build, doubles, every_compiler, load, object, unary};

fn two_sources() -> Lab {
    Lab::new(
        &[
            ("a.c", "#include \"a.h\"\n#include <math.h>\ndouble one(double x) { return A * floor(x); }"),
            ("b.c", "double two(double x) { return 2 * x; }"),
            ("include/a.h", "#define A 1\n"),
        ],
        vec![unary("one"), unary("two")],
    )
}

#[test]
fn an_unchanged_second_run_compiles_nothing() {
    let lab = two_sources();
    let first = lab.compile(&every_compiler());
    assert_eq!((first.compiled, first.cached), (3 * 5, 0));
    let second = lab.compile(&every_compiler());
    assert_eq!((second.compiled, second.cached), (0, 3 * 5));
    assert_eq!((second.artifacts, second.objects), (first.artifacts, first.objects));
    let log = lab.log.0.lock().unwrap();
    assert_eq!(log.first(), Some(&Event::CompileStarted { jobs: 15 }));
    assert_eq!(log.last(), Some(&Event::CompileFinished { compiled: 0, cached: 15 }));
}

#[test]
fn the_same_build_twice_is_compiled_once() {
    let lab = two_sources();
    // gcc's intermediate objects differ every time they are made.
    let builds = [build("gcc", &["-O2", "-flto"]), build("gcc", &["-O2", "-flto"])];
    let first = lab.compile(&builds);
    assert_eq!((first.compiled, first.cached), (6, 6));
    assert_eq!(object(&first.artifacts[0]), object(&first.artifacts[1]));
    assert_eq!(lab.compile(&builds).compiled, 0);
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let results = [1, 2].map(|jobs| {
        let mut lab = two_sources();
        lab.jobs = jobs;
        let compiled = lab.compile(&every_compiler());
        let names = |path: &PathBuf| path.file_name().unwrap().to_owned();
        compiled.artifacts.iter().map(|a| names(&object(a).path)).collect::<Vec<_>>()
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn an_edited_header_recompiles_only_what_reads_it() {
    let lab = two_sources();
    lab.compile(&every_compiler());
    lab.write("include/a.h", "#define A 10\n");
    let compiled = lab.compile(&every_compiler());
    assert_eq!(lab.steps_run(), ["compile a.c", "compile a.c", "compile a.c", "link", "link", "link"]);
    for artifact in &compiled.artifacts {
        assert_eq!(load(artifact).call_f64(0, &[3.5]), 30.0, "{}", artifact.build);
    }
    // The old header's objects are still known.
    lab.write("include/a.h", "#define A 1\n");
    assert_eq!(lab.compile(&every_compiler()).compiled, 0);
}

#[test]
fn an_edited_source_a_define_and_a_flag_recompile_what_they_touch() {
    let mut lab = two_sources();
    lab.compile(&every_compiler());
    lab.write("b.c", "double two(double x) { return 3 * x; }");
    lab.compile(&[build("gcc", &["-O2"])]);
    assert_eq!(lab.steps_run(), ["compile b.c", "link"]);
    // The same machine code is not linked again.
    lab.write("b.c", "double two(double x) { return x * 3; }");
    lab.compile(&[build("gcc", &["-O2"])]);
    assert_eq!(lab.steps_run(), ["compile b.c"]);
    lab.experiment.implementations[0].sources.defines.push("NEW".into());
    lab.compile(&[build("gcc", &["-O2"])]);
    assert_eq!(lab.steps_run().len(), 3, "objects, but neither the probe nor the same link");
    lab.compile(&[build("gcc", &["-O1"])]);
    assert_eq!(lab.steps_run().len(), 5);
}

#[test]
fn a_new_function_compiles_its_shim_alone() {
    let mut lab = two_sources();
    lab.compile(&every_compiler());
    let body = Callee::Body("extern double two(double);\nreturn two(x);".into());
    lab.experiment.functions.insert(0, doubles("another", 1, body));
    let compiled = lab.compile(&every_compiler());
    assert_eq!(lab.steps_run(), ["link", "link", "link", "shim another", "shim another", "shim another"]);
    assert_eq!(load(&compiled.artifacts[0]).call_f64(0, &[4.0]), 8.0);
}

#[test]
fn a_new_header_that_shadows_an_old_one_is_noticed() {
    let mut lab = two_sources();
    let first = lab.path("first");
    lab.experiment.implementations[0].sources.include.insert(0, first);
    lab.compile(&every_compiler());
    lab.write("first/unrelated.h", "");
    assert_eq!(lab.compile(&every_compiler()).compiled, 0);
    lab.write("first/a.h", "#define A 100\n");
    for artifact in &lab.compile(&every_compiler()).artifacts {
        assert_eq!(load(artifact).call_f64(0, &[1.0]), 100.0, "{}", artifact.build);
    }
    // Beside the source comes before every include folder.
    lab.write("a.h", "#define A 1000\n");
    for artifact in &lab.compile(&every_compiler()).artifacts {
        assert_eq!(load(artifact).call_f64(0, &[1.0]), 1000.0, "{}", artifact.build);
    }
}

#[test]
fn damaged_entries_are_made_again() {
    let lab = two_sources();
    let builds = every_compiler();
    let first = lab.compile(&builds);
    let entries = |kind: &str| -> Vec<PathBuf> {
        let folders = fs::read_dir(lab.cache_folder().join(kind)).unwrap().flatten();
        folders.flat_map(|f| fs::read_dir(f.path()).unwrap().flatten().map(|e| e.path())).collect()
    };
    for kind in ["objects", "recipes"] {
        for (i, path) in entries(kind).iter().enumerate() {
            let bytes = fs::read(path).unwrap();
            let damaged = match i % 3 {
                0 => bytes[..bytes.len() / 2].to_vec(),
                1 => Vec::new(),
                _ => bytes.iter().map(|b| b ^ 1).collect(),
            };
            fs::write(path, damaged).unwrap();
        }
        let again = lab.compile(&builds);
        // The three probes' equal answers are one object, which the first of them mends.
        assert!((13..=15).contains(&again.compiled), "{kind}: {}", again.compiled);
        assert_eq!(again.artifacts, first.artifacts);
        assert_eq!(load(&again.artifacts[0]).call_f64(1, &[4.0]), 8.0);
        assert_eq!(lab.compile(&builds).compiled, 0);
    }
}

#[test]
fn a_changed_compiler_compiles_everything_again() {
    let lab = two_sources();
    let script = |comment: &str| format!("#!/bin/sh\n# {comment}\nexec gcc \"$@\"\n");
    let wrapped = build(&lab.script("mycc", &script("old")), &["-O2"]);
    assert_eq!(lab.compile(std::slice::from_ref(&wrapped)).compiled, 5);
    lab.script("mycc", &script("newer"));
    // The objects come out the same, so that the link's only change is the compiler.
    assert_eq!(lab.compile(std::slice::from_ref(&wrapped)).compiled, 5);
    assert_eq!(lab.compile(std::slice::from_ref(&wrapped)).compiled, 0);
}

fn make_static_library(lab: &Lab, value: u32) {
    lab.write("boxed.txt", &format!("double boxed(double x) {{ return x + {value}; }}"));
    let run = |command: &str, args: &[&str]| {
        let status = Command::new(command).args(args).current_dir(lab.folder.path()).status();
        assert!(status.unwrap().success());
    };
    run("gcc", &["-fPIC", "-c", "-x", "c", "boxed.txt", "-o", "boxed.o"]);
    run("ar", &["rcs", "libboxed.a", "boxed.o"]);
}

#[test]
fn a_changed_static_library_is_linked_again() {
    let mut lab = Lab::new(&[], vec![unary("boxed")]);
    let folder = format!("-L{}", lab.folder.path().display());
    let builds = [build("gcc", &["-O2", &folder])];
    lab.experiment.implementations[0].sources.libs = vec!["boxed".into()];
    make_static_library(&lab, 1);
    assert_eq!(load(&lab.compile(&builds).artifacts[0]).call_f64(0, &[0.0]), 1.0);
    make_static_library(&lab, 2);
    assert_eq!(load(&lab.compile(&builds).artifacts[0]).call_f64(0, &[0.0]), 2.0);
    assert_eq!(lab.steps_run(), ["link", "probe"]);
}

#[test]
fn the_time_of_day_is_not_in_objects() {
    let source = "const char *when(void) { return __DATE__ __TIME__; }\ndouble one(double x) { return x; }";
    let lab = Lab::new(&[("a.c", source)], vec![unary("one")]);
    for artifact in &lab.compile(&[build("gcc", &["-O2"]), build("clang-16", &["-O2"])]).artifacts {
        let content = fs::read(&object(artifact).path).unwrap();
        assert!(String::from_utf8_lossy(&content).contains("Jan  1 1970"), "{}", artifact.build);
    }
}

const SHARED: &str = "BITRIFT_TEST_SHARED_LAB";

/// Run by `two_processes_share_a_cache` in processes of its own.
#[test]
#[ignore = "a part of another test"]
fn one_process_of_two() {
    let Some(folder) = std::env::var_os(SHARED).map(PathBuf::from) else { return };
    let mut lab = two_sources();
    lab.experiment.implementations[0].sources.files = vec![folder.join("a.c"), folder.join("b.c")];
    lab.experiment.implementations[0].sources.include = vec![folder.join("include")];
    let cache = Cache::open(&folder.join("cache")).unwrap();
    let compilers = &Compilers::new(tool_reach(&lab.experiment, &Means::default()));
    let settings = Settings { jobs: 2, timeout: Settings::TIMEOUT, cancel: &lab.cancel, compilers };
    let compiled = compile_all(&lab.experiment, &every_compiler(), &cache, &settings, &NoEvents).unwrap();
    for artifact in &compiled.artifacts {
        assert_eq!(load(artifact).call_f64(1, &[4.0]), 8.0);
    }
}

#[test]
fn two_processes_share_a_cache() {
    let lab = two_sources();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "caching::one_process_of_two", "--ignored"])
            .env(SHARED, lab.folder.path())
            .output()
            .unwrap()
    };
    let outputs = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..3).map(|_| scope.spawn(start)).collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect::<Vec<_>>()
    });
    for output in outputs {
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
    assert_eq!(lab.compile(&every_compiler()).compiled, 0);
}
