//! Built objects load, answer as the C says, and leave the process as it was.

use bitrift::fp::Scalar;
use bitrift::model::{Callee, ControlWords, FpEnvPolicy};

use crate::lab::{Lab, build, doubles, every_compiler, function, load, object, unary};

fn mxcsr() -> u32 {
    let mut word = 0_u32;
    // SAFETY: stores the register into a local.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) };
    word & !0x3f
}

#[test]
fn every_compiler_builds_objects_that_load_and_run() {
    let source =
        "#include <math.h>\n#include \"three.h\"\ndouble tripled_sine(double x) { return THREE * sin(x); }\n";
    let mut call = doubles("sum_of_roots", 2, Callee::Call("sqrt(x) + // a comment\n sqrt(y)".into()));
    call.headers = vec!["math.h".into()];
    let body = doubles("bigger", 2, Callee::Body("if (x > y) return x;\nreturn y;".into()));
    let constant = doubles("nine", 0, Callee::Call("9".into()));
    let lab = Lab::new(
        &[("a.c", source), ("include/three.h", "#define THREE 3.0\n")],
        vec![unary("tripled_sine"), call, body, constant],
    );
    for artifact in &lab.compile(&every_compiler()).artifacts {
        let loaded = load(artifact);
        assert_eq!(loaded.call_f64(0, &[0.5]), 3.0 * 0.5_f64.sin(), "{}", artifact.build);
        assert_eq!(loaded.call_f64(1, &[4.0, 9.0]), 5.0);
        assert_eq!(loaded.call_f64(2, &[4.0, 9.0]), 9.0);
        assert_eq!(loaded.call_f64(3, &[]), 9.0);
        assert!(!artifact.version.is_empty());
    }
}

