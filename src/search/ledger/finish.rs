//! Turns what a search knows into its result, in values and in the order of values.

use super::Ledger;
use super::comparison::{Comparison, Hit, Pool, Track};
use super::wide::{Wide, poles};
use crate::fp::Side;
use crate::model::{
    ComparisonResult, Edges, FaultKind, FaultRecord, Function, FunctionResult, RangeResult, Sample,
    StopReason,
};
use crate::ranges::{Orthant, Piece, Statistics};
use crate::search::evaluate::{Found, Spread};
use crate::search::task::column;

/// Inputs that must all have one answer before that is worth telling.
const FEWEST_OF_A_CONSTANT: u64 = 64;

/// Most samples for plots.
const MOST_PLOTTED: usize = 2000;

pub fn finish(ledger: Ledger) -> FunctionResult {
    let comparisons: Vec<ComparisonResult> =
        ledger.comparisons.iter().map(|c| comparison_result(&ledger, c)).collect();
    let faults = fault_records(&ledger);
    let samples = plot_samples(&ledger);
    let constant = constant(&ledger, &comparisons);
    FunctionResult {
        evaluations: comparisons.iter().map(|c| c.evaluations).sum(),
        stop: function_stop(&comparisons),
        comparisons,
        faults,
        samples,
        constant,
    }
}

/// The one answer that all builds gave to everything. A few inputs say nothing: many functions are constant on those.
fn constant(ledger: &Ledger, comparisons: &[ComparisonResult]) -> Option<Vec<u64>> {
    let evaluations = comparisons.iter().map(|c| c.evaluations).max().unwrap_or(0);
    let differs = comparisons.iter().any(|c| c.witness.is_some()) || !ledger.nondeterministic.is_empty();
    match &ledger.spread {
        Spread::One(words) if ledger.free > 0 && evaluations >= FEWEST_OF_A_CONSTANT && !differs => {
            Some(words.clone())
        }
        _ => None,
    }
}

/// The reason all comparisons share; else the one that says the result may be incomplete.
fn function_stop(comparisons: &[ComparisonResult]) -> StopReason {
    let Some(first) = comparisons.first() else { return StopReason::Complete };
    if comparisons.iter().all(|c| c.stop == first.stop) {
        return first.stop;
    }
    let stopped = |reason| comparisons.iter().any(|c| c.stop == reason);
    [StopReason::Deadline, StopReason::Budget]
        .into_iter()
        .find(|&r| stopped(r))
        .unwrap_or(StopReason::Complete)
}

fn comparison_result(ledger: &Ledger, comparison: &Comparison) -> ComparisonResult {
    let variant = comparison.variant;
    if comparison.stop == Some(StopReason::Nondeterministic) {
        // Its numbers would differ from run to run: only the label is told.
        let stop = StopReason::Nondeterministic;
        return ComparisonResult {
            variant,
            evaluations: ledger.surveyed,
            stop,
            ..ComparisonResult::default()
        };
    }
    let function = &ledger.task.function;
    let mut ranges: Vec<(RangeKey, RangeResult)> = match comparison.wide.as_slice() {
        [] => comparison.tracks.iter().filter_map(|track| range_result(comparison, track)).collect(),
        wide => wide.iter().filter_map(|wide| wide_result(function, comparison, wide)).collect(),
    };
    ranges.sort_by(|a, b| a.0.cmp(&b.0));
    ComparisonResult {
        variant,
        evaluations: comparison.evaluations,
        stop: comparison.stop.unwrap_or_else(|| comparison.end(&ledger.task.settings)),
        ranges: ranges.into_iter().map(|(_, range)| range).collect(),
        witness: comparison.best.as_ref().map(|best| best.witness()),
        class_changes: comparison.statistics.changes.clone(),
        census: None,
    }
}

/// Orders ranges by value, with -0 before +0.
type RangeKey = Vec<(Option<i128>, Side)>;

/// The samples of a box.
#[derive(Default)]
struct Inside<'a> {
    /// Those that were kept, and the best of units that keep no others.
    hits: Vec<&'a Found>,
    champions: Vec<&'a Found>,
    misses: u64,
}

impl<'a> Inside<'a> {
    fn add(&mut self, pool: &'a Pool, holds: impl Fn(&[u64]) -> bool) {
        let inside = |hits: &'a [Hit]| hits.iter().filter(|hit| holds(&hit.point)).map(|hit| &hit.found);
        self.hits.extend(inside(&pool.hits));
        self.champions.extend(inside(&pool.champions));
        self.misses += pool.misses.iter().filter(|point| holds(point)).count() as u64;
    }

