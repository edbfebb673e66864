//! The row of `run.json` for one function, made from what its search returned.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::category::category_of;
use crate::fp::{Scalar, Tolerance};
use crate::model::{
    Answer, BuildId, ComparisonResult, ComparisonRow, EdgeRow, FaultRecord, FaultRow, FindingId, Function,
    FunctionResult, FunctionRow, Number, Outcome, ParamRow, RangeResult, RangeRow, SearchStatus, Witness,
    WitnessRow, result_rows,
};

/// The row of a function. `builds` are the builds of its task, the baseline first; `missing` are
/// the builds without it, with the tool's own words.
pub fn function_row(
    function: &Function,
    builds: &[BuildId],
    result: &FunctionResult,
    missing: BTreeMap<BuildId, String>,
) -> FunctionRow {
    let maker = RowMaker { function, builds, params: function.scalars() };
    FunctionRow {
        name: function.name.clone(),
        params: function.coordinates.iter().map(|p| ParamRow { name: p.name.clone(), ty: p.ty }).collect(),
        result: function.results.ty(0),
        results: result_rows(&function.results),
        domains: function.coordinates.iter().map(|p| p.domain_text.clone()).collect(),
        status: status(builds, &missing),
        stop_reason: result.stop,
        evaluations: result.evaluations,
        comparisons: result.comparisons.iter().map(|c| maker.comparison(c)).collect(),
        faults: result.faults.iter().map(|f| maker.fault(f)).collect(),
        camps: Vec::new(),
        missing,
        held: None,
        source: None,
        constant: constant(function, result),
        same_code: false,
    }
}

fn constant(function: &Function, result: &FunctionResult) -> Vec<Answer> {
    let words = result.constant.iter().flatten();
    let values = function.results.values().iter();
    values.zip(words).map(|(value, &word)| Answer::new(value.ty, Outcome::Value(word))).collect()
}

fn status(builds: &[BuildId], missing: &BTreeMap<BuildId, String>) -> SearchStatus {
    match builds.first() {
        None => SearchStatus::Missing,
        Some(baseline) if missing.contains_key(baseline) => SearchStatus::Missing,
        Some(_) if missing.is_empty() => SearchStatus::Searched,
        Some(_) => SearchStatus::Partial,
    }
}

struct RowMaker<'a> {
    function: &'a Function,
    builds: &'a [BuildId],
    params: Vec<Scalar>,
}

impl RowMaker<'_> {
    fn comparison(&self, comparison: &ComparisonResult) -> ComparisonRow {
        let build = self.build(comparison.variant);
        let ranges = self.with_worst(comparison);
        let range = |(index, range): (usize, &Cow<RangeResult>)| self.range(&build, index, range);
        let most = comparison.witness.as_ref().map_or(0.0, |w| w.bits);
        ComparisonRow {
            baseline: self.build(0),
            evaluations: comparison.evaluations,
            stop_reason: comparison.stop,
            max_bits: finite(most),
            witness: comparison.witness.as_ref().map(|w| self.witness(w)),
            class_changes: comparison.class_changes.clone(),
            tolerance: Tolerance::default(),
            ranges: ranges.iter().enumerate().map(range).collect(),
            build,
        }
    }

    /// The ranges, one of which has the comparison's worst input as its witness, so that no table shows fewer bits than
    /// were found: the range that holds the input, or one of this input alone.
    fn with_worst<'r>(&self, comparison: &'r ComparisonResult) -> Vec<Cow<'r, RangeResult>> {
        let mut ranges: Vec<Cow<RangeResult>> = comparison.ranges.iter().map(Cow::Borrowed).collect();
        let Some(worst) = &comparison.witness else { return ranges };
        if ranges.iter().any(|range| finite(range.witness.bits) >= finite(worst.bits)) {
            return ranges;
        }
        match ranges.iter_mut().find(|range| range.holds(&self.params, &worst.inputs)) {
            Some(range) => range.to_mut().witness = worst.clone(),
            None => ranges.push(Cow::Owned(RangeResult::of_one(worst))),
        }
        ranges
    }

    fn range(&self, build: &BuildId, index: usize, range: &RangeResult) -> RangeRow {
        RangeRow {
            id: FindingId::of_range(&self.function.name, build, index),
            lo: self.inputs(&range.lo),
            hi: self.inputs(&range.hi),
            edges: range.edges.iter().map(|e| EdgeRow { lo: e.lo, hi: e.hi }).collect(),
            samples: range.samples,
            inconsistent: range.inconsistent,
            mean_bits: finite(range.mean_bits),
            max_bits: finite(range.witness.bits),
            witness: self.witness(&range.witness),
            category: category_of(&self.params, self.function.results.ty(range.witness.worst), range),
            without_flushing: None,
        }
    }

    fn witness(&self, witness: &Witness) -> WitnessRow {
        let inputs = self.inputs(&witness.inputs);
        match witness.values.as_slice() {
            [] => {
                let answer = |outcome| Answer::new(self.function.results.ty(witness.worst), outcome);
                let worst = self.function.results.name(witness.worst).map(String::from);
                let (baseline, variant) = (answer(witness.baseline), answer(witness.variant));
                WitnessRow { worst, ..WitnessRow::of_one(inputs, baseline, variant) }
            }
            values => WitnessRow::new(&self.function.results, inputs, witness.worst, values),
        }
    }

    fn fault(&self, fault: &FaultRecord) -> FaultRow {
        FaultRow {
            build: self.build(fault.build),
            kind: fault.kind,
            count: fault.count,
            examples: fault.examples.iter().map(|inputs| self.inputs(inputs)).collect(),
        }
    }

    fn inputs(&self, inputs: &[u64]) -> Vec<Number> {
        Number::list(&self.params, inputs)
    }

    fn build(&self, index: usize) -> BuildId {
        self.builds.get(index).cloned().unwrap_or_else(|| BuildId(format!("build {index}")))
    }
}

