//! How a search behaves around its findings: faults, nondeterminism, budgets, reproducibility.

use std::cell::Cell;

use crate::fakes::{Region, binades, doubles, one, param, planted_build, search, search_planted, span, task};
use bitrift::eval::{Fake, FakeBuild};
use bitrift::fp::{Scalar, Side};
use bitrift::model::{
    Budget, BuildId, ComparisonResult, FaultKind, FaultRecord, FunctionResult, Outcome, Segment, StopReason,
};
use bitrift::search::{Answer, Task, Unit, create, run_unit};

fn regions() -> Vec<Region> {
    vec![vec![binades(3.0, 10.0)], vec![binades(40.0, 45.0)], vec![span(-8.0, -1.0)]]
}

/// A search whose units run in any order, each through the wire's form and back.
fn search_shuffled(task: &Task, evaluator: &mut Fake) -> FunctionResult {
    let mut strategy = create(task);
    while strategy.next_phase() {
        let units: Vec<Unit> = std::iter::from_fn(|| strategy.next_unit()).collect();
        let mut answers: Vec<(usize, Answer)> = Vec::new();
        for (i, unit) in units.iter().enumerate().rev() {
            let wire = postcard::to_stdvec(unit).unwrap();
            let unit: Unit = postcard::from_bytes(&wire).unwrap();
            let answer = run_unit(task, &unit, evaluator).unwrap();
            let wire = postcard::to_stdvec(&answer).unwrap();
            answers.push((i, postcard::from_bytes(&wire).unwrap()));
        }
        answers.sort_by_key(|(i, _)| *i);
        answers.into_iter().for_each(|(_, answer)| strategy.absorb(answer));
    }
    strategy.finish()
}

#[test]
fn the_order_in_which_units_run_changes_nothing() {
    for (arity, budget) in [(1, Budget::Paper), (1, Budget::Evaluations(60_000)), (2, Budget::Paper)] {
        let task = doubles(arity, budget, 3);
        let regions = vec![vec![binades(-300.0, 10.0); arity]];
        let mut fake = Fake::new(arity, vec![one(), planted_build(&task, &regions)]);
        assert_eq!(search_planted(&task, &regions), search_shuffled(&task, &mut fake));
    }
}

#[test]
fn another_seed_samples_other_inputs() {
    let samples = |seed| search_planted(&doubles(1, Budget::Paper, seed), &regions()).samples;
    assert_eq!(samples(1), samples(1));
    assert_ne!(samples(1), samples(2));
}

#[test]
fn a_third_build_changes_nothing_for_the_second() {
    let mut task = doubles(1, Budget::Evaluations(40_000), 5);
    let alone = search_planted(&task, &regions());
    task.builds.push(BuildId("clang/O3/native".into()));
    let others: [FakeBuild; 3] = [
        planted_build(&task, &[vec![binades(-500.0, 700.0)]]),
        Box::new(|_| Outcome::Fault(FaultKind::Signal(11))),
        flaky(7),
    ];
    for other in others {
        let both = search(&task, vec![one(), planted_build(&task, &regions()), other]);
        assert_eq!(both.comparisons[0], alone.comparisons[0]);
        assert_eq!(both.comparisons.len(), 2);
    }
}

/// Answers something else every `period` calls.
fn flaky(period: u32) -> FakeBuild {
    let calls = Cell::new(0u32);
    Box::new(move |_| {
        calls.set(calls.get() + 1);
        Outcome::Value(1f64.to_bits() + u64::from(calls.get().is_multiple_of(period)))
    })
}

fn label(build: usize) -> FaultRecord {
    FaultRecord { build, kind: FaultKind::Nondeterministic, count: 1, examples: vec![] }
}

#[test]
fn a_nondeterministic_variant_is_labelled_and_tells_no_numbers() {
    let task = doubles(1, Budget::Paper, 1);
    let result = search(&task, vec![one(), flaky(10)]);
    let comparison = &result.comparisons[0];
    assert_eq!(comparison.stop, StopReason::Nondeterministic);
    assert!(comparison.ranges.is_empty() && comparison.witness.is_none());
    assert_eq!(result.faults, [label(1)]);
    assert!(result.samples.iter().all(|sample| sample.bits[0] == 0.0));
}

