//! Everything about one function, as a block of data that the page reads when a reader opens it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::points::Points;
use super::value::{bits, number, numbers, scalar};
use super::why::FindingWhy;
use crate::fp::Scalar;
use crate::model::{
    ComparisonRow, ConfirmRow, Confirmed, EdgeKind, FunctionRow, RangeRow, StopReason, WithoutFlushing,
    WitnessRow,
};
use crate::report::Material;
use crate::report::plan::quoted;

#[derive(Debug, Serialize)]
pub(super) struct Detail<'a> {
    name: &'a str,
    /// The name as a shell takes it.
    word: String,
    params: Vec<ParamData<'a>>,
    result: &'a str,
    status: &'a str,
    stop: StopReason,
    evaluations: u64,
    source: Option<String>,
    comparisons: Vec<ComparisonData<'a>>,
    faults: Vec<FaultData<'a>>,
    camps: Vec<CampData<'a>>,
    missing: &'a BTreeMap<String, String>,
    points: Option<Points>,
}

#[derive(Debug, Serialize)]
struct ParamData<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    domain: &'a str,
}

#[derive(Debug, Serialize)]
struct ComparisonData<'a> {
    build: &'a str,
    evaluations: u64,
    stop: StopReason,
    max: f64,
    changes: &'a BTreeMap<String, u64>,
    ranges: Vec<RangeData<'a>>,
    /// Where there is no range: the one input that differs.
    lone: Option<WitnessData<'a>>,
}

#[derive(Debug, Serialize)]
struct RangeData<'a> {
    lo: Vec<Value>,
    hi: Vec<Value>,
    /// Two letters per parameter, `s` sharp or `r` ragged: the lower end, then the upper.
    edges: String,
    samples: u64,
    odd: u64,
    mean: f64,
    max: f64,
    category: &'a str,
    /// Whether the builds agree once subnormals are kept; None where neither flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<WithoutFlushing>,
    witness: WitnessData<'a>,
}

#[derive(Debug, Serialize)]
struct WitnessData<'a> {
    /// The finding's id as a shell takes it.
    id: String,
    inputs: Vec<Value>,
    baseline: Value,
    variant: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<(Confirmed, &'a str)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<FindingWhy<'a>>,
}

#[derive(Debug, Serialize)]
struct FaultData<'a> {
    build: &'a str,
    kind: &'a str,
    count: u64,
    examples: Vec<Vec<Value>>,
}

#[derive(Debug, Serialize)]
struct CampData<'a> {
    ranges: usize,
    camps: &'a [Vec<String>],
    divided: &'a str,
}

/// Reads one function of a material; `most` bounds its samples.
pub(super) fn detail<'a>(material: &'a Material, function: &'a FunctionRow, most: usize) -> Detail<'a> {
    let scalars: Vec<Scalar> = function.params.iter().map(|p| scalar(&p.ty)).collect();
    let reader = Reader { material, function, scalars: &scalars, result: scalar(&function.result) };
    let domain = |index: usize| function.domains.get(index).map_or("", String::as_str);
    let params = function.params.iter().enumerate();
    let faults = function.faults.iter().map(|f| FaultData {
        build: &f.build,
        kind: &f.kind,
        count: f.count,
        examples: f.examples.iter().map(|inputs| numbers(&scalars, inputs)).collect(),
    });
    let camps = function.camps.iter();
    let samples = material.samples.get(&function.name).filter(|s| !s.samples.is_empty());
    Detail {
        name: &function.name,
        word: quoted(&function.name),
        params: params.map(|(i, p)| ParamData { name: &p.name, ty: &p.ty, domain: domain(i) }).collect(),
        result: &function.result,
        status: &function.status,
        stop: function.stop_reason,
        evaluations: function.evaluations,
        source: function.source.as_ref().map(|s| format!("{}:{}", s.file, s.line)),
        comparisons: function.comparisons.iter().map(|c| reader.comparison(c)).collect(),
        faults: faults.collect(),
        camps: camps
            .map(|c| CampData { ranges: c.ranges.len(), camps: &c.camps, divided: &c.divided_by })
            .collect(),
        missing: &function.missing,
        points: samples.map(|samples| Points::new(samples, &scalars, most)),
    }
}

/// What is the same for all findings of a function.
struct Reader<'a, 's> {
    material: &'a Material,
    function: &'a FunctionRow,
    scalars: &'s [Scalar],
    result: Scalar,
}

impl<'a> Reader<'a, '_> {
    fn comparison(&self, row: &'a ComparisonRow) -> ComparisonData<'a> {
        let lone = row.witness.as_ref().filter(|_| row.ranges.is_empty());
        let id = || format!("{}#{}.max", self.function.name, row.build);
        ComparisonData {
            build: &row.build,
            evaluations: row.evaluations,
            stop: row.stop_reason,
            max: bits(row.max_bits),
            changes: &row.class_changes,
            ranges: row.ranges.iter().map(|range| self.range(range)).collect(),
            lone: lone.map(|witness| self.witness(&id(), witness)),
        }
    }

    fn range(&self, row: &'a RangeRow) -> RangeData<'a> {
        let letter = |edge: EdgeKind| if edge == EdgeKind::Sharp { 's' } else { 'r' };
        RangeData {
            lo: numbers(self.scalars, &row.lo),
            hi: numbers(self.scalars, &row.hi),
            edges: row.edges.iter().flat_map(|e| [letter(e.lo), letter(e.hi)]).collect(),
            samples: row.samples,
            odd: row.inconsistent,
            mean: bits(row.mean_bits),
            max: bits(row.max_bits),
            category: &row.category,
            kept: row.without_flushing,
            witness: self.witness(&row.id, &row.witness),
        }
    }

    fn witness(&self, id: &str, row: &WitnessRow) -> WitnessData<'a> {
        let confirmed = |row: &'a ConfirmRow| (row.confirmed, row.reason.as_str());
        WitnessData {
            id: quoted(id),
            inputs: numbers(self.scalars, &row.inputs),
            baseline: number(self.result, &row.baseline),
            variant: number(self.result, &row.variant),
            confirmed: self.material.confirmation(id).map(confirmed),
            why: self.material.explain.as_ref().and_then(|file| FindingWhy::new(file, id)),
        }
    }
}
