//! Two hand-made runs against each other.

use std::collections::BTreeMap;

use super::*;
use crate::fp::{NanPolicy, Scalar, Tolerance, ZeroPolicy};
use crate::model::{
    Answer, Budget, BuildRow, BuildStatus, EdgeKind, EdgeRow, FaultKind, HostRow, Number, ParamRow, RangeRow,
    SCHEMA, SearchStatus, StopReason, StrategyName, WitnessRow,
};

fn number(x: f64) -> Number {
    Number::new(Scalar::F64, x.to_bits())
}

fn value(x: f64) -> Answer {
    Answer::Value(number(x))
}

fn range(lo: f64, hi: f64, bits: f64, category: Category) -> RangeRow {
    RangeRow {
        id: "f#v.1".parse().unwrap(),
        lo: vec![number(lo)],
        hi: vec![number(hi)],
        edges: vec![EdgeRow { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp }],
        samples: 10,
        inconsistent: 5,
        mean_bits: 1.0,
        max_bits: bits,
        witness: WitnessRow::of_one(vec![number(hi)], value(1.0), value(2.0)),
        category,
        without_flushing: None,
    }
}

fn comparison(build: &str, ranges: Vec<RangeRow>) -> ComparisonRow {
    let max_bits = ranges.iter().map(|r| r.max_bits).fold(0.0, f64::max);
    let witness = ranges.iter().find(|r| r.max_bits == max_bits).map(|r| r.witness.clone());
    ComparisonRow {
        build: build.into(),
        baseline: "gcc/O0/native".into(),
        evaluations: 1,
        stop_reason: StopReason::Complete,
        max_bits,
        witness,
        class_changes: BTreeMap::new(),
        tolerance: Tolerance::default(),
        ranges,
    }
}