#[test]
fn a_nondeterministic_baseline_stops_every_comparison() {
    let mut task = doubles(1, Budget::Paper, 1);
    task.builds.push(BuildId("clang/O3/native".into()));
    let result = search(&task, vec![flaky(10), one(), one()]);
    assert_eq!(result.stop, StopReason::Nondeterministic);
    assert!(result.comparisons.iter().all(|c| c.stop == StopReason::Nondeterministic));
    assert_eq!(result.faults, [label(0)]);
}

#[test]
fn a_build_that_faults_too_often_is_given_up_and_what_was_found_is_kept() {
    let task = doubles(1, Budget::Paper, 1);
    let limit = u64::from(task.settings.max_faults);
    let bad: FakeBuild = Box::new(|input| match f64::from_bits(input[0]) {
        x if x < -1e100 => Outcome::Fault(FaultKind::Timeout),
        x if x > 1.0 => Outcome::Value(2f64.to_bits()),
        _ => Outcome::Value(1f64.to_bits()),
    });
    let result = search(&task, vec![one(), bad]);
    let comparison = &result.comparisons[0];
    assert_eq!((comparison.stop, result.stop), (StopReason::Faults, StopReason::Faults));
    let fault = &result.faults[0];
    assert_eq!((fault.build, fault.kind), (1, FaultKind::Timeout));
    assert!(2 * fault.count >= limit && fault.count <= 4 * limit, "{}", fault.count);
    assert_eq!(fault.examples.len(), 4);
    assert!(fault.examples.iter().all(|x| f64::from_bits(x[0]) < -1e100));
    assert!(!comparison.ranges.is_empty());
    assert!(comparison.ranges.iter().all(|r| f64::from_bits(r.hi[0]) > 1.0));
    assert!(comparison.witness.is_some());
}

#[test]
fn a_few_faults_are_recorded_and_the_search_goes_on() {
    let task = doubles(1, Budget::Paper, 1);
    let regions = regions();
    let sound = planted_build(&task, &regions);
    let bad: FakeBuild = Box::new(move |input| match f64::from_bits(input[0]) {
        x if (1e-200..1e-198).contains(&x) => Outcome::Fault(FaultKind::Signal(11)),
        _ => sound(input),
    });
    let result = search(&task, vec![one(), bad]);
    let comparison = &result.comparisons[0];
    assert_eq!(comparison.stop, StopReason::Complete);
    assert_eq!(comparison.ranges, search_planted(&task, &regions).comparisons[0].ranges);
    assert_eq!(result.faults.len(), 1);
    assert!(comparison.class_changes.values().sum::<u64>() >= result.faults[0].count);
}

#[test]
fn a_baseline_that_only_faults_stops_the_function() {
    let mut task = doubles(1, Budget::Evaluations(50_000), 1);
    task.builds.push(BuildId("clang/O3/native".into()));
    let fault = || -> FakeBuild { Box::new(|_| Outcome::Fault(FaultKind::Exit(3))) };
    let result = search(&task, vec![fault(), one(), one()]);
    assert_eq!(result.stop, StopReason::Faults);
    assert!(result.comparisons.iter().all(|c| c.stop == StopReason::Faults && c.ranges.is_empty()));
    assert_eq!(result.faults[0].build, 0);
    assert!(result.evaluations < 2000);
}

#[test]
fn a_budget_is_never_exceeded_and_a_small_one_says_so() {
    for arity in [1, 2, 4] {
        for total in [50, 1000, 8000, 100_000, 400_000] {
            let task = doubles(arity, Budget::Evaluations(total), 1);
            let regions = vec![vec![binades(-800.0, 800.0); arity], vec![span(-1e300, -1e-300); arity]];
            let result = search_planted(&task, &regions);
            let comparison = &result.comparisons[0];
            assert!(comparison.evaluations <= total, "{} of {total}", comparison.evaluations);
            assert!(!comparison.ranges.is_empty() || total < 1000 || arity > 2);
            if total <= 8000 {
                assert_eq!(comparison.stop, StopReason::Budget, "{arity} parameters, {total}");
            }
        }
    }
}

