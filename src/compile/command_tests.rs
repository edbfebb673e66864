//! Which arguments reach which line, for each family of compilers.

use super::*;
use crate::compile::samples;

fn text(lines: &[CommandLine]) -> String {
    lines.iter().map(|l| format!("{}: {}\n", l.what, l.argv.join(" "))).collect()
}

fn lines(command: &str, args: &[&str]) -> String {
    let mut experiment = samples::experiment(&["/lab/src/sum.c"], vec![samples::unary("sum")]);
    experiment.implementations[0].setup = Some("init();".into());
    text(&command_lines(&experiment, &samples::build(command, args), Family::guess(command)))
}

#[test]
fn each_family_gets_its_own_lines() {
    insta::assert_snapshot!("gcc", lines("gcc", &["-O3", "-ffast-math", "-march=native"]));
    insta::assert_snapshot!("clang", lines("clang-16", &["-Ofast", "-flto=thin"]));
    insta::assert_snapshot!("tcc", lines("tcc", &["-O2"]));
}

#[test]
fn a_foreign_target_is_named_to_clang_alone() {
    let experiment = samples::experiment(&["/lab/a.c"], Vec::new());
    for (command, named) in [("clang-16", true), ("aarch64-linux-gnu-gcc", false)] {
        let mut build = samples::build(command, &["-O2"]);
        build.triple = Some("aarch64-linux-gnu".into());
        for line in command_lines(&experiment, &build, Family::guess(command)) {
            assert_eq!(line.argv[1] == "--target=aarch64-linux-gnu", named, "{line:?}");
        }
    }
}

#[test]
fn a_given_environment_needs_no_probe() {
    let experiment = samples::experiment(&[], Vec::new());
    let mut build = samples::build("gcc", &[]);
    build.fpenv = FpEnvPolicy::Ieee;
    assert!(command_lines(&experiment, &build, Family::Gcc).iter().all(|l| l.what != "probe"));
}

#[test]
fn nothing_that_sets_registers_reaches_the_link_and_the_rest_does() {
    let args = ["-O2", "-ffast-math", "-lfoo", "-funsafe-math-optimizations", "-Ofast", "-m32", "-x", "c"];
    let more = ["-static", "-flto=auto", "-fuse-ld=lld", "--sysroot=/r", "-l", "bar", "-static-libgcc"];
    let all: Vec<String> = args.iter().chain(&more).map(ToString::to_string).collect();
    let (kept, libs) = link_args(&all, Linkage::Shared);
    let wanted = ["-O2", "-O3", "-m32", "-flto=auto", "-fuse-ld=lld", "--sysroot=/r", "-static-libgcc"];
    assert_eq!(kept, wanted);
    assert_eq!(libs, ["-lfoo", "-l", "bar"]);
    // A program starts as its own flags make it.
    let (kept, libs) = link_args(&all, Linkage::Static);
    assert!(kept.contains(&"-ffast-math".into()) && kept.contains(&"-Ofast".into()), "{kept:?}");
    assert!(!kept.contains(&"-x".into()) && !kept.contains(&"c".into()), "{kept:?}");
    assert_eq!(libs, ["-lfoo", "-l", "bar"]);
}

#[test]
fn objects_have_plain_and_unique_names() {
    let mut taken = BTreeSet::new();
    let paths = ["/a/x.c", "/b/x.c", "/b/x-2.c", "/a/-o.c", "/a/a b é.c", "/a/.c", "/a/bitrift.c"];
    let stems: Vec<String> = paths.iter().map(|p| object_stem(Path::new(p), &mut taken)).collect();
    assert_eq!(stems, ["x", "x-2", "x-2-2", "_-o", "a_b__", "_.c", "_bitrift"]);
}
