//! What a gate saw at replayed witnesses, carried into its run: a search that went elsewhere must not keep it
//! from being accepted.

use super::area::{Area, place};
use crate::model::{
    Category, ComparisonRow, EdgeKind, EdgeRow, FaultRow, FindingId, GateFile, GateFinding, GateSymptom,
    RangeRow, RunFile, WitnessRow,
};

/// Adds every finding of the gate that its run does not show.
pub fn carry(run: &mut RunFile, gate: &GateFile) {
    for finding in &gate.findings {
        let Some(witness) = &finding.witness else { continue };
        let Some(row) = run.functions.iter_mut().find(|row| row.name == finding.function) else { continue };
        if let Some(GateSymptom::Fault(kind)) = finding.what {
            let known = row.faults.iter().any(|f| f.build == finding.build && f.kind == kind);
            if !known {
                row.faults.push(FaultRow {
                    build: finding.build.clone(),
                    kind,
                    count: 1,
                    examples: vec![witness.inputs.clone()],
                });
            }
        } else if let Some(row) = row.comparisons.iter_mut().find(|row| row.build == finding.build) {
            add(row, finding, witness);
        }
    }
}

fn add(row: &mut ComparisonRow, finding: &GateFinding, witness: &WitnessRow) {
    if let Some(GateSymptom::Change(change)) = finding.what {
        let count = row.class_changes.entry(change).or_default();
        *count = (*count).max(1);
    }
    let found = finding.bits.unwrap_or(0.0);
    let at = place(&witness.inputs);
    let shows = |range: &RangeRow| range.max_bits >= found && Area::new(&range.lo, &range.hi).holds(&at);
    if row.ranges.iter().any(shows) {
        return;
    }
    row.ranges.push(RangeRow {
        id: FindingId::of_gate(&finding.function, &finding.build),
        lo: witness.inputs.clone(),
        hi: witness.inputs.clone(),
        edges: vec![EdgeRow { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp }; witness.inputs.len()],
        samples: 1,
        inconsistent: 1,
        mean_bits: found,
        max_bits: found,
        witness: witness.clone(),
        category: Category::Lone,
        without_flushing: None,
    });
    if found > row.max_bits {
        row.max_bits = found;
        row.witness = Some(witness.clone());
    }
}