fn function(name: &str, comparisons: Vec<ComparisonRow>) -> FunctionRow {
    FunctionRow {
        name: name.into(),
        params: vec![ParamRow { name: "x".into(), ty: Scalar::F64 }],
        result: Scalar::F64,
        results: Vec::new(),
        domains: vec![String::new()],
        status: SearchStatus::Searched,
        stop_reason: StopReason::Complete,
        evaluations: 1,
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

fn build(id: &str) -> BuildRow {
    BuildRow {
        id: id.into(),
        implementation: String::new(),
        compiler: id.split('/').next().unwrap().into(),
        version: "gcc 12".into(),
        flags: vec!["-O2".into()],
        target: "native".into(),
        fpenv: "ieee".into(),
        emulated: false,
        arithmetic: None,
        libm: "glibc".into(),
        libraries: Default::default(),
        audit: BTreeMap::new(),
        unaudited: String::new(),
        status: BuildStatus::Built,
        reason: String::new(),
        optional: false,
    }
}

fn run(builds: &[&str], functions: Vec<FunctionRow>) -> RunFile {
    RunFile {
        schema: SCHEMA.into(),
        bitrift: "0.1.0".into(),
        name: "lab".into(),
        seed: 1,
        strategy: StrategyName::Auto,
        budget: Budget::Paper,
        nan: NanPolicy::Any,
        zero: ZeroPolicy::Any,
        host: HostRow { cpu: "x86".into(), libm: "glibc".into() },
        baseline: "gcc/O0/native".into(),
        builds: builds.iter().map(|id| build(id)).collect(),
        sources: BTreeMap::new(),
        functions,
    }
}

const BUILDS: [&str; 2] = ["gcc/O0/native", "gcc/O2/native"];

/// One function with these ranges under gcc -O2.
fn with(ranges: Vec<RangeRow>) -> RunFile {
    run(&BUILDS, vec![function("f", vec![comparison(BUILDS[1], ranges)])])
}

fn rules(tolerance: f64) -> Rules {
    Rules { tolerance, ..Rules::default() }
}

fn changes(a: Vec<RangeRow>, b: Vec<RangeRow>) -> Vec<Change> {
    let comparison = compare(&with(a), &with(b), &rules(0.5));
    comparison.functions[0].builds[0].changes().collect()
}

#[test]
fn a_run_against_itself_is_unchanged() {
    let one = with(vec![range(1.0, 2.0, 5.0, Category::Rounding), range(-2.0, -1.0, 50.0, Category::Sign)]);
    let comparison = compare(&one, &one, &rules(0.0));
    assert_eq!(comparison.total(Change::Unchanged), 2);
    assert_eq!(comparison.totals.values().sum::<usize>(), 2);
    assert!(
        comparison.only_a.is_empty() && comparison.only_b.is_empty() && comparison.differences.is_empty()
    );
}

#[test]
fn ranges_are_new_gone_worse_or_better_by_overlap_and_tolerance() {
    let rounding = |lo, hi, bits| range(lo, hi, bits, Category::Rounding);
    assert_eq!(changes(vec![], vec![rounding(1.0, 2.0, 3.0)]), [Change::New]);
    assert_eq!(changes(vec![rounding(1.0, 2.0, 3.0)], vec![]), [Change::Gone]);
    assert_eq!(changes(vec![rounding(1.0, 2.0, 3.0)], vec![rounding(1.5, 4.0, 3.4)]), [Change::Unchanged]);
    assert_eq!(changes(vec![rounding(1.0, 2.0, 3.0)], vec![rounding(1.5, 4.0, 3.6)]), [Change::Worse]);
    assert_eq!(changes(vec![rounding(1.0, 2.0, 3.0)], vec![rounding(1.5, 4.0, 2.4)]), [Change::Better]);
    let moved = changes(vec![rounding(1.0, 2.0, 3.0)], vec![rounding(8.0, 16.0, 3.0)]);
    assert_eq!(moved, [Change::New, Change::Gone]);
    let split = vec![rounding(1.0, 2.0, 1.0), rounding(4.0, 8.0, 3.0)];
    assert_eq!(changes(vec![rounding(1.0, 8.0, 3.0)], split), [Change::Unchanged]);
}

#[test]
fn a_tolerance_covers_ranges_of_fewer_bits_but_no_change_of_class() {
    let compared = |category: Category, bits: f64| {
        let b = with(vec![range(1.0, 2.0, bits, category)]);
        compare(&with(vec![]), &b, &rules(8.0)).functions[0].builds[0].change
    };
    assert_eq!(compared(Category::Rounding, 7.0), Change::Unchanged);
    assert_eq!(compared(Category::Rounding, 9.0), Change::New);
    assert_eq!(compared(Category::ClassChange, 0.0), Change::New);
    let class = changes(
        vec![range(1.0, 2.0, 3.0, Category::Rounding)],
        vec![range(1.0, 2.0, 0.0, Category::ClassChange)],
    );
    assert_eq!(class, [Change::Worse]);
}

#[test]
fn a_lone_input_counts_as_a_range_of_its_own() {
    let mut lone = comparison(BUILDS[1], vec![]);
    lone.max_bits = 12.0;
    lone.witness = Some(range(1.0, 1.5, 12.0, Category::Digits).witness);
    let b = run(&BUILDS, vec![function("f", vec![lone])]);
    let pair = &compare(&with(vec![]), &b, &rules(0.5)).functions[0].builds[0];
    assert_eq!((pair.change, pair.ranges.len()), (Change::New, 1));
    let inside = compare(&with(vec![range(1.0, 2.0, 12.0, Category::Digits)]), &b, &rules(0.5));
    assert_eq!(inside.functions[0].builds[0].change, Change::Unchanged);
}

#[test]
fn functions_and_builds_of_one_run_only_are_listed_and_the_rest_is_compared() {
    let o2 = |name: &str| function(name, vec![comparison(BUILDS[1], vec![])]);
    let a = run(&["gcc/O0/native", "gcc/O2/native", "tcc/O0/native"], vec![o2("f"), o2("old")]);
    let mut b = run(&["gcc/O0/native", "gcc/O2/native", "clang/O2/native"], vec![o2("new"), o2("f")]);
    b.builds[2].status = BuildStatus::Failed;
    let mut changed = o2("changed");
    let a = RunFile { functions: [a.functions.clone(), vec![changed.clone()]].concat(), ..a };
    changed.params[0].ty = Scalar::F32;
    b.functions.push(changed);
    let comparison = compare(&a, &b, &rules(0.5));
    assert_eq!(
        (&comparison.only_a.functions[..], &comparison.only_b.functions[..]),
        (&["old".into()][..], &["new".into()][..])
    );
    assert_eq!(comparison.only_a.builds[0].id, "tcc/O0/native");
    assert!(comparison.only_b.builds.is_empty(), "a build that failed is nobody's");
    assert_eq!(comparison.incomparable[0].reason, "double (double x) became double (float x)");
    assert_eq!(comparison.functions.len(), 1);
}

#[test]
fn renamed_builds_are_matched_by_id_or_by_part() {
    let of = |compiler: &str, bits: f64| {
        let ids = [format!("{compiler}/O0/native"), format!("{compiler}/O2/native")];
        let ranges = vec![range(1.0, 2.0, bits, Category::Rounding)];
        let mut run = run(&[&ids[0], &ids[1]], vec![function("f", vec![comparison(&ids[1], ranges)])]);
        run.baseline = ids[0].as_str().into();
        run
    };
    let (a, b) = (of("gcc-12", 3.0), of("gcc-13", 5.0));
    let plain = compare(&a, &b, &rules(0.5));
    assert_eq!((plain.only_a.builds.len(), plain.only_b.builds.len()), (2, 2));
    assert!(plain.functions[0].builds.is_empty());
    let names = Rules { tolerance: 0.5, names: vec![("gcc-12".into(), "gcc-13".into())], ..Rules::default() };
    let mapped = compare(&a, &b, &names);
    assert!(mapped.only_a.is_empty() && mapped.only_b.is_empty() && mapped.differences.is_empty());
    assert_eq!(mapped.total(Change::Worse), 1);
    let whole = Rules {
        tolerance: 0.5,
        names: vec![("gcc-12/O2/native".into(), "gcc-13/O2/native".into())],
        ..Rules::default()
    };
    assert_eq!(compare(&a, &b, &whole).total(Change::Worse), 1);
    assert_eq!(names.unknown_name(&b), Some("gcc-12"));
    assert_eq!(names.unknown_name(&a), None);
}

#[test]
fn what_differs_around_the_functions_is_told_once_for_all_builds() {
    let a = with(vec![]);
    let mut b = with(vec![]);
    b.host.cpu = "arm".into();
    b.seed = 2;
    for build in &mut b.builds {
        build.version = "gcc 13".into();
    }
    let comparison = compare(&a, &b, &rules(0.5));
    let told: Vec<_> = comparison.differences.iter().map(|d| (d.what.as_str(), d.builds.len())).collect();
    assert_eq!(told, [("processor", 0), ("seed", 0), ("compiler", 2)]);
}

#[test]
fn faults_are_new_or_gone_by_their_kind() {
    let fault = |kind: FaultKind| FaultRow { build: BUILDS[1].into(), kind, count: 3, examples: Vec::new() };
    let (mut a, mut b) = (with(vec![]), with(vec![]));
    a.functions[0].faults = vec![fault(FaultKind::Timeout), fault(FaultKind::Signal(8))];
    b.functions[0].faults = vec![fault(FaultKind::Timeout), fault(FaultKind::Signal(11))];
    let comparison = compare(&a, &b, &rules(0.5));
    let told: Vec<_> =
        comparison.functions[0].builds[0].faults.iter().map(|f| (f.kind.to_string(), f.change)).collect();
    assert_eq!(
        told,
        [("timeout", Change::Unchanged), ("SIGSEGV", Change::New), ("SIGFPE", Change::Gone)]
            .map(|(kind, change)| (kind.to_string(), change))
    );
    assert_eq!(comparison.functions[0].builds[0].change, Change::New);
}

#[test]
fn a_part_of_a_build_has_its_new_name_in_every_implementation() {
    let names = [("gcc", "gcc-13"), ("gsl", "gsl-2.8")].map(|(from, to)| (from.to_string(), to.to_string()));
    let rules = Rules { names: names.into(), ..Rules::default() };
    assert_eq!(rules.renamed(&"gsl:gcc/O2/native".into()), "gsl-2.8:gcc-13/O2/native");
    assert_eq!(rules.renamed(&"musl:gcc/O2/native".into()), "musl:gcc-13/O2/native");
    assert_eq!(rules.renamed(&"gcc/O2/native".into()), "gcc-13/O2/native");
}
