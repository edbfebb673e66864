//! Contraction is told from what else an instruction set and -ffast-math bring, and what is offered in its place is
//! what the compiler does.

use std::process::Command;

use crate::common::Desk;
use serde_json::Value;

/// Small kernels on arrays made from scalars, each with products that are added into `r`.
const KERNELS: [(&str, &str); 6] = [
    ("dot", "for (int i = 0; i + 1 < N; i++) b[i] = a[i] * b[i] + a[i + 1] * b[i + 1]; r = b[4] - b[N - 6];"),
    ("axpy", "for (int i = 0; i < N; i++) b[i] = x * a[i] + b[i]; r = b[3] - b[N - 2];"),
    (
        "polynomial",
        "for (int i = 0; i < N; i++) b[i] = ((a[i] * 0.3 + 0.7) * a[i] - y) * a[i] + x; r = b[7] + b[N - 5];",
    ),
    ("norm", "for (int i = 0; i < N; i++) b[i] = sqrt(a[i] * a[i] + b[i] * b[i]); r = b[5] - b[N - 3];"),
    (
        "stencil",
        "for (int i = 1; i < N - 1; i++) b[i] = 0.3 * a[i - 1] + 0.4 * a[i] + 0.3 * a[i + 1]; r = b[9] - b[N - 9];",
    ),
    (
        "matvec",
        "for (int i = 0; i < N / 4; i++) b[i] = a[i] * x + a[i + N / 4] * y + a[i + N / 2] * 0.1; r = b[2] - b[N / 4 - 2];",
    ),
];

/// A source with one kernel.
fn source(name: &str, body: &str) -> String {
    format!(
        "#include <math.h>\n#define N 512\nstatic void fill(double *a, double *b, double x, double y)\n{{\n    \
         for (int i = 0; i < N; i++) {{ a[i] = x + i * 0.125; b[i] = y - i * 0.0625; }}\n}}\n\
         double {name}(double x, double y)\n{{\n    double a[N], b[N];\n    double r = 0;\n    \
         fill(a, b, x, y);\n    {body}\n    r *= 1e3;\n    return r - floor(r);\n}}\n"
    )
}

fn matrix(compiler: &str, functions: &[&str], from: &str, to: &str) -> String {
    let list = |args: &str| args.split(' ').map(|arg| format!("{arg:?}")).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "[lab]\nname = \"fused\"\nbaseline = \"c/plain/native\"\n\n[search]\nbudget = 3000\n\n[sources]\nfiles = [\"src/*.c\"]\n\
         libs = [\"m\"]\n\n[[compiler]]\nname = \"c\"\ncommand = \"{compiler}\"\n\n[[flags]]\nname = \"plain\"\nargs = [{}]\n\n\
         [[flags]]\nname = \"fast\"\nargs = [{}]\n",
        list(from),
        list(to)
    );
    for function in functions {
        text += &format!(
            "\n[[function]]\nsignature = \"double {function}(double x, double y)\"\n\
             domain = {{ x = \"[0.1, 10]\", y = \"[0.1, 10]\" }}\n"
        );
    }
    text
}

/// What `bitrift explain` stores of a source.
fn explained(source: &str, function: &str, compiler: &str, from: &str, to: &str) -> Value {
    let desk = Desk::new();
    desk.write("src/code.c", source).write("matrix.toml", &matrix(compiler, &[function], from, to));
    desk.expect(0, &["run", "--quiet", "--out", "run"]);
    desk.expect(0, &["explain", "run", "--quiet", "--json"]).json()
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// The flags that each finding blames, in sets.
fn blamed(file: &Value) -> Vec<Vec<String>> {
    let rows = file["findings"].as_object().unwrap().values();
    let sets = rows.flat_map(|row| row["layers"]["flags"]["causes"].as_array().cloned().unwrap_or_default());
    sets.map(|set| set.as_array().unwrap().iter().map(|s| s["flag"].as_str().unwrap().to_owned()).collect())
        .collect()
}

const PRODUCTS: &str = "double products(double x, double y) { return x * y - 1.0; }\n";
const SUM_ERROR: &str = "double sum_error(double x, double y)\n{\n    double s = x + y;\n    double t = s - x;\n    \
                         return y - t;\n}\n";
const SIGN: &str = "#include <math.h>\nstatic volatile double zero = -0.0;\n\
                    double sign(double x, double y) { return copysign(y, zero + 0.0) + x; }\n";

#[test]
fn a_finding_of_contraction_is_explained_as_contraction_and_forbidding_it_is_enough() {
    for (compiler, to) in [
        ("gcc-12", "-O3 -ffast-math -march=x86-64-v3"),
        ("clang-16", "-O3 -ffast-math -march=x86-64-v3"),
        ("gcc-12", "-O3 -march=x86-64-v3"),
        ("clang-16", "-O3 -mavx2 -mfma -mbmi2"),
    ] {
        let file = explained(PRODUCTS, "products", compiler, "-O2", to);
        let sets = blamed(&file);
        assert!(!sets.is_empty(), "{compiler} {to}: {file:#}");
        let machine = to.split(' ').filter(|arg| arg.starts_with("-m")).collect::<Vec<_>>().join(" ");
        for set in sets {
            assert!(set.iter().any(|flag| flag.starts_with("-ffp-contract=")), "{compiler} {to}: {set:?}");
            // One instruction set is one suspect.
            let of_machine: Vec<&String> = set.iter().filter(|flag| flag.starts_with("-m")).collect();
            assert_eq!(of_machine, [&machine], "{compiler} {to}: {set:?}");
        }
        let safe = &file["safe"][0];
        let args = words(&safe["args"]);
        assert_eq!(args.join(" "), format!("{to} -ffp-contract=off"), "{compiler}: {safe:#}");
        assert_eq!(safe["within"], safe["of"], "{compiler} {to}: {safe:#}");
        let given_up = words(&safe["given_up"]);
        assert!(
            matches!(&given_up[..], [one] if one.starts_with("-ffp-contract=")),
            "{compiler} {to}: {safe:#}"
        );
    }
}

/// What gcc says of arguments: its warnings, and the state of each of its flags.
fn gcc(args: &[String], more: &[&str]) -> String {
    let done = Command::new("gcc-12").args(args).args(more).env("LC_ALL", "C").output().unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr)
}

