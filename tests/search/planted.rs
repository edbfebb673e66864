//! Planted truth: what a search must find of regions that are known exactly.

use crate::fakes::{
    Region, Span, assert_found, binades, doubles, one, param, search, search_planted, span, task, text,
};
use bitrift::eval::FakeBuild;
use bitrift::fp::{Scalar, Side};
use bitrift::model::{Budget, Domain, Outcome, Sample, Segment, StopReason};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const TWO_MILLION: Budget = Budget::Evaluations(2_000_000);

#[test]
fn with_the_papers_budget_every_region_of_two_binades_is_found_to_the_float() {
    let cases: [&[Span]; 10] = [
        &[binades(3.3, 5.3)],
        &[binades(-700.0, -698.0)],
        &[binades(-1060.0, -1058.0)],
        &[span(5e-324, f64::MIN_POSITIVE.next_down())],
        &[span(-3.9e40, -1e40)],
        &[span(-1e-5, -0.0), span(0.0, 1e-5)],
        &[span(0.5, 2.5)],
        &[span(1e300, f64::MAX)],
        &[span(0.0, f64::MAX)],
        &[binades(10.0, 12.0), binades(20.0, 22.0), binades(300.2, 302.9), span(-7.0, -1.7)],
    ];
    for spans in cases {
        let regions: Vec<Region> = spans.iter().map(|&s| vec![s]).collect();
        for seed in SEEDS {
            let task = doubles(1, Budget::Paper, seed);
            let result = search_planted(&task, &regions);
            assert_found(&task, &result, &regions, 0.0, "paper");
            assert_eq!(result.stop, StopReason::Complete);
        }
    }
}

#[test]
fn two_regions_with_eight_clean_binades_between_them_are_two_ranges() {
    for at in [-1065.0, -300.5, -4.0, 700.25] {
        let regions = vec![vec![binades(at, at + 2.0)], vec![binades(at + 10.0, at + 12.0)]];
        for seed in SEEDS {
            let task = doubles(1, Budget::Paper, seed);
            assert_found(&task, &search_planted(&task, &regions), &regions, 0.0, "gap");
        }
    }
}

#[test]
fn with_two_million_evaluations_a_64th_of_a_binade_is_found() {
    let narrow = |at: f64| span(at, at * (1.0 + 1.0 / 64.0));
    let cases: [&[Span]; 5] = [
        &[narrow(1.0)],
        &[narrow(3.0e-200), narrow(1.7e-190)],
        &[span(-1.015625e250, -1e250)],
        &[narrow(1e-310)],
        &[narrow(700.0), binades(20.0, 500.0), span(-2e-5, -1.9e-5)],
    ];
    for (i, spans) in cases.iter().enumerate() {
        let regions: Vec<Region> = spans.iter().map(|&s| vec![s]).collect();
        for seed in [1 + 2 * i as u64, 2 + 2 * i as u64] {
            let task = doubles(1, TWO_MILLION, seed);
            let result = search_planted(&task, &regions);
            assert_found(&task, &result, &regions, 0.0, "two million");
            assert!(result.evaluations <= 2_000_000);
        }
    }
}

#[test]
fn a_box_of_a_tenth_of_each_axis_is_found_for_two_parameters() {
    let cases = [
        vec![binades(100.5, 310.0), span(-1e-20, -1e-83)],
        vec![binades(-900.0, -690.0), binades(-1000.0, -790.0)],
        vec![span(0.0, 1e-260), span(-1e63, -1.0)],
    ];
    for region in cases {
        for seed in SEEDS {
            let task = doubles(2, Budget::Paper, seed);
            let result = search_planted(&task, std::slice::from_ref(&region));
            assert_found(&task, &result, std::slice::from_ref(&region), 1.0, "two parameters");
        }
    }
}

#[test]
fn a_box_of_a_tenth_of_each_axis_is_found_for_three_parameters_with_two_million() {
    let region = vec![binades(100.5, 310.0), span(-1e-20, -1e-83), binades(-400.0, -190.0)];
    for seed in [1, 2] {
        let task = doubles(3, TWO_MILLION, seed);
        let result = search_planted(&task, std::slice::from_ref(&region));
        assert_found(&task, &result, std::slice::from_ref(&region), 1.0, "three parameters");
    }
}

