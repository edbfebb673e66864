//! The exhaustive strategy against a brute-force count: every input, every cell, every edge.

use std::collections::BTreeMap;

use crate::fakes::{param, search, task};
use bitrift::eval::FakeBuild;
use bitrift::fp::{Scalar, Side};
use bitrift::model::{
    Budget, BuildId, Domain, EdgeKind, FaultKind, FunctionResult, Outcome, Segment, StopReason,
};
use bitrift::search::{Task, unfit_for_exhaustive};

fn mix(bits: u64) -> u64 {
    let x = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ (x >> 29)
}

/// How many ulps the planted variant is off: everywhere among small subnormals, at every seventh input
/// or so of two stretches, nowhere else.
fn ulps(bits: u64) -> u64 {
    let x = f32::from_bits(bits as u32);
    let magnitude = bits & 0x7fff_ffff;
    if (3..2000).contains(&magnitude) {
        1
    } else if (1.5..1.625).contains(&x) || (-3.125..-3.0).contains(&x) {
        if mix(bits).is_multiple_of(7) { 1 + mix(bits) % 100 } else { 0 }
    } else {
        0
    }
}

fn planted() -> FakeBuild {
    Box::new(|input| Outcome::Value(1f64.to_bits() + ulps(input[0])))
}

fn one() -> FakeBuild {
    crate::fakes::one()
}

/// Subnormals and zeros of both sides, and a stretch of normal floats on each.
fn stretches() -> Vec<(u32, u32)> {
    let normal = |x: f32| x.to_bits();
    vec![
        (0x8000_0000, 0x8000_5000),
        (normal(-3.0), normal(-3.2)),
        (0, 0x5000),
        (normal(1.0), normal(1.625)),
        (normal(7.0), normal(7.01)),
    ]
}

fn swept_task() -> Task {
    let ty = Scalar::F32;
    let segment = |(lo, hi): (u32, u32)| {
        let (lo, hi) = (ty.axis(lo.into()).unwrap(), ty.axis(hi.into()).unwrap());
        Segment { side: lo.side, lo: lo.mag, hi: hi.mag }
    };
    let mut x = param("x", ty);
    x.domain = Domain::of(stretches().into_iter().map(segment).collect());
    let mut task = task(vec![x], Budget::Paper, 1);
    task.settings.strategy = bitrift::model::StrategyName::Exhaustive;
    task
}

fn every_input() -> impl Iterator<Item = u64> {
    stretches().into_iter().flat_map(|(lo, hi)| u64::from(lo)..=u64::from(hi))
}

/// Sign, binade and sixteenth of it, by hand: zero has a cell of its own.
fn cell(bits: u64) -> (bool, i32, u64) {
    let (negative, magnitude) = (bits >> 31 == 1, bits & 0x7fff_ffff);
    if magnitude == 0 {
        return (negative, -1000, 0);
    }
    if magnitude >> 23 != 0 {
        return (negative, (magnitude >> 23) as i32 - 127, magnitude >> 19 & 15);
    }
    let top = magnitude.ilog2();
    (negative, top as i32 - 149, (magnitude << 4 >> top) & 15)
}

#[test]
fn counts_cells_maximum_and_ranges_are_those_of_a_brute_force_count() {
    let result = search(&swept_task(), vec![one(), planted()]);
    let comparison = &result.comparisons[0];
    assert_eq!((result.stop, comparison.stop), (StopReason::Complete, StopReason::Complete));
    let (mut cells, mut order) = (BTreeMap::new(), Vec::new());
    for bits in every_input() {
        let count = cells.entry(cell(bits)).or_insert((0, 0));
        if count.0 == 0 {
            order.push(cell(bits));
        }
        *count = (count.0 + 1, count.1 + u64::from(ulps(bits) > 0));
    }
    let census = comparison.census.as_ref().unwrap();
    // The domain lists the negative side first and each side away from zero, as a census does.
    let expected: Vec<(bool, u64, u64)> = order.iter().map(|c| (c.0, cells[c].0, cells[c].1)).collect();
    let counted: Vec<(bool, u64, u64)> =
        census.cells.iter().map(|c| (c.side == Side::Negative, c.inputs, c.inconsistent)).collect();
    assert_eq!(counted, expected);
    let hits: Vec<u64> = every_input().filter(|&bits| ulps(bits) > 0).collect();
    let most = hits.iter().map(|&bits| ulps(bits)).max().unwrap();
    assert_eq!(census.inputs, every_input().count() as u64);
    assert_eq!((comparison.evaluations, census.inconsistent), (census.inputs, hits.len() as u64));
    assert_eq!(census.at_max, hits.iter().filter(|&&bits| ulps(bits) == most).count() as u64);
    let witness = comparison.witness.as_ref().unwrap();
    assert_eq!(witness.bits, ((most + 1) as f64).log2());
    let first = hits.iter().filter(|&&bits| ulps(bits) == most).min();
    assert_eq!(witness.inputs.first(), first);
    check_ranges(&result, &hits);
}

