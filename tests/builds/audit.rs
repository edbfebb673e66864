//! Which instructions the real compilers write, and in whose functions they are found.

use bitrift::fp::Scalar;
use bitrift::model::{Build, Callee, Function, InstructionCounts};

use crate::lab::{Lab, build, doubles, function, object, unary};

/// `a * b + c`, alone.
fn contracted() -> Lab {
    let source = "double contracted(double x, double y, double z) { return x * y + z; }";
    Lab::new(&[("a.c", source)], vec![ternary("contracted")])
}

fn ternary(name: &str) -> Function {
    doubles(name, 3, Callee::Signature(format!("double {name}(double x, double y, double z)")))
}

fn float(name: &str) -> Function {
    let callee = Callee::Signature(format!("float {name}(float x)"));
    function(name, ("float", Scalar::F32), &[("float", Scalar::F32)], callee)
}

/// A build for another target; this machine runs i686 itself.
fn foreign(command: &str, triple: &str, runner: &[&str], args: &[&str]) -> Build {
    let runner = runner.iter().map(ToString::to_string).collect();
    Build { triple: Some(triple.into()), runner, target: triple.into(), ..build(command, args) }
}

/// What a function of each build has.
fn counts(lab: &Lab, builds: &[Build], name: &str) -> Vec<InstructionCounts> {
    let compiled = lab.compile(builds);
    let count = |artifact| {
        let audit = &object(artifact).audit;
        assert_eq!(audit.unread, "", "{}", artifact.build);
        audit.functions.get(name).cloned().unwrap_or_default()
    };
    compiled.artifacts.iter().map(count).collect()
}

#[test]
fn a_contracted_expression_has_a_fused_multiply_add_and_a_plain_one_has_none() {
    let lab = contracted();
    for compiler in ["gcc", "clang-16"] {
        let fused = build(compiler, &["-O2", "-mfma", "-ffp-contract=fast"]);
        let found = counts(&lab, &[build(compiler, &["-O2"]), fused], "contracted");
        assert_eq!((found[0].is_empty(), found[1].fma), (true, 1), "{compiler}: {found:?}");
    }
    assert!(counts(&lab, &[build("tcc", &[])], "contracted")[0].is_empty());
}