/// JSON has no NaN or infinity; a statistic without samples is 0.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::model::{Callee, ClassChange, Coordinate, Domain, EdgeKind, Edges, FaultKind, StopReason};

    fn function() -> Function {
        let param = |name: &str, ty: Scalar| Coordinate {
            name: name.into(),
            ty,
            domain: Domain::all(ty),
            domain_text: String::new(),
        };
        let callee = Callee::Signature("float ratio(double x, int n)".into());
        Function::of_scalars(
            "ratio",
            vec![param("x", Scalar::F64), param("n", Scalar::I32)],
            Scalar::F32,
            callee,
        )
    }

    fn result() -> FunctionResult {
        let inputs = |x: f64, n: i64| vec![x.to_bits(), n.cast_unsigned()];
        let witness = Witness {
            inputs: inputs(-1.5, -3),
            baseline: Outcome::Value(0.1f32.to_bits().into()),
            variant: Outcome::Fault(FaultKind::Signal(11)),
            bits: f64::NAN,
            change: Some(ClassChange::Crash),
            worst: 0,
            values: Vec::new(),
        };
        let range = RangeResult {
            lo: inputs(-2.0, -3),
            hi: inputs(-1.0, -3),
            edges: vec![Edges { lo: EdgeKind::Sharp, hi: EdgeKind::Ragged }; 2],
            samples: 512,
            inconsistent: 100,
            mean_bits: 3.25,
            witness: witness.clone(),
            class_changes: BTreeMap::new(),
        };
        let mut comparison = ComparisonResult { variant: 1, witness: Some(witness), ..Default::default() };
        comparison.ranges = vec![range.clone(), range];
        comparison.class_changes = [(ClassChange::FiniteToNan, 4)].into();
        FunctionResult {
            evaluations: 7,
            stop: StopReason::Faults,
            comparisons: vec![comparison],
            faults: vec![FaultRecord {
                build: 1,
                kind: FaultKind::Timeout,
                count: 2,
                examples: vec![inputs(1.0, 2)],
            }],
            ..FunctionResult::default()
        }
    }

    fn builds() -> Vec<BuildId> {
        vec![BuildId::new("gcc", "O0", "native"), BuildId::new("gcc", "O3", "native")]
    }

    #[test]
    fn every_number_is_written_exactly_and_readably() {
        let row = function_row(&function(), &builds(), &result(), BTreeMap::new());
        let comparison = &row.comparisons[0];
        let witness = comparison.witness.as_ref().unwrap();
        let stored = serde_json::to_value(witness).unwrap();
        assert_eq!(stored["inputs"][0], serde_json::json!({"hex": "-0x1.8p+0", "dec": "-1.5"}));
        assert_eq!(stored["inputs"][1]["dec"], "-3");
        assert_eq!(stored["baseline"]["dec"], "0.1");
        assert_eq!(stored["variant"], serde_json::json!({"hex": "SIGSEGV", "dec": "SIGSEGV"}));
        assert_eq!(comparison.class_changes[&ClassChange::FiniteToNan], 4);
        assert_eq!(comparison.max_bits, 0.0, "no NaN reaches JSON");
        let stored = serde_json::to_value(&row).unwrap();
        assert_eq!((&stored["params"][1]["type"], &stored["result"]), (&"int32_t".into(), &"float".into()));
        let fault = &stored["faults"][0];
        assert_eq!((&fault["build"], &fault["kind"]), (&"gcc/O3/native".into(), &"timeout".into()));
        assert_eq!(serde_json::from_value::<FunctionRow>(stored).unwrap(), row);
    }

    fn most_shown(row: &ComparisonRow) -> f64 {
        row.ranges.iter().map(|range| range.max_bits).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn the_most_bits_of_a_comparison_are_those_of_a_range(
            ranges in prop::collection::vec((1f64..64.0, 1f64..64.0, 0f64..63.0), 0..5),
            worst in prop::option::of((1f64..64.0, 0f64..63.0)),
        ) {
            let shared = result();
            let template = &shared.comparisons[0].ranges[0];
            let witness = |x: f64, bits: f64| {
                let mut witness = template.witness.clone();
                (witness.inputs[0], witness.bits) = (x.to_bits(), bits);
                witness
            };
            let range = |&(a, b, bits): &(f64, f64, f64)| {
                let (mut range, lo, hi) = (template.clone(), a.min(b), a.max(b));
                (range.lo[0], range.hi[0], range.witness) = (lo.to_bits(), hi.to_bits(), witness(lo, bits));
                range
            };
            let ranges: Vec<RangeResult> = ranges.iter().map(range).collect();
            let found = ranges.iter().map(|range| range.witness.clone());
            let worst = found.chain(worst.map(|(x, bits)| witness(x, bits)));
            let worst = worst.max_by(|a, b| a.bits.total_cmp(&b.bits));
            let held = |w: &Witness| ranges.iter().any(|r| r.holds(&[Scalar::F64, Scalar::I32], &w.inputs));
            let lone = worst.as_ref().is_some_and(|w| !held(w));
            let count = ranges.len() + usize::from(lone);
            let comparison = ComparisonResult { variant: 1, ranges, witness: worst, ..Default::default() };
            let result = FunctionResult { comparisons: vec![comparison], ..Default::default() };
            let row = function_row(&function(), &builds(), &result, BTreeMap::new());
            let row = &row.comparisons[0];
            prop_assert_eq!(most_shown(row), row.max_bits);
            prop_assert_eq!(row.ranges.len(), count);
        }
    }

    #[test]
    fn a_range_id_names_function_build_and_place() {
        let row = function_row(&function(), &builds(), &result(), BTreeMap::new());
        let ids: Vec<_> = row.comparisons[0].ranges.iter().map(|r| r.id.to_string()).collect();
        assert_eq!(ids, ["ratio#gcc/O3/native.1", "ratio#gcc/O3/native.2"]);
    }

    #[test]
    fn the_status_says_which_builds_lack_the_function() {
        let status = |missing: &[&str]| {
            let missing = missing.iter().map(|&b| (b.into(), "undefined reference".into())).collect();
            function_row(&function(), &builds(), &result(), missing).status
        };
        assert_eq!(status(&[]), SearchStatus::Searched);
        assert_eq!(status(&["clang/O0/native"]), SearchStatus::Partial);
        assert_eq!(status(&["gcc/O0/native"]), SearchStatus::Missing);
    }

    #[test]
    fn a_change_of_class_has_the_same_name_in_rows_as_in_serde() {
        for change in [ClassChange::FiniteToInfinity, ClassChange::ZeroSign, ClassChange::Crash] {
            assert_eq!(serde_json::to_value(change).unwrap(), change.as_str());
        }
    }
}
