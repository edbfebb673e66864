//! One hand-made run with every odd case, shared by the tests of the renderers.

use std::collections::BTreeMap;

use crate::fp::{NanPolicy, Scalar, Tolerance, ZeroPolicy};
use crate::model::{
    Answer, Budget, BuildRow, BuildStatus, CONFIRM_SCHEMA, Category, ComparisonRow, ConfirmFile, ConfirmRow,
    Confirmed, EdgeKind, EdgeRow, FaultKind, FaultRow, FindingId, FunctionRow, FunctionSamples, HostRow,
    Number, ParamRow, RangeRow, RunFile, SCHEMA, SearchStatus, SourceRow, StopReason, StrategyName,
    WitnessRow,
};
use crate::report::{Material, sample_explained};

pub(super) const HOSTILE: &str = "evil\u{1b}[31m\n<script>alert(1)</script>\u{202e}";

pub(super) fn number(x: f64) -> Number {
    Number::new(Scalar::F64, x.to_bits())
}

pub(super) fn value(x: f64) -> Answer {
    Answer::Value(number(x))
}

/// Intervals (one per parameter), witness inputs are their upper ends.
fn range(category: Category, bounds: &[(f64, f64)], counts: (u64, u64), bits: (f64, f64)) -> RangeRow {
    let edge = EdgeRow { lo: EdgeKind::Sharp, hi: EdgeKind::Ragged };
    RangeRow {
        id: FindingId::of_range("f", &"b".into(), 0),
        lo: bounds.iter().map(|b| number(b.0)).collect(),
        hi: bounds.iter().map(|b| number(b.1)).collect(),
        edges: vec![edge; bounds.len()],
        samples: counts.1,
        inconsistent: counts.0,
        mean_bits: bits.0,
        max_bits: bits.1,
        witness: WitnessRow::of_one(
            bounds.iter().map(|b| number(b.1)).collect(),
            value(0.1),
            value(0.1f64.next_up()),
        ),
        category,
        without_flushing: None,
    }
}

fn comparison(build: &str, ranges: Vec<RangeRow>) -> ComparisonRow {
    let worst = ranges.iter().max_by(|a, b| a.max_bits.total_cmp(&b.max_bits));
    ComparisonRow {
        build: build.into(),
        baseline: "gcc/O0/native".into(),
        evaluations: 100_000,
        stop_reason: StopReason::Complete,
        max_bits: worst.map_or(0.0, |r| r.max_bits),
        witness: worst.map(|r| r.witness.clone()),
        class_changes: BTreeMap::new(),
        tolerance: Tolerance::default(),
        ranges,
    }
}

fn function(name: &str, params: &[&str], comparisons: Vec<ComparisonRow>) -> FunctionRow {
    FunctionRow {
        name: name.into(),
        params: params.iter().map(|p| ParamRow { name: (*p).into(), ty: Scalar::F64 }).collect(),
        result: Scalar::F64,
        results: Vec::new(),
        domains: vec![String::new(); params.len()],
        status: SearchStatus::Searched,
        stop_reason: StopReason::Complete,
        evaluations: 1_234_567,
        comparisons,
        faults: Vec::new(),
        camps: Vec::new(),
        missing: BTreeMap::new(),
        held: None,
        source: None,
        constant: Vec::new(),
        same_code: false,
    }
}

fn build(id: &str, status: BuildStatus, reason: &str) -> BuildRow {
    BuildRow {
        id: id.into(),
        implementation: String::new(),
        compiler: id.split('/').next().unwrap().into(),
        version: if status == BuildStatus::Skipped { "" } else { "gcc (Debian 12.2.0-14) 12.2.0" }.into(),
        flags: Vec::new(),
        target: "native".into(),
        fpenv: if status == BuildStatus::Built { "ieee" } else { "" }.into(),
        emulated: false,
        arithmetic: None,
        libm: String::new(),
        libraries: Default::default(),
        audit: BTreeMap::new(),
        unaudited: String::new(),
        status,
        reason: reason.into(),
        optional: false,
    }
}

fn builds() -> Vec<BuildRow> {
    let mut fast = build("gcc/O3-fast/native", BuildStatus::Built, "");
    fast.fpenv = "ftz".into();
    let mut arm = build("gcc/O2/aarch64", BuildStatus::Built, "");
    arm.emulated = true;
    let message = "fixtures/a.c:3:9: error: unknown type name 'quad'\n    3 | quad x;\n";
    vec![
        build("gcc/O0/native", BuildStatus::Built, ""),
        build("gcc/O2/native", BuildStatus::Built, ""),
        fast,
        arm,
        build("tcc/O3-fast/native", BuildStatus::Failed, message),
        build(
            "clang/O3-fast/native",
            BuildStatus::Skipped,
            "clang-16 is not installed; Debian package clang-16",
        ),
        build(HOSTILE, BuildStatus::Failed, "\u{1b}]0;owned\u{7}"),
    ]
}

