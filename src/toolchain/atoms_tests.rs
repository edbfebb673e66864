//! Atoms and passes against the compilers of this machine, by the code that they write.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use rayon::prelude::*;

use super::{Atoms, Compiler, Family, Invocation, Kind, ToolReach, find, passes, run};

/// Something for every flag: sums, divisions, products to fuse, calls, complex numbers, comparisons.
const SOURCE: &str = r#"
double sqrt(double), exp(double), floor(double), pow(double, double), sin(double), cos(double), fabs(double);
double dot(const double *a, const double *b, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }
double poly(double x) { return ((1.5 * x + 2.25) * x - 0.75) * x + 1 / x; }
void scale(double *a, int n, double d) { for (int i = 0; i < n; i++) a[i] = a[i] / d; }
double roots(double a, double b) { return sqrt(a * a + b * b) + exp(a) * exp(b); }
double three(double a, double b, double c, double d) { return a / d + b / d + c / d; }
float most(const float *v, int n) { float m = v[0]; for (int i = 1; i < n; i++) if (v[i] > m) m = v[i]; return m; }
double zero(double x) { return x * 0.0 + (x - x) + (x != x ? 1 : 2); }
_Complex double times(_Complex double a, _Complex double b) { return a * b / (a + b); }
static double helper(double x) { return x * x + x; }
double inlined(double x, int n) { double s = 0; for (int i = 0; i < n; i++) s += helper(x + i) / 3; return s; }
int whole(double x) { return (int)floor(x) + (int)x; }
double pick(double x, double y) {
    switch ((int)x) {
    case 0: return y;
    case 1: return -y;
    case 2: return y * y;
    case 3: return y + 1;
    case 4: return pow(y, 0.5);
    default: return fabs(x) * sin(y) + cos(y);
    }
}
#ifdef __FAST_MATH__
int fast = 1;
#else
int fast = 0;
#endif
"#;

/// Ends with 0 if the functions above are about right.
const MAIN: &str = r#"
double dot(const double *, const double *, int), poly(double), roots(double, double), three(double, double, double, double);
void scale(double *, int, double);
float most(const float *, int);
double zero(double), inlined(double, int), pick(double, double);
_Complex double times(_Complex double, _Complex double);
int whole(double);
static int near(double a, double b) { return a - b < 1e-6 && b - a < 1e-6; }
int main(void) {
    double a[37], b[37], sum = 0;
    float f[37];
    for (int i = 0; i < 37; i++) { a[i] = i * 2.0; b[i] = 3.5 - i; f[i] = i * 7 % 11; sum += i * b[i]; }
    scale(a, 37, 2);
    _Complex double c = times(1, 1);
    return !(near(dot(a, b, 37), sum) && near(poly(2), 20) && near(roots(0, 0), 1) && near(three(1, 2, 3, 4), 1.5)
        && near(most(f, 37), 10) && near(zero(2.5), 2) && near(__real__ c, 0.5) && near(inlined(1, 2), 8. / 3)
        && whole(3.75) == 6 && whole(-2.5) == -5 && near(pick(0, 3), 3) && near(pick(1, 3), -3) && near(pick(2, 3), 9)
        && near(pick(3, 3), 4) && near(pick(4, 9), 3) && near(pick(7, 0), 1));
}
"#;

const PAIRS: [(&str, &str); 11] = [
    ("-O0", "-O3 -ffast-math"),
    ("-O2", "-Ofast -march=native"),
    ("-O0", "-O2 -mfma -ffp-contract=fast"),
    ("-O3 -ffast-math", "-O0"),
    ("-O2", "-O2 -fno-signed-zeros -fassociative-math -fno-trapping-math"),
    ("-O1 -march=haswell", "-Os -funsafe-math-optimizations -mtune=skylake"),
    ("-Ofast", "-O3 -ffast-math"),
    ("-Ofast -fno-associative-math", "-Ofast"),
    ("-O2 -ffast-math", "-O2 -funsafe-math-optimizations -ffinite-math-only"),
    ("-O2 -frounding-math -std=c99", "-O2 -ftrapping-math -std=c11 -fno-builtin"),
    ("", "-O2 -ffp-contract=off -fPIC"),
];

