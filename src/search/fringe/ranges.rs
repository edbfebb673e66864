//! What came of special values: ranges of their own, joined to the result of the search of the rest.

use std::collections::BTreeMap;

use crate::fp::Scalar;
use crate::model::{
    ComparisonResult, EdgeKind, Edges, FaultRecord, Function, FunctionResult, RangeResult, StopReason,
    Witness,
};
use crate::ranges::Statistics;
use crate::search::evaluate::{EXAMPLES, Found, Spread};
use crate::search::ledger::Ledger;
use crate::search::task::column;
use crate::search::unit::Seen;

/// Most ranges of special values for a comparison: those with the most bits.
const MOST_RANGES: usize = 16;

/// What makes a range of special values. A NaN is in no interval, so that the coordinates with one are the same all
/// over a range; without any, the first special value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Nans(Vec<bool>),
    Value(usize, u64),
}

/// Special inputs of one function, evaluated.
pub struct Fringe {
    ledger: Ledger,
    seen: Vec<Seen>,
}

/// One place of one variant.
#[derive(Default)]
struct Gathered {
    hits: Vec<Found>,
    /// Inputs at which the builds agree.
    misses: Vec<Vec<u64>>,
}

impl Fringe {
    pub fn new(ledger: Ledger, seen: Vec<Seen>) -> Fringe {
        Fringe { ledger, seen }
    }

    /// Adds what was found to the result of the rest.
    pub fn join(self, rest: FunctionResult) -> FunctionResult {
        let Fringe { ledger, seen } = self;
        let function = ledger.task.function.clone();
        let spread = ledger.spread.clone();
        let own = ledger.finish();
        let mut joined = rest;
        for comparison in &mut joined.comparisons {
            let ranges = ranges(&function, seen.iter().filter(|seen| seen.variant == comparison.variant));
            if let Some(own) = own.comparisons.get(column(comparison.variant)) {
                add(&function.scalars(), comparison, own, ranges);
            }
        }
        joined.evaluations = joined.comparisons.iter().map(|c| c.evaluations).sum();
        joined.faults = faults(joined.faults, own.faults);
        let is_same = |words: &Vec<u64>| match &spread {
            Spread::Nothing => true,
            Spread::One(answer) => answer == words,
            Spread::Several => false,
        };
        joined.constant = joined.constant.filter(is_same);
        joined
    }
}

fn add(scalars: &[Scalar], to: &mut ComparisonResult, own: &ComparisonResult, ranges: Vec<RangeResult>) {
    if to.stop == StopReason::Nondeterministic {
        return;
    }
    if own.stop == StopReason::Nondeterministic {
        *to = own.clone();
        return;
    }
    to.evaluations += own.evaluations;
    // An infinity that is the end of an interval is part of both searches.
    let is_known = |range: &RangeResult| {
        to.ranges.iter().any(|known| known.holds(scalars, &range.lo) && known.holds(scalars, &range.hi))
    };
    let new: Vec<RangeResult> = ranges.into_iter().filter(|range| !is_known(range)).collect();
    to.ranges.extend(new);
    for (&change, count) in &own.class_changes {
        *to.class_changes.entry(change).or_default() += count;
    }
    let says_more = |own: &Witness, rest: &Witness| {
        let rank = |witness: &Witness| u8::from(witness.change.is_some());
        own.bits.total_cmp(&rest.bits).then(rank(own).cmp(&rank(rest))).is_gt()
    };
    if let Some(witness) = &own.witness
        && to.witness.as_ref().is_none_or(|rest| says_more(witness, rest))
    {
        to.witness = Some(witness.clone());
    }
}

fn faults(rest: Vec<FaultRecord>, own: Vec<FaultRecord>) -> Vec<FaultRecord> {
    let mut records: BTreeMap<_, FaultRecord> = BTreeMap::new();
    for fault in own.into_iter().chain(rest) {
        let record = records.entry((fault.build, fault.kind)).or_insert_with(|| FaultRecord {
            count: 0,
            examples: Vec::new(),
            ..fault.clone()
        });
        record.count += fault.count;
        let room = EXAMPLES.saturating_sub(record.examples.len());
        record.examples.extend(fault.examples.into_iter().take(room));
    }
    records.into_values().collect()
}

/// The ranges of one variant, the worst first.
fn ranges<'a>(function: &Function, seen: impl Iterator<Item = &'a Seen>) -> Vec<RangeResult> {
    let mut groups: BTreeMap<Place, Gathered> = BTreeMap::new();
    for seen in seen {
        for found in &seen.hits {
            groups.entry(place(function, &found.input)).or_default().hits.push(found.clone());
        }
        for input in seen.misses.chunks_exact(function.arity()) {
            groups.entry(place(function, input)).or_default().misses.push(input.to_vec());
        }
    }
    let mut made: Vec<(Found, RangeResult)> =
        groups.into_values().filter_map(|group| group.range(function)).collect();
    made.sort_by(|a, b| a.0.better_first(&b.0));
    made.truncate(MOST_RANGES);
    made.into_iter().map(|(_, range)| range).collect()
}

fn place(function: &Function, input: &[u64]) -> Place {
    let coordinates = function.coordinates.iter().zip(input);
    let nans: Vec<bool> = coordinates.clone().map(|(c, &bits)| c.ty.is_nan(bits)).collect();
    if nans.contains(&true) {
        return Place::Nans(nans);
    }
    let special = coordinates.enumerate().find(|(_, (c, bits))| c.domain.specials.contains(bits));
    special.map_or(Place::Nans(nans), |(index, (_, &bits))| Place::Value(index, bits))
}

impl Gathered {
    /// The box around the inconsistent inputs, with the best of them; None where there is none.
    fn range(&self, function: &Function) -> Option<(Found, RangeResult)> {
        let best = self.hits.iter().min_by(|a, b| a.better_first(b))?;
        let end = |p: usize, most: bool| {
            let ordinal = |found: &&Found| function.coordinates[p].ty.ordinal(found.input[p]);
            let found = if most {
                self.hits.iter().max_by_key(ordinal)
            } else {
                self.hits.iter().min_by_key(ordinal)
            };
            found.map_or(best.input[p], |found| found.input[p])
        };
        let mut range = RangeResult {
            lo: (0..function.arity()).map(|p| end(p, false)).collect(),
            hi: (0..function.arity()).map(|p| end(p, true)).collect(),
            edges: vec![Edges { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp }; function.arity()],
            samples: 0,
            inconsistent: 0,
            mean_bits: 0.0,
            witness: best.witness(),
            class_changes: BTreeMap::new(),
        };
        let scalars = function.scalars();
        let mut statistics = Statistics::default();
        self.hits.iter().for_each(|found| statistics.add(found.bits, found.change, true));
        let inside = self.misses.iter().filter(|input| range.holds(&scalars, input));
        statistics.samples += inside.count() as u64;
        (range.samples, range.inconsistent) = (statistics.samples, statistics.inconsistent);
        range.mean_bits = statistics.mean_bits();
        range.class_changes = statistics.changes;
        Some((best.clone(), range))
    }
}
