//! Precise functions and statements as real compilers see them: instructions without fast-math flags,
//! results as without the options, sources that still compile, patches that apply.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bitrift::c::{Dialect, Remedy, Source, unified_diff};

/// Every kind of unit, and what pragmas alone do not reach: calls, negations, choices.
const KINDS: &str = r#"
struct pair { double a, b; };
double g(double); void v(double, double); struct pair mk(double, double); _Complex double ring(double);
#define SQUARE(x) ((x) * (x))
#define CHECK(r) do { if ((r) > 1.0 + g(r)) return 0.0; } while (0)
#define AREA (x * y)
#define TEMPORARY double t1; double t2

double kinds(double x, double y, int n, const double *p, float h, int *flag) {
  double r = x * y + n, s = x - y;
  const double c = ((x - y * 3) - y * 4) - y * 5;
  static const double table[] = { 1.0 / 3.0, -2.0 };
  double arr[3] = { x * y, [1] = y * n, x };
  struct pair one = { .a = x + y, .b = 1.0 }, two = mk(x * y, n);
  struct pair many[2] = { { x * 2, y }, { x, y * 2 } };
  double sized[n * 2];
  int i, k = n * 2;
  TEMPORARY;
  float f = h * 2.0f;
  const double *pointer = n > 2 ? arr : p;
  for (i = 0; i < n; i++) r += p[i] * p[i + 1];
  for (double t = x * y, u = 1; t < r && u < 100; t += x * y, u++) s = s * t;
  while (s > r / 2) s -= x * y;
  do { s = s * 0.5; } while (s * y > x);
  if (x) r++;
  if (x * y > s && i < n) r = -r; else if (n) r *= y; else return r / s;
  switch ((int)(x * y)) { case 1: r = x * s; break; case 2 + 1: { s = y * r; } default: i += n; }
again:
  r = x + (y + s);
  if (r != r) goto again;
  s += 1, r = y * s;
  one = mk(r * 2, s);
  f *= x; k += x * y; *flag = x * y < 0;
  v(x * y, -g(s));
  CHECK(r);
  TWO: r = ({ double w = x * y; w + 1; });
  s = AREA;
  r = SQUARE(x +
             y /* why */) + // what
      s;
  r = sizeof (x) * y; r = (x) - y;
  t1 = n ? g(-x) : y; t2 = -t1;
  if (g(x)) goto TWO;
  for (s = g(x); g(s) > 2; s = -s) n > 2 ? v(x, -x) : v(y, y);
  sized[0] = arr[n > 1] = g(t2);
  if (n > 1 && (g(x) < y || !(g(y) > 2))) r = n > 3 && (-x > g(y)) ? y : (g(x) > 2 ? x : y);
  while ((g(x))) { struct pair three = mk(-x, g(y)); _Complex double z = ring(-x); one = three; r = (double) z; }
  if (n == 7) return n > 2 ? g(x) : -r;
  return r + s + c + table[n] + arr[0] + one.a + two.b + k + f + *pointer + many[0].a + sized[0];
}

void plain(double x) { if (x > 2) return; return v(x * x, g(x)); }
"#;

fn everything(file: &Source) -> BTreeSet<(usize, usize)> {
    let sizes = file.functions().iter().map(|f| f.statements.len()).enumerate();
    sizes.flat_map(|(f, count)| (0..count).map(move |s| (f, s))).collect()
}

fn functions(file: &Source) -> BTreeSet<usize> {
    (0..file.functions().len()).collect()
}