fn list(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

fn start(folder: &Path, program: &Path, args: &[String]) -> Result<(), String> {
    let argv: Vec<String> =
        std::iter::once(program.display().to_string()).chain(args.iter().cloned()).collect();
    let timeout = Duration::from_secs(60);
    let (own, reach) = (folder, &ToolReach::default());
    let done =
        run(&Invocation { program, argv: &argv, cwd: folder, own, tmp: own, reach, timeout, cancel: None });
    if done.success() { Ok(()) } else { Err(done.complaint(&argv[0], timeout)) }
}

/// The object file for these arguments.
fn code(compiler: &Compiler, args: &[String]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("code.c"), SOURCE).unwrap();
    let args = [&list("-w -c code.c -o code.o")[..], args].concat();
    start(folder.path(), &compiler.path, &args).unwrap_or_else(|words| panic!("{args:?}: {words}"));
    std::fs::read(folder.path().join("code.o")).unwrap()
}

fn all(atoms: &Atoms) -> BTreeSet<usize> {
    (0..atoms.list().len()).collect()
}

fn names(atoms: &Atoms) -> Vec<&str> {
    atoms.list().iter().map(|atom| atom.name.as_str()).collect()
}

fn compilers() -> Vec<Compiler> {
    ["gcc", "gcc-11", "clang-16"]
        .iter()
        .filter_map(|command| find(command, &ToolReach::default()).ok())
        .collect()
}

#[test]
fn all_atoms_and_none_give_the_code_of_the_lists() {
    for compiler in compilers() {
        PAIRS.par_iter().for_each(|(from, to)| {
            let atoms = Atoms::between(&compiler, &list(from), &list(to)).unwrap();
            for (on, wanted) in [(all(&atoms), to), (BTreeSet::new(), from)] {
                let args = atoms.args(&on);
                let same = code(&compiler, &args) == code(&compiler, &list(wanted));
                assert!(same, "{}: {from} to {to}: {wanted} is not {args:?}", compiler.version);
            }
        });
    }
}

#[test]
fn every_single_atom_is_accepted_and_all_but_one_too() {
    for compiler in compilers() {
        let atoms = Atoms::between(&compiler, &list("-O0"), &list("-Ofast -march=native")).unwrap();
        (0..atoms.list().len()).into_par_iter().for_each(|atom| {
            let mut others = all(&atoms);
            others.remove(&atom);
            for on in [others, BTreeSet::from([atom])] {
                let args = [atoms.args(&on), list("-fsyntax-only -x c /dev/null")].concat();
                compiler.ask(&args).unwrap_or_else(|words| panic!("{args:?}: {words}"));
            }
        });
    }
}

#[test]
fn floating_point_comes_first_and_the_level_is_one_atom() {
    let wanted = [
        ("gcc", vec!["-fassociative-math", "-freciprocal-math", "-ffinite-math-only", "-fno-signed-zeros"]),
        (
            "clang-16",
            vec!["-fassociative-math", "-freciprocal-math", "-fno-honor-nans", "-fno-honor-infinities"],
        ),
    ];
    for (command, first) in wanted {
        let to = list("-O3 -ffast-math -mfma -DX=1 -fPIC");
        let atoms =
            Atoms::between(&find(command, &ToolReach::default()).unwrap(), &list("-O0"), &to).unwrap();
        let kinds: Vec<Kind> = atoms.list().iter().map(|atom| atom.kind).collect();
        assert!(kinds.is_sorted(), "{kinds:?}");
        assert_eq!(names(&atoms)[..first.len()], first);
        let levels: Vec<&str> =
            atoms.list().iter().filter(|a| a.kind == Kind::Level).map(|a| a.name.as_str()).collect();
        assert_eq!(levels, ["-O3"]);
        for wanted in ["-mfma", "-fPIC", "-DX=1"] {
            assert!(names(&atoms).contains(&wanted), "{command}: {wanted}");
        }
    }
}

#[test]
fn one_instruction_set_is_enough_for_its_instructions() {
    for compiler in compilers() {
        let atoms =
            Atoms::between(&compiler, &list("-O2 -ffp-contract=fast"), &list("-O2 -ffp-contract=fast -mfma"))
                .unwrap();
        let fma = names(&atoms).iter().position(|name| *name == "-mfma").unwrap();
        let alone = code(&compiler, &atoms.args(&BTreeSet::from([fma])));
        assert!(alone == code(&compiler, &list("-O2 -ffp-contract=fast -mfma")), "{}", compiler.version);
    }
}

/// The words that clang's driver says to the compiler proper.
fn proper_words(compiler: &Compiler, args: &[String]) -> BTreeSet<String> {
    let (_, answer) = compiler.ask(&[args, &list("-### -c -x c /dev/null")].concat()).unwrap();
    let line = answer.lines().find(|line| line.contains("\"-cc1\"")).unwrap();
    line.split('"').skip(1).step_by(2).map(String::from).collect()
}

