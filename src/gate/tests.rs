//! Verdicts and updates from hand-made runs: one function `f` of a double, one variant.

use std::collections::BTreeMap;

use super::*;
use crate::fp::{Equality, NanPolicy, Scalar, Tolerance, ZeroPolicy};
use crate::model::{
    Answer, Budget, BuildRow, BuildStatus, Category, ClassChange, ComparisonRow, EdgeKind, EdgeRow,
    FaultKind, FaultRow, FindingId, FunctionRow, GateFile, GateKind, GateSymptom, GateVerdict, HeldRow,
    HeldValue, HostRow, Limit, LimitRule, LockFile, Number, Outcome, ParamRow, RangeRow, RunFile, SCHEMA,
    SearchStatus, StopReason, StrategyName, Whole, WitnessRow,
};

const BASE: &str = "gcc/O0/native";
const VARIANT: &str = "gcc/O3/native";

static NOTHING: BTreeMap<String, Vec<HeldValue>> = BTreeMap::new();
const KEPT: Kept<'static> = Kept { then: &NOTHING, now: &NOTHING };

fn number(x: f64) -> Number {
    Number::new(Scalar::F64, x.to_bits())
}

fn value(x: f64) -> Answer {
    Answer::Value(number(x))
}

/// From `lo` to `hi`, at most `bits`, which the middle shows.
fn range(lo: f64, hi: f64, bits: f64) -> RangeRow {
    let middle = lo + (hi - lo) / 2.0;
    RangeRow {
        id: FindingId::of_range("f", &VARIANT.into(), lo as usize),
        lo: vec![number(lo)],
        hi: vec![number(hi)],
        edges: vec![EdgeRow { lo: EdgeKind::Sharp, hi: EdgeKind::Ragged }],
        samples: 100,
        inconsistent: 50,
        mean_bits: bits / 2.0,
        max_bits: bits,
        witness: WitnessRow::of_one(vec![number(middle)], value(1.0), value(apart(bits))),
        category: Category::Digits,
        without_flushing: None,
    }
}

/// A number so many bits from 1.
fn apart(bits: f64) -> f64 {
    f64::from_bits(1.0f64.to_bits() + bits.exp2().round() as u64 - 1)
}

