//! Matrix files as a user writes them: broken ones get a message worth reading, a full one is read
//! to the letter, and no text at all makes the reader panic.

use std::fs;
use std::path::{Path, PathBuf};

use bitrift::fp::{NanPolicy, Scalar, Tolerance, ZeroPolicy};
use bitrift::matrix::{MatrixError, load};
use bitrift::model::{
    Budget, Callee, ClusterBackend, Domain, Experiment, FpEnvPolicy, Function, Limit, LimitRule,
    SearchSettings,
};
use bitrift::plan::expand;
use proptest::prelude::*;

/// The message of a file, with the path as a user in the project's folder would give it.
fn message(path: &str) -> String {
    load(Path::new(path)).expect_err("this matrix is broken").to_string()
}

fn broken() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir("tests/broken")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_broken_matrix_is_answered_with_its_message() {
    let paths = broken();
    assert!(paths.len() >= 35, "only {} broken matrices", paths.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../broken/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for path in paths {
            let name = path.file_stem().unwrap().to_str().unwrap();
            insta::assert_snapshot!(name, message(path.to_str().unwrap()));
        }
    });
}

#[test]
fn a_file_that_cannot_be_read_is_answered_with_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let misspelt = message("tests/full/matix.toml");
    assert!(misspelt.starts_with("error: there is no file `tests/full/matix.toml`\n"), "{misspelt}");
    assert!(misspelt.ends_with("help: did you mean `tests/full/matrix.toml`?"), "{misspelt}");
    let folder_message = message("tests/full");
    assert!(folder_message.contains("`tests/full` is a folder, not a matrix file"), "{folder_message}");
    assert!(folder_message.contains("did you mean `tests/full/matrix.toml`?"), "{folder_message}");
    let latin = message(&write("latin.toml", b"[lab]\nname = \"M\xfcller\"\n"));
    assert!(latin.contains("is not UTF-8 text: line 2 has the byte 0xfc"), "{latin}");
    let huge = message(&write("huge.toml", &vec![b'#'; (4 << 20) + 1]));
    assert!(huge.contains("larger than 4 MiB"), "{huge}");
    let endless = message("/dev/zero");
    assert!(endless.contains("larger than 4 MiB"), "{endless}");
    let binary = message(&write("binary.toml", b"\x7fELF\0\0\0"));
    assert!(binary.contains("not valid TOML"), "{binary}");
    for deep in [
        format!("a = {}", "[".repeat(2_000_000)),
        format!("a = {}", "{a=".repeat(1_000_000)),
        format!("{}a = 1", "a.".repeat(1_000_000)),
        format!("[{}a]", "a.".repeat(1_000_000)),
        format!("[[{}a]]", "a.".repeat(1_000_000)),
    ] {
        let text = message(&write("deep.toml", deep.as_bytes()));
        assert!(text.starts_with("error: "), "{text:.300}");
    }
    let missing = load(Path::new("no/such/matrix.toml"));
    assert!(matches!(missing, Err(MatrixError::Unreadable { .. })));
}

#[test]
fn only_the_first_of_very_many_problems_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.toml");
    let keys: String = (0..50_000).map(|i| format!("key{i} = 1\n")).collect();
    fs::write(&path, keys).unwrap();
    let text = message(path.to_str().unwrap());
    assert_eq!(text.matches("unknown table or key").count(), 20);
    assert!(text.ends_with("error: 49980 more errors are not shown"), "{text}");
}

