//! The row of a bench for one search of one function.

use crate::fp::format_hex;
use crate::model::{BenchRow, BuildId, ComparisonResult, Function, FunctionResult, SearchSettings};

/// The row of a result. Seconds and scores against truth are for the caller to add.
pub fn bench_row(
    function: &Function,
    builds: &[BuildId],
    settings: &SearchSettings,
    result: &FunctionResult,
) -> BenchRow {
    let bits = |c: &ComparisonResult| c.witness.as_ref().map(|w| w.bits).filter(|b| b.is_finite());
    let with_witness = result.comparisons.iter().filter(|c| c.witness.is_some());
    // Of equals the first variant.
    let best = with_witness.rev().max_by(|a, b| bits(a).unwrap_or(0.0).total_cmp(&bits(b).unwrap_or(0.0)));
    let witness = best.and_then(|c| c.witness.as_ref());
    let inputs = witness.map_or(&[][..], |w| &w.inputs);
    BenchRow {
        strategy: settings.strategy,
        seed: settings.seed,
        function: function.name.clone(),
        max_bits: best.and_then(bits).unwrap_or(0.0),
        build: best.and_then(|c| builds.get(c.variant)).cloned(),
        witness: function.coordinates.iter().zip(inputs).map(|(p, &bits)| format_hex(p.ty, bits)).collect(),
        evaluations: result.evaluations,
        stop_reason: result.stop,
        ranges: result.comparisons.iter().map(|c| c.ranges.len()).sum(),
        faults: result.faults.iter().map(|f| f.count).sum(),
        wall_s: 0.0,
        busy_s: 0.0,
        truth: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::model::{Callee, Coordinate, Domain, Outcome, Witness};

    #[test]
    fn the_most_bits_of_all_variants_count_and_of_equals_the_first_variant() {
        let param = Coordinate {
            name: "x".into(),
            ty: Scalar::F64,
            domain: Domain::all(Scalar::F64),
            domain_text: String::new(),
        };
        let function = Function::of_scalars(
            "f",
            vec![param],
            Scalar::F64,
            Callee::Signature("double f(double x)".into()),
        );
        let comparison = |variant, found: Option<(f64, f64)>| ComparisonResult {
            variant,
            witness: found.map(|(x, bits)| Witness {
                inputs: vec![x.to_bits()],
                baseline: Outcome::Value(0),
                variant: Outcome::Value(1),
                bits,
                change: None,
                worst: 0,
                values: Vec::new(),
            }),
            ..Default::default()
        };
        let names = ["O0", "O1", "O2", "O3"].map(|flags| BuildId::new("cc", flags, "native"));
        let row = |comparisons: Vec<ComparisonResult>| {
            let result = FunctionResult { evaluations: 9, comparisons, ..Default::default() };
            bench_row(&function, &names, &SearchSettings::default(), &result)
        };
        let found = row(vec![
            comparison(1, Some((1.0, 3.0))),
            comparison(2, Some((1.5, 7.0))),
            comparison(3, Some((2.0, 7.0))),
        ]);
        assert_eq!((found.max_bits, found.build.as_ref().map(BuildId::as_str)), (7.0, Some("cc/O2/native")));
        assert_eq!((found.witness, found.evaluations, found.seed), (vec!["0x1.8p+0".to_string()], 9, 1));
        let nothing = row(vec![comparison(1, None)]);
        assert_eq!((nothing.max_bits, nothing.build), (0.0, None));
    }
}
