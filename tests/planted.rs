//! Planted truth: fakes that differ in exactly known regions, searched as compiled code would be.

use bitrift::eval::{Fake, FakeBuild};
use bitrift::fp::{NanPolicy, Scalar, Side};
use bitrift::model::{
    Budget, BuildId, Callee, Domain, EdgeKind, FaultKind, Function, FunctionResult, Outcome, Param,
    RangeResult, SearchSettings, Segment, StopReason,
};
use bitrift::search::{Answer, Task, create, run_here, run_unit};

/// Values from `lo` to `hi`, of one sign.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    lo: f64,
    hi: f64,
}

fn span(lo: f64, hi: f64) -> Span {
    Span { lo, hi }
}

/// 2^a to 2^b.
fn binades(a: f64, b: f64) -> Span {
    span(a.exp2(), b.exp2())
}

/// A box of one span per parameter.
type Region = Vec<Span>;

fn param(name: &str, ty: Scalar) -> Param {
    Param {
        name: name.into(),
        c_type: ty.c_name().into(),
        ty,
        domain: Domain::all(ty),
        domain_text: String::new(),
    }
}

fn task(params: Vec<Param>, budget: Budget, seed: u64) -> Task {
    Task {
        function: Function {
            name: "planted".into(),
            params,
            result: Scalar::F64,
            result_c_type: "double".into(),
            callee: Callee::Call("x".into()),
            headers: vec![],
        },
        builds: vec![BuildId("gcc/O0/native".into()), BuildId("gcc/O3/native".into())],
        settings: SearchSettings { budget, seed, ..SearchSettings::default() },
    }
}

fn doubles(count: usize, budget: Budget, seed: u64) -> Task {
    task((0..count).map(|i| param(&format!("x{i}"), Scalar::F64)).collect(), budget, seed)
}

fn is_inside(task: &Task, regions: &[Region], input: &[u64]) -> bool {
    let params = &task.function.params;
    regions.iter().any(|region| {
        region.iter().zip(input).zip(params).all(|((span, &bits), p)| {
            let x = p.ty.to_f64(bits);
            // -0 belongs to spans of negative values only, as in the search.
            let sign = if span.lo == 0.0 && span.hi == 0.0 { span.lo } else { span.lo + span.hi };
            span.lo <= x && x <= span.hi && p.ty.is_negative(bits) == sign.is_sign_negative()
        })
    })
}

fn one() -> FakeBuild {
    Box::new(|_| Outcome::Value(1f64.to_bits()))
}

/// A variant that is 1000 ulps off in the regions.
fn planted_build(task: &Task, regions: &[Region]) -> FakeBuild {
    let (task, regions) = (task.clone(), regions.to_vec());
    Box::new(move |input| {
        let off = if is_inside(&task, &regions, input) { 1000 } else { 0 };
        Outcome::Value(1f64.to_bits() + off)
    })
}

fn search(task: &Task, builds: Vec<FakeBuild>) -> FunctionResult {
    run_here(task, &mut Fake::new(task.function.arity(), builds)).unwrap().unwrap()
}

fn search_planted(task: &Task, regions: &[Region]) -> FunctionResult {
    search(task, vec![one(), planted_build(task, regions)])
}

/// The place of a value on its logarithmic axis, in binades from zero.
fn log_place(ty: Scalar, bits: u64) -> f64 {
    ty.axis(bits).unwrap().mag as f64 / ty.axis_unit() as f64
}

fn bits_of(ty: Scalar, x: f64) -> u64 {
    match ty {
        Scalar::F64 => x.to_bits(),
        Scalar::F32 => u64::from((x as f32).to_bits()),
        _ => (x as i64).cast_unsigned(),
    }
}

fn text(task: &Task, ranges: &[RangeResult]) -> String {
    let value = |i: usize, bits: u64| format!("{:e}", task.function.params[i].ty.to_f64(bits));
    let side = |r: &RangeResult, i: usize| {
        format!("[{}, {}] {:?}", value(i, r.lo[i]), value(i, r.hi[i]), r.edges[i])
    };
    let line = |r: &RangeResult| {
        let sides: Vec<String> = (0..r.lo.len()).map(|i| side(r, i)).collect();
        format!("{} {}/{}", sides.join(" x "), r.inconsistent, r.samples)
    };
    ranges.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Exactly the planted regions, each side within `binades` of the truth and not inside it by more
/// than a hundredth of the region's floats.
fn assert_found(task: &Task, result: &FunctionResult, regions: &[Region], binades: f64, what: &str) {
    let ranges = &result.comparisons[0].ranges;
    let seed = task.settings.seed;
    let shown = text(task, ranges);
    assert_eq!(ranges.len(), regions.len(), "{what}, seed {seed}: {regions:?} found as\n{shown}");
    for region in regions {
        let matches = |r: &&RangeResult| {
            region.iter().enumerate().all(|(i, s)| {
                let ty = task.function.params[i].ty;
                let ordinal = |bits: u64| ty.ordinal(bits).unwrap();
                let (lo, hi) = (ordinal(bits_of(ty, s.lo)), ordinal(bits_of(ty, s.hi)));
                // Ranges on both sides of zero share ordinal 0.
                let same_side = ty.is_negative(r.lo[i]) == (s.lo + s.hi).is_sign_negative();
                same_side && ordinal(r.lo[i]) <= hi && lo <= ordinal(r.hi[i])
            })
        };
        let range = ranges.iter().find(matches).unwrap_or_else(|| panic!("{what}, seed {seed}: {shown}"));
        for (i, s) in region.iter().enumerate() {
            let ty = task.function.params[i].ty;
            let (lo, hi) = (bits_of(ty, s.lo), bits_of(ty, s.hi));
            let ordinal = |bits| ty.ordinal(bits).unwrap();
            let floats = ordinal(hi) - ordinal(lo) + 1;
            let held = ordinal(range.hi[i]).min(ordinal(hi)) - ordinal(range.lo[i]).max(ordinal(lo)) + 1;
            assert!(held * 100 >= floats * 99, "{what}, seed {seed}: {held} of {floats} held by\n{shown}");
            for (got, truth) in [(range.lo[i], lo), (range.hi[i], hi)] {
                let off = (log_place(ty, got) - log_place(ty, truth)).abs();
                assert!(
                    off <= binades,
                    "{what}, seed {seed}: {off} binades off, {region:?} found as\n{shown}"
                );
            }
            let edges = range.edges[i];
            let sharp = edges.lo == EdgeKind::Sharp && edges.hi == EdgeKind::Sharp;
            assert!(sharp, "{what}, seed {seed}: {region:?} found as\n{shown}");
        }
        assert_eq!(range.inconsistent, range.samples, "{what}, seed {seed}: {shown}");
    }
}

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
            let result = search_planted(&task, &[region.clone()]);
            assert_found(&task, &result, &[region.clone()], 1.0, "two parameters");
        }
    }
}

#[test]
fn a_box_of_a_tenth_of_each_axis_is_found_for_three_parameters_with_two_million() {
    let region = vec![binades(100.5, 310.0), span(-1e-20, -1e-83), binades(-400.0, -190.0)];
    for seed in [1, 2] {
        let task = doubles(3, TWO_MILLION, seed);
        let result = search_planted(&task, &[region.clone()]);
        assert_found(&task, &result, &[region.clone()], 1.0, "three parameters");
    }
}
