//! What is called is what was declared: a wrong type, a function that nobody can call and a domain that means
//! something else are told, and are no green run.

use crate::common::{Desk, function};

const C: &str = "\
#include \"lib.h\"
double half(double x) { return x * 0.5; }
#define NAME(name) lib_##name
double NAME(made)(double x) { return x + 1; }
real typed(real x) { return x * 3; }
static double inner(double x) { return x * x + 3; }
float single(float x) { return inner(x); }
";

const H: &str = "\
#ifndef LIB_H
#define LIB_H
typedef double real;
double half(double x);
double lib_made(double x);
float single(float x);
#endif
";

const AXES: &str = "[lab]\nname = \"declared\"\nbaseline = \"gcc/O0\"\n[search]\nbudget = 2000\n
[sources]\nfiles = [\"lib.c\"]\ninclude = [\".\"]\n[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]
[[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[flags]]\nname = \"O3\"\nargs = [\"-O3\"]\n";

fn desk(functions: &str) -> Desk {
    let desk = Desk::new();
    desk.write("lib.c", C).write("lib.h", H).write("matrix.toml", &format!("{AXES}{functions}"));
    desk
}

/// The line of the matrix that has a text.
fn line(desk: &Desk, text: &str) -> usize {
    let matrix = desk.read("matrix.toml");
    matrix.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text}")) + 1
}

#[test]
fn a_signature_that_is_not_the_definitions_is_refused_with_both_places() {
    for headers in ["", "headers = [\"lib.h\"]\n"] {
        let desk = desk(&format!("[[function]]\nsignature = \"float half(float x)\"\n{headers}"));
        let place = format!("matrix.toml:{}", line(&desk, "float half"));
        for command in ["plan", "doctor", "run"] {
            let said = desk.expect(1, &[command]);
            said.err_has(&place).err_has("lib.c:2").err_has("float half(float x)");
            assert_eq!(said.err.matches("error:").count(), 1, "{}", said.shown());
        }
    }
}

#[test]
fn a_signature_that_only_a_compiler_can_judge_is_refused_with_both_places() {
    // The head of one is made by a macro, so its header has to tell; the types of the other are a typedef's.
    for (signature, headers, place) in [
        ("float lib_made(float x)", "headers = [\"lib.h\"]\n", "lib.h:5"),
        ("float typed(float x)", "", "lib.c:5"),
    ] {
        let desk = desk(&format!("[[function]]\nsignature = \"{signature}\"\n{headers}"));
        let said = desk.expect(1, &["run", "-q"]);
        said.err_has(&format!("matrix.toml:{}", line(&desk, signature))).err_has(place);
        desk.expect(1, &["doctor"]).err_has(place);
    }
}

#[test]
fn spellings_of_one_type_are_no_contradiction() {
    let desk = desk(
        "[[function]]\nsignature = \"double sized(unsigned long n)\"\nheaders = [\"sized.h\"]\n
[[function]]\nsignature = \"long long wide(long long n, const double v[2])\"\nheaders = [\"sized.h\"]
domain = { v = \"[0, 1]\" }\n[[function]]\nsignature = \"double typed(double x)\"\n",
    );
    desk.write("sized.h", "#include <stddef.h>\ndouble sized(size_t n);\nlong wide(long n, double *v);\n");
    desk.write(
        "lib.c",
        "#include \"sized.h\"\n#include \"lib.h\"\ndouble sized(size_t n) { return n; }\n\
         long wide(long n, double *v) { return n + (v[0] > 0.5); }\nreal typed(real x) { return x; }\n",
    );
    let said = desk.expect(0, &["run", "--out", "out"]);
    assert!(!said.err.contains("not checked"), "{}", said.shown());
    assert_eq!(function(&desk.json("out/run.json"), "wide")["status"], "searched");
}

#[test]
fn the_result_of_a_call_has_the_type_that_the_matrix_says() {
    let call = "[[function]]\nname = \"f\"\nparams = [\"float x\"]\ncall = \"single(x)\"\n";
    let with_header = format!("{call}headers = [\"lib.h\"]\n");
    let desk_of = desk(&with_header);
    let said = desk_of.expect(1, &["run", "-q"]);
    said.err_has(&format!("matrix.toml:{}", line(&desk_of, "single(x)")))
        .err_has("lib.c:7")
        .err_has("result");
    desk(&format!("{with_header}result = \"float\"\n")).expect(0, &["run", "-q"]);
    // Without a header C takes the result for an int, which is noise.
    desk(call).expect(1, &["run", "-q"]).err_has("nothing declares `single`").err_has("headers");
    let integer = "[[function]]\nname = \"f\"\nparams = [\"double x\"]\ncall = \"x > 2\"\n";
    desk(integer).expect(0, &["run", "-q"]);
}

#[test]
fn what_cannot_be_checked_is_said_once_and_not_for_each_build() {
    let desk = desk("[[function]]\nsignature = \"double lib_made(double x)\"\n");
    for command in ["plan", "doctor", "run"] {
        let said = desk.expect(0, &[command]);
        let all = format!("{}{}", said.out, said.err);
        assert_eq!(all.matches("not checked").count(), 1, "{}", said.shown());
        assert!(all.contains("lib_made"), "{}", said.shown());
    }
}

#[test]
fn a_function_that_is_static_or_not_there_is_told_once_with_its_place_and_what_to_do() {
    let desk = desk(
        "[[function]]\nsignature = \"double half(double x)\"\n[[function]]\nsignature = \"double inner(double x)\"
[[function]]\nsignature = \"double haf(double x)\"\n",
    );
    let said = desk.expect(0, &["run", "--out", "out"]);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.matches("is static in").count(), 1, "{}", said.shown());
    assert!(!words.contains("undefined reference"), "{}", said.shown());
    let run = desk.json("out/run.json");
    let why = |name: &str| function(&run, name)["missing"]["gcc/O2/native"].as_str().unwrap().to_string();
    let place = |name: &str| format!("matrix.toml:{}", line(&desk, &format!("double {name}(")));
    for part in ["static in lib.c:6", "within = \"lib.c\"", &place("inner")] {
        assert!(why("inner").contains(part), "{}", why("inner"));
    }
    for part in ["did you mean `half` (lib.c:2)", &place("haf"), "`libs`"] {
        assert!(why("haf").contains(part), "{}", why("haf"));
    }
    desk.expect(0, &["plan"]).out_has("static in lib.c:6").out_has("within = \"lib.c\"");
    let said = desk.expect(3, &["doctor"]);
    assert_eq!(said.out.matches("is static in").count(), 1, "{}", said.shown());
}

#[test]
fn an_array_is_no_domain_because_it_could_mean_an_interval_or_two_values() {
    let function = "[[function]]\nsignature = \"double half(double x)\"\n";
    let said = desk(&format!("{function}domain = {{ x = [0, 1] }}\n")).expect(1, &["run", "-q"]);
    said.err_has("\"[0, 1]\"").err_has("\"{0, 1}\"");
    desk(&format!("{function}domain = {{ x = 1 }}\n")).expect(0, &["run", "-q"]);
}
