//! Fakes that differ in exactly known regions, and how a search's result is held against them.
#![allow(dead_code, reason = "each test binary uses its part")]

use bitrift::eval::{Fake, FakeBuild};
use bitrift::fp::Scalar;
use bitrift::model::{
    Budget, BuildId, Callee, Coordinate, Domain, EdgeKind, Function, FunctionResult, Outcome, RangeResult,
    SearchSettings,
};
use bitrift::search::{Task, run_here};

/// Values from `lo` to `hi`, of one sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub lo: f64,
    pub hi: f64,
}

pub fn span(lo: f64, hi: f64) -> Span {
    Span { lo, hi }
}

/// 2^a to 2^b.
pub fn binades(a: f64, b: f64) -> Span {
    span(a.exp2(), b.exp2())
}

/// A box of one span per parameter.
pub type Region = Vec<Span>;

pub fn param(name: &str, ty: Scalar) -> Coordinate {
    Coordinate { name: name.into(), ty, domain: Domain::all(ty), domain_text: String::new() }
}

pub fn task(params: Vec<Coordinate>, budget: Budget, seed: u64) -> Task {
    Task {
        function: Function::of_scalars("planted", params, Scalar::F64, Callee::Call("x".into())),
        builds: vec![BuildId("gcc/O0/native".into()), BuildId("gcc/O3/native".into())],
        settings: SearchSettings { budget, seed, ..SearchSettings::default() },
        literals: Vec::new(),
        tolerances: Vec::new(),
    }
}

pub fn doubles(count: usize, budget: Budget, seed: u64) -> Task {
    task((0..count).map(|i| param(&format!("x{i}"), Scalar::F64)).collect(), budget, seed)
}

pub fn is_inside(task: &Task, regions: &[Region], input: &[u64]) -> bool {
    let params = &task.function.coordinates;
    regions.iter().any(|region| {
        region.iter().zip(input).zip(params).all(|((span, &bits), p)| {
            let x = p.ty.to_f64(bits);
            // -0 belongs to spans of negative values only, as in the search.
            let sign = if span.lo == 0.0 && span.hi == 0.0 { span.lo } else { span.lo + span.hi };
            span.lo <= x && x <= span.hi && p.ty.is_negative(bits) == sign.is_sign_negative()
        })
    })
}

pub fn one() -> FakeBuild {
    Box::new(|_| Outcome::Value(1f64.to_bits()))
}

/// A variant that is 1000 ulps off in the regions.
pub fn planted_build(task: &Task, regions: &[Region]) -> FakeBuild {
    let (task, regions) = (task.clone(), regions.to_vec());
    Box::new(move |input| {
        let off = if is_inside(&task, &regions, input) { 1000 } else { 0 };
        Outcome::Value(1f64.to_bits() + off)
    })
}

pub fn search(task: &Task, builds: Vec<FakeBuild>) -> FunctionResult {
    run_here(task, &mut Fake::new(task.function.arity(), builds)).unwrap()
}

pub fn search_planted(task: &Task, regions: &[Region]) -> FunctionResult {
    search(task, vec![one(), planted_build(task, regions)])
}

/// The place of a value on its logarithmic axis, in binades from zero.
pub fn log_place(ty: Scalar, bits: u64) -> f64 {
    ty.axis(bits).unwrap().mag as f64 / ty.axis_unit() as f64
}

pub fn bits_of(ty: Scalar, x: f64) -> u64 {
    match ty {
        Scalar::F64 => x.to_bits(),
        Scalar::F32 => u64::from((x as f32).to_bits()),
        _ => (x as i64).cast_unsigned(),
    }
}

pub fn text(task: &Task, ranges: &[RangeResult]) -> String {
    let value = |i: usize, bits: u64| format!("{:e}", task.function.coordinates[i].ty.to_f64(bits));
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
pub fn assert_found(task: &Task, result: &FunctionResult, regions: &[Region], binades: f64, what: &str) {
    let ranges = &result.comparisons[0].ranges;
    let seed = task.settings.seed;
    let shown = text(task, ranges);
    assert_eq!(ranges.len(), regions.len(), "{what}, seed {seed}: {regions:?} found as\n{shown}");
    for region in regions {
        let matches = |r: &&RangeResult| {
            region.iter().enumerate().all(|(i, s)| {
                let ty = task.function.coordinates[i].ty;
                let ordinal = |bits: u64| ty.ordinal(bits).unwrap();
                let (lo, hi) = (ordinal(bits_of(ty, s.lo)), ordinal(bits_of(ty, s.hi)));
                // Ranges on both sides of zero share ordinal 0.
                let same_side = ty.is_negative(r.lo[i]) == (s.lo + s.hi).is_sign_negative();
                same_side && ordinal(r.lo[i]) <= hi && lo <= ordinal(r.hi[i])
            })
        };
        let range = ranges.iter().find(matches).unwrap_or_else(|| panic!("{what}, seed {seed}: {shown}"));
        for (i, s) in region.iter().enumerate() {
            let ty = task.function.coordinates[i].ty;
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
