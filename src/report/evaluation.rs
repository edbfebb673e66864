//! `bitrift eval`: one input on every build.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment};

use super::number::exact;
use super::style::{Style, text_of};
use crate::lab::{Comparison, Evaluated};
use crate::model::{Answer, Difference, Number, ParamRow, Results, Whole, gist, printable};

/// One input on all builds.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub function: String,
    pub params: Vec<ParamRow>,
    pub inputs: Vec<Number>,
    /// What the function gives.
    pub results: Results,
    pub rows: Vec<Evaluated>,
}

/// The input, then one line per build.
pub fn render(evaluation: &Evaluation, style: Style) -> String {
    let mut text = format!("{}\n", printable(&evaluation.function));
    for (param, input) in evaluation.params.iter().zip(&evaluation.inputs) {
        let _ = writeln!(text, "  {} = {}", printable(&param.name), exact(input));
    }
    text.push('\n');
    let mut table = style.table(&["build", "bits", "hex", "decimal", ""]);
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in &evaluation.rows {
        let build = Cell::new(printable(row.build.as_str()));
        let (bits, whole, note) = match &row.verdict {
            Comparison::Baseline(outcome) => (Cell::new(""), Some(outcome), "baseline".to_string()),
            Comparison::Variant { outcome, difference } => {
                let both = difference.filter(|d| d.baseline.value().is_some() && d.variant.value().is_some());
                let bits = both.map_or_else(|| Cell::new("-"), |d| style.bits(d.bits));
                (bits, Some(outcome), difference.map(|d| note(evaluation, &d)).unwrap_or_default())
            }
            Comparison::Absent { reason } => (Cell::new(""), None, printable(gist(reason))),
        };
        let stamp = row.emulated.then(|| "emulated".to_string());
        let notes: Vec<String> = [note].into_iter().filter(|n| !n.is_empty()).chain(stamp).collect();
        let answers = whole.map(|whole| values(&evaluation.results, whole)).unwrap_or_default();
        let lines = |text: fn(Answer) -> String| {
            answers
                .iter()
                .map(|(name, answer)| format!("{name}{}", text(*answer)))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let (hex, dec) = (lines(Answer::hex), lines(Answer::dec));
        table.add_row(vec![build, bits, Cell::new(hex), Cell::new(dec), Cell::new(notes.join(", "))]);
    }
    text.push_str(&text_of(&table));
    text
}

/// Every value with its name, where there are several; a fault once.
fn values(results: &Results, whole: &Whole) -> Vec<(String, Answer)> {
    let answers = results.answers(whole.returned());
    if !results.is_wide() || !whole.is_value() {
        return answers.into_iter().take(1).map(|answer| (String::new(), answer)).collect();
    }
    let named = results.values().iter().map(|value| format!("{} = ", printable(&value.name)));
    named.zip(answers).collect()
}

/// The change of class, and the value that differs most where there are several.
fn note(evaluation: &Evaluation, difference: &Difference) -> String {
    let differs = difference.bits > 0.0 || difference.change.is_some();
    let worst = evaluation.results.name(difference.worst).filter(|_| differs).map(printable);
    let change = difference.change.map(|change| change.as_str().to_string());
    worst.into_iter().chain(change).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::{Equality, Scalar};
    use crate::model::{FaultKind, Outcome};
    use crate::report::sample::{HOSTILE, number};

    #[test]
    fn every_build_has_a_line() {
        let value = |x: f64| Outcome::Value(x.to_bits());
        let results = Results::one(Scalar::F64);
        let baseline = Whole::from(value(0.1));
        let variant = |outcome: Outcome| {
            let outcome = Whole::from(outcome);
            let difference = results.compare(Equality::default(), baseline.returned(), outcome.returned());
            Comparison::Variant { outcome, difference: Some(difference) }
        };
        let row = |build: &str, verdict| Evaluated {
            build: build.into(),
            emulated: build.ends_with("/aarch64"),
            verdict,
        };
        let evaluation = Evaluation {
            function: "hypot_naive".into(),
            params: ["x", "y"].map(|p| ParamRow { name: p.into(), ty: Scalar::F64 }).to_vec(),
            inputs: vec![number(-1.5), number(1.0 / 3.0)],
            results: results.clone(),
            rows: vec![
                row("gcc/O0/native", Comparison::Baseline(baseline.clone())),
                row("gcc/O2/aarch64", variant(value(0.1))),
                row("gcc/O3-fast/native", variant(value(f64::NAN))),
                row("gcc/O3/native", variant(Outcome::Fault(FaultKind::Signal(11)))),
                row(HOSTILE, Comparison::Absent { reason: "clang-16 is not installed\nmore".into() }),
            ],
        };
        insta::assert_snapshot!(render(&evaluation, Style::PLAIN));
    }
}