fn full() -> Experiment {
    load(Path::new("tests/full/matrix.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn function(name: &str) -> Function {
    full().functions.into_iter().find(|f| f.name == name).unwrap()
}

#[test]
fn the_full_matrix_has_its_axes_as_written() {
    let lab = full();
    let folder = std::env::current_dir().unwrap().join("tests/full");
    assert_eq!((lab.name.as_str(), lab.path), ("everything", folder.join("matrix.toml")));
    assert_eq!(lab.baseline.as_deref(), Some("gcc/O0/native"));
    assert_eq!(
        lab.implementations[0].sources.files,
        [folder.join("src/extra.c"), folder.join("src/roots.c")]
    );
    assert_eq!(lab.implementations[0].sources.include, [folder.join("include"), folder.join("src")]);
    assert_eq!(lab.implementations[0].sources.defines, ["HAVE_CONFIG_H", "SCALE=2", "TWICE(x)=((x)+(x))"]);
    assert_eq!(lab.implementations[0].sources.libs, ["m"]);
    assert_eq!(lab.sandbox.read, [folder.join("include"), "/usr/share".into()]);
    let own = &lab.implementations[0];
    assert_eq!(
        (own.setup.as_deref(), own.setup_headers.as_slice()),
        (Some("prepare();\n"), &["roots.h".to_owned()][..])
    );

    let commands: Vec<&str> = lab.compilers.iter().map(|c| c.command.as_str()).collect();
    let mine = folder.join("tools/cc").to_str().unwrap().to_owned();
    assert_eq!(commands, ["gcc", "clang-16", mine.as_str()]);
    assert_eq!(lab.compilers.iter().map(|c| c.optional).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(lab.compilers[0].args, ["-fno-builtin"]);
    assert_eq!(lab.flags[1].args, ["-O3", "-ffast-math"]);
    let fpenvs: Vec<FpEnvPolicy> = lab.flags.iter().map(|f| f.fpenv).collect();
    assert_eq!(fpenvs, [FpEnvPolicy::Probed, FpEnvPolicy::Ieee, FpEnvPolicy::Ftz]);

    assert_eq!((lab.targets[0].name.as_str(), &lab.targets[0].compilers), ("native", &None));
    let arm = &lab.targets[1];
    assert_eq!((arm.triple.as_deref(), arm.fpenv), (Some("aarch64-linux-gnu"), Some(FpEnvPolicy::Probed)));
    let clang = folder.join("tools/clang").to_str().unwrap().to_owned();
    let commands = vec![("gcc".into(), "aarch64-linux-gnu-gcc".into()), ("clang".into(), clang)];
    assert_eq!(arm.compilers, Some(commands));
    assert_eq!(arm.args, ["-mcpu=cortex-a72"]);
    assert_eq!(arm.runner, ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]);
    assert_eq!(lab.exclude.len(), 2);
}

#[test]
fn the_full_matrix_has_its_functions_as_written() {
    let names: Vec<String> = full().functions.into_iter().map(|f| f.name).collect();
    assert_eq!(names, ["root", "root-narrow", "scale", "airy_ai", "sum_of"]);

    let root = function("root");
    assert_eq!(root.callee, Callee::Signature("double root(double a, double b, double c)".into()));
    assert_eq!(root.coordinates[0].domain_text, "!= 0");
    assert_eq!(
        (&root.coordinates[2].domain, root.coordinates[2].domain_text.as_str()),
        (&Domain::all(Scalar::F64), "")
    );
    assert_eq!((root.results.ty(0), root.interface.returns.as_str()), (Scalar::F64, "double"));

    let narrow = function("root-narrow");
    assert_eq!(narrow.callee, root.callee);
    assert!(narrow.coordinates[0].domain.is_fixed());
    let holds = |param: usize, x: f64| {
        narrow.coordinates[param].domain.contains(Scalar::F64.axis(x.to_bits()).unwrap())
    };
    assert_eq!(narrow.coordinates[1].domain_text, "{0.5, 16, 3}");
    assert!(holds(1, 0.5) && holds(1, 3.0) && holds(1, 16.0) && !holds(1, 4.0));
    assert!(holds(2, 8.0) && holds(2, f64::INFINITY) && !holds(2, 0.0) && !holds(2, 9.0));

    let scale = function("scale");
    assert_eq!(scale.callee, Callee::Signature("float scale(float x1, unsigned long x2, int8_t x3)".into()));
    assert_eq!(scale.scalars(), [Scalar::F32, Scalar::U64, Scalar::I8]);
    assert_eq!(scale.interface.parameters[1].c_type, "unsigned long");
    assert_eq!(scale.headers, ["roots.h"]);

    let airy = function("airy_ai");
    assert_eq!(airy.callee, Callee::Call("gsl_sf_airy_Ai(x, GSL_PREC_DOUBLE)".into()));
    assert_eq!(airy.interface.returns, "double");

    let sum = function("sum_of");
    assert_eq!(sum.callee, Callee::Body("long s = n;\ns += k;\nreturn s;".into()));
    assert_eq!((sum.results.ty(0), sum.interface.returns.as_str()), (Scalar::I64, "long"));
    assert_eq!(sum.coordinates[1].domain.segments.len(), 1);
    assert_eq!(sum.coordinates[1].domain.segments[0].hi, 4);
    let three = Scalar::I32.axis(3).unwrap();
    assert!(!sum.coordinates[0].domain.contains(three));
}

#[test]
fn the_full_matrix_has_its_search_settings_as_written() {
    let expected = SearchSettings {
        strategy: bitrift::model::StrategyName::Cigen,
        seed: 42,
        budget: Budget::Evaluations(200_000),
        timeout_ms: 20,
        max_faults: 8,
        pace_us: 33.5,
        deadline_s: Some(12.5),
        memory_mb: 2048,
        batch: 512,
        nan: NanPolicy::Sign,
        zero: ZeroPolicy::Sign,
        samples: 128,
        dense: 64,
        partitions_f64: vec![-1000, 0, 1000],
        partitions_f32: vec![-100, 100],
        coverage: false,
        edges: false,
        literals: false,
        threshold: 0.1,
        clustering: ClusterBackend::Linfa,
        popsize: 10,
        generations: 25,
        crossover: 1.0,
        dither: (0.4, 0.9),
        tolerance: 0.001,
        tighten: false,
        gap: 2.0,
    };
    assert_eq!(full().search, expected);
}

#[test]
fn the_full_matrix_has_its_limits_as_written_those_of_functions_first() {
    let limit = |function: Option<&str>, build: Option<&str>, rule, expect| Limit {
        function: function.map(str::to_owned),
        build: build.map(str::to_owned),
        rule: Some(rule),
        tolerance: None,
        expect,
    };
    let allow = |reason: &str| LimitRule::Allow(reason.into());
    let expected = [
        limit(Some("scale"), None, allow("by design"), false),
        Limit {
            tolerance: Some(Tolerance { abs: 1e-300, rel: 0.0 }),
            ..limit(Some("airy_ai"), None, LimitRule::MaxBits(52.0), true)
        },
        limit(Some("root*"), Some("gcc/O3-*"), LimitRule::MaxBits(8.0), false),
        limit(None, None, allow("never mind"), false),
        Limit {
            tolerance: Some(Tolerance { abs: 1.0, rel: 1e-9 }),
            ..limit(None, Some("clang/*"), LimitRule::MaxBits(0.5), true)
        },
    ];
    assert_eq!(full().limits, expected);
    assert!(expected[2].matches("root-narrow", "gcc/O3-fast/native"));
    assert!(!expected[2].matches("root", "gcc/O0/native") && expected[3].matches("any", "a/b/c"));
}

#[test]
fn the_full_matrix_expands_to_the_builds_it_describes() {
    let plan = expand(&full()).unwrap();
    let ids: Vec<&str> = plan.builds.iter().map(|build| build.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "gcc/O0/native",
            "gcc/O0/aarch64",
            "gcc/O3-fast/native",
            "gcc/O3-fast/aarch64",
            "gcc/plain/native",
            "gcc/plain/aarch64",
            "clang/O0/native",
            "clang/O3-fast/native",
            "clang/plain/native",
            "clang/plain/aarch64",
            "mine/O0/native",
            "mine/O3-fast/native",
        ]
    );
    assert_eq!(plan.baseline, 0);
    assert_eq!(plan.builds[3].args, ["-fno-builtin", "-mcpu=cortex-a72", "-O3", "-ffast-math"]);
    assert_eq!(plan.builds[3].fpenv, FpEnvPolicy::Probed);
    assert_eq!(plan.builds[2].fpenv, FpEnvPolicy::Ieee);
}

#[test]
fn a_matrix_of_a_few_lines_gets_every_default() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.toml");
    fs::write(
        &path,
        "\u{feff}[[compiler]]\r\nname = \"gcc\"\r\n[[flags]]\r\nname = \"O0\"\r\n[[function]]\r\nname = \"s\"\r\n\
         params = [\"double x\"]\r\nheaders = [\"math.h\"]\r\ncall = \"sin(x)\"\r\n",
    )
    .unwrap();
    let lab = load(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((lab.name.as_str(), lab.baseline.as_deref()), ("small", None));
    assert_eq!(lab.search, SearchSettings::default());
    assert_eq!(lab.compilers[0].command, "gcc");
    assert_eq!(expand(&lab).unwrap().builds[0].id.as_str(), "gcc/O0/native");
}

/// A copy of the full matrix's folder, so that a changed matrix still finds its files.
fn workshop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in ["src", "include"] {
        fs::create_dir(folder.path().join(part)).unwrap();
    }
    for file in ["functions.toml", "src/roots.c", "src/extra.c", "include/roots.h"] {
        fs::copy(Path::new("tests/full").join(file), folder.path().join(file)).unwrap();
    }
    folder
}