#[test]
fn floats_are_searched_like_doubles() {
    let cases: [&[Span]; 4] = [
        &[span(0.25, 1.25)],
        &[span(-1e-40, -2e-41), span(-1e-30, -1e-31)],
        &[span(1e37, f64::from(f32::MAX))],
        &[span(0.0, f64::from(f32::MIN_POSITIVE.next_down()))],
    ];
    for spans in cases {
        let rounded = |s: &Span| vec![span(f64::from(s.lo as f32), f64::from(s.hi as f32))];
        let regions: Vec<Region> = spans.iter().map(rounded).collect();
        for seed in SEEDS {
            let task = task(vec![param("x", Scalar::F32)], Budget::Paper, seed);
            assert_found(&task, &search_planted(&task, &regions), &regions, 0.0, "float");
        }
    }
}

#[test]
fn regions_of_integers_are_found_exactly() {
    let small = Domain::of(vec![Segment { side: Side::Positive, lo: 0, hi: 1000 }]);
    let regions = [vec![span(100.0, 200.0)], vec![span(700.0, 1000.0)]];
    for seed in SEEDS {
        let mut task = task(vec![param("n", Scalar::I32)], Budget::Paper, seed);
        task.function.coordinates[0].domain = small.clone();
        assert_found(&task, &search_planted(&task, &regions), &regions, 0.0, "small integers");
    }
    let regions = [vec![span(-2e9, -5e8)], vec![span(30_000.0, 1e9)]];
    for seed in SEEDS {
        let task = task(vec![param("n", Scalar::I32)], Budget::Paper, seed);
        assert_found(&task, &search_planted(&task, &regions), &regions, 0.0, "integers");
    }
}

#[test]
fn a_float_beside_an_integer_and_a_fixed_parameter() {
    for seed in SEEDS {
        let params = vec![param("x", Scalar::F64), param("n", Scalar::I32), param("k", Scalar::I32)];
        let mut task = task(params, Budget::Paper, seed);
        let segment = |lo, hi| Domain::of(vec![Segment { side: Side::Positive, lo, hi }]);
        task.function.coordinates[1].domain = segment(1, 50);
        task.function.coordinates[2].domain = segment(7, 7);
        let region = vec![binades(-100.0, 110.0), span(10.0, 30.0), span(7.0, 7.0)];
        let result = search_planted(&task, std::slice::from_ref(&region));
        assert_found(&task, &result, &[region], 0.0, "mixed");
    }
}

#[test]
fn two_boxes_apart_on_one_axis_only_are_two_ranges() {
    let regions = [
        vec![binades(-200.0, 100.0), binades(0.0, 300.0)],
        vec![binades(-150.0, 150.0), binades(308.5, 600.0)],
    ];
    for seed in SEEDS {
        let task = doubles(2, Budget::Paper, seed);
        assert_found(&task, &search_planted(&task, &regions), &regions, 1.0, "boxes");
    }
}

/// One ulp off over 40 binades, and a funnel towards 40 bits in one place.
fn peak() -> FakeBuild {
    Box::new(|input| {
        let x = f64::from_bits(input[0]);
        if !(2f64.powi(-20)..=2f64.powi(20)).contains(&x) {
            return Outcome::Value(1f64.to_bits());
        }
        let distance = (x.to_bits() as i64 - 3.3f64.to_bits() as i64).unsigned_abs();
        let height = 48u32.saturating_sub(distance.max(1).ilog2()).min(40);
        Outcome::Value(1f64.to_bits() + (1 << height))
    })
}

