//! The strategies that vary bit patterns, exponents and mantissas (`ga`, `lsga`, `hsed`): what each
//! is good at, and that every type and domain is searched.

mod fakes;

use bitrift::eval::FakeBuild;
use bitrift::fp::{Scalar, Side};
use bitrift::model::{Budget, Domain, Outcome, Segment};
use bitrift::search::Task;
use fakes::{doubles, is_inside, one, param, planted_build, search, span, task};

const NAMES: [&str; 3] = ["ga", "lsga", "hsed"];

fn with(strategy: &str, mut task: Task) -> Task {
    task.settings.strategy = strategy.into();
    task
}

/// The most bits a search finds, as the mean of five seeds.
fn mean_of_maxima(name: &str, arity: usize, budget: u64, variant: impl Fn() -> FakeBuild) -> f64 {
    let best = |seed| {
        let task = with(name, doubles(arity, Budget::Evaluations(budget), seed));
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
        let lsga = mean_of_maxima("lsga", arity, 4000, || exponents_near(1060));
        let random = mean_of_maxima("random", arity, 4000, || exponents_near(1060));
        assert!(lsga > 25.0 && lsga > random + more, "{arity} parameters: {lsga}, random {random}");
    }
}

/// Inconsistency of one over the distance from a float, as around the root of a function.
fn around_root(root: f64) -> FakeBuild {
    Box::new(move |input| {
        let away = input[0].abs_diff(root.to_bits()).max(1);
        off_by((1 << 54) / away)
    })
}

#[test]
fn hsed_digs_between_the_low_precision_neighbours_of_a_root() {
    for root in [2.404825557695773, -3.3e55, 1.7e-300] {
        let hsed = mean_of_maxima("hsed", 1, 30_000, || around_root(root));
        let random = mean_of_maxima("random", 1, 30_000, || around_root(root));
        assert!(hsed > random + 8.0, "{root:e}: {hsed}, random {random}");
    }
}

/// Every bit that agrees with a pattern is worth half a bit of inconsistency.
fn bits_alike(pattern: u64) -> FakeBuild {
    Box::new(move |input| off_by(1 << ((!(input[0] ^ pattern)).count_ones() / 2)))
}

#[test]
fn ga_breeds_the_bits_of_the_fit() {
    let pattern = 0x4035_5a5a_3c3c_0ff0;
    let ga = mean_of_maxima("ga", 1, 10_000, || bits_alike(pattern));
    let random = mean_of_maxima("random", 1, 10_000, || bits_alike(pattern));
    assert!(ga > random, "{ga}, random {random}");
}

fn on(side: Side, lo: u64, hi: u64) -> Domain {
    Domain { segments: vec![Segment { side, lo, hi }] }
}

#[test]
fn every_type_is_searched_within_its_domain() {
    for name in NAMES {
        for ty in Scalar::ALL {
            let (mut x, mut n) = (param("x", ty), param("n", Scalar::I32));
            if ty.is_float() {
                let place = |v: f64| ty.axis(fakes::bits_of(ty, v)).unwrap().mag;
                x.domain = on(Side::Positive, place(0.125), place(1e30));
            } else {
                x.domain = on(Side::Positive, 3, 120);
            }
            n.domain = on(Side::Negative, 1, 1_000_000);
            let task = with(name, task(vec![x, n], Budget::Evaluations(5000), 1));
            let params = task.function.params.clone();
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
