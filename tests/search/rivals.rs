//! The sequential strategies: what each finds of planted regions, what it spends, when it gives up.

use std::cell::Cell;
use std::rc::Rc;

use crate::fakes::{Region, binades, doubles, is_inside, one, param, planted_build, search, span, task};
use bitrift::eval::FakeBuild;
use bitrift::fp::{Scalar, Side};
use bitrift::model::{Budget, Domain, FaultKind, FunctionResult, Outcome, Segment, StopReason, StrategyName};
use bitrift::search::{Task, create};

const RIVALS: [&str; 6] = ["random", "bgrt", "mcmc", "ga", "lsga", "hsed"];
const BUDGET: u64 = 20_000;

fn with(strategy: &str, mut task: Task) -> Task {
    task.settings.strategy = strategy.parse().unwrap();
    task
}

/// One in ten binades of each parameter, or more.
fn regions(arity: usize) -> Vec<Region> {
    vec![vec![binades(-200.0, 100.0); arity], vec![span(-1e200, -1e100); arity]]
}

fn planted(task: &Task) -> FunctionResult {
    search(task, vec![one(), planted_build(task, &regions(task.function.arity()))])
}

#[test]
fn every_strategy_of_the_matrix_exists() {
    // A sweep of every double would have no end.
    for name in StrategyName::ALL.into_iter().filter(|name| *name != StrategyName::Exhaustive) {
        let task = with(name.as_str(), doubles(1, Budget::Paper, 1));
        assert!(create(&task).next_phase(), "{name}");
    }
    assert!("guess".parse::<StrategyName>().is_err());
}

#[test]
fn wide_regions_are_found_and_every_range_holds_one() {
    for (name, arity) in RIVALS.into_iter().flat_map(|name| [(name, 1), (name, 2)]) {
        for seed in 1..=3 {
            let task = with(name, doubles(arity, Budget::Evaluations(BUDGET), seed));
            let regions = regions(arity);
            let result = planted(&task);
            let ranges = &result.comparisons[0].ranges;
            assert!(!ranges.is_empty() && ranges.len() <= 64, "{name}: {} ranges", ranges.len());
            for region in &regions {
                let alone = std::slice::from_ref(region);
                let found = ranges.iter().any(|r| is_inside(&task, alone, &r.witness.inputs));
                assert!(found, "{name}, {arity} parameters, seed {seed}: {region:?} was missed");
            }
            for range in ranges {
                assert!(is_inside(&task, &regions, &range.witness.inputs));
                assert!(range.inconsistent > 0 && range.inconsistent <= range.samples);
            }
        }
    }
}

/// Bits grow towards one float of the domain, from 0 a hundred binades away.
fn peak(at: f64) -> FakeBuild {
    let top = Scalar::F64.axis(at.to_bits()).unwrap().mag;
    Box::new(move |input| {
        let off = match Scalar::F64.axis(input[0]) {
            Some(place) if place.side == Side::Positive => place.mag.abs_diff(top).max(1),
            _ => return Outcome::Value(1f64.to_bits()),
        };
        // From 2^51 ulps at the peak down to none.
        let ulps = (100u64 << 52).checked_div(off).unwrap_or(0).min(1 << 51);
        Outcome::Value(1f64.to_bits() + ulps)
    })
}

#[test]
fn the_guided_ones_climb_higher_than_random_search() {
    let mean = |name: &str| {
        let best = |seed| {
            let task = with(name, doubles(1, Budget::Evaluations(BUDGET), seed));
            let result = search(&task, vec![one(), peak(3.3e55)]);
            result.comparisons[0].witness.as_ref().map_or(0.0, |w| w.bits)
        };
        (1..=5).map(best).sum::<f64>() / 5.0
    };
    let random = mean("random");
    for name in ["bgrt", "mcmc"] {
        assert!(mean(name) > random + 2.0, "{name}: {}, random: {random}", mean(name));
    }
}

#[test]
fn the_same_seed_gives_the_same_result_and_another_one_another() {
    for name in RIVALS {
        let run = |seed| planted(&with(name, doubles(2, Budget::Evaluations(5000), seed)));
        assert_eq!(run(1), run(1), "{name}");
        assert_ne!(run(1).comparisons[0].ranges, run(2).comparisons[0].ranges, "{name}");
    }
}

