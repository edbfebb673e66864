//! A run as a lock: everything that was found, accepted.

use std::collections::BTreeMap;

use super::area::{Area, place};
use super::floor::Worth;
use crate::fp::ZeroPolicy;
use crate::model::{
    BuildStatus, Category, ComparisonRow, EdgeKind, EdgeRow, FaultRow, FunctionRow, LOCK_SCHEMA, LockBuild,
    LockComparison, LockFault, LockFile, LockFunction, LockRange, LockSearch, RangeRow, RunFile,
    SearchStatus, WitnessRow, gist,
};

/// With `loosen` also what was searched less than the floor.
pub(super) fn lock_of(run: &RunFile, loosen: bool) -> LockFile {
    let built = run.builds.iter().filter(|row| row.is_built());
    let absent = run.builds.iter().filter(|row| row.status != BuildStatus::Built);
    let functions = run.functions.iter().filter(|f| f.status != SearchStatus::Missing);
    LockFile {
        schema: LOCK_SCHEMA.into(),
        bitrift: env!("CARGO_PKG_VERSION").into(),
        name: run.name.clone(),
        baseline: run.baseline.clone(),
        nan: run.nan,
        zero: run.zero,
        search: LockSearch { seed: run.seed, strategy: run.strategy, budget: run.budget },
        builds: built.map(|row| (row.id.clone(), LockBuild::of(row))).collect(),
        absent: absent.map(|row| (row.id.clone(), gist(&row.reason).to_string())).collect(),
        functions: functions.map(|f| (f.name.clone(), function(f, run.zero, loosen))).collect(),
    }
}

fn function(row: &FunctionRow, zero: ZeroPolicy, loosen: bool) -> LockFunction {
    let mut entry = LockFunction {
        params: row.params.clone(),
        result: row.result,
        results: row.results.clone(),
        domains: row.domains.clone(),
        held: row.held.clone(),
        builds: BTreeMap::new(),
        clean: Default::default(),
        evaluations: BTreeMap::new(),
        tolerances: BTreeMap::new(),
        faults: Vec::new(),
    };
    for comparison in row.comparisons.iter().filter(|c| Worth::of(c).suffices(loosen)) {
        entry.evaluations.insert(comparison.build.clone(), comparison.evaluations);
        if !comparison.tolerance.is_none() {
            entry.tolerances.insert(comparison.build.clone(), comparison.tolerance);
        }
        let ranges = ranges(comparison);
        if ranges.is_empty() {
            entry.clean.insert(comparison.build.clone());
            continue;
        }
        let counts = comparison.class_changes.iter().filter(|(_, count)| **count > 0);
        let class_changes = counts.map(|(change, _)| *change).filter(|c| c.is_inconsistent(zero)).collect();
        entry.builds.insert(comparison.build.clone(), LockComparison { class_changes, ranges });
    }
    let fault = |fault: &FaultRow| LockFault { build: fault.build.clone(), kind: fault.kind };
    entry.faults = row.faults.iter().map(fault).collect();
    entry.faults.sort();
    entry
}

/// The ranges, and the comparison's own witness where it is in none.
fn ranges(comparison: &ComparisonRow) -> Vec<LockRange> {
    let range = |range: &RangeRow| LockRange {
        lo: range.lo.clone(),
        hi: range.hi.clone(),
        edges: range.edges.clone(),
        max_bits: range.max_bits,
        category: range.category,
        witness: range.witness.clone(),
    };
    let mut ranges: Vec<LockRange> = comparison.ranges.iter().map(range).collect();
    if let Some(witness) = comparison.witness.as_ref().filter(|w| !is_inside(w, &ranges)) {
        ranges.push(LockRange {
            lo: witness.inputs.clone(),
            hi: witness.inputs.clone(),
            edges: vec![EdgeRow { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp }; witness.inputs.len()],
            max_bits: comparison.max_bits,
            category: Category::Lone,
            witness: witness.clone(),
        });
    }
    ranges
}

fn is_inside(witness: &WitnessRow, ranges: &[LockRange]) -> bool {
    let at = place(&witness.inputs);
    ranges.iter().any(|range| Area::new(&range.lo, &range.hi).holds(&at))
}
