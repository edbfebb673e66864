//! `bitrift doctor`

use crate::common::{Desk, SMALL_C, SMALL_FUNCTIONS};

/// A matrix with these compilers and flag sets around the small lab.
fn lab(desk: &Desk, compilers: &str, flags: &str) {
    let head = "[sources]\nfiles = [\"small.c\"]\n";
    desk.write("small.c", SMALL_C)
        .write("matrix.toml", &format!("{head}{compilers}{flags}{SMALL_FUNCTIONS}"));
}

const O0: &str = "[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n";

#[test]
fn working_compilers_are_named_once_with_path_and_version() {
    let desk = Desk::new();
    lab(
        &desk,
        "[[compiler]]\nname = \"gcc\"\n[[compiler]]\nname = \"clang\"\ncommand = \"clang-16\"\n[[compiler]]\nname = \"tcc\"\n",
        &format!("{O0}[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n"),
    );
    let said = desk.expect(0, &["doctor"]);
    for word in ["/gcc\n", "/clang-16\n", "/tcc\n", "clang version 16", "tcc version"] {
        assert_eq!(said.out.matches(word).count(), 1, "{word}: {}", said.shown());
    }
    said.out_has("6 of 6 builds can be made and run on this machine").out_lacks("apt-get");
    assert_eq!(said.out.matches(" ok\n").count(), 6, "{}", said.shown());
}

#[test]
fn a_missing_compiler_is_named_with_its_package_and_an_optional_one_is_skipped() {
    let desk = Desk::new();
    let compilers = "[[compiler]]\nname = \"gcc\"\n
        [[compiler]]\nname = \"clang\"\ncommand = \"clang-99\"\noptional = true\n
        [[compiler]]\nname = \"old\"\ncommand = \"gcc-1\"\n
        [[compiler]]\nname = \"acme\"\ncommand = \"acme-cc\"\n";
    lab(&desk, compilers, O0);
    let said = desk.expect(3, &["doctor"]);
    said.out_has("clang/O0/native  skipped").out_has("old/O0/native    missing");
    said.out_has("acme-cc   no; it is not in PATH").out_has("1 of 4 builds can");
    said.out_has("to have what is missing: apt-get install clang-99 gcc-1\n");
}

#[test]
fn a_broken_compiler_or_flag_is_told_in_the_tools_own_words() {
    let desk = Desk::new();
    let broken = desk.script("sick-cc", "echo 'sick-cc: licence expired' >&2; exit 1");
    let silent = desk.script("idle-cc", "exit 0");
    let compilers = format!(
        "[[compiler]]\nname = \"gcc\"\n[[compiler]]\nname = \"sick\"\ncommand = \"{broken}\"\n
        [[compiler]]\nname = \"idle\"\ncommand = \"{silent}\"\n"
    );
    lab(&desk, &compilers, &format!("{O0}[[flags]]\nname = \"bad\"\nargs = [\"-fno-such-thing\"]\n"));
    let said = desk.expect(3, &["doctor"]);
    said.out_has("gcc/O0/native    ok").out_has("gcc/bad/native   broken").out_has("-fno-such-thing");
    said.out_has("sick/O0/native   broken")
        .out_has("licence expired")
        .out_has("reported success but left no readable");
    said.out_has("1 of 6 builds can").out_lacks("\u{1b}");
}

#[test]
fn sources_that_do_not_compile_are_no_matter_of_the_doctor() {
    let desk = Desk::small();
    desk.write("small.c", "this is not C");
    // The tools are well, and the exit code says that the functions are not.
    desk.expect(3, &["doctor"]).out_has("2 of 2 builds can").err_has("2 trials of functions failed");
}
