//! What the default strategy finds that sampling does not, and how it treats slow and faulty code.

use std::time::Duration;

use crate::fakes::{doubles, one, planted_build, search, span};
use bitrift::eval::{EvalError, Evaluator, FakeBuild};
use bitrift::fp::Side;
use bitrift::model::{Budget, FaultKind, FunctionResult, Outcome, Outcomes, Segment, StopReason};
use bitrift::search::{Task, run_here};

fn with(strategy: &str, arity: usize, budget: u64, seed: u64) -> Task {
    let mut task = doubles(arity, Budget::Evaluations(budget), seed);
    task.settings.strategy = strategy.parse().unwrap();
    task
}

fn most_bits(result: &FunctionResult) -> f64 {
    result.comparisons[0].witness.as_ref().map_or(0.0, |w| w.bits)
}

fn build(f: impl Fn(&[f64]) -> f64 + 'static) -> FakeBuild {
    Box::new(move |input| {
        let x: Vec<f64> = input.iter().map(|&bits| f64::from_bits(bits)).collect();
        Outcome::Value(f(&x).to_bits())
    })
}

/// A root in two builds that round differently: beside it they have opposite signs.
const ROOT: f64 = 0.577_350_269_189_625_8;

#[test]
fn a_root_that_two_builds_put_an_ulp_apart_is_found_to_the_last_bit() {
    for seed in 1..=10 {
        let builds = || vec![build(|x| x[0] - ROOT), build(|x| x[0] - ROOT.next_up())];
        let found = search(&with("auto", 1, 20_000, seed), builds());
        assert!(most_bits(&found) > 61.0, "seed {seed}: {}", most_bits(&found));
        let witness = f64::from_bits(found.comparisons[0].witness.as_ref().unwrap().inputs[0]);
        assert!((witness - ROOT).abs() <= 4.0 * f64::EPSILON, "{witness}");
        // Samples alone come nowhere near it.
        let sampled = search(&with("random", 1, 20_000, seed), builds());
        assert!(most_bits(&sampled) < 30.0, "seed {seed}: {}", most_bits(&sampled));
    }
}

/// One root after every whole number, and a jump back at every whole number.
fn sawtooth(x: f64) -> f64 {
    x - x.floor() - 1.0 / 3.0
}

#[test]
fn of_a_row_of_roots_the_one_that_two_builds_see_differently_is_found() {
    for seed in 1..=5 {
        let odd = 1.0 / 3.0 - 62.0;
        let flipped = move |x: f64| if (x - odd).abs() < 4e-14 { -sawtooth(x) } else { sawtooth(x) };
        let builds = || vec![build(|x| sawtooth(x[0])), build(move |x| flipped(x[0]))];
        let found = search(&with("auto", 1, 200_000, seed), builds());
        assert!(most_bits(&found) > 61.0, "seed {seed}: {}", most_bits(&found));
        let sampled = search(&with("cigen", 1, 200_000, seed), builds());
        assert_eq!(most_bits(&sampled), 0.0, "seed {seed}");
    }
}

#[test]
fn a_threshold_at_which_one_build_overflows_first_is_found() {
    let limit = 709.782_712_893_384;
    let overflows = |limit: f64| build(move |x| if x[0] > limit { f64::INFINITY } else { 1.0 });
    for seed in 1..=10 {
        let later = limit + 8.0 * f64::EPSILON * limit;
        let found = search(&with("auto", 1, 20_000, seed), vec![overflows(limit), overflows(later)]);
        let ranges = &found.comparisons[0].ranges;
        assert_eq!(ranges.len(), 1, "seed {seed}");
        let inside = f64::from_bits(ranges[0].witness.inputs[0]);
        assert!(inside > limit && inside <= later, "seed {seed}: {inside}");
    }
}

#[test]
fn a_curve_of_roots_in_two_parameters_is_found() {
    for seed in 1..=5 {
        let builds = vec![build(|x| x[0] - 3.0 * x[1]), build(|x| x[0] - 3.0 * x[1] * (1.0 + f64::EPSILON))];
        let found = search(&with("auto", 2, 40_000, seed), builds);
        assert!(most_bits(&found) > 60.0, "seed {seed}: {}", most_bits(&found));
    }
}

