//! Everything about one function, as a block of data that the page reads when a reader opens it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::points::Points;
use super::value::{answer, bits, numbers};
use super::why::FindingWhy;
use crate::model::{
    BuildId, Category, ClassChange, ComparisonRow, ConfirmRow, Confirmed, EdgeKind, FaultKind, FindingId,
    FunctionRow, GapKind, RangeRow, SearchStatus, StopReason, WithoutFlushing, WitnessRow,
};
use crate::report::Material;
use crate::report::plan::quoted;
use crate::report::unsearched;

#[derive(Debug, Serialize)]
pub(super) struct Detail<'a> {
    name: &'a str,
    /// The name as a shell takes it.
    word: String,
    params: Vec<ParamData<'a>>,
    result: &'a str,
    status: SearchStatus,
    stop: StopReason,
    evaluations: u64,
    source: Option<String>,
    comparisons: Vec<ComparisonData<'a>>,
    faults: Vec<FaultData<'a>>,
    camps: Vec<CampData<'a>>,
    missing: &'a BTreeMap<BuildId, String>,
    /// What makes its search say little.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
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
    /// Why it is not to be taken for clean.
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<&'static str>,
    max: f64,
    changes: &'a BTreeMap<ClassChange, u64>,
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
    category: Category,
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
    /// The value that differs most and all values, of a function that gives several.
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<WorstData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<(Confirmed, &'a str)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<FindingWhy<'a>>,
}

#[derive(Debug, Serialize)]
struct FaultData<'a> {
    build: &'a str,
    kind: FaultKind,
    count: u64,
    examples: Vec<Vec<Value>>,
}

#[derive(Debug, Serialize)]
struct CampData<'a> {
    ranges: usize,
    camps: &'a [Vec<BuildId>],
    divided: &'a str,
}

/// Reads one function of a material; `most` bounds its samples.
pub(super) fn detail<'a>(material: &'a Material, function: &'a FunctionRow, most: usize) -> Detail<'a> {
    let reader = Reader { material, function };
    let domain = |index: usize| function.domains.get(index).map_or("", String::as_str);
    let params = function.params.iter().enumerate();
    let faults = function.faults.iter().map(|f| FaultData {
        build: &f.build,
        kind: f.kind,
        count: f.count,
        examples: f.examples.iter().map(|inputs| numbers(inputs)).collect(),
    });
    let camps = function.camps.iter();
    let samples = material.samples.get(&function.name).filter(|s| !s.samples.is_empty());
    Detail {
        name: &function.name,
        word: quoted(&function.name),
        params: params
            .map(|(i, p)| ParamData { name: &p.name, ty: p.ty.c_name(), domain: domain(i) })
            .collect(),
        result: function.result.c_name(),
        status: function.status,
        stop: function.stop_reason,
        evaluations: function.evaluations,
        source: function.source.as_ref().map(|s| format!("{}:{}", s.file, s.line)),
        comparisons: function.comparisons.iter().map(|c| reader.comparison(c)).collect(),
        faults: faults.collect(),
        camps: camps
            .map(|c| CampData { ranges: c.ranges.len(), camps: &c.camps, divided: &c.divided_by })
            .collect(),
        missing: &function.missing,
        remarks: unsearched::remarks(function),
        points: samples.map(|samples| Points::new(samples, &function.scalars(), most)),
    }
}

/// The value that a witness is about, its type, and all values with theirs.
#[derive(Debug, Serialize)]
struct WorstData {
    name: String,
    ty: &'static str,
    values: Vec<(String, &'static str, Value, Value)>,
}

fn worst(function: &FunctionRow, row: &WitnessRow) -> Option<WorstData> {
    let ty = |name: &str| function.results.iter().find(|r| r.name == name).unwrap_or(&function.results[0]).ty;
    let name = row.worst.clone().filter(|_| !function.results.is_empty())?;
    let values = row.results.iter().map(|value| {
        (value.name.clone(), ty(&value.name).c_name(), answer(value.baseline), answer(value.variant))
    });
    Some(WorstData { ty: ty(&name).c_name(), values: values.collect(), name })
}

/// What is the same for all findings of a function.
struct Reader<'a> {
    material: &'a Material,
    function: &'a FunctionRow,
}

impl<'a> Reader<'a> {
    fn comparison(&self, row: &'a ComparisonRow) -> ComparisonData<'a> {
        let lone = row.witness.as_ref().filter(|_| row.ranges.is_empty());
        let id = || FindingId::of_max(&self.function.name, &row.build);
        ComparisonData {
            build: &row.build,
            evaluations: row.evaluations,
            stop: row.stop_reason,
            gap: GapKind::of(row).map(GapKind::words),
            max: bits(row.max_bits),
            changes: &row.class_changes,
            ranges: row.ranges.iter().map(|range| self.range(range)).collect(),
            lone: lone.map(|witness| self.witness(&id(), witness)),
        }
    }

    fn range(&self, row: &'a RangeRow) -> RangeData<'a> {
        let letter = |edge: EdgeKind| if edge == EdgeKind::Sharp { 's' } else { 'r' };
        RangeData {
            lo: numbers(&row.lo),
            hi: numbers(&row.hi),
            edges: row.edges.iter().flat_map(|e| [letter(e.lo), letter(e.hi)]).collect(),
            samples: row.samples,
            odd: row.inconsistent,
            mean: bits(row.mean_bits),
            max: bits(row.max_bits),
            category: row.category,
            kept: row.without_flushing,
            witness: self.witness(&row.id, &row.witness),
        }
    }

    fn witness(&self, id: &FindingId, row: &WitnessRow) -> WitnessData<'a> {
        let confirmed = |row: &'a ConfirmRow| (row.confirmed, row.reason.as_str());
        WitnessData {
            id: quoted(&id.to_string()),
            inputs: numbers(&row.inputs),
            baseline: answer(row.baseline),
            variant: answer(row.variant),
            worst: worst(self.function, row),
            confirmed: self.material.confirmation(id).map(confirmed),
            why: self.material.explain.as_ref().and_then(|file| FindingWhy::new(file, id)),
        }
    }
}