    /// A range of a box with these uniform samples. Without them all samples have to speak for it. None without
    /// an inconsistent one.
    fn range(
        &self,
        uniform: &Statistics,
        (lo, hi): (Vec<u64>, Vec<u64>),
        edges: Vec<Edges>,
    ) -> Option<RangeResult> {
        let worst = self.hits.iter().chain(&self.champions).min_by(|a, b| a.better_first(b))?;
        let mut class_changes = uniform.changes.clone();
        let mut seen = uniform.clone();
        for found in &self.hits {
            if let Some(change) = found.change {
                *class_changes.entry(change).or_default() += 1;
            }
            if uniform.samples == 0 {
                seen.add(found.bits, None, true);
            }
        }
        for change in self.champions.iter().filter_map(|found| found.change) {
            class_changes.entry(change).or_insert(1);
        }
        if uniform.samples == 0 {
            seen.samples += self.misses;
        }
        Some(RangeResult {
            edges,
            samples: seen.samples,
            inconsistent: seen.inconsistent,
            mean_bits: seen.mean_bits(),
            witness: worst.witness(),
            class_changes,
            lo,
            hi,
        })
    }
}

fn range_result(comparison: &Comparison, track: &Track) -> Option<(RangeKey, RangeResult)> {
    let pool = comparison.pools.get(&track.sides)?;
    let mut inside = Inside::default();
    inside.add(pool, |point| track.range.cuboid.contains(point));
    let (lo, hi) = values(&pool.orthant, track);
    let key = pool.orthant.axes.iter().zip(&lo).map(|(axis, &bits)| (axis.ty().ordinal(bits), axis.side()));
    let key = key.collect();
    Some((key, inside.range(&track.uniform, (lo, hi), edges(&pool.orthant, track))?))
}

/// The same of a range that may reach over zero.
fn wide_result(function: &Function, comparison: &Comparison, wide: &Wide) -> Option<(RangeKey, RangeResult)> {
    let Piece { span, edges, .. } = &wide.piece;
    let mut inside = Inside { champions: wide.best.iter().collect(), ..Inside::default() };
    for (sides, pool) in &comparison.pools {
        inside.add(pool, |point| span.holds(sides, point));
    }
    let poles = poles(function);
    let end = |places: &[i128]| poles.iter().zip(places).map(|(poles, &at)| poles.value(at)).collect();
    let (lo, hi): (Option<Vec<u64>>, Option<Vec<u64>>) = (end(&span.lo), end(&span.hi));
    let (lo, hi) = (lo?, hi?);
    let side = |place: i128| if place < 0 { Side::Negative } else { Side::Positive };
    let places = function.coordinates.iter().zip(lo.iter().zip(&span.lo));
    let key = places.map(|(p, (&bits, &at))| (p.ty.ordinal(bits), side(at))).collect();
    let edges = edges.iter().map(|&[lo, hi]| Edges { lo, hi }).collect();
    Some((key, inside.range(&wide.uniform, (lo, hi), edges)?))
}

/// The ends of a range: on the negative side the place farther from zero is the lower one.
fn values(orthant: &Orthant, track: &Track) -> (Vec<u64>, Vec<u64>) {
    let cuboid = &track.range.cuboid;
    let ends = orthant.axes.iter().enumerate().map(|(d, axis)| {
        let (near, far) = (axis.value(cuboid.lo[d]), axis.value(cuboid.hi[d]));
        if axis.side() == Side::Negative { (far, near) } else { (near, far) }
    });
    ends.unzip()
}

fn edges(orthant: &Orthant, track: &Track) -> Vec<Edges> {
    let kinds = orthant.axes.iter().zip(&track.range.edges);
    kinds
        .map(|(axis, &[near, far])| match axis.side() {
            Side::Negative => Edges { lo: far, hi: near },
            Side::Positive => Edges { lo: near, hi: far },
        })
        .collect()
}

/// Faults by build and kind; of a nondeterministic build only that it is one.
fn fault_records(ledger: &Ledger) -> Vec<FaultRecord> {
    let mut records: Vec<FaultRecord> =
        ledger.faults.values().filter(|f| !ledger.nondeterministic.contains(&f.build)).cloned().collect();
    records.extend(ledger.nondeterministic.iter().map(|&build| FaultRecord {
        build,
        kind: FaultKind::Nondeterministic,
        count: 1,
        examples: Vec::new(),
    }));
    records.sort_by_key(|f| (f.build, f.kind));
    records
}

fn plot_samples(ledger: &Ledger) -> Vec<Sample> {
    let stopped = |variant: usize| [0, variant].iter().any(|build| ledger.nondeterministic.contains(build));
    let mut samples: Vec<Sample> = ledger
        .plot
        .iter()
        .filter(|plotted| !plotted.chosen_by.is_some_and(stopped))
        .map(|plotted| {
            let mut sample = plotted.sample.clone();
            for variant in ledger.task.variants().filter(|&variant| stopped(variant)) {
                sample.bits[column(variant)] = 0.0;
            }
            sample
        })
        .collect();
    samples.truncate(MOST_PLOTTED);
    samples
}