#[test]
fn other_machines_contract_too_and_their_libraries_are_not_counted() {
    let source = "#include <math.h>\ndouble contracted(double x, double y, double z) { return x * y + z; }\n\
        double by_libm(double x) { return exp(x) + pow(x, 3.5); }";
    let lab = Lab::new(&[("a.c", source)], vec![ternary("contracted"), unary("by_libm")]);
    for (command, triple, runner) in [
        ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu", "qemu-aarch64"),
        ("clang-16", "aarch64-linux-gnu", "qemu-aarch64"),
        ("riscv64-linux-gnu-gcc", "riscv64-linux-gnu", "qemu-riscv64"),
        ("powerpc64le-linux-gnu-gcc", "powerpc64le-linux-gnu", "qemu-ppc64le"),
        ("s390x-linux-gnu-gcc", "s390x-linux-gnu", "qemu-s390x"),
    ] {
        let there = foreign(command, triple, &[runner], &["-O2"]);
        let off = foreign(command, triple, &[runner], &["-O2", "-ffp-contract=off"]);
        let compiled = lab.compile(&[there, off]);
        let audit = |n: usize| &object(&compiled.artifacts[n]).audit;
        assert_eq!(audit(0).functions.keys().collect::<Vec<_>>(), ["contracted"], "{triple}: {:?}", audit(0));
        assert_eq!((audit(0).functions["contracted"].fma, audit(0).unread.as_str()), (1, ""));
        assert!(audit(1).functions.is_empty() && audit(1).unread.is_empty(), "{triple}: {:?}", audit(1));
    }
    // Arm's plain vmla rounds twice; with VFPv4 there is a fused one.
    let arm =
        |cpu: &str| foreign("arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf", &["qemu-arm"], &["-O2", cpu]);
    let found = counts(&lab, &[arm("-mfpu=vfpv3-d16"), arm("-mfpu=vfpv4")], "contracted");
    assert_eq!(found.iter().map(|c| c.fma).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn approximate_reciprocals_are_counted_and_named_where_the_maker_decides_their_bits() {
    let source = "#include <math.h>\nfloat divided(float x) { return 3 / x; }\n\
        float rooted(float x) { return 1 / sqrtf(x); }";
    let lab = Lab::new(&[("a.c", source)], vec![float("divided"), float("rooted")]);
    let recip = [build("gcc", &["-Ofast", "-mrecip"]), build("gcc", &["-O2"])];
    let divided = counts(&lab, &recip, "divided");
    assert_eq!((divided[0].approximate, divided[1].is_empty()), (1, true), "{divided:?}");
    assert_eq!(divided[0].by_maker.iter().collect::<Vec<_>>(), ["rcpss"]);
    let rooted = &counts(&lab, &recip, "rooted")[0];
    assert_eq!((rooted.approximate, rooted.by_maker.contains("rsqrtss")), (1, true), "{rooted:?}");
    // Arm defines its estimates to the last bit.
    let args = ["-Ofast", "-mlow-precision-div", "-mlow-precision-recip-sqrt"];
    let arm = foreign("aarch64-linux-gnu-gcc", "aarch64-linux-gnu", &["qemu-aarch64"], &args);
    let rooted = &counts(&lab, &[arm], "rooted")[0];
    assert!(rooted.approximate > 0 && rooted.by_maker.is_empty(), "{rooted:?}");
}

#[test]
fn arithmetic_of_the_x87_is_counted_and_moves_through_it_are_not() {
    let source = "#include <math.h>\ndouble product(double x, double y, double z) { return x * y / z; }\n\
        double sine(double x) { return sin(x); }\nlong double wide(double x) { return x + 0.1L; }";
    let mut functions = vec![ternary("product"), unary("sine")];
    functions.push(doubles(
        "wide",
        1,
        Callee::Body("extern long double wide(double); return wide(x);".into()),
    ));
    let lab = Lab::new(&[("a.c", source)], functions);
    let i686 = |args: &[&str]| foreign("i686-linux-gnu-gcc", "i686-linux-gnu", &[], args);
    let builds = [
        i686(&["-O2", "-mfpmath=387"]),
        i686(&["-O2", "-msse2", "-mfpmath=sse"]),
        i686(&["-O2", "-mfpmath=387", "-ffast-math"]),
        build("gcc", &["-O2"]),
        build("tcc", &[]),
    ];
    let x87 = |name: &str| counts(&lab, &builds, name).iter().map(|c| c.x87).collect::<Vec<_>>();
    // With SSE the result still goes back through a register of the x87.
    assert_eq!(x87("product"), [2, 0, 2, 0, 0]);
    assert_eq!(x87("wide"), [1, 1, 1, 1, 1]);
    assert_eq!(x87("sine"), [0, 0, 1, 0, 0]);
    let sine = &counts(&lab, &builds[2..3], "sine")[0];
    assert_eq!(sine.by_maker.iter().collect::<Vec<_>>(), ["fsin"]);
}

const VECTORS: &str = "#include <math.h>\n\
    double sines(double x) {\n\
        double all[64], sum = 0;\n\
        for (int i = 0; i < 64; i++) all[i] = sin(x + i);\n\
        for (int i = 0; i < 64; i++) sum += all[i];\n\
        return sum;\n\
    }\n";

#[test]
fn calls_of_vector_mathematics_are_counted_however_they_are_linked() {
    let lab = Lab::new(&[("a.c", VECTORS)], vec![unary("sines")]);
    let fast = ["-O3", "-ffast-math"];
    let builds = [
        build("gcc", &fast),
        build("gcc", &["-O3", "-ffast-math", "-fno-plt"]),
        build("gcc", &["-O3", "-ffast-math", "-flto"]),
        build("gcc", &["-O3"]),
    ];
    let found: Vec<u64> = counts(&lab, &builds, "sines").iter().map(|c| c.vector_math).collect();
    assert!(found[..3].iter().all(|n| *n > 0) && found[3] == 0, "{found:?}");
}

#[test]
fn the_users_own_vector_functions_are_followed_like_any_other() {
    let source = "#pragma omp declare simd notinbranch\n\
        __attribute__((noinline)) double step(double x) { return x * x + 1; }\n\
        double steps(double x) {\n\
            double sum = 0;\n\
            for (int i = 0; i < 64; i++) sum += step(x + i);\n\
            return sum;\n\
        }\n";
    let lab = Lab::new(&[("a.c", source)], vec![unary("steps")]);
    let args = ["-O3", "-ffast-math", "-fopenmp-simd", "-mfma"];
    let found = &counts(&lab, &[build("gcc", &args)], "steps")[0];
    assert_eq!((found.vector_math, found.fma > 0), (0, true), "{found:?}");
}

#[test]
fn calls_are_followed_into_other_files_and_what_is_not_called_does_not_count() {
    let sources = [
        (
            "a.c",
            "double far(double); double near(double x) { return far(x) + 1; } double alone(double x) { return x + 1; }",
        ),
        (
            "b.c",
            "static __attribute__((noinline)) double inner(double x) { return x * x + 3; }\n\
             double unused(double x) { return x * x + inner(x) * x + 7; }\n\
             double far(double x) { return inner(x) / 3; }\n",
        ),
    ];
    let lab = Lab::new(&sources, vec![unary("near"), unary("alone"), unary("unused")]);
    let mut hidden = build("gcc", &["-O2", "-mfma", "-fvisibility=hidden", "-Wl,-s"]);
    hidden.id.0.push_str("-stripped");
    let builds = [
        build("gcc", &["-O2", "-mfma"]),
        build("clang-16", &["-O2", "-mfma", "-ffp-contract=fast"]),
        build("gcc", &["-O2", "-mfma", "-flto"]),
        foreign("aarch64-linux-gnu-gcc", "aarch64-linux-gnu", &["qemu-aarch64"], &["-O2"]),
        foreign("powerpc64le-linux-gnu-gcc", "powerpc64le-linux-gnu", &["qemu-ppc64le"], &["-O2"]),
    ];
    for (build, near) in builds.iter().zip(counts(&lab, &builds, "near")) {
        assert_eq!(near.fma, 1, "{} {:?}", build.id, build.args);
    }
    assert!(counts(&lab, &builds, "alone").iter().all(InstructionCounts::is_empty));
    for (build, unused) in builds.iter().zip(counts(&lab, &builds, "unused")) {
        assert_eq!(unused.fma, 2, "{} {:?}", build.id, build.args);
    }
    // Without names of local functions what lies between two others belongs to nobody else.
    assert!(counts(&lab, &[hidden], "alone")[0].is_empty());
}

#[test]
fn a_function_whose_address_is_taken_may_be_called() {
    let source = "#include <stdlib.h>\n\
        static double slope(double x) { return x * x + 1; }\n\
        __attribute__((noipa)) double apply(double (*f)(double), double x) { return f(x); }\n\
        double through(double x) { return apply(slope, x); }\n";
    let lab = Lab::new(&[("a.c", source)], vec![unary("through")]);
    assert_eq!(counts(&lab, &[build("gcc", &["-O2", "-mfma"])], "through")[0].fma, 1);
}

#[test]
fn what_is_linked_from_intermediate_code_with_its_libraries_says_why_it_is_not_counted() {
    let lab = contracted();
    let args = ["-O2", "-flto"];
    let there = foreign("aarch64-linux-gnu-gcc", "aarch64-linux-gnu", &["qemu-aarch64"], &args);
    let compiled = lab.compile(&[there]);
    let audit = &object(&compiled.artifacts[0]).audit;
    assert!(audit.functions.is_empty() && audit.unread.contains("link time"), "{audit:?}");
}