#[test]
fn evolution_climbs_a_narrow_peak_that_samples_miss() {
    let (mut with, mut without) = (0.0, 0.0);
    for seed in SEEDS {
        let mut task = doubles(1, Budget::Paper, seed);
        let bits = |task: &_| search(task, vec![one(), peak()]).comparisons[0].witness.clone().unwrap().bits;
        with += bits(&task) / 10.0;
        task.settings.generations = 0;
        without += bits(&task) / 10.0;
    }
    println!("mean of the maxima: {with} with the evolution, {without} without");
    assert!(with > without + 8.0, "{with} against {without}");
    for seed in [1, 2] {
        let task = doubles(1, Budget::Evaluations(100_000), seed);
        let result = search(&task, vec![one(), peak()]);
        assert!(result.comparisons[0].witness.as_ref().unwrap().bits >= 40.0);
    }
}

#[test]
fn a_domain_of_a_few_floats_is_searched_completely() {
    let axis = |x: f64| Scalar::F64.axis(x.to_bits()).unwrap().mag;
    let wrong = 1.0f64.next_up().next_up();
    for seed in SEEDS {
        let mut task = doubles(1, Budget::Paper, seed);
        let hi = axis(1.0) + 500;
        task.function.coordinates[0].domain.segments =
            vec![Segment { side: Side::Positive, lo: axis(1.0), hi }];
        let regions = [vec![span(wrong, wrong)]];
        assert_found(&task, &search_planted(&task, &regions), &regions, 0.0, "tiny");
    }
}

#[test]
fn domains_of_subnormals_of_one_side_and_of_lists_are_respected() {
    let mag = |x: f64| Scalar::F64.axis(x.to_bits()).unwrap().mag;
    let segment = |side, lo: f64, hi: f64| Segment { side, lo: mag(lo), hi: mag(hi) };
    let cases = [
        (vec![segment(Side::Negative, 5e-324, 1e-310)], vec![span(-1e-310, -1e-318)]),
        (vec![segment(Side::Positive, 1e-3, 1e3)], vec![span(1e-3, 2.5)]),
        (
            vec![segment(Side::Positive, 1.0, 2.0), segment(Side::Positive, 1e10, 1e12)],
            vec![span(1e11, 1e12)],
        ),
        (
            vec![segment(Side::Negative, 0.0, 4.0), segment(Side::Positive, 0.0, 4.0)],
            vec![span(-0.5, -0.0), span(0.0, 0.5)],
        ),
    ];
    for (segments, spans) in cases {
        let regions: Vec<Region> = spans.iter().map(|&s| vec![s]).collect();
        for seed in SEEDS {
            let mut task = doubles(1, Budget::Paper, seed);
            task.function.coordinates[0].domain = Domain::of(segments.clone());
            let inside = task.function.coordinates[0].domain.clone();
            let result = search_planted(&task, &regions);
            assert_found(&task, &result, &regions, 0.0, "domain");
            let place = |bits| Scalar::F64.axis(bits).unwrap();
            assert!(result.samples.iter().all(|sample| inside.contains(place(sample.input[0]))));
        }
    }
}

#[test]
fn a_sparse_region_is_one_ragged_range_that_holds_every_inconsistent_sample() {
    let scattered: fn(u64) -> bool = |bits| bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60 == 0;
    for seed in SEEDS {
        let task = doubles(1, Budget::Evaluations(100_000), seed);
        let build: FakeBuild = Box::new(move |input| {
            let x = f64::from_bits(input[0]);
            let off = u64::from((1e-30..1e30).contains(&x) && scattered(input[0]));
            Outcome::Value(1f64.to_bits() + off)
        });
        let result = search(&task, vec![one(), build]);
        let ranges = &result.comparisons[0].ranges;
        let shown = text(&task, ranges);
        assert_eq!(ranges.len(), 1, "seed {seed}: {shown}");
        let (lo, hi) = (f64::from_bits(ranges[0].lo[0]), f64::from_bits(ranges[0].hi[0]));
        assert!((1e-30..2e-30).contains(&lo) && (5e29..1e30).contains(&hi), "seed {seed}: {shown}");
        for Sample { input, bits, .. } in &result.samples {
            assert!(bits[0] == 0.0 || (lo..=hi).contains(&f64::from_bits(input[0])));
        }
    }
}
