//! A run as a lock: everything that was found, accepted.

use std::collections::BTreeMap;

use super::accept::is_compared;
use super::accepted::types;
use super::area::{Area, bits, place};
use crate::fp::Scalar;
use crate::model::{
    ClassChange, ComparisonRow, EdgeKind, EdgeRow, FunctionRow, LOCK_SCHEMA, LockBuild, LockComparison,
    LockFault, LockFile, LockFunction, LockRange, LockSearch, RangeRow, RunFile, WitnessRow,
};

/// What stands for a category where a lone witness has none.
const LONE: &str = "lone";

pub(super) fn lock_of(run: &RunFile) -> LockFile {
    let built = run.builds.iter().filter(|row| row.status == "built");
    let functions = run.functions.iter().filter(|f| f.status != "missing");
    LockFile {
        schema: LOCK_SCHEMA.into(),
        bitrift: env!("CARGO_PKG_VERSION").into(),
        name: run.name.clone(),
        baseline: run.baseline.clone(),
        nan: run.nan,
        search: LockSearch { seed: run.seed, strategy: run.strategy.clone(), budget: run.budget },
        builds: built.map(|row| (row.id.clone(), LockBuild::of(row))).collect(),
        functions: functions.filter_map(|f| Some((f.name.clone(), function(f)?))).collect(),
    }
}

fn function(row: &FunctionRow) -> Option<LockFunction> {
    let (params, _) = types(&row.params, &row.result)?;
    let mut entry = LockFunction {
        params: row.params.clone(),
        result: row.result.clone(),
        builds: BTreeMap::new(),
        clean: Default::default(),
        faults: Vec::new(),
    };
    for comparison in row.comparisons.iter().filter(|c| is_compared(c)) {
        let ranges = ranges(comparison, &params);
        if ranges.is_empty() {
            entry.clean.insert(comparison.build.clone());
            continue;
        }
        let counts = comparison.class_changes.iter().filter(|(_, count)| **count > 0);
        let inconsistent = |word: &&String| ClassChange::named(word).is_some_and(|c| c.is_inconsistent());
        let class_changes = counts.map(|(word, _)| word).filter(inconsistent).cloned().collect();
        entry.builds.insert(comparison.build.clone(), LockComparison { class_changes, ranges });
    }
    let fault =
        |fault: &crate::model::FaultRow| LockFault { build: fault.build.clone(), kind: fault.kind.clone() };
    entry.faults = row.faults.iter().map(fault).collect();
    entry.faults.sort();
    Some(entry)
}

/// The ranges, and the comparison's own witness where it is in none.
fn ranges(comparison: &ComparisonRow, params: &[Scalar]) -> Vec<LockRange> {
    let range = |range: &RangeRow| LockRange {
        lo: range.lo.clone(),
        hi: range.hi.clone(),
        edges: range.edges.clone(),
        max_bits: range.max_bits,
        category: range.category.clone(),
        witness: range.witness.clone(),
    };
    let mut ranges: Vec<LockRange> = comparison.ranges.iter().map(range).collect();
    if let Some(witness) = comparison.witness.as_ref().filter(|w| !is_inside(w, &ranges, params)) {
        ranges.push(LockRange {
            lo: witness.inputs.clone(),
            hi: witness.inputs.clone(),
            edges: vec![EdgeRow { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp }; params.len()],
            max_bits: comparison.max_bits,
            category: LONE.into(),
            witness: witness.clone(),
        });
    }
    ranges
}

fn is_inside(witness: &WitnessRow, ranges: &[LockRange], params: &[Scalar]) -> bool {
    let at = bits(params, &witness.inputs).and_then(|inputs| place(params, &inputs));
    let holds = |at: &[i128]| {
        ranges.iter().any(|range| Area::new(params, &range.lo, &range.hi).is_some_and(|area| area.holds(at)))
    };
    at.is_none_or(|at| holds(&at))
}