#[test]
fn a_large_budget_is_spent_on_finer_samples() {
    let total = 6_000_000;
    let narrow = span(3.0, 3.0 * (1.0 + 2f64.powi(-9)));
    let cases: [&[Region]; 3] = [&[], &[vec![binades(3.0, 10.0)]], &[vec![narrow]]];
    for regions in cases {
        let result = search_planted(&doubles(1, Budget::Evaluations(total), 1), regions);
        let comparison = &result.comparisons[0];
        assert!(comparison.evaluations > total * 3 / 4, "{}", comparison.evaluations);
        assert!(comparison.evaluations <= total, "{}", comparison.evaluations);
        assert_eq!(comparison.ranges.len(), regions.len());
        assert_eq!(comparison.stop, StopReason::Complete);
    }
}

#[test]
fn a_small_domain_is_not_searched_twice_however_large_the_budget() {
    let mut task = task(vec![param("n", Scalar::I32)], Budget::Evaluations(4_000_000), 1);
    task.function.coordinates[0].domain.segments = vec![Segment { side: Side::Positive, lo: 0, hi: 200_000 }];
    let result = search_planted(&task, &[vec![span(100.0, 200.0)]]);
    assert_eq!(result.stop, StopReason::Complete);
    assert!(result.evaluations < 1_000_000, "{}", result.evaluations);
}

#[test]
fn eight_parameters_do_not_explode() {
    let task = doubles(8, Budget::Paper, 1);
    let result = search_planted(&task, &[vec![span(0.0, f64::MAX); 8]]);
    let comparison = &result.comparisons[0];
    assert_eq!(comparison.ranges.len(), 1);
    assert!(comparison.evaluations < 400_000, "{}", comparison.evaluations);
}

#[test]
fn a_search_stopped_between_phases_keeps_what_it_has() {
    let task = doubles(1, Budget::Evaluations(50_000), 1);
    let mut fake = Fake::new(1, vec![one(), planted_build(&task, &regions())]);
    for phases in 0..6 {
        let mut strategy = create(&task);
        let mut goes_on = strategy.next_phase();
        for _ in 0..phases {
            while let Some(unit) = strategy.next_unit() {
                strategy.absorb(run_unit(&task, &unit, &mut fake).unwrap());
            }
            goes_on = strategy.next_phase();
        }
        let comparison: ComparisonResult = strategy.finish().comparisons.remove(0);
        assert_eq!(comparison.stop, if goes_on { StopReason::Deadline } else { StopReason::Complete });
        assert_eq!(comparison.ranges.is_empty(), phases == 0);
    }
}

#[test]
fn every_result_type_and_class_change_is_compared() {
    let mut task = task(vec![param("x", Scalar::F64)], Budget::Paper, 1);
    task.function.results = bitrift::model::Results::one(Scalar::F32);
    let nan = u64::from(f32::NAN.to_bits());
    let build: FakeBuild = Box::new(move |input| {
        Outcome::Value(if f64::from_bits(input[0]) > 4.0 { nan } else { u64::from(1f32.to_bits()) })
    });
    let baseline = || -> FakeBuild { Box::new(|_| Outcome::Value(u64::from(1f32.to_bits()))) };
    let result = search(&task, vec![baseline(), build]);
    let comparison = &result.comparisons[0];
    assert_eq!(comparison.ranges.len(), 1);
    assert_eq!(f64::from_bits(comparison.ranges[0].lo[0]), 4.0f64.next_up());
    assert!(comparison.class_changes.keys().any(|c| c.as_str() == "finite-to-nan"));
}

