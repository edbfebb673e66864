//! The strategies that vary bit patterns, exponents and mantissas (`ga`, `lsga`, `hsed`): what each
//! is good at, and that every type and domain is searched.

use crate::fakes::{doubles, is_inside, one, param, planted_build, search, span, task};
use bitrift::eval::FakeBuild;
use bitrift::fp::{Scalar, Side};
use bitrift::model::{Budget, Domain, Outcome, Segment};
use bitrift::search::Task;

const NAMES: [&str; 3] = ["ga", "lsga", "hsed"];

fn with(strategy: &str, mut task: Task) -> Task {
    task.settings.strategy = strategy.parse().unwrap();
    task
}

/// The most bits a search finds, as the mean of five seeds.
fn mean_of_maxima(name: &str, task: &Task, variant: impl Fn() -> FakeBuild) -> f64 {
    let best = |seed| {
        let mut task = with(name, task.clone());
        task.settings.seed = seed;
        let result = search(&task, vec![one(), variant()]);
        result.comparisons[0].witness.as_ref().map_or(0.0, |witness| witness.bits)
    };
    (1..=5).map(best).sum::<f64>() / 5.0
}

fn exponent(bits: u64) -> u32 {
    (bits >> 52 & 0x7ff) as u32
}

/// 1 plus so many ulps, at most half of what there is.
fn off_by(ulps: u64) -> Outcome {
    Outcome::Value(1f64.to_bits() + ulps.min(1 << 51))
}

/// Inconsistency rises by a bit for each exponent towards `peak` in every parameter, from 40 away.
fn exponents_near(peak: u32) -> FakeBuild {
    Box::new(move |input| {
        let away = input.iter().map(|&x| exponent(x).abs_diff(peak)).max().unwrap_or(0);
        off_by(if away > 40 { 0 } else { 1 << (40 - away) })
    })
}

#[test]
fn lsga_climbs_along_the_exponents_of_all_parameters() {
    for (arity, more) in [(1, 0.0), (2, 8.0), (3, 8.0)] {
        let task = doubles(arity, Budget::Evaluations(4000), 1);
        let lsga = mean_of_maxima("lsga", &task, || exponents_near(1060));
        let random = mean_of_maxima("random", &task, || exponents_near(1060));
        assert!(lsga > 25.0 && lsga > random + more, "{arity} parameters: {lsga}, random {random}");
    }
}

/// Inconsistency of one over the distance from a float, as around the root of a function.
fn around_root(root: u64) -> FakeBuild {
    Box::new(move |input| off_by((1 << 54) / input[0].abs_diff(root).max(1)))
}

#[test]
fn hsed_digs_between_a_number_of_low_precision_and_the_next() {
    let mut x = param("x", Scalar::F64);
    let place = |v: f64| Scalar::F64.axis(v.to_bits()).unwrap().mag;
    // The paper's usual interval.
    x.domain = on(Side::Positive, place(0.01), place(100.0));
    let task = task(vec![x], Budget::Evaluations(100_000), 1);
    for near in [1.5f64, 0.02, 77.0] {
        // In the lower half of the gap at ten mantissa bits, and again at 23.
        let root = (near.to_bits() >> 42 << 42) + (1 << 40) + (1 << 27);
        let hsed = mean_of_maxima("hsed", &task, || around_root(root));
        let random = mean_of_maxima("random", &task, || around_root(root));
        assert!(hsed > 35.0 && hsed > random + 15.0, "{near}: {hsed}, random {random}");
    }
}

/// Inconsistency rises with the number of leading bits that every parameter shares with a pattern.
fn leading_bits_of(pattern: u64) -> FakeBuild {
    Box::new(move |input| {
        let level = input.iter().map(|&x| (x ^ pattern).leading_zeros()).min().unwrap_or(0).min(12);
        off_by(if level == 0 { 0 } else { 1 << (4 * level) })
    })
}

#[test]
fn ga_breeds_the_leading_bits_of_the_fit() {
    let task = doubles(3, Budget::Evaluations(10_000), 1);
    let ga = mean_of_maxima("ga", &task, || leading_bits_of(0x5a5a_5a5a_5a5a_5a5a));
    let random = mean_of_maxima("random", &task, || leading_bits_of(0x5a5a_5a5a_5a5a_5a5a));
    assert!(ga > random + 1.0, "{ga}, random {random}");
}

fn on(side: Side, lo: u64, hi: u64) -> Domain {
    Domain::of(vec![Segment { side, lo, hi }])
}

#[test]
fn every_type_is_searched_within_its_domain() {
    for name in NAMES {
        for ty in Scalar::ALL {
            let (mut x, mut n) = (param("x", ty), param("n", Scalar::I32));
            if ty.is_float() {
                let place = |v: f64| ty.axis(crate::fakes::bits_of(ty, v)).unwrap().mag;
                x.domain = on(Side::Positive, place(0.125), place(1e30));
            } else {
                x.domain = on(Side::Positive, 3, 120);
            }
            n.domain = on(Side::Negative, 1, 1_000_000);
            let task = with(name, task(vec![x, n], Budget::Evaluations(5000), 1));
            let params = task.function.coordinates.clone();
            let region = vec![vec![span(10.0, 100.0), span(-1000.0, -10.0)]];
            let inner = planted_build(&task, &region);
            let checked: FakeBuild = Box::new(move |input| {
                for (param, &bits) in params.iter().zip(input) {
                    let place = param.ty.axis(bits).unwrap();
                    assert!(param.domain.contains(place), "{name}: {bits:x} of {:?}", param.ty);
                }
                inner(input)
            });
            let result = search(&task, vec![one(), checked]);
            let ranges = &result.comparisons[0].ranges;
            assert!(!ranges.is_empty(), "{name} found nothing with {ty:?}");
            assert!(ranges.iter().all(|r| is_inside(&task, &region, &r.witness.inputs)));
        }
    }
}

#[test]
fn a_fixed_parameter_stays_and_the_others_are_searched() {
    for name in NAMES {
        let mut fixed = param("a", Scalar::F64);
        let mag = Scalar::F64.axis(2.5f64.to_bits()).unwrap().mag;
        fixed.domain = on(Side::Positive, mag, mag);
        let task = with(name, task(vec![fixed, param("x", Scalar::F64)], Budget::Evaluations(5000), 1));
        let region = vec![vec![span(2.5, 2.5), span(1e-30, 1e10)]];
        let result = search(&task, vec![one(), planted_build(&task, &region)]);
        assert!(!result.comparisons[0].ranges.is_empty(), "{name}");
    }
}
