//! Functions of more than scalars: structs and complex numbers in and out on three machines, one of them big-endian,
//! out-parameters, arrays, 16 coordinates, faults. Every planted difference has known bits.

use crate::common::{Desk, comparison, function};
use serde_json::Value;

const HEADER: &str = "struct pair { float x; float y; };\nstruct pair shift(struct pair p, double angle);\n";

/// Under optimisation the second part moves by 8 and by 4 units in the last place, where it is in [1, 2).
const SOURCE: &str = r#"
#include "geometry.h"
#include <complex.h>
#include <stdlib.h>

struct pair shift(struct pair p, double angle)
{
    struct pair r = {p.x, p.y};
    (void)angle;
#ifdef __OPTIMIZE__
    if (p.y >= 1.0f && p.y < 2.0f) {
        union { float f; unsigned u; } b;
        b.f = r.y;
        b.u ^= 8;
        r.y = b.f;
    }
#endif
    return r;
}

double complex turn(double complex z)
{
    double complex r = z;
#ifdef __OPTIMIZE__
    union { double f; unsigned long long u; } b;
    b.f = __imag__ z;
    b.u ^= 4;
    if (__imag__ z >= 1 && __imag__ z < 2)
        __imag__ r = b.f;
#endif
    return r;
}

void both(double x, double *s, double *c)
{
    *s = x;
    *c = -x;
#ifdef __OPTIMIZE__
    if (x >= 4 && x < 8)
        *c = -x * (1 + 0x1p-50);
#endif
}

int solve(const double a[4], double x[2])
{
    x[0] = a[0] + a[3];
    x[1] = a[1];
#ifdef __OPTIMIZE__
    if (a[0] >= 1 && a[0] < 2)
        x[1] = -a[1];
#endif
    return a[2] > 0;
}

void grow(double v[2])
{
    v[0] += 1;
#ifdef __OPTIMIZE__
    v[1] *= 2;
#endif
}

struct pair broken(float x)
{
    struct pair r = {x, x};
#ifdef __OPTIMIZE__
    if (x >= 2 && x < 4)
        abort();
#endif
    return r;
}

double many(double a, double b, double c, double d, double e, double f, double g, double h, double i, double j,
            double k, double l, double m, double n, double o, double p)
{
    double sum = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o;
#ifdef __OPTIMIZE__
    if (p >= 4)
        return sum;
#endif
    return sum + p;
}
"#;

const HEAD: &str = "[lab]\nname = \"wide\"\nbaseline = \"gcc/O0/native\"\n[sources]\nfiles = [\"code.c\"]\ninclude = [\".\"]\n\
    [search]\nbudget = 3000\n[[compiler]]\nname = \"gcc\"\n[[flags]]\nname = \"O0\"\nargs = [\"-O0\"]\n\
    [[flags]]\nname = \"O2\"\nargs = [\"-O2\"]\n[[target]]\nname = \"native\"\n";

const TARGETS: &str = "[[target]]\nname = \"aarch64\"\ntriple = \"aarch64-linux-gnu\"\n\
    compilers = { gcc = \"aarch64-linux-gnu-gcc\" }\nrunner = [\"qemu-aarch64\"]\n\
    [[target]]\nname = \"s390x\"\ntriple = \"s390x-linux-gnu\"\n\
    compilers = { gcc = \"s390x-linux-gnu-gcc\" }\nrunner = [\"qemu-s390x\"]\n";

const SHIFT_AND_TURN: &str = "[[function]]\nsignature = \"struct pair shift(struct pair p, double angle)\"\n\
    headers = [\"geometry.h\"]\nfields = { p = [\"float x\", \"float y\"] }\nresults = [\"float x\", \"float y\"]\n\
    domain = { p = \"[0.5, 8]\", angle = \"[1, 3]\" }\n\
    [[function]]\nsignature = \"double complex turn(double complex z)\"\ndomain = { \"z.re\" = 1, \"z.im\" = \"[0.5, 8]\" }\n";

fn desk(targets: &str, functions: &str) -> Desk {
    let desk = Desk::new();
    desk.write("geometry.h", HEADER).write("code.c", SOURCE);
    desk.write("matrix.toml", &format!("{HEAD}{targets}{functions}"));
    desk
}

/// The worst value of a comparison: its name, and the difference in units of the last place as bits tell it.
fn worst(run: &Value, function: &str, build: &str) -> (String, f64) {
    let row = comparison(run, function, build);
    let name = row["witness"]["worst"].as_str().unwrap_or_default().to_owned();
    (name, row["max_bits"].as_f64().unwrap().exp2() - 1.0)
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-6
}

