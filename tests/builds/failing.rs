//! What goes wrong is a row with the tool's own words, and the rest goes on.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bitrift::compile::Cache;
use bitrift::model::{ArtifactStatus, Callee, Event};

use crate::lab::{Lab, absent, build, doubles, every_compiler, failure, load, missing, object, unary};

const HALF: (&str, &str) = ("a.c", "double half(double x) { return x / 2; }");

#[test]
fn a_failing_flag_is_a_row_and_the_others_go_on() {
    let lab = Lab::new(&[HALF], vec![unary("half")]);
    let builds = [build("gcc", &["-O2"]), build("gcc", &["-fbogus"]), build("clang-16", &["-fbogus"])];
    let artifacts = lab.compile(&builds).artifacts;
    assert_eq!(load(&artifacts[0]).call_f64(0, &[3.0]), 1.5);
    assert!(failure(&artifacts[1]).contains("unrecognized command-line option '-fbogus'"));
    assert!(failure(&artifacts[2]).contains("unknown argument: '-fbogus'"));
    let log = lab.log.0.lock().unwrap();
    let note =
        |e: &Event| matches!(e, Event::Note { text } if text.starts_with("gcc/-fbogus/native failed: "));
    assert!(log.iter().any(note));
}

#[test]
fn a_broken_source_fails_every_build_in_its_compilers_words() {
    let lab = Lab::new(&[HALF, ("broken.c", "double f(double x) { return y; }")], vec![unary("half")]);
    let path = lab.path("broken.c").display().to_string();
    for artifact in &lab.compile(&every_compiler()).artifacts {
        let message = failure(artifact);
        assert!(
            message.contains(&path) && message.contains("'y'") && message.contains("undeclared"),
            "{message}"
        );
    }
}

#[test]
fn a_function_that_a_build_lacks_is_missing_and_the_others_work() {
    let source = "double half(double x) { return x / 2; }\n\
                  #ifndef __TINYC__\ndouble rich(double x) { return x; }\n#endif\n";
    let mut functions = vec![
        unary("half"),
        unary("nowhere"),
        doubles("typo", 1, Callee::Call("x + yy".into())),
        doubles("lost", 1, Callee::Body("extern double lost_too(double);\nreturn lost_too(x);".into())),
        unary("rich"),
    ];
    let mut header = unary("half");
    header.name = "headless".into();
    header.headers = vec!["no/such.h".into()];
    functions.push(header);
    let lab = Lab::new(&[("a.c", source)], functions);
    let mut builds = every_compiler();
    builds.push(build("gcc", &["-O2", "-g", "-flto"]));
    builds.push(build("gcc", &["-g", "-fuse-ld=gold"]));
    let first = lab.compile(&builds);
    for (build, artifact) in builds.iter().zip(&first.artifacts) {
        let built = object(artifact);
        let loaded = load(artifact);
        assert_eq!(loaded.call_f64(0, &[3.0]), 1.5);
        for (function, words) in [(1, "nowhere"), (2, "yy"), (3, "lost_too"), (5, "no/such.h")] {
            let message = missing(built, function);
            assert!(message.contains(words), "{}: {message}", build.id);
            assert!(!message.contains("cache/tmp"), "a temporary path in {message}");
        }
        assert!(missing(built, 2).contains("call of typo:"), "{}", missing(built, 2));
        assert!(!missing(built, 1).contains("lost_too"), "{}: {}", build.id, missing(built, 1));
        match build.command.as_str() {
            "tcc" => assert!(missing(built, 4).contains("rich")),
            _ => assert_eq!(loaded.call_f64(4, &[3.0]), 3.0),
        }
    }
    // The messages are the same from the cache, and only what does not compile is tried again.
    let second = lab.compile(&builds);
    assert_eq!(second.artifacts, first.artifacts);
    assert_eq!(second.compiled, 2 * builds.len());
}

