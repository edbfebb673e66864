//! What a gate saw at replayed witnesses, carried into its run: a search that went elsewhere must not keep it
//! from being accepted.

use super::accepted::types;
use super::area::{Area, bits, place};
use crate::fp::Scalar;
use crate::model::{
    ClassChange, ComparisonRow, EdgeKind, EdgeRow, FaultRow, GateFile, GateFinding, GateKind, RangeRow,
    RunFile, WitnessRow,
};

/// The category of a finding that is one input.
const LONE: &str = "lone";

/// Adds every finding of the gate that its run does not show.
pub fn carry(run: &mut RunFile, gate: &GateFile) {
    for finding in &gate.findings {
        let Some(witness) = &finding.witness else { continue };
        let Some(row) = run.functions.iter_mut().find(|row| row.name == finding.function) else { continue };
        let Some((params, _)) = types(&row.params, &row.result) else { continue };
        if finding.kind == GateKind::Fault {
            let known = row.faults.iter().any(|f| f.build == finding.build && f.kind == finding.what);
            if !known {
                row.faults.push(FaultRow {
                    build: finding.build.clone(),
                    kind: finding.what.clone(),
                    count: 1,
                    examples: vec![witness.inputs.clone()],
                });
            }
        } else if let Some(row) = row.comparisons.iter_mut().find(|row| row.build == finding.build) {
            add(row, finding, witness, &params);
        }
    }
}

fn add(row: &mut ComparisonRow, finding: &GateFinding, witness: &WitnessRow, params: &[Scalar]) {
    if ClassChange::named(&finding.what).is_some() {
        let count = row.class_changes.entry(finding.what.clone()).or_default();
        *count = (*count).max(1);
    }
    let found = finding.bits.unwrap_or(0.0);
    let at = bits(params, &witness.inputs).and_then(|inputs| place(params, &inputs));
    let shows = |range: &RangeRow| {
        let area = Area::new(params, &range.lo, &range.hi);
        range.max_bits >= found && area.zip(at.as_ref()).is_some_and(|(area, at)| area.holds(at))
    };
    if row.ranges.iter().any(shows) {
        return;
    }
    row.ranges.push(RangeRow {
        id: format!("{}#{}.gate", finding.function, finding.build),
        lo: witness.inputs.clone(),
        hi: witness.inputs.clone(),
        edges: vec![EdgeRow { lo: EdgeKind::Sharp, hi: EdgeKind::Sharp }; params.len()],
        samples: 1,
        inconsistent: 1,
        mean_bits: found,
        max_bits: found,
        witness: witness.clone(),
        category: LONE.into(),
        without_flushing: None,
    });
    row.max_bits = row.max_bits.max(found);
}
