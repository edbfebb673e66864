//! Two runs against each other: what is new, gone, worse, better, for each function, build and range.
//!
//! * `outcome` is the result, as data and as JSON;
//! * `overlap` finds the ranges of both runs that are about the same inputs;
//! * `surroundings` says what else differs: compilers, libraries, the host, the search.

mod outcome;
mod overlap;
mod surroundings;

use std::collections::BTreeMap;

use crate::model::{BuildId, Category, ComparisonRow, FaultRow, FunctionRow, RunFile, gist};
pub use outcome::{
    BaselineMove, COMPARE_SCHEMA, Change, Difference, FaultChange, Found, FunctionChange, Incomparable, Only,
    OnlyBuild, OnlyPair, PairChange, RangeChange, RangeName, RunComparison, RunHead,
};
use overlap::{Piece, groups, pieces};

/// How two runs are compared.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Bits by which a range may move and still count as unchanged.
    pub tolerance: f64,
    /// Builds of the first run with other names in the second: whole ids, or parts of them.
    pub names: Vec<(String, String)>,
    /// What the two runs are called.
    pub runs: [String; 2],
}

impl Rules {
    /// What a build of the first run is called in the second.
    fn renamed(&self, id: &BuildId) -> BuildId {
        if let Some((_, name)) = self.names.iter().find(|(from, _)| from == id.as_str()) {
            return name.clone().into();
        }
        let part = |part: &str| {
            let name = self.names.iter().find(|(from, _)| from == part);
            name.map_or_else(|| part.to_owned(), |(_, to)| to.clone())
        };
        let (implementation, cell) = BuildId::split(id);
        let cell = BuildId(cell.split('/').map(part).collect::<Vec<_>>().join("/"));
        cell.of_implementation(&part(implementation))
    }

    /// The first name that no build of a run has: most likely a typing error.
    pub fn unknown_name<'a>(&'a self, run: &RunFile) -> Option<&'a str> {
        let known = |name: &str| {
            run.builds.iter().any(|b| b.id == *name || b.id.as_str().split(['/', ':']).any(|p| p == name))
        };
        self.names.iter().map(|(from, _)| from.as_str()).find(|name| !known(name))
    }
}

/// Everything there is to say of two runs.
pub fn compare(a: &RunFile, b: &RunFile, rules: &Rules) -> RunComparison {
    let mut comparison = RunComparison {
        schema: COMPARE_SCHEMA.into(),
        a: RunHead::of(a, &rules.runs[0]),
        b: RunHead::of(b, &rules.runs[1]),
        tolerance: rules.tolerance,
        totals: Change::ALL.map(|change| (change, 0)).into(),
        differences: surroundings::differences(a, b, rules),
        only_a: Only::default(),
        only_b: Only::default(),
        incomparable: Vec::new(),
        baselines: Vec::new(),
        functions: Vec::new(),
    };
    only_builds(a, b, rules, &mut comparison);
    for function in &b.functions {
        match a.functions.iter().find(|f| f.name == function.name) {
            None => comparison.only_b.functions.push(function.name.clone()),
            Some(before) => compare_function((before, function), rules, &mut comparison),
        }
    }
    let gone = a.functions.iter().filter(|f| !b.functions.iter().any(|g| g.name == f.name));
    comparison.only_a.functions.extend(gone.map(|f| f.name.clone()));
    let pairs = comparison.functions.iter().flat_map(|f| &f.builds);
    let mut totals = std::mem::take(&mut comparison.totals);
    for pair in pairs {
        for change in pair.changes() {
            *totals.entry(change).or_default() += 1;
        }
    }
    comparison.totals = totals;
    comparison
}

/// Builds that only one of the runs has, or could build.
fn only_builds(a: &RunFile, b: &RunFile, rules: &Rules, comparison: &mut RunComparison) {
    let why =
        |other: &RunFile, id: Option<&BuildId>| match other.builds.iter().find(|build| Some(&build.id) == id)
        {
            None => Some("not in the other run".to_owned()),
            Some(build) if build.is_built() => None,
            Some(build) => Some(format!("{} in the other run: {}", build.status, gist(&build.reason))),
        };
    for build in a.builds.iter().filter(|build| build.is_built()) {
        if let Some(why) = why(b, Some(&rules.renamed(&build.id))) {
            comparison.only_a.builds.push(OnlyBuild { id: build.id.clone(), why });
        }
    }
    // Back from a name of the second run to that of the first.
    let back: BTreeMap<BuildId, &BuildId> =
        a.builds.iter().map(|build| (rules.renamed(&build.id), &build.id)).collect();
    for build in b.builds.iter().filter(|build| build.is_built()) {
        if let Some(why) = why(a, back.get(&build.id).copied()) {
            comparison.only_b.builds.push(OnlyBuild { id: build.id.clone(), why });
        }
    }
}