#[test]
fn each_part_of_clang_takes_its_word_away_and_those_derived_from_it() {
    let clang = find("clang-16", &ToolReach::default()).unwrap();
    let atoms = Atoms::between(&clang, &list("-O3"), &list("-O3 -ffast-math")).unwrap();
    let full = proper_words(&clang, &atoms.args(&all(&atoms)));
    let (fast, finite, unsafe_math) = ("-ffast-math", "-ffinite-math-only", "-funsafe-math-optimizations");
    let wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::from([
        ("-fassociative-math", vec!["-mreassociate", unsafe_math, fast]),
        ("-freciprocal-math", vec!["-freciprocal-math", unsafe_math, fast]),
        ("-fno-honor-nans", vec!["-menable-no-nans", finite, fast]),
        ("-fno-honor-infinities", vec!["-menable-no-infs", finite, fast]),
        ("-fno-signed-zeros", vec!["-fno-signed-zeros", "-mreassociate", unsafe_math, fast]),
        ("-fapprox-func", vec!["-fapprox-func", unsafe_math, fast]),
        ("-fno-math-errno", vec![fast]),
        ("-ffp-contract=fast", vec!["-ffp-contract=fast"]),
        (
            "-fdenormal-fp-math=preserve-sign,preserve-sign",
            vec!["-fdenormal-fp-math=preserve-sign,preserve-sign"],
        ),
        ("-ffast-math's start-up code", vec![]),
    ]);
    assert_eq!(names(&atoms).into_iter().collect::<BTreeSet<_>>(), wanted.keys().copied().collect());
    for (at, atom) in atoms.list().iter().enumerate() {
        let mut on = all(&atoms);
        on.remove(&at);
        let words = proper_words(&clang, &atoms.args(&on));
        let gone: BTreeSet<&str> = full.difference(&words).map(String::as_str).collect();
        assert_eq!(gone, wanted[atom.name.as_str()].iter().copied().collect(), "{}", atom.name);
        let come: Vec<&str> = words.difference(&full).map(String::as_str).collect();
        let state = match atom.name.as_str() {
            "-fno-math-errno" => vec!["-fmath-errno"],
            "-ffp-contract=fast" => vec!["-ffp-contract=on"],
            _ => vec![],
        };
        assert_eq!(come, state, "{}", atom.name);
    }
}