#[test]
fn no_flag_of_a_safe_set_is_void() {
    for (source, function) in [(SUM_ERROR, "sum_error"), (SIGN, "sign")] {
        let file = explained(source, function, "gcc-12", "-O2", "-O3 -ffast-math");
        let safe = &file["safe"][0];
        assert_eq!(safe["within"], safe["of"], "{file:#}");
        let args = words(&safe["args"]);
        let said = gcc(&args, &["-fsyntax-only", "-x", "c", "/dev/null"]);
        assert!(!said.contains("disabled"), "{args:?}: {said}");
        let states = gcc(&args, &["-Q", "--help=optimizers"]);
        let is_on = |flag: &str| {
            let line = states.lines().find(|line| line.split_whitespace().next() == Some(flag));
            line.map(|line| line.contains("[enabled]"))
        };
        let (kept, given_up) = (words(&safe["kept"]), words(&safe["given_up"]));
        assert!(!given_up.is_empty(), "{safe:#}");
        for (flags, kept) in [(&kept, true), (&given_up, false)] {
            for flag in flags.iter().filter(|flag| flag.starts_with("-f") && !flag.contains('=')) {
                let positive = flag.replacen("-fno-", "-f", 1);
                let claimed = (positive == *flag) == kept;
                assert_eq!(is_on(&positive), Some(claimed), "{function}: {flag} of {args:?}");
            }
        }
        // Association without the other two is none.
        if given_up.iter().any(|flag| flag == "-fno-signed-zeros") {
            assert!(given_up.iter().any(|flag| flag == "-fassociative-math"), "{safe:#}");
        }
    }
}

/// What results/safe.md shows; `cargo test --test explain six_kernels -- --nocapture` makes it.
#[test]
fn six_kernels_keep_their_vectors_without_contraction() {
    let mut table = String::from(
        "| kernel | offered beside the variant's arguments | findings within 0 bits | speed of the variant | kept |\n|---|---|---|---|---|\n",
    );
    let (mut offers, mut fast, mut kept) = (0, 0.0, 0.0);
    let to = "-O3 -march=x86-64-v3 -ffp-contract=fast";
    for (name, body) in KERNELS {
        let file = explained(&source(name, body), name, "gcc-12", "-O2", to);
        let safe = &file["safe"][0];
        assert_eq!(safe["within"], safe["of"], "{name}: {file:#}");
        let args = words(&safe["args"]).join(" ");
        let more = args.strip_prefix(to).unwrap_or_else(|| panic!("{name}: {safe:#}")).trim();
        assert_eq!(more, "-ffp-contract=off", "{name}: {safe:#}");
        let ns: Vec<f64> = safe["ns"].as_array().unwrap().iter().map(|ns| ns.as_f64().unwrap()).collect();
        let (full, still) = (ns[0] / ns[2], ns[0] / ns[1]);
        (offers, fast, kept) = (offers + 1, fast + full.ln(), kept + still.ln());
        let (within, of) = (&safe["within"], &safe["of"]);
        table += &format!("| {name} | `{more}` | {within} of {of} | {full:.2} | {still:.2} |\n");
    }
    let mean = |sum: f64| (sum / f64::from(offers)).exp();
    table += &format!("| geometric mean | | | {:.2} | {:.2} |\n", mean(fast), mean(kept));
    println!("{table}");
}