#[test]
fn a_third_build_changes_nothing_for_the_second() {
    for name in RIVALS {
        let mut task = with(name, doubles(1, Budget::Evaluations(5000), 3));
        let alone = planted(&task);
        task.builds.push(bitrift::model::BuildId("clang/O3/native".into()));
        let other = planted_build(&task, &[vec![binades(-500.0, 700.0)]]);
        let both = search(&task, vec![one(), planted_build(&task, &regions(1)), other]);
        assert_eq!(both.comparisons[0], alone.comparisons[0], "{name}");
        assert!(!both.comparisons[1].ranges.is_empty());
    }
}

#[test]
fn the_budget_is_used_and_never_exceeded() {
    for name in RIVALS {
        for (arity, total) in [(1, 100), (1, 3000), (2, 20_000), (3, 50_000)] {
            let task = with(name, doubles(arity, Budget::Evaluations(total), 1));
            for build in [planted_build(&task, &regions(arity)), one()] {
                let calls = Rc::new(Cell::new(0u64));
                let counted = Rc::clone(&calls);
                let counting: FakeBuild = Box::new(move |input| {
                    counted.set(counted.get() + 1);
                    build(input)
                });
                let result = search(&task, vec![one(), counting]);
                let spent = result.comparisons[0].evaluations;
                assert!(spent <= total && spent * 100 >= total * 95, "{name}: {spent} of {total}");
                // Some inputs are evaluated twice, to find nondeterministic builds.
                assert!((spent..spent + 100).contains(&calls.get()), "{name}: {} calls", calls.get());
            }
        }
        let paper = planted(&with(name, doubles(2, Budget::Paper, 1)));
        assert_eq!((paper.comparisons[0].evaluations, paper.stop), (10_000, StopReason::Complete));
    }
}

#[test]
fn a_build_that_faults_everywhere_is_given_up() {
    for name in RIVALS {
        let task = with(name, doubles(1, Budget::Evaluations(BUDGET), 1));
        let crash: FakeBuild = Box::new(|_| Outcome::Fault(FaultKind::Signal(11)));
        let result = search(&task, vec![one(), crash]);
        assert_eq!(result.stop, StopReason::Faults, "{name}");
        assert!(result.evaluations <= 2 * u64::from(task.settings.max_faults));
        // Rare faults that come only during the walk end it too, and what came before is kept.
        let regions = regions(1);
        let (inner, wide) = (task.clone(), planted_build(&task, &regions));
        let rare: FakeBuild =
            Box::new(move |input| match is_inside(&inner, &[vec![binades(700.0, 800.0)]], input) {
                true => Outcome::Fault(FaultKind::Timeout),
                false => wide(input),
            });
        let result = search(&task, vec![one(), rare]);
        assert_eq!(result.stop, StopReason::Faults, "{name}");
        assert!(result.evaluations < BUDGET && !result.comparisons[0].ranges.is_empty(), "{name}");
    }
}

#[test]
fn a_small_domain_is_searched_completely() {
    for name in RIVALS {
        let mut n = param("n", Scalar::I32);
        n.domain = Domain::of(vec![Segment { side: Side::Positive, lo: 1, hi: 3000 }]);
        let task = with(name, task(vec![n], Budget::Evaluations(10_000), 1));
        let variant: FakeBuild =
            Box::new(|input| Outcome::Value(1f64.to_bits() + u64::from(input[0] == 1234)));
        let result = search(&task, vec![one(), variant]);
        assert_eq!((result.evaluations, result.stop), (3000, StopReason::Complete), "{name}");
        let range = &result.comparisons[0].ranges[0];
        // A candidate range reaches up to the consistent neighbours of its samples.
        assert_eq!((range.lo[0], range.hi[0], range.witness.inputs[0]), (1233, 1235, 1234));
    }
}

#[test]
fn memory_and_answers_stay_small_when_every_input_is_inconsistent() {
    for (name, arity) in RIVALS.into_iter().flat_map(|name| [(name, 1), (name, 3)]) {
        let task = with(name, doubles(arity, Budget::Evaluations(300_000), 1));
        let off: FakeBuild = Box::new(|_| Outcome::Value(1f64.to_bits() + 1));
        let mut strategy = create(&task);
        let mut fake = bitrift::eval::Fake::new(arity, vec![one(), off]);
        while strategy.next_phase() {
            while let Some(unit) = strategy.next_unit() {
                let answer = bitrift::search::run_unit(&task, &unit, &mut fake).unwrap();
                let size = postcard::to_stdvec(&answer).unwrap().len();
                assert!(size < 4 << 20, "{name}: {size} bytes");
                strategy.absorb(answer);
            }
        }
        assert_eq!(strategy.finish().evaluations, 300_000);
    }
}