#[test]
fn every_type_travels_as_64_bits() {
    let types = [
        ("double", Scalar::F64, (-0.1_f64).to_bits()),
        ("float", Scalar::F32, u64::from((-0.1_f32).to_bits())),
        ("signed char", Scalar::I8, (-5_i64).cast_unsigned()),
        ("unsigned char", Scalar::U8, 250),
        ("short", Scalar::I16, (-500_i64).cast_unsigned()),
        ("unsigned short", Scalar::U16, 65_000),
        ("int", Scalar::I32, (-70_000_i64).cast_unsigned()),
        ("unsigned", Scalar::U32, 4_000_000_000),
        ("long", Scalar::I64, i64::MIN.cast_unsigned()),
        ("size_t", Scalar::U64, u64::MAX),
        ("uint16_t", Scalar::U16, 65_535),
        ("bool", Scalar::U8, 1),
        ("const double", Scalar::F64, f64::NAN.to_bits()),
    ];
    let functions = types.iter().enumerate().map(|(i, (c_type, ty, _))| {
        let result = c_type.trim_start_matches("const ");
        function(&format!("echo{i}"), (result, *ty), &[(c_type, *ty)], Callee::Call("x".into()))
    });
    let lab = Lab::new(&[], functions.collect());
    let mut builds = every_compiler();
    builds.push(build("gcc", &["-O0"]));
    builds.push(build("clang-16", &["-O3", "-ffast-math", "-Wall", "-Wextra", "-Werror"]));
    let strict =
        ["-O3", "-std=c89", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wmissing-prototypes"];
    builds.push(build("gcc", &[&strict[..], &["-Werror", "-fvisibility=hidden"]].concat()));
    for artifact in &lab.compile(&builds).artifacts {
        let loaded = load(artifact);
        for (i, (c_type, _, bits)) in types.iter().enumerate() {
            assert_eq!(loaded.call(i, &[*bits]), *bits, "{} {c_type}", artifact.build);
        }
    }
}

#[test]
fn fast_math_objects_leave_the_loading_process_alone_and_the_probe_sees_what_programs_get() {
    let lab = Lab::new(&[("a.c", "double half(double x) { return x * 0.5; }")], vec![unary("half")]);
    let mut builds = Vec::new();
    for command in ["gcc", "clang-16"] {
        for args in
            [&["-O2"][..], &["-O3", "-ffast-math"], &["-Ofast"], &["-O2", "-funsafe-math-optimizations"]]
        {
            builds.push(build(command, args));
        }
    }
    builds.push(build("tcc", &[]));
    let compiled = lab.compile(&builds);
    assert_eq!(mxcsr(), 0x1f80);
    for (build, artifact) in builds.iter().zip(&compiled.artifacts) {
        let fast = build.args.len() > 1 || build.args.iter().any(|a| a == "-Ofast");
        let expected = if fast { 0x9fc0 } else { 0x1f80 };
        let control = object(artifact).control;
        assert_eq!(control, ControlWords { mxcsr: expected, x87: 0x37f }, "{}", build.id);
        let loaded = load(artifact);
        assert_eq!(mxcsr(), 0x1f80, "{} changed the registers", build.id);
        assert_eq!(loaded.call_f64(0, &[2.0]), 1.0);
    }
}

#[test]
fn a_given_environment_is_taken_as_it_is() {
    let lab = Lab::new(&[("a.c", "double half(double x) { return x / 2; }")], vec![unary("half")]);
    let mut builds = vec![build("gcc", &["-Ofast"]), build("gcc", &["-O1"])];
    builds[0].fpenv = FpEnvPolicy::Ieee;
    builds[1].fpenv = FpEnvPolicy::Ftz;
    let compiled = lab.compile(&builds);
    assert_eq!(object(&compiled.artifacts[0]).control, ControlWords::IEEE);
    assert_eq!(object(&compiled.artifacts[1]).control, ControlWords::FTZ);
    assert!(!lab.steps_run().contains(&"probe".to_string()));
}

#[test]
fn a_function_named_like_one_of_libm_is_the_sources_own() {
    let own = "double remainder(double x, double y) { return x + 100 * y; }\n\
               double sqrt(double x) { return -x; }\n\
               double through(double x) { return remainder(x, 1); }\n";
    let signature = Callee::Signature("double remainder(double x, double y)".into());
    let functions = vec![doubles("remainder", 2, signature), unary("sqrt"), unary("through")];
    let lab = Lab::new(&[("own.c", own)], functions);
    let mut builds = every_compiler();
    for command in ["gcc", "clang-16"] {
        builds.push(build(command, &["-O0"]));
        builds.push(build(command, &["-O3", "-ffast-math", "-fno-builtin"]));
    }
    // Without -fno-builtin only the shim's call is ours to decide.
    builds.push(build("gcc", &["-O3", "-ffast-math"]));
    builds.push(build("clang-16", &["-O3", "-ffast-math"]));
    for (build, artifact) in builds.iter().zip(&lab.compile(&builds).artifacts) {
        let loaded = load(artifact);
        assert_eq!(loaded.call_f64(0, &[5.0, 3.0]), 305.0, "{}", build.id);
        assert_eq!(loaded.call_f64(1, &[4.0]), -4.0, "{}", build.id);
        if build.args.len() != 2 {
            assert_eq!(loaded.call_f64(2, &[7.0]), 107.0, "{}", build.id);
        }
    }
}

#[test]
fn link_time_optimisation_works() {
    let lab = Lab::new(
        &[
            ("a.c", "double inner(double x);\ndouble outer(double x) { return inner(x) + 1; }"),
            ("b.c", "double inner(double x) { return 2 * x; }"),
        ],
        vec![unary("outer")],
    );
    let builds = [build("gcc", &["-O2", "-flto"]), build("gcc", &["-Ofast", "-flto=auto"])];
    for artifact in &lab.compile(&builds).artifacts {
        let loaded = load(artifact);
        assert_eq!(mxcsr(), 0x1f80);
        assert_eq!(loaded.call_f64(0, &[3.0]), 7.0);
    }
    assert_eq!(lab.compile(&builds).compiled, 0);
}

#[test]
fn odd_source_names_and_equal_base_names_are_no_trouble() {
    let names = ["with space.c", "größe.c", "-O9.c", "x/same.c", "y/same.c", "@at.c", "quote'$(x).c"];
    let sources: Vec<(String, String)> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (format!("src/{name}"), format!("double f{i}(double x) {{ return x + {i}; }}")))
        .collect();
    let files: Vec<(&str, &str)> = sources.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let lab = Lab::new(&files, (0..names.len()).map(|i| unary(&format!("f{i}"))).collect());
    let builds = every_compiler();
    for artifact in &lab.compile(&builds).artifacts {
        let loaded = load(artifact);
        let answers: Vec<f64> = (0..names.len()).map(|i| loaded.call_f64(i, &[10.0])).collect();
        assert_eq!(answers, [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0], "{}", artifact.build);
    }
    assert_eq!(lab.compile(&builds).compiled, 0);
}

#[test]
fn setup_runs_when_it_is_called() {
    let source = "double level = 1;\ndouble leveled(double x) { return level * x; }";
    let mut lab =
        Lab::new(&[("a.c", source), ("include/level.h", "extern double level;\n")], vec![unary("leveled")]);
    lab.experiment.implementations[0].setup = Some("level = 5;".into());
    lab.experiment.implementations[0].setup_headers = vec!["level.h".into()];
    for artifact in &lab.compile(&every_compiler()).artifacts {
        let loaded = load(artifact);
        assert_eq!(loaded.call_f64(0, &[2.0]), 2.0);
        loaded.set_up();
        assert_eq!(loaded.call_f64(0, &[2.0]), 10.0, "{}", artifact.build);
    }
}

#[test]
fn the_objects_of_a_build_can_be_reached() {
    let lab = Lab::new(
        &[("a.c", "double one(double x) { return x; }"), ("b.c", "double two(double x) { return x + x; }")],
        vec![unary("one"), unary("two")],
    );
    let compiled = lab.compile(&[build("gcc", &["-O2"])]);
    let objects = &compiled.objects[0];
    let sources: Vec<_> = objects.sources.iter().map(|(source, _)| source.clone()).collect();
    assert_eq!(sources, [lab.path("a.c"), lab.path("b.c")]);
    let paths = objects.sources.iter().map(|(_, o)| o).chain(objects.shims.iter().flatten());
    for path in paths {
        assert!(std::fs::read(path).unwrap().starts_with(b"\x7fELF"));
    }
    assert_eq!((objects.shims.len(), &objects.setup), (2, &None));
}