#[test]
fn each_part_of_clang_takes_its_leave_from_an_operation() {
    let clang = find("clang-16", &ToolReach::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("product.c");
    std::fs::write(&source, "double product(double a, double b) { return a * b; }\n").unwrap();
    let atoms = Atoms::between(&clang, &list("-O3"), &list("-O3 -ffast-math")).unwrap();
    let leaves = |on: &BTreeSet<usize>| -> BTreeSet<String> {
        let args = [atoms.args(on), list("-S -emit-llvm -o -"), vec![source.display().to_string()]].concat();
        let (answer, _) = clang.ask(&args).unwrap();
        let (_, operation) = answer.split_once("fmul ").unwrap();
        let found = list(operation.split_once("double").unwrap().0);
        if found == ["fast"] { list("reassoc nnan ninf nsz arcp contract afn") } else { found }
            .into_iter()
            .collect()
    };
    let full = leaves(&all(&atoms));
    for (at, atom) in atoms.list().iter().enumerate() {
        let mut on = all(&atoms);
        on.remove(&at);
        let left = leaves(&on);
        let gone: Vec<&str> = full.difference(&left).map(String::as_str).collect();
        let wanted: &[&str] = match atom.name.as_str() {
            "-fassociative-math" => &["reassoc"],
            "-freciprocal-math" => &["arcp"],
            "-fno-honor-nans" => &["nnan"],
            "-fno-honor-infinities" => &["ninf"],
            "-fno-signed-zeros" => &["nsz", "reassoc"],
            "-fapprox-func" => &["afn"],
            "-ffp-contract=fast" => &["contract"],
            _ => &[],
        };
        assert_eq!(gone, wanted, "{}", atom.name);
    }
    assert!(full.len() == 7 && leaves(&BTreeSet::new()).is_empty());
}

#[test]
fn start_up_code_is_linked_with_its_atom_alone() {
    for (command, atom) in
        [("clang-16", "-ffast-math's start-up code"), ("gcc", "-funsafe-math-optimizations")]
    {
        let compiler = find(command, &ToolReach::default()).unwrap();
        let atoms = Atoms::between(&compiler, &list("-O3"), &list("-Ofast")).unwrap();
        let at = names(&atoms).iter().position(|name| *name == atom).unwrap();
        let links = |on: &BTreeSet<usize>| {
            let args = [atoms.args(on), list("-### -x c /dev/null")].concat();
            compiler.ask(&args).unwrap().1.contains("crtfastmath.o")
        };
        let mut others = all(&atoms);
        others.remove(&at);
        assert!(links(&BTreeSet::from([at])) && links(&all(&atoms)), "{command}");
        assert!(!links(&others) && !links(&BTreeSet::new()), "{command}");
    }
}

#[test]
fn composites_stand_only_beside_all_of_their_parts() {
    let gcc = find("gcc", &ToolReach::default()).unwrap();
    let atoms = Atoms::between(&gcc, &list("-O2"), &list("-Ofast")).unwrap();
    let fast = String::from("-ffast-math");
    assert!(atoms.args(&all(&atoms)).contains(&fast) && !atoms.args(&BTreeSet::new()).contains(&fast));
    let mut on = all(&atoms);
    on.remove(&0);
    assert!(!atoms.args(&on).contains(&fast));
}

/// A compiler that is never asked.
fn untold() -> Compiler {
    Compiler {
        path: "/nonexistent/cc".into(),
        family: Family::Other,
        version: "".into(),
        told: false,
        identity: "".into(),
        wrapping: super::wrapper::Wrapping::Program,
        reach: ToolReach::default(),
    }
}

#[test]
fn a_compiler_that_tells_nothing_has_its_arguments_as_atoms() {
    let atoms = Atoms::between(&untold(), &list("-O1 -DA"), &list("-O2 -DA -D B -funsigned-char")).unwrap();
    assert_eq!(names(&atoms), ["-O2", "-funsigned-char", "-D B"]);
    assert_eq!(atoms.args(&all(&atoms)), list("-O2 -DA -D B -funsigned-char"));
    assert_eq!(atoms.args(&BTreeSet::new()), list("-O1 -DA"));
}

#[test]
fn a_compiler_that_does_not_answer_is_quoted() {
    for compiler in compilers() {
        let words = Atoms::between(&compiler, &list("-O2"), &list("-fno-such-flag=3")).unwrap_err();
        assert!(words.contains("-fno-such-flag=3"), "{words}");
    }
}

/// Each compile takes a tenth of a second: one level is enough to notice a gcc that lists other passes.
#[test]
fn each_pass_that_is_named_can_be_switched_off() {
    let gcc = find("gcc", &ToolReach::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("code.c"), SOURCE).unwrap();
    std::fs::write(folder.path().join("main.c"), MAIN).unwrap();
    start(folder.path(), &gcc.path, &list("-w -O1 -c main.c")).unwrap();
    let args = list("-O2 -ffast-math");
    let failures: Vec<String> = passes(&gcc, &args)
        .unwrap()
        .into_par_iter()
        .filter_map(|pass| {
            let program = folder.path().join(&pass[1..]);
            let output = ["-o".to_string(), program.display().to_string(), pass.clone()];
            let command = [&args[..], &output[..], &list("-w code.c main.o -lm")[..]].concat();
            // A caged linker changes no modes by their paths.
            let runnable = || std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700));
            let done = start(folder.path(), &gcc.path, &command)
                .and_then(|()| runnable().map_err(|e| e.to_string()))
                .and_then(|()| start(folder.path(), &program, &[]));
            done.err().map(|words| format!("{pass}: {words}"))
        })
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

fn argument() -> impl Strategy<Value = String> {
    let known = ["-D", "-DA", "-DB=1", "-DB=2", "-I", "-g", "-std=c99", "-std=c11", "-O2", "-mllvm", "x", ""];
    prop_oneof![4 => proptest::sample::select(known.to_vec()).prop_map(String::from), 1 => "\\PC{0,6}"]
}

proptest! {
    #[test]
    fn atoms_of_plain_arguments_give_both_lists_and_keep_what_they_share(
        from in proptest::collection::vec(argument(), 0..10),
        to in proptest::collection::vec(argument(), 0..10),
        some in proptest::collection::btree_set(0usize..20, 0..10),
    ) {
        let compiler = untold();
        let atoms = Atoms::between(&compiler, &from, &to).unwrap();
        prop_assert_eq!(atoms.args(&all(&atoms)), to.clone());
        prop_assert_eq!(atoms.args(&BTreeSet::new()), from.clone());
        let same = Atoms::between(&compiler, &from, &from).unwrap();
        prop_assert!(same.list().is_empty());
        prop_assert_eq!(same.args(&some), from);
    }
}