fn check_ranges(result: &FunctionResult, hits: &[u64]) {
    let ranges = &result.comparisons[0].ranges;
    let value = |bits: u64| f32::from_bits(bits as u32);
    let ends: Vec<(f32, f32)> = ranges.iter().map(|r| (value(r.lo[0]), value(r.hi[0]))).collect();
    let tiny = f32::from_bits;
    let stretch = |lo: f32, hi: f32| {
        let inside = || hits.iter().map(|&bits| value(bits)).filter(|x| (lo..=hi).contains(x));
        (inside().fold(f32::MAX, f32::min), inside().fold(f32::MIN, f32::max))
    };
    let expected = [stretch(-3.2, -3.0), (-tiny(1999), -tiny(3)), (tiny(3), tiny(1999)), stretch(1.0, 1.7)];
    assert_eq!(ends, expected);
    for range in ranges {
        let (lo, hi) = (value(range.lo[0]), value(range.hi[0]));
        let is_in =
            |bits: u64| (lo..=hi).contains(&value(bits)) && (bits >> 31 == 1) == lo.is_sign_negative();
        let inside: Vec<u64> = hits.iter().copied().filter(|&bits| is_in(bits)).collect();
        let sum: f64 = inside.iter().map(|&bits| ((ulps(bits) + 1) as f64).log2()).sum();
        assert_eq!(range.samples, every_input().filter(|&bits| is_in(bits)).count() as u64);
        assert_eq!(range.inconsistent, inside.len() as u64);
        assert!((range.mean_bits - sum / range.samples as f64).abs() < 1e-9);
        let solid = if range.samples == range.inconsistent { EdgeKind::Sharp } else { EdgeKind::Ragged };
        assert_eq!((range.edges[0].lo, range.edges[0].hi), (solid, solid));
    }
}

#[test]
fn a_second_variant_changes_nothing_for_the_first() {
    let mut task = swept_task();
    let alone = search(&task, vec![one(), planted()]);
    task.builds.push(BuildId("clang/O3/native".into()));
    let all: FakeBuild = Box::new(|_| Outcome::Value(2f64.to_bits()));
    let both = search(&task, vec![one(), planted(), all]);
    assert_eq!(both.comparisons[0], alone.comparisons[0]);
    let census = both.comparisons[1].census.as_ref().unwrap();
    assert_eq!((census.inconsistent, census.at_max), (census.inputs, census.inputs));
}

#[test]
fn other_parameters_may_be_fixed() {
    let mut task = swept_task();
    let mut n = param("n", Scalar::I32);
    n.domain = Domain::of(vec![Segment { side: Side::Negative, lo: 3, hi: 3 }]);
    task.function.coordinates.insert(0, n);
    let minus_three = (-3i64).cast_unsigned();
    let variant: FakeBuild = Box::new(move |input| {
        assert_eq!(input[0], minus_three);
        Outcome::Value(1f64.to_bits() + ulps(input[1]))
    });
    let result = search(&task, vec![one(), variant]);
    let alone = search(&swept_task(), vec![one(), planted()]);
    assert_eq!(result.comparisons[0].census, alone.comparisons[0].census);
    assert!(result.comparisons[0].ranges.iter().all(|r| r.lo[0] == minus_three && r.hi[0] == minus_three));
}

#[test]
fn a_build_that_faults_too_often_is_given_up_and_nothing_is_called_true() {
    let task = swept_task();
    let faulty: FakeBuild = Box::new(|input| match input[0] >> 31 {
        1 => Outcome::Value(1f64.to_bits()),
        _ => Outcome::Fault(FaultKind::Signal(11)),
    });
    let result = search(&task, vec![one(), faulty]);
    let comparison = &result.comparisons[0];
    assert_eq!((comparison.stop, &comparison.census), (StopReason::Faults, &None));
    assert!(result.faults[0].count >= u64::from(task.settings.max_faults));
    assert!(result.faults[0].count < 3000, "{}", result.faults[0].count);
}

#[test]
fn a_few_faults_are_counted_and_the_rest_is_still_exact() {
    let variant: FakeBuild = Box::new(|input| match input[0] {
        7 | 8 => Outcome::Fault(FaultKind::Timeout),
        bits => Outcome::Value(1f64.to_bits() + ulps(bits)),
    });
    let result = search(&swept_task(), vec![one(), variant]);
    let census = result.comparisons[0].census.as_ref().unwrap();
    let all = every_input().filter(|&bits| ulps(bits) > 0).count() as u64;
    assert_eq!((census.inputs, census.inconsistent), (every_input().count() as u64, all - 2));
    assert_eq!((result.faults[0].count, result.faults[0].examples.len()), (2, 2));
}

#[test]
fn a_build_that_answers_differently_each_time_is_named() {
    let count = std::cell::Cell::new(0u64);
    let moody: FakeBuild = Box::new(move |_| {
        count.set(count.get() + 1);
        Outcome::Value(count.get())
    });
    let result = search(&swept_task(), vec![one(), moody]);
    assert_eq!(result.comparisons[0].stop, StopReason::Nondeterministic);
    assert_eq!(result.comparisons[0].census, None);
}

#[test]
fn only_one_free_parameter_of_at_most_2_to_the_32_values_is_fit() {
    let function = |params| task(params, Budget::Paper, 1).function;
    assert_eq!(unfit_for_exhaustive(&function(vec![param("x", Scalar::F32)])), None);
    assert_eq!(unfit_for_exhaustive(&function(vec![param("n", Scalar::U32)])), None);
    let words = unfit_for_exhaustive(&function(vec![param("x", Scalar::F64)])).unwrap();
    assert!(words.contains("the domain of x has 18437736874454810624 values"), "{words}");
    let words =
        unfit_for_exhaustive(&function(vec![param("a", Scalar::F32), param("b", Scalar::I8)])).unwrap();
    assert_eq!(words, "it has 2 free parameters (a, b)");
}