/// What a compiler writes for a source; a source that does not compile fails the test.
fn compiled(compiler: &str, args: &[&str], source: &str) -> String {
    let mut child = Command::new(compiler)
        .args(["-w", "-x", "c", "-", "-o", "-"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    child.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{source}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// How many instructions have a fast-math flag.
fn loose(source: &str, level: &str) -> usize {
    let code = compiled("clang-16", &[level, "-ffast-math", "-S", "-emit-llvm"], source);
    let has_flag =
        |line: &str| line.split_whitespace().any(|w| matches!(w, "fast" | "nnan" | "reassoc" | "nsz"));
    code.lines().filter(|line| line.starts_with(' ') && has_flag(line)).count()
}

/// The instructions of one function of an assembly listing.
fn instructions<'a>(listing: &'a str, function: &str) -> &'a str {
    let start =
        listing.find(&format!("\n{function}:")).unwrap_or_else(|| panic!("no {function}:\n{listing}"));
    let rest = &listing[start..];
    &rest[..rest.find(".cfi_endproc").unwrap_or(rest.len())]
}

#[test]
fn each_statement_takes_the_flags_from_its_own_instructions_and_from_no_others() {
    let file = Source::new(KINDS);
    let all = loose(KINDS, "-O0");
    let mut taken = 0;
    for unit in everything(&file) {
        let statement = &file.functions()[unit.0].statements[unit.1];
        let left = loose(&file.precise(Dialect::Clang, &BTreeSet::new(), &BTreeSet::from([unit])), "-O0");
        // A choice between pointers has none to lose.
        assert!(left < all || statement.text.contains("arr : p"), "{} keeps its flags", statement.text);
        taken += all - left;
    }
    assert!(all > 80, "{all}");
    assert_eq!(taken, all);
}

#[test]
fn with_every_statement_or_function_precise_no_flag_is_left() {
    let file = Source::new(KINDS);
    let statements = file.precise(Dialect::Clang, &BTreeSet::new(), &everything(&file));
    let whole = file.precise(Dialect::Clang, &functions(&file), &BTreeSet::new());
    for level in ["-O0", "-O3"] {
        assert!(loose(KINDS, level) > 0);
        assert_eq!(loose(&statements, level), 0, "{level}");
        assert_eq!(loose(&whole, level), 0, "{level}");
    }
}

#[test]
fn one_precise_function_leaves_the_others_their_flags() {
    let file = Source::new(KINDS);
    let whole =
        |f: usize| loose(&file.precise(Dialect::Clang, &BTreeSet::from([f]), &BTreeSet::new()), "-O0");
    assert_eq!(whole(0) + whole(1), loose(KINDS, "-O0"));
    assert!(whole(0) > 0);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn precise_code_is_not_contracted_on_targets_that_can() {
    let file = Source::new(
        "double one(double x, double y, double z) { return x * y + z; }\n\
         double two(double x, double y, double z) { return x * y - z; }\n",
    );
    let cases = [
        ("clang-16", Dialect::Clang, BTreeSet::from([0]), BTreeSet::new()),
        ("clang-16", Dialect::Clang, BTreeSet::new(), BTreeSet::from([(0, 0)])),
        ("gcc", Dialect::Gcc, BTreeSet::from([0]), BTreeSet::new()),
    ];
    for (compiler, dialect, functions, statements) in cases {
        let mut args = vec!["-O3", "-ffast-math", "-mfma", "-S"];
        args.extend(dialect.arguments_beside_contraction());
        let listing = compiled(compiler, &args, &file.precise(dialect, &functions, &statements));
        assert!(!instructions(&listing, "one").contains("vfm"), "{compiler}: {listing}");
        assert!(instructions(&listing, "two").contains("vfm"), "{compiler}: {listing}");
    }
}

const SENSITIVE: &str = r#"
#include <stdio.h>
#define APART __attribute__((noinline))
APART double regrouped(double x, double y) { return (x + y) - x; }
APART static double
reciprocal(double x, double y) { return x / 3.0 + y / 3.0; }
APART int is_nan(double x) { return x != x; }
static double *kept(double *p) { *p = (*p + 1e16) - 1e16; return p; }
static inline double short_one(double x) { return (x + 1e16) - 1e16; }
extern inline double shared(double x) { return (x - 1e16) + 1e16; }
extern double shared(double x);
double summed(const double *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
int main(void) {
    volatile double big = 1e16, y = 1.5, t = 0.1, zero = 0;
    double q = 0.3, a[64];
    for (int i = 0; i < 64; i++) a[i] = 1.0 / (i + t);
    printf("%a %a %d %a %a %a %a\n", regrouped(big, y), reciprocal(t, 7 * t), is_nan(__builtin_nan("") + zero),
           *kept(&q), short_one(t), shared(t), summed(a, 64));
}
"#;

/// What the program prints.
fn printed(compiler: &str, args: &[&str], source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (code, program) = (folder.path().join("p.c"), folder.path().join("p"));
    fs::write(&code, source).unwrap();
    let mut command = Command::new(compiler);
    let status = command.arg("-w").args(args).arg(&code).arg("-o").arg(&program).arg("-lm").status();
    assert!(status.unwrap().success(), "{compiler} {args:?}\n{source}");
    String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap()
}

#[test]
fn precise_functions_give_the_results_of_a_build_without_the_options() {
    let file = Source::new(SENSITIVE);
    for (compiler, dialect) in [("clang-16", Dialect::Clang), ("gcc", Dialect::Gcc)] {
        let exact = printed(compiler, &["-O0"], SENSITIVE);
        for options in [&["-O3", "-ffast-math"][..], &["-Ofast"], &["-O2", "-funsafe-math-optimizations"]] {
            assert_ne!(printed(compiler, options, SENSITIVE), exact, "{compiler} {options:?}");
            let whole = file.precise(dialect, &functions(&file), &BTreeSet::new());
            assert_eq!(printed(compiler, options, &whole), exact, "{compiler} {options:?}");
            let statements = file.precise(dialect, &BTreeSet::new(), &everything(&file));
            assert_eq!(printed(compiler, options, &statements), exact, "{compiler} {options:?}");
        }
    }
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found = Vec::new();
    for name in ["quickstart", "porting", "planted"] {
        for entry in fs::read_dir(folder.join(name)).unwrap() {
            found.push(entry.unwrap().path());
        }
    }
    found.retain(|path| path.extension().is_some_and(|e| e == "c"));
    assert!(found.len() >= 6);
    found
}

#[test]
fn the_fixtures_compile_with_everything_precise() {
    for path in fixtures() {
        let file = Source::new(fs::read_to_string(&path).unwrap());
        assert!(file.functions().iter().all(|f| f.obstacle.is_none()), "{}", path.display());
        let include = format!("-I{}", path.parent().unwrap().display());
        let args = ["-O3", "-ffast-math", "-fsyntax-only", &include];
        compiled("clang-16", &args, &file.precise(Dialect::Clang, &BTreeSet::new(), &everything(&file)));
        for (compiler, dialect) in [("clang-16", Dialect::Clang), ("gcc", Dialect::Gcc)] {
            compiled(compiler, &args, &file.precise(dialect, &functions(&file), &BTreeSet::new()));
        }
    }
}

/// A file after `patch -p1`.
fn patched(before: &str, diff: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    let path = folder.path().join("src/file.c");
    fs::write(&path, before).unwrap();
    let mut child =
        Command::new("patch").args(["-s", "-p1"]).current_dir(&folder).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(diff.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{diff}");
    fs::read_to_string(&path).unwrap()
}

#[test]
fn every_fix_applies_as_a_patch_and_compiles() {
    let file = Source::new(KINDS);
    for (compiler, dialect) in [("clang-16", Dialect::Clang), ("gcc", Dialect::Gcc)] {
        let units = everything(&file).into_iter().map(|(f, s)| (f, BTreeSet::from([s])));
        let groups = [(0, BTreeSet::new()), (0, BTreeSet::from([3, 9])), (1, BTreeSet::from([0, 1]))];
        let mut seen = BTreeSet::new();
        for (function, statements) in units.chain(groups) {
            let fix = file.fixed(dialect, function, &statements, Remedy::WithoutContraction).unwrap();
            if !seen.insert(fix.text.clone()) {
                continue;
            }
            let diff = unified_diff("src/file.c", KINDS, &fix.text);
            assert_eq!(patched(KINDS, &diff), fix.text);
            compiled(compiler, &["-O1", "-ffast-math", "-fsyntax-only"], &fix.text);
        }
        assert!(seen.len() > 1);
    }
}

#[test]
fn a_fix_in_a_block_makes_its_statement_precise_and_no_other() {
    let text = "double f(double x, double y) {\n  double z = x * y;\n  z = z + y;\n  return z / y;\n}\n";
    let file = Source::new(text);
    assert_eq!(loose(text, "-O0"), 3);
    for statement in 0..3 {
        let fix = file.fixed(Dialect::Clang, 0, &BTreeSet::from([statement]), Remedy::Precise).unwrap();
        assert_eq!(loose(&fix.text, "-O0"), 2, "{}", fix.text);
    }
}
