//! A gate and real upgrades: another compiler, another C library, in the place of the old ones. Red where results moved, green
//! where they did not.

use crate::common::Desk;

/// The sum is vectorised by gcc 12 at -O2 and not by gcc 11, so that its terms are added in another order. The line is
/// the same to both.
const SOURCE: &str = "double sum(double x)\n{\n    double a[16], s = 0;\n    for (int i = 0; i < 16; i++)\n        a[i] = x / (i + 1);\n\
    \x20   for (int i = 0; i < 16; i++)\n        s += a[i] * a[i];\n    return s;\n}\n\ndouble line(double x)\n{\n    return x * 3.0 + 1.0;\n}\n";

fn compiler(command: &str, function: &str) -> String {
    format!(
        "[lab]\nname = \"upgrade\"\nbaseline = \"cc/fast/native\"\n[sources]\nfiles = [\"code.c\"]\n[search]\nbudget = 20000\n\
         [[compiler]]\nname = \"cc\"\ncommand = \"{command}\"\n[[flags]]\nname = \"fast\"\nargs = [\"-O2\", \"-ffast-math\"]\n\
         [[flags]]\nname = \"again\"\nargs = [\"-O2\", \"-ffast-math\", \"-g\"]\n\
         [[function]]\nsignature = \"double {function}(double x)\"\ndomain = {{ x = \"[1, 16]\" }}\n"
    )
}

fn accepted(matrix: &str) -> Desk {
    let desk = Desk::new();
    desk.write("code.c", SOURCE).write("matrix.toml", matrix);
    desk.expect(0, &["run", "--out", "first", "--quiet"]);
    desk.expect(0, &["accept", "first"]);
    desk.expect(0, &["gate", "--quiet"]);
    desk
}

#[test]
fn a_new_compiler_in_the_place_of_the_old_one_is_red_where_it_moved_results() {
    let desk = accepted(&compiler("gcc-11", "sum"));
    desk.write("matrix.toml", &compiler("gcc-12", "sum"));
    // Both builds moved alike: no difference between them shows it.
    let red = desk.expect(2, &["gate", "--out", "second", "--quiet"]);
    red.out_has("baseline-moved").out_has(" -> ").out_has("version was");
    let run = desk.json("second/run.json");
    assert_eq!(run["functions"][0]["comparisons"][0]["max_bits"], 0.0);
}

#[test]
fn a_new_compiler_in_the_place_of_the_old_one_is_green_where_it_moved_nothing() {
    let desk = accepted(&compiler("gcc-11", "line"));
    desk.write("matrix.toml", &compiler("gcc-12", "line"));
    desk.expect(0, &["gate", "--quiet"]).out_has("green").out_has("version was");
}

fn library(libm: &str, function: &str) -> String {
    format!(
        "[lab]\nname = \"upgrade\"\nbaseline = \"gcc/O0/native/lib\"\n[sources]\nfiles = [\"code.c\"]\n[search]\nbudget = 8000\n\
         [[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n[[flags]]\nname = \"O1\"\nargs = [\"-O1\"]\n\
         [[environment]]\nname = \"lib\"\nlibm = \"{libm}\"\n\
         [[function]]\nname = \"f\"\nparams = [\"double x\"]\ncall = \"{function}(x)\"\nheaders = [\"math.h\"]\ndomain = {{ x = \"[1.5, 20]\" }}\n"
    )
}

#[test]
fn another_c_library_in_the_place_of_the_old_one_is_red_where_it_moved_results() {
    let glibc = "/usr/lib/x86_64-linux-gnu/libm.so.6";
    let desk = accepted(&library(glibc, "tgamma"));
    desk.write("matrix.toml", &library("musl", "tgamma"));
    desk.expect(2, &["gate", "--quiet"]).out_has("baseline-moved").out_has(" -> ");
    let desk = accepted(&library(glibc, "floor"));
    desk.write("matrix.toml", &library("musl", "floor"));
    desk.expect(0, &["gate", "--quiet"]).out_has("green");
}