/// Loads and plans what it can; a broken matrix must come with a message.
fn try_out(folder: &Path, bytes: &[u8]) {
    let path = folder.join("matrix.toml");
    fs::write(&path, bytes).unwrap();
    match load(&path) {
        Ok(lab) => drop(expand(&lab).map_err(|error| error.to_string())),
        Err(error) => assert!(error.to_string().starts_with("error: "), "{error}"),
    }
}

const PIECES: [&str; 28] = [
    "",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "0",
    "-1",
    "1e999",
    "nan",
    "\"\\u0000\"",
    "é",
    "[[function]]\n",
    "[search]\n",
    "name = ",
    "[\"double x\"]",
    "\"(0, 1)\"",
    "true",
    "1979-05-27",
    "\"\"\"",
    "'",
    "*",
    ",",
    "inf",
    "\"double *\"",
    "#",
];

#[test]
fn random_bytes_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "[\\[\\]a-z=\"'.{}, \n0-9]{0,200}")| {
        try_out(folder.path(), &bytes);
        try_out(folder.path(), text.as_bytes());
    });
}

#[test]
fn a_mutated_matrix_never_panics() {
    let folder = workshop();
    let original = fs::read_to_string("tests/full/matrix.toml").unwrap();
    let change = (0..original.len(), 0usize..12, prop::sample::select(PIECES.to_vec()));
    let config = ProptestConfig::with_cases(1000);
    proptest!(config, |(changes in prop::collection::vec(change, 1..4))| {
        let mut text = original.clone().into_bytes();
        for (at, length, piece) in changes {
            let start = at.min(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, piece.bytes());
        }
        try_out(folder.path(), &text);
    });
}

#[test]
fn a_value_swapped_for_any_other_never_panics() {
    let folder = workshop();
    let original = fs::read_to_string("tests/full/matrix.toml").unwrap();
    let lines: Vec<&str> = original.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some((key, _)) = line.split_once(" = ") else { continue };
        for piece in PIECES {
            let changed = format!("{key} = {piece}");
            let mut copy = lines.clone();
            copy[index] = &changed;
            try_out(folder.path(), copy.join("\n").as_bytes());
        }
    }
}

#[test]
fn an_exclude_that_names_a_compiler_that_is_not_declared_is_refused() {
    let text = fs::read_to_string("matrix.toml").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = text.replace("fixtures/", concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/"));
    let path = folder.path().join("matrix.toml");
    fs::write(&path, format!("{text}\n[[exclude]]\ncompiler = \"tcc\"\nflags = \"O3-fast\"\n")).unwrap();
    let refused = load(&path).unwrap_err().to_string();
    assert!(refused.contains("no compiler matches `tcc`"), "{refused}");
}