#[test]
fn a_struct_and_a_complex_number_differ_in_the_same_field_on_every_machine() {
    let desk = desk(TARGETS, SHIFT_AND_TURN);
    let said = desk.expect(0, &["run", "--out", "out"]);
    said.out_has("y: ").out_has("im: ");
    let run = desk.json("out/run.json");
    for target in ["native", "aarch64", "s390x"] {
        let build = format!("gcc/O2/{target}");
        let (name, ulps) = worst(&run, "shift", &build);
        assert!(name == "y" && is_near(ulps, 8.0), "{target}: {name} {ulps}");
        let (name, ulps) = worst(&run, "turn", &build);
        assert!(name == "im" && is_near(ulps, 4.0), "{target}: {name} {ulps}");
    }
    for name in ["shift", "turn"] {
        for build in ["gcc/O0/aarch64", "gcc/O0/s390x"] {
            assert_eq!(comparison(&run, name, build)["max_bits"], 0.0, "{name} {build}");
        }
    }
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().into()).collect()
    };
    let row = function(&run, "shift");
    assert_eq!(names(&row["params"]), ["p.x", "p.y", "angle"]);
    assert_eq!(names(&row["results"]), ["x", "y"]);
    let witness = &comparison(&run, "shift", "gcc/O2/s390x")["witness"];
    assert_eq!(names(&witness["results"]), ["x", "y"]);
    assert_eq!(witness["results"][1]["variant"], witness["variant"]);
    assert_eq!(witness["results"][0]["variant"], witness["results"][0]["baseline"]);
    desk.expect(0, &["replay", "out"]).out_has(" 0 moved, 0 gone");
}

#[test]
fn every_report_names_the_value_that_differs_most() {
    let desk = desk("", SHIFT_AND_TURN);
    desk.expect(0, &["run", "--out", "out", "--quiet"]);
    desk.expect(0, &["report", "out", "--junit"]).out_has("  y: ").out_has("    x: ");
    desk.expect(0, &["report", "out", "--sarif"]).out_has(": y: ").out_has(": im: ");
    desk.expect(0, &["report", "out", "--markdown"]).out_has("`y: ").out_has("`im: ");
    let csv = desk.expect(0, &["report", "out", "--samples"]);
    csv.out_has(",p.x,").out_has(",z.im,").out_has(",worst\n").out_has(",y\n").out_has(",im\n");
    desk.expect(0, &["report", "out", "--html"]);
    let page = desk.read("out/report.html");
    assert!(page.contains(r#""worst":{"name":"im","ty":"double""#), "the page has the worst value's name");
    desk.expect(0, &["accept", "out"]);
    let lock = desk.json("bitrift.lock.json");
    let range = &lock["functions"]["turn"]["builds"]["gcc/O2/native"]["ranges"][0];
    assert_eq!(
        (&range["witness"]["worst"], &range["witness"]["results"][1]["name"]),
        (&"im".into(), &"im".into())
    );
    desk.expect(0, &["gate"]);
    desk.expect(0, &["repro", "out", "turn#gcc/O2/native.1", "--out", "repro"]);
    let readme = desk.read("repro/README.txt");
    assert!(readme.contains("answers im = ") && readme.contains("re = 1, im = "), "{readme}");
    let shown = std::process::Command::new("sh").arg(desk.path("repro/run.sh")).output().unwrap();
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stdout));
    desk.expect(0, &["eval", "shift", "1", "1.5", "2"])
        .out_has("x = 1 ")
        .out_has("y = 1.5")
        .out_has("y = 1.500001");
}

#[test]
fn results_in_parameters_and_arrays_are_compared() {
    let functions = "[[function]]\nsignature = \"void both(double x, double *s, double *c)\"\nresults = [\"*s\", \"*c\"]\n\
        domain = { x = \"[1, 16]\" }\n\
        [[function]]\nsignature = \"int solve(const double a[4], double x[2])\"\nresults = [\"return\", \"x\"]\n\
        domain = { a = \"[0.5, 8]\" }\n\
        [[function]]\nsignature = \"void grow(double v[2])\"\nresults = [\"v\"]\ndomain = { v = \"[1, 2]\" }\n";
    let desk = desk("", functions);
    desk.expect(0, &["run", "--out", "out"]).out_has("*c: ").out_has("x[1]: ").out_has("v[1]: ");
    let run = desk.json("out/run.json");
    assert_eq!(function(&run, "solve")["params"].as_array().unwrap().len(), 4);
    assert_eq!(function(&run, "solve")["results"][0]["type"], "int32_t");
    assert_eq!(comparison(&run, "solve", "gcc/O2/native")["ranges"][0]["category"], "sign");
    let witness = &comparison(&run, "grow", "gcc/O2/native")["witness"];
    assert_eq!((&witness["worst"], &witness["results"][0]["name"]), (&"v[1]".into(), &"v[0]".into()));
}

#[test]
fn a_fault_of_a_wide_function_is_a_fault_and_sixteen_coordinates_are_searched() {
    let sixteen: Vec<String> = "abcdefghijklmnop".chars().map(|c| format!("double {c}")).collect();
    let functions = format!(
        "[[function]]\nsignature = \"struct pair broken(float x)\"\nheaders = [\"geometry.h\"]\n\
         results = [\"float x\", \"float y\"]\ndomain = {{ x = \"[1, 16]\" }}\n\
         [[function]]\nsignature = \"double many({})\"\ndomain = {{ p = \"[1, 8]\" }}\n",
        sixteen.join(", ")
    );
    let desk = desk("", &functions);
    desk.expect(0, &["run", "--out", "out"]).out_has("SIGABRT");
    let run = desk.json("out/run.json");
    let fault = &function(&run, "broken")["faults"][0];
    assert_eq!((&fault["kind"], &fault["build"]), (&"SIGABRT".into(), &"gcc/O2/native".into()));
    let witness = &comparison(&run, "many", "gcc/O2/native")["witness"];
    assert_eq!(witness["inputs"].as_array().unwrap().len(), 16);
    assert!(witness.get("worst").is_none() && witness.get("results").is_none());
}