#[test]
fn cancellation_of_four_parameters_is_told_in_few_ranges() {
    let values = |input: &[u64]| -> [f64; 4] { std::array::from_fn(|i| f64::from_bits(input[i])) };
    let kahan: FakeBuild = Box::new(move |input| {
        let (mut sum, mut lost) = (0.0, 0.0);
        for term in values(input) {
            let (y, before) = (term - lost, sum);
            sum = before + y;
            lost = (sum - before) - y;
        }
        Outcome::Value(f64::to_bits(sum))
    });
    let plain: FakeBuild = Box::new(move |input| Outcome::Value(values(input).iter().sum::<f64>().to_bits()));
    let result = search(&doubles(4, Budget::Evaluations(100_000), 1), vec![kahan, plain]);
    let ranges = result.comparisons[0].ranges.len();
    assert!((1..=64).contains(&ranges), "{ranges}");
}

/// Every input the variant was asked for that differs from the baseline.
type Log = std::rc::Rc<std::cell::RefCell<std::collections::BTreeSet<Vec<u64>>>>;

fn logging(baseline: fn(&[f64]) -> f64, variant: fn(&[f64]) -> f64, log: &Log) -> [FakeBuild; 2] {
    let values = |input: &[u64]| input.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<f64>>();
    let log = log.clone();
    [
        Box::new(move |input| Outcome::Value(baseline(&values(input)).to_bits())),
        Box::new(move |input| {
            let (a, b) = (baseline(&values(input)), variant(&values(input)));
            // The sign of zero and the payload of NaN are no inconsistency.
            if a != b && !(a.is_nan() && b.is_nan()) {
                log.borrow_mut().insert(input.to_vec());
            }
            Outcome::Value(b.to_bits())
        }),
    ]
}

#[test]
fn every_inconsistent_sample_lies_in_exactly_one_range() {
    type Code = fn(&[f64]) -> f64;
    let cases: [(usize, Code, Code); 6] = [
        (1, |x| (x[0] + 1.0) - 1.0, |x| x[0]),
        (1, |x| (x[0] * x[0]).sqrt(), |x| x[0].abs()),
        (1, |x| x[0] / 3.0, |x| if x[0].to_bits() % 97 == 0 { x[0] } else { x[0] / 3.0 }),
        (2, |x| (x[0] + x[1]) - x[0], |x| x[1]),
        (2, |x| x[0] * x[0] - x[1] * x[1], |x| (x[0] - x[1]) * (x[0] + x[1])),
        (3, |x| (x[0] * x[1]) * x[2], |x| x[0] * (x[1] * x[2])),
    ];
    for (arity, baseline, variant) in cases {
        for budget in [Budget::Paper, Budget::Evaluations(80_000)] {
            let log = Log::default();
            let result = search(&doubles(arity, budget, 1), logging(baseline, variant, &log).into());
            let ranges = &result.comparisons[0].ranges;
            for input in log.borrow().iter() {
                let holds = |r: &&bitrift::model::RangeResult| {
                    (0..arity).all(|i| {
                        let ordinal = |bits| Scalar::F64.ordinal(bits).unwrap();
                        let same_side = Scalar::F64.is_negative(r.hi[i]) == Scalar::F64.is_negative(input[i]);
                        same_side && (ordinal(r.lo[i])..=ordinal(r.hi[i])).contains(&ordinal(input[i]))
                    })
                };
                assert_eq!(
                    ranges.iter().filter(holds).count(),
                    1,
                    "{arity} parameters, {budget:?}: {input:x?}"
                );
            }
        }
    }
}

#[test]
fn identical_builds_have_no_ranges() {
    for arity in [1, 3] {
        let task = doubles(arity, Budget::Evaluations(50_000), 1);
        let result = search(&task, vec![one(), one()]);
        assert_eq!(result.stop, StopReason::Complete);
        assert!(result.comparisons[0].ranges.is_empty() && result.comparisons[0].witness.is_none());
        assert!(result.faults.is_empty());
        assert!(!result.samples.is_empty() && result.samples.len() <= 2000);
    }
}