#[test]
fn undefined_symbols_of_the_sources_fail_the_build() {
    let lab = Lab::new(
        &[("a.c", "double gone(double);\ndouble half(double x) { return gone(x); }")],
        vec![unary("half")],
    );
    for artifact in &lab.compile(&every_compiler()).artifacts {
        assert!(failure(artifact).contains("gone"), "{}", failure(artifact));
    }
}

#[test]
fn an_experiment_of_missing_functions_alone_says_what_is_missing() {
    let mut lab = Lab::new(&[], vec![unary("nowhere")]);
    lab.experiment.implementations[0].sources.libs.clear();
    for artifact in &lab.compile(&every_compiler()).artifacts {
        assert!(failure(artifact).contains("nowhere"), "{}", failure(artifact));
    }
}

#[test]
fn a_missing_compiler_is_skipped_with_its_package() {
    let lab = Lab::new(&[HALF], vec![unary("half")]);
    let mut foreign = build("gcc", &["-O2"]);
    foreign.runner = vec!["qemu-no-such-machine".into()];
    let artifacts = lab.compile(&[absent("gcc-3", &[]), build("gcc", &[]), foreign]).artifacts;
    let skipped = |reason: &str| ArtifactStatus::Skipped { reason: reason.into() };
    assert_eq!(artifacts[0].status, skipped("gcc-3 not found; Debian package gcc-3"));
    assert_eq!(artifacts[0].version, "");
    object(&artifacts[1]);
    assert_eq!(artifacts[2].status, skipped("qemu-no-such-machine not found; Debian package qemu-user"));
}

#[test]
fn a_hanging_compiler_and_a_killed_one_are_failed_builds() {
    let mut lab = Lab::new(&[HALF], vec![unary("half")]);
    lab.timeout = Duration::from_secs(2);
    let script = |action: &str| format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0 && exit\n{action}\n");
    let builds = [
        build(&lab.script("hangcc", &script("sleep 600")), &[]),
        build(&lab.script("killcc", &script("kill -9 $$")), &[]),
        build(&lab.script("mutecc", &script("exit 7")), &[]),
        build(&lab.script("idlecc", &script("exit 0")), &[]),
        build("gcc", &[]),
    ];
    let start = Instant::now();
    let artifacts = lab.compile(&builds).artifacts;
    assert!(start.elapsed() < Duration::from_secs(60));
    assert!(failure(&artifacts[0]).ends_with("hangcc did not finish within 2 s and was stopped"));
    assert!(failure(&artifacts[1]).ends_with("killcc was killed by signal 9"));
    assert!(failure(&artifacts[2]).ends_with("mutecc ended with exit status 7 and no message"));
    assert!(
        failure(&artifacts[3]).contains("idlecc reported success but left no readable bitrift_probe"),
        "{}",
        failure(&artifacts[3])
    );
    object(&artifacts[4]);
}

#[test]
fn a_program_that_does_not_start_fails_the_probe() {
    // Linked against a loader that is not there.
    let lab = Lab::new(&[HALF], vec![unary("half")]);
    let builds = [build("gcc", &["-Wl,--dynamic-linker=/no/such/loader"])];
    assert!(failure(&lab.compile(&builds).artifacts[0]).contains("could not be started"));
}

#[test]
fn an_interrupt_ends_compiling_and_leaves_nothing_behind() {
    let lab = Lab::new(&[HALF], vec![unary("half")]);
    let hang = lab.script("hangcc", "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0 && exit\nsleep 600\n");
    let builds = [build("gcc", &[]), build(&hang, &[]), build(&hang, &["-O2"])];
    let start = Instant::now();
    let compiled = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            lab.cancel.store(true, Ordering::Relaxed);
        });
        lab.compile(&builds)
    });
    assert!(compiled.interrupted && start.elapsed() < Duration::from_secs(30));
    assert_eq!(compiled.artifacts[1].status, ArtifactStatus::Skipped { reason: "interrupted".into() });
    drop(Cache::open(&lab.cache_folder()).unwrap());
    assert_eq!(std::fs::read_dir(lab.path("cache/tmp")).unwrap().count(), 0);
}