fn compare_function((a, b): (&FunctionRow, &FunctionRow), rules: &Rules, into: &mut RunComparison) {
    if !a.shape().fits(&b.shape()) {
        let reason = format!("{} became {}", a.shape(), b.shape());
        into.incomparable.push(Incomparable { function: b.name.clone(), reason });
        return;
    }
    // Another domain has other inputs.
    let held = a.held.as_ref().zip(b.held.as_ref()).filter(|_| a.domains == b.domains);
    let function = || b.name.clone();
    let moved =
        held.map(|(a, b)| BaselineMove { function: function(), blocks: a.moved(b), of: a.compared(b) });
    into.baselines.extend(moved.filter(|moved| !moved.blocks.is_empty()));
    let mut builds = Vec::new();
    for before in &a.comparisons {
        let name = rules.renamed(&before.build);
        match b.comparisons.iter().find(|c| c.build == name) {
            Some(now) => builds.push(compare_pair(Side::new(a, before), Side::new(b, now), rules)),
            // A build that is not there at all is told once and not for each function.
            None if into.only_a.builds.iter().any(|only| only.id == before.build) => {}
            None => into.only_a.comparisons.push(OnlyPair::new(a, before)),
        }
    }
    for now in &b.comparisons {
        let paired = a.comparisons.iter().any(|before| rules.renamed(&before.build) == now.build);
        if !paired && !into.only_b.builds.iter().any(|only| only.id == now.build) {
            into.only_b.comparisons.push(OnlyPair::new(b, now));
        }
    }
    let domains_differ = a.domains != b.domains;
    let params = b.params.iter().map(|p| p.name.clone()).collect();
    into.functions.push(FunctionChange { function: b.name.clone(), params, domains_differ, builds });
}

/// One build of one function in one of the runs.
#[derive(Clone, Copy)]
struct Side<'a> {
    function: &'a FunctionRow,
    comparison: &'a ComparisonRow,
}

impl<'a> Side<'a> {
    fn new(function: &'a FunctionRow, comparison: &'a ComparisonRow) -> Side<'a> {
        Side { function, comparison }
    }

    fn faults(self) -> impl Iterator<Item = &'a FaultRow> {
        self.function.faults.iter().filter(move |fault| fault.build == self.comparison.build)
    }
}

fn compare_pair(a: Side, b: Side, rules: &Rules) -> PairChange {
    let (before, now) = (pieces(a.comparison), pieces(b.comparison));
    let mut ranges: Vec<RangeChange> = groups(&before, &now)
        .into_iter()
        .map(|group| {
            let of = |pieces: &[Piece], members: &[usize]| found(pieces, members);
            let (a, b) = (of(&before, &group.a), of(&now, &group.b));
            let change = judge(a.as_ref(), b.as_ref(), rules.tolerance);
            RangeChange { change, a, b }
        })
        .collect();
    // What needs a look first; equal changes keep the order of the inputs.
    ranges.sort_by_key(|range| range.change);
    let mut faults = Vec::new();
    for fault in b.faults() {
        let before = a.faults().find(|f| f.kind == fault.kind).map_or(0, |f| f.count);
        let change = if before == 0 { Change::New } else { Change::Unchanged };
        faults.push(FaultChange { change, kind: fault.kind, a: before, b: fault.count });
    }
    for fault in a.faults().filter(|fault| !b.faults().any(|f| f.kind == fault.kind)) {
        let (kind, a) = (fault.kind, fault.count);
        faults.push(FaultChange { change: Change::Gone, kind, a, b: 0 });
    }
    let mut pair = PairChange {
        change: Change::Unchanged,
        a: a.comparison.build.clone(),
        b: b.comparison.build.clone(),
        max_bits_a: a.comparison.max_bits,
        max_bits_b: b.comparison.max_bits,
        ranges,
        faults,
    };
    pair.change = pair.changes().min().unwrap_or(Change::Unchanged);
    pair
}

/// The worst of some ranges, under the names of all of them; None when there are none.
fn found(pieces: &[Piece], members: &[usize]) -> Option<Found> {
    let all = || members.iter().map(|&index| &pieces[index]);
    let worst = all().reduce(|a, b| if b.bits > a.bits { b } else { a })?;
    let telling = all().find(|piece| changes_class(piece.category)).unwrap_or(worst);
    Some(Found {
        ids: all().map(|piece| piece.id.clone()).collect(),
        lo: worst.lo.to_vec(),
        hi: worst.hi.to_vec(),
        max_bits: worst.bits,
        category: telling.category,
        witness: worst.witness.clone(),
    })
}

fn changes_class(category: Option<Category>) -> bool {
    category.is_some_and(Category::changes_class)
}

/// Agreement counts as 0 bits. A change of class may have no bits and is worse than none all the same.
fn judge(a: Option<&Found>, b: Option<&Found>, tolerance: f64) -> Change {
    let bits = |found: Option<&Found>| found.map_or(0.0, |f| f.max_bits);
    let class = |found: Option<&Found>| found.is_some_and(|f| changes_class(f.category));
    let risen = bits(b) > bits(a) + tolerance || (class(b) && !class(a));
    let fallen = bits(b) < bits(a) - tolerance || (class(a) && !class(b));
    match (a, b) {
        (None, Some(_)) if risen => Change::New,
        (Some(_), None) if fallen => Change::Gone,
        _ if risen => Change::Worse,
        _ if fallen => Change::Better,
        _ => Change::Unchanged,
    }
}

#[cfg(test)]
mod tests;