fn functions() -> Vec<FunctionRow> {
    let fast = "gcc/O3-fast/native";
    let mut nan = range(Category::ClassChange, &[(-f64::MAX, -0.19612345678)], (476, 512), (46.31, 63.16));
    nan.witness.variant = value(f64::NAN);
    let weak = range(Category::Rounding, &[(0.08212345678, 230.123456)], (1, 5000), (0.0004, 1.0));
    let three = [(-1e6, -2.5), (f64::MIN_POSITIVE / 3.0, 1.0 / 3.0), (7.0, 7.0)];
    let many = (1..=5).map(|k| {
        let x = f64::from(k);
        range(Category::Digits, &[(x, x + 0.123456789)], (100, 512), (x, 2.0 * x))
    });
    let mut root = function(
        "quadratic_root",
        &["a", "b", "c"],
        vec![
            comparison("gcc/O2/native", Vec::new()),
            comparison(fast, vec![range(Category::Sign, &three, (512, 512), (60.2, 63.9))]),
            comparison("gcc/O2/aarch64", many.map(three_parameters).collect()),
        ],
    );
    root.domains = vec!["!= 0".into(), "[-1e6, 1e6]".into(), "7".into()];
    let mut crash = function("divide_or_die", &["x"], vec![comparison(fast, Vec::new())]);
    crash.stop_reason = StopReason::Faults;
    crash.faults = vec![FaultRow {
        build: fast.into(),
        kind: FaultKind::Signal(11),
        count: 1032,
        examples: vec![vec![number(-0.0)], vec![number(f64::NAN)]],
    }];
    let mut lone = comparison(fast, Vec::new());
    lone.max_bits = 12.5;
    lone.witness = Some(WitnessRow::of_one(vec![number(0.5)], value(1.0), Answer::Fault(FaultKind::Timeout)));
    let mut hostile = function(HOSTILE, &[HOSTILE], vec![comparison(HOSTILE, vec![nan.clone()])]);
    hostile.missing = [(HOSTILE.into(), "undefined reference to `\u{1b}[0m'\nmore".to_string())].into();
    let mut airy = function("airy_ai", &["x"], vec![comparison(fast, vec![nan, weak])]);
    airy.source = Some(SourceRow { file: "src/airy.c".into(), line: 12 });
    hostile.source = Some(SourceRow { file: format!("src/{HOSTILE}, a:b%.c"), line: 1 });
    vec![
        airy,
        root,
        function("kahan_sum", &["x"], vec![comparison(fast, Vec::new())]),
        function("log_sum_exp", &["x", "y"], vec![comparison(fast, Vec::new())]),
        crash,
        function("lone", &["x"], vec![lone]),
        hostile,
    ]
}

/// The same interval for three parameters.
fn three_parameters(mut range: RangeRow) -> RangeRow {
    for list in [&mut range.lo, &mut range.hi, &mut range.witness.inputs] {
        *list = vec![list[0]; 3];
    }
    range.edges = vec![range.edges[0]; 3];
    range
}

/// Names every range as a run does.
fn named(mut functions: Vec<FunctionRow>) -> Vec<FunctionRow> {
    for function in &mut functions {
        for comparison in &mut function.comparisons {
            for (index, range) in comparison.ranges.iter_mut().enumerate() {
                range.id = FindingId::of_range(&function.name, &comparison.build, index);
            }
        }
    }
    functions
}

fn samples() -> Vec<FunctionSamples> {
    let hex = |x: f64| number(x).hex();
    let of = |function: &str, params: &[&str], builds: &[&str], samples| FunctionSamples {
        function: function.into(),
        params: params.iter().map(|p| (*p).into()).collect(),
        builds: builds.iter().map(|b| (*b).into()).collect(),
        samples,
        worst: Vec::new(),
        held: Vec::new(),
    };
    vec![
        of(
            "airy_ai",
            &["x"],
            &["gcc/O3-fast/native"],
            vec![(vec![hex(0.1)], vec![Some(1.5)]), (vec![hex(f64::NAN)], vec![None])],
        ),
        of(
            "log_sum_exp",
            &["x", "y"],
            &["gcc/O2/native", "gcc/O3-fast/native"],
            vec![(vec![hex(-0.0), hex(1.0 / 3.0)], vec![Some(0.0), Some(51.25)])],
        ),
        of(HOSTILE, &[HOSTILE], &["a,\"b\""], vec![(vec!["=1+1".into()], vec![Some(0.1)])]),
    ]
}

/// The run and what stands beside it.
pub(super) fn material() -> Material {
    let row = |confirmed, reason: &str| ConfirmRow {
        confirmed,
        worst: None,
        baseline: None,
        variant: None,
        reason: reason.into(),
    };
    let witnesses = [
        ("airy_ai#gcc/O3-fast/native.1".parse().unwrap(), row(Confirmed::Yes, "")),
        ("quadratic_root#gcc/O3-fast/native.1".parse().unwrap(), row(Confirmed::No, "it answers 1")),
        ("quadratic_root#gcc/O2/aarch64.5".parse().unwrap(), row(Confirmed::Unknown, "gcc is gone")),
    ];
    Material {
        run: run(),
        samples: samples().into_iter().map(|s| (s.function.clone(), s)).collect(),
        confirm: Some(ConfirmFile { schema: CONFIRM_SCHEMA.into(), witnesses: witnesses.into() }),
        speed: None,
        explain: Some(sample_explained::explain()),
        name: None,
    }
}

/// The run.
pub(super) fn run() -> RunFile {
    RunFile {
        schema: SCHEMA.into(),
        bitrift: "0.1.0".into(),
        name: "odd".into(),
        seed: 1,
        strategy: StrategyName::Cigen,
        budget: Budget::Evaluations(100_000),
        nan: NanPolicy::Any,
        zero: ZeroPolicy::Any,
        host: HostRow { cpu: "x86".into(), libm: "glibc 2.36".into() },
        baseline: "gcc/O0/native".into(),
        sources: BTreeMap::new(),
        builds: builds(),
        functions: named(functions()),
    }
}