#[test]
fn numbers_of_the_sources_are_tried() {
    let mut task = with("auto", 1, 20_000, 1);
    let odd = build(|x| if x[0] == 123_456.789 { 2.0 } else { 1.0 });
    assert_eq!(most_bits(&search(&task, vec![one(), odd])), 0.0);
    task.literals = vec![123_456.789];
    let odd = build(|x| if x[0] == 123_456.789 { 2.0 } else { 1.0 });
    assert_eq!(most_bits(&search(&task, vec![one(), odd])), 52.0);
}

#[test]
fn where_most_inputs_time_out_the_search_stays_close_to_those_that_answer() {
    let faulty: FakeBuild = Box::new(|input| {
        let x = f64::from_bits(input[0]);
        match x.abs() {
            a if !(1e-100..1e100).contains(&a) => Outcome::Fault(FaultKind::Timeout),
            a if a > 1.0 => Outcome::Value((1.0 + 1.0 / a).to_bits()),
            _ => Outcome::Value(1f64.to_bits()),
        }
    });
    let task = with("auto", 1, 50_000, 1);
    let found = search(&task, vec![one(), faulty]);
    assert_eq!(found.stop, StopReason::Faults);
    let timeouts: u64 = found.faults.iter().map(|f| f.count).sum();
    assert!(timeouts <= 4 * u64::from(task.settings.max_faults), "{timeouts}");
    assert!(found.evaluations > 20 * timeouts, "{} with {timeouts}", found.evaluations);
    assert!(most_bits(&found) > 51.0, "{}", most_bits(&found));
}

/// Builds that take their time, on a clock of their own.
struct Slow {
    builds: Vec<FakeBuild>,
    each: Duration,
    now: Duration,
}

impl Evaluator for Slow {
    fn arity(&self) -> usize {
        1
    }

    fn builds(&self) -> usize {
        self.builds.len()
    }

    fn evaluate(&mut self, build: usize, inputs: &[u64], out: &mut Outcomes) -> Result<(), EvalError> {
        self.now += self.each * u32::try_from(inputs.len()).unwrap();
        out.extend_ones(inputs.iter().map(|&x| self.builds[build](&[x])));
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.now
    }
}

#[test]
fn a_slow_function_gets_fewer_evaluations_and_says_so() {
    let search = |strategy: &str, each: u64| {
        let task = with(strategy, 1, 100_000, 1);
        let builds = vec![one(), planted_build(&task, &[vec![span(1.0, 1e9)]])];
        let mut slow = Slow { builds, each: Duration::from_micros(each), now: Duration::ZERO };
        run_here(&task, &mut slow).unwrap()
    };
    for strategy in ["auto", "cigen"] {
        let (quick, slow) = (search(strategy, 1), search(strategy, 25));
        assert_eq!(quick.stop, StopReason::Complete, "{strategy}");
        assert_eq!(slow.stop, StopReason::Pace, "{strategy}");
        // A second, at 25 + 25 microseconds each.
        assert!(slow.evaluations <= 20_000 && quick.evaluations > 60_000, "{strategy}: {}", slow.evaluations);
        assert_eq!(slow.comparisons[0].ranges.len(), 1, "{strategy}");
        // On a machine of another speed it may have other samples, but not another range.
        let other = search(strategy, 26);
        let ends = |result: &FunctionResult| {
            result.comparisons[0].ranges.iter().map(|r| (r.lo.clone(), r.hi.clone())).collect::<Vec<_>>()
        };
        assert_eq!(ends(&slow), ends(&other), "{strategy}");
    }
}

#[test]
fn a_domain_of_which_every_value_was_tried_is_complete_however_slow_the_function() {
    for strategy in ["auto", "cigen"] {
        let search = |each: u64| {
            let mut task = with(strategy, 1, 100_000, 1);
            task.function.coordinates[0].domain.segments =
                vec![Segment { side: Side::Positive, lo: 1, hi: 2000 }];
            let builds = vec![one(), planted_build(&task, &[vec![span(f64::from_bits(500), 1.0)]])];
            let mut slow = Slow { builds, each: Duration::from_micros(each), now: Duration::ZERO };
            run_here(&task, &mut slow).unwrap()
        };
        assert_eq!(search(1000).stop, StopReason::Complete, "{strategy}");
        assert_eq!(search(1000), search(1), "{strategy}");
    }
}