fn build(id: &str) -> BuildRow {
    BuildRow {
        id: id.into(),
        implementation: String::new(),
        compiler: "gcc".into(),
        version: "gcc 12".into(),
        flags: Vec::new(),
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

fn run(ranges: Vec<RangeRow>) -> RunFile {
    let comparison = ComparisonRow {
        build: VARIANT.into(),
        baseline: BASE.into(),
        evaluations: 1000,
        stop_reason: StopReason::Complete,
        max_bits: ranges.iter().map(|r| r.max_bits).fold(0.0, f64::max),
        witness: ranges.first().map(|r| r.witness.clone()),
        class_changes: BTreeMap::new(),
        tolerance: Tolerance::default(),
        ranges,
    };
    RunFile {
        schema: SCHEMA.into(),
        bitrift: "0.1.0".into(),
        name: "lab".into(),
        seed: 1,
        strategy: StrategyName::Auto,
        budget: Budget::Evaluations(1000),
        nan: NanPolicy::Any,
        zero: ZeroPolicy::Any,
        host: HostRow { cpu: "x86".into(), libm: "glibc".into() },
        baseline: BASE.into(),
        builds: vec![build(BASE), build(VARIANT)],
        sources: BTreeMap::new(),
        functions: vec![FunctionRow {
            name: "f".into(),
            params: vec![ParamRow { name: "x".into(), ty: Scalar::F64 }],
            result: Scalar::F64,
            results: Vec::new(),
            domains: vec![String::new()],
            status: SearchStatus::Searched,
            stop_reason: StopReason::Complete,
            evaluations: 1000,
            comparisons: vec![comparison],
            faults: Vec::new(),
            camps: Vec::new(),
            missing: BTreeMap::new(),
            held: Some(HeldRow { inputs: 64, blocks: vec![Some(1)] }),
            source: None,
            constant: Vec::new(),
            same_code: false,
        }],
    }
}

fn lock(ranges: Vec<RangeRow>) -> LockFile {
    accept(None, &run(ranges), Wish::default()).unwrap().lock
}

/// Looks answered by a function of the input: the variant's outcome; the baseline says 1.
fn answered(looks: Vec<Look>, variant: impl Fn(f64) -> Outcome) -> Vec<Seen> {
    let one = Outcome::Value(1.0f64.to_bits());
    let see = |look: Look| {
        let answer = if look.build == BASE { one } else { variant(f64::from_bits(look.inputs[0].bits)) };
        let both: (Whole, Whole) = (one.into(), answer.into());
        Seen { look, first: both.clone(), second: both }
    };
    looks.into_iter().map(see).collect()
}

fn judged(lock: &LockFile, run: &RunFile, limits: &[Limit], variant: impl Fn(f64) -> Outcome) -> GateFile {
    let mut looks = witness_looks(lock);
    looks.extend(run_looks(run, &BTreeMap::new(), lock, 1.0));
    let policy = Policy {
        lock,
        limits,
        tolerance: 1.0,
        equality: Equality::default(),
        matrix_equality: None,
        kept: KEPT,
        strict: false,
    };
    verdict(&policy, run, &answered(looks, variant))
}

fn kinds(gate: &GateFile) -> Vec<GateKind> {
    gate.findings.iter().map(|f| f.kind).collect()
}

fn off_by(bits: f64) -> impl Fn(f64) -> Outcome {
    move |_| Outcome::Value(apart(bits).to_bits())
}

#[test]
fn the_run_that_was_accepted_is_green() {
    let ranges = vec![range(2.0, 8.0, 10.0), range(100.0, 200.0, 3.0)];
    let same = |x: f64| off_by(if x < 50.0 { 10.0 } else { 3.0 })(x);
    let gate = judged(&lock(ranges.clone()), &run(ranges), &[], same);
    assert_eq!(kinds(&gate), []);
    assert_eq!((gate.replay.witnesses, gate.replay.held, gate.notes.len()), (2, 2, 0), "{gate:?}");
}

#[test]
fn an_input_outside_every_accepted_range_is_new_unless_the_slack_holds_it() {
    let lock = lock(vec![range(2.0, 8.0, 10.0)]);
    let gate = judged(&lock, &run(vec![range(2.0, 8.0, 10.0), range(64.0, 128.0, 5.0)]), &[], off_by(5.0));
    assert_eq!(kinds(&gate), [GateKind::New]);
    assert_eq!(gate.findings[0].witness.as_ref().unwrap().inputs[0].dec(), "96");
    // The upper edge is ragged: a binade. The lower one is sharp.
    assert_eq!(kinds(&judged(&lock, &run(vec![range(2.0, 15.0, 10.0)]), &[], off_by(5.0))), []);
    assert_eq!(kinds(&judged(&lock, &run(vec![range(1.0, 8.0, 10.0)]), &[], off_by(5.0))), [GateKind::New]);
}

#[test]
fn a_range_that_only_looks_larger_is_not_red() {
    // Its ends agree when they are asked.
    let clean_outside = |x: f64| off_by(if (2.0..=8.0).contains(&x) { 5.0 } else { 0.0 })(x);
    let mut wide = range(0.5, 100.0, 5.0);
    wide.witness.inputs = vec![number(4.0)];
    assert_eq!(kinds(&judged(&lock(vec![range(2.0, 8.0, 5.0)]), &run(vec![wide]), &[], clean_outside)), []);
}

#[test]
fn more_bits_than_accepted_are_worse_beyond_the_tolerance() {
    let lock = lock(vec![range(2.0, 8.0, 10.0)]);
    let now = run(vec![range(2.0, 8.0, 10.0)]);
    assert_eq!(kinds(&judged(&lock, &now, &[], off_by(11.0))), []);
    let gate = judged(&lock, &now, &[], off_by(11.5));
    // The witness of the lock is that of the run: one finding.
    assert_eq!(kinds(&gate), [GateKind::Worse]);
    assert_eq!(gate.findings[0].accepted, Some(10.0));
}

#[test]
fn a_change_of_class_or_a_fault_is_red_unless_it_was_accepted() {
    let lock = lock(vec![range(2.0, 8.0, 63.0)]);
    let now = run(vec![range(2.0, 8.0, 63.0)]);
    let nan = |_| Outcome::Value(f64::NAN.to_bits());
    let gate = judged(&lock, &now, &[], nan);
    assert_eq!(
        (kinds(&gate), gate.findings[0].what),
        (vec![GateKind::ClassChange], Some(GateSymptom::Change(ClassChange::FiniteToNan)))
    );
    let timeout = |_| Outcome::Fault(FaultKind::Timeout);
    let gate = judged(&lock, &now, &[], timeout);
    assert_eq!((kinds(&gate), gate.replay.faulted), (vec![GateKind::Fault], 1));
    let mut known = run(vec![range(2.0, 8.0, 63.0)]);
    known.functions[0].comparisons[0].class_changes.insert(ClassChange::FiniteToNan, 3);
    let (build, kind) = (VARIANT.into(), FaultKind::Timeout);
    known.functions[0].faults.push(FaultRow { build, kind, count: 1, examples: vec![vec![number(3.0)]] });
    let lock = accept(None, &known, Wish::default()).unwrap().lock;
    assert_eq!(kinds(&judged(&lock, &known, &[], nan)), []);
    assert_eq!(kinds(&judged(&lock, &known, &[], timeout)), []);
}

#[test]
fn what_only_the_clock_decided_is_a_note() {
    let lock = lock(vec![range(2.0, 8.0, 10.0)]);
    let now = run(vec![range(2.0, 8.0, 10.0)]);
    let mut seen = answered(witness_looks(&lock), off_by(10.0));
    seen[0].second.1 = Outcome::Fault(FaultKind::Timeout).into();
    let policy = Policy {
        lock: &lock,
        limits: &[],
        tolerance: 1.0,
        equality: Equality::default(),
        matrix_equality: None,
        kept: KEPT,
        strict: false,
    };
    let gate = verdict(&policy, &now, &seen);
    assert!(gate.findings.is_empty() && gate.notes[0].text.contains("close to its timeout"), "{gate:?}");
    seen[0].second.1 = Outcome::Value(7).into();
    assert_eq!(
        verdict(&policy, &now, &seen).findings[0].what,
        Some(GateSymptom::Fault(FaultKind::Nondeterministic))
    );
}

#[test]
fn the_last_limit_that_matches_decides() {
    let limit = |build: &str, rule| Limit { build: Some(build.into()), rule: Some(rule), ..Limit::default() };
    let (most, allow) = (|bits| LimitRule::MaxBits(bits), || LimitRule::Allow("fine".into()));
    let lock = lock(vec![range(2.0, 8.0, 10.0)]);
    let now = run(vec![range(2.0, 8.0, 10.0), range(64.0, 128.0, 10.0)]);
    let gate = |limits: &[Limit]| kinds(&judged(&lock, &now, limits, off_by(10.0)));
    assert_eq!(gate(&[limit("gcc/*", most(9.0))]), [GateKind::OverLimit, GateKind::New]);
    assert_eq!(gate(&[limit("gcc/*", most(9.0)), limit("*", allow())]), []);
    assert_eq!(gate(&[limit("*", allow()), limit("*/O3/*", most(12.0))]), [GateKind::New]);
    let idle = judged(&lock, &now, &[limit("clang/*", allow())], off_by(10.0));
    assert!(idle.notes.iter().any(|n| n.text.contains("`clang/*` matches nothing")), "{idle:?}");
}

fn ranges_of(lock: &LockFile) -> Vec<(String, String, f64)> {
    let Some(comparison) = lock.functions["f"].builds.get(VARIANT) else { return Vec::new() };
    let text = |r: &crate::model::LockRange| (r.lo[0].dec(), r.hi[0].dec(), r.max_bits);
    comparison.ranges.iter().map(text).collect()
}

fn actions(update: &Update) -> Vec<Action> {
    update.changes.iter().map(|change| change.action).collect()
}

#[test]
fn an_update_only_tightens_unless_it_may_loosen() {
    let old = lock(vec![range(2.0, 8.0, 10.0), range(100.0, 200.0, 3.0)]);
    let new = run(vec![range(2.5, 7.0, 9.0), range(1000.0, 3000.0, 4.0)]);
    let update = accept(Some(&old), &new, Wish::default()).unwrap();
    assert_eq!(ranges_of(&update.lock), [("2.5".into(), "7".into(), 9.0)]);
    assert_eq!(actions(&update), [Action::Tightened, Action::Removed, Action::Refused]);
    let update = accept(Some(&old), &new, Wish { loosen: true, prune: false }).unwrap();
    assert_eq!(update.lock, lock(vec![range(2.5, 7.0, 9.0), range(1000.0, 3000.0, 4.0)]));
    assert_eq!(actions(&update), [Action::Tightened, Action::Added, Action::Removed]);
    // Worse bits in the same box stay out as well, and the build stays what it was accepted as.
    let mut worse = run(vec![range(2.0, 8.0, 20.0), range(100.0, 200.0, 3.0)]);
    worse.builds[1].version = "gcc 13".into();
    let update = accept(Some(&old), &worse, Wish::default()).unwrap();
    assert_eq!(update.lock.builds, old.builds);
    assert_eq!((ranges_of(&update.lock), actions(&update)), (ranges_of(&old), vec![Action::Refused]));
}

#[test]
fn a_search_that_was_cut_short_or_smaller_removes_nothing() {
    let old = lock(vec![range(2.0, 8.0, 10.0)]);
    let mut cut = run(Vec::new());
    cut.functions[0].comparisons[0].stop_reason = StopReason::Deadline;
    assert_eq!(accept(Some(&old), &cut, Wish::default()).unwrap().lock, old);
    let mut small = run(Vec::new());
    small.budget = Budget::Paper;
    assert_eq!(accept(Some(&old), &small, Wish::default()).unwrap().lock, old);
    let gone = accept(Some(&old), &run(Vec::new()), Wish::default()).unwrap().lock;
    assert!(gone.functions["f"].clean.contains(VARIANT) && ranges_of(&gone).is_empty());
}

#[test]
fn what_a_run_has_not_got_stays_until_it_is_pruned() {
    let old = lock(vec![range(2.0, 8.0, 10.0)]);
    let mut other = run(vec![range(2.0, 8.0, 10.0)]);
    other.functions[0].name = "g".into();
    let kept = accept(Some(&old), &other, Wish::default()).unwrap();
    assert!(kept.lock.functions.contains_key("f") && actions(&kept).contains(&Action::Kept));
    assert!(kept.lock.functions["g"].builds.is_empty() && actions(&kept).contains(&Action::Refused));
    let pruned = accept(Some(&old), &other, Wish { loosen: false, prune: true }).unwrap().lock;
    assert!(!pruned.functions.contains_key("f"));
    other.baseline = VARIANT.into();
    assert!(matches!(accept(Some(&old), &other, Wish::default()), Err(AcceptError::OtherBaseline { .. })));
}

#[test]
fn what_only_the_replay_showed_can_be_accepted_too() {
    let accepted = lock(vec![range(2.0, 8.0, 10.0)]);
    // The search found as little as before; the witness is far worse.
    let mut red = run(vec![range(2.0, 8.0, 10.0)]);
    let gate = judged(&accepted, &red, &[], off_by(40.0));
    assert_eq!(kinds(&gate), [GateKind::Worse]);
    let without = accept(Some(&accepted), &red, Wish { loosen: true, prune: false }).unwrap().lock;
    assert_eq!(kinds(&judged(&without, &red, &[], off_by(40.0))), [GateKind::Worse]);
    carry(&mut red, &gate);
    let refused = accept(Some(&accepted), &red, Wish::default()).unwrap();
    assert!(actions(&refused).contains(&Action::Refused), "{refused:?}");
    let taken = accept(Some(&accepted), &red, Wish { loosen: true, prune: false }).unwrap().lock;
    assert_eq!(kinds(&judged(&taken, &run(vec![range(2.0, 8.0, 10.0)]), &[], off_by(40.0))), []);
}

#[test]
fn a_fault_that_only_the_replay_showed_can_be_accepted_too() {
    let accepted = lock(vec![range(2.0, 8.0, 10.0)]);
    let mut red = run(vec![range(2.0, 8.0, 10.0)]);
    let timeout = |_| Outcome::Fault(FaultKind::Timeout);
    let gate = judged(&accepted, &red, &[], timeout);
    assert_eq!(kinds(&gate), [GateKind::Fault]);
    carry(&mut red, &gate);
    let taken = accept(Some(&accepted), &red, Wish { loosen: true, prune: false }).unwrap().lock;
    assert_eq!(kinds(&judged(&taken, &red, &[], timeout)), []);
}

/// The verdict on a run of no findings that ended so, with so many evaluations and this budget; the lock has 1000 of both.
fn ended(stop: StopReason, evaluations: u64, budget: Budget) -> GateVerdict {
    let mut run = run(Vec::new());
    run.budget = budget;
    run.functions[0].comparisons[0].stop_reason = stop;
    run.functions[0].comparisons[0].evaluations = evaluations;
    judged(&lock(Vec::new()), &run, &[], off_by(0.0)).verdict
}

#[test]
fn green_needs_a_search_as_long_as_the_lock_asks() {
    use GateVerdict::{Green, Incomplete};
    let same = Budget::Evaluations(1000);
    for (stop, evaluations, budget, expected) in [
        (StopReason::Complete, 1, same, Green),
        (StopReason::Complete, 0, same, Incomplete),
        (StopReason::Budget, 1000, same, Green),
        (StopReason::Budget, 999, Budget::Evaluations(999), Incomplete),
        (StopReason::Complete, 499, Budget::Evaluations(999), Incomplete),
        (StopReason::Complete, 500, Budget::Paper, Green),
        (StopReason::Pace, 500, same, Green),
        (StopReason::Pace, 499, same, Incomplete),
        (StopReason::Deadline, 1000, same, Incomplete),
        (StopReason::Faults, 1000, same, Incomplete),
        (StopReason::Lost, 1000, same, Incomplete),
        (StopReason::Missing, 0, same, Incomplete),
    ] {
        assert_eq!(ended(stop, evaluations, budget), expected, "{stop:?} {evaluations} {budget:?}");
    }
}

#[test]
fn a_fault_without_an_input_is_red_whatever_its_kind() {
    let mut run = run(Vec::new());
    let (build, kind) = (VARIANT.into(), FaultKind::Garbled);
    run.functions[0].faults = vec![FaultRow { build, kind, count: 1, examples: Vec::new() }];
    assert_eq!(kinds(&judged(&lock(Vec::new()), &run, &[], off_by(0.0))), [GateKind::Fault]);
}
