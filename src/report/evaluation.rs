//! `bitrift eval`: one input on every build.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment};

use super::number::exact;
use super::style::{Style, text_of};
use crate::fp::Scalar;
use crate::lab::{Comparison, Evaluated};
use crate::model::{Answer, ClassChange, Number, ParamRow, gist, printable};

/// One input on all builds.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub function: String,
    pub params: Vec<ParamRow>,
    pub inputs: Vec<Number>,
    /// What the function returns.
    pub result: Scalar,
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
        let result = |outcome| Some(Answer::new(evaluation.result, outcome));
        let (bits, result, note) = match &row.verdict {
            Comparison::Baseline(outcome) => (Cell::new(""), result(*outcome), "baseline".to_string()),
            Comparison::Variant { outcome, bits, change } => {
                let bits = bits.map_or_else(|| Cell::new("-"), |b| style.bits(b));
                (bits, result(*outcome), change.map_or("", ClassChange::as_str).to_string())
            }
            Comparison::Absent { reason } => (Cell::new(""), None, printable(gist(reason))),
        };
        let stamp = row.emulated.then(|| "emulated".to_string());
        let notes: Vec<String> = [note].into_iter().filter(|n| !n.is_empty()).chain(stamp).collect();
        let (hex, dec) = result.map(|r| (r.hex(), r.dec())).unwrap_or_default();
        table.add_row(vec![build, bits, Cell::new(hex), Cell::new(dec), Cell::new(notes.join(", "))]);
    }
    text.push_str(&text_of(&table));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FaultKind, Outcome};
    use crate::report::sample::{HOSTILE, number};

    #[test]
    fn every_build_has_a_line() {
        let value = |x: f64| Outcome::Value(x.to_bits());
        let variant = |outcome, bits, change| Comparison::Variant { outcome, bits, change };
        let row = |build: &str, verdict| Evaluated {
            build: build.into(),
            emulated: build.ends_with("/aarch64"),
            verdict,
        };
        let evaluation = Evaluation {
            function: "hypot_naive".into(),
            params: ["x", "y"].map(|p| ParamRow { name: p.into(), ty: Scalar::F64 }).to_vec(),
            inputs: vec![number(-1.5), number(1.0 / 3.0)],
            result: Scalar::F64,
            rows: vec![
                row("gcc/O0/native", Comparison::Baseline(value(0.1))),
                row("gcc/O2/aarch64", variant(value(0.1), Some(0.0), None)),
                row(
                    "gcc/O3-fast/native",
                    variant(value(f64::NAN), Some(62.0), Some(ClassChange::FiniteToNan)),
                ),
                row(
                    "gcc/O3/native",
                    variant(Outcome::Fault(FaultKind::Signal(11)), None, Some(ClassChange::Crash)),
                ),
                row(HOSTILE, Comparison::Absent { reason: "clang-16 is not installed\nmore".into() }),
            ],
        };
        insta::assert_snapshot!(render(&evaluation, Style::PLAIN));
    }
}
