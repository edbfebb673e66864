//! `bitrift plan`

use std::process::Command;

use crate::common::{Desk, SMALL_FUNCTIONS};

#[test]
fn the_exact_command_lines_are_printed_and_none_is_run() {
    let desk = Desk::small();
    let fake = desk.script("fake-gcc", "echo \"$@\" >> log\necho 'gcc (Fake) 1.0, Free Software Foundation'");
    let matrix =
        desk.read("matrix.toml").replace("name = \"gcc\"", &format!("name = \"gcc\"\ncommand = \"{fake}\""));
    desk.write("fake.toml", &matrix);
    let before = desk.list(".");
    let said = desk.expect(0, &["plan", "fake.toml"]);
    said.out_has("gcc/O0/native  (baseline)").out_has("gcc/O2/native\n").out_has("2 builds, ");
    said.out_has(&format!("{fake} -O2 ")).out_has("small.c").out_has("-shared");
    // Which arguments a compiler takes is known from its version; nothing else may be asked.
    let asked: Vec<String> =
        ["log", "tmp/log"].iter().filter(|n| desk.exists(n)).map(|n| desk.read(n)).collect();
    assert!(asked.concat().lines().all(|line| line == "--version"), "{asked:?}");
    let after: Vec<String> = desk.list(".").into_iter().filter(|n| n != "log").collect();
    assert_eq!(after, before);
    assert!(said.err.is_empty());
}

#[test]
fn a_printed_line_can_be_pasted_into_a_shell() {
    let desk = Desk::new();
    let axes = crate::common::SMALL_AXES.replace("small.c", "it's $HOME.c");
    desk.write("it's $HOME.c", crate::common::SMALL_C);
    desk.write("matrix.toml", &format!("{axes}{SMALL_FUNCTIONS}"));
    let plan = desk.expect(0, &["plan"]).out;
    let line = plan.lines().find(|l| l.contains("-c ") && l.contains("HOME")).unwrap();
    let status = Command::new("sh").args(["-c", line]).current_dir(desk.path("tmp")).status().unwrap();
    assert!(status.success(), "{line}");
    assert!(desk.list("tmp").iter().any(|name| name.ends_with(".o")), "{line}");
}

#[test]
fn a_compiler_that_is_not_here_is_planned_all_the_same() {
    let desk = Desk::small();
    let matrix = desk.read("matrix.toml") + "\n[[compiler]]\nname = \"clang\"\ncommand = \"clang-99\"\n";
    desk.write("matrix.toml", &matrix);
    desk.expect(0, &["plan"]).out_has("clang/O2/native").out_has("clang-99 -O2").out_has("4 builds");
}

#[test]
fn paths_in_arguments_are_meant_from_the_matrix_file() {
    let desk = Desk::new();
    desk.write("lab/small.c", "#include \"half.h\"\ndouble f(double x) { return HALF(x) * SCALE; }\n");
    desk.write("lab/inc/half.h", "#define HALF(x) ((x) / 2)\n").write("lab/scale.h", "#define SCALE 8\n");
    desk.write("lab/more.args", "-DUNUSED\n");
    let axes = crate::common::SMALL_AXES
        .replace("\"-O0\"", "\"-O0\", \"-Iinc\", \"-include\", \"scale.h\", \"@more.args\"")
        .replace("\"-O2\"", "\"-O2\", \"-isystem\", \"inc\", \"-includescale.h\"");
    desk.write("lab/matrix.toml", &format!("{axes}\n[[function]]\nsignature = \"double f(double x)\"\n"));
    let folder = desk.path("lab").display().to_string();
    let said = desk.expect(0, &["plan", "lab/matrix.toml"]);
    said.out_has(&format!("-I{folder}/inc -include {folder}/scale.h @{folder}/more.args"));
    let said = desk.expect(0, &["eval", "f", "3", "--matrix", "lab/matrix.toml"]);
    assert_eq!(said.out.matches("0x1.8p+3").count(), 2, "{}", said.shown());
}
