//! `bitrift eval`: one input on every build.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment};

use super::number::exact;
use super::style::{Style, text_of};
use crate::model::{self, BuildId, Number, ParamRow, gist, printable};

/// What one build made of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRow {
    pub build: BuildId,
    pub emulated: bool,
    pub answer: Answer,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The baseline's own result, or fault.
    Baseline(model::Answer),
    /// A variant's, with its bits against the baseline (None: one of the two gave no value) and
    /// the change of class by name.
    Variant { result: model::Answer, bits: Option<f64>, change: Option<&'static str> },
    /// The build or the function in it is not there.
    Absent { reason: String },
}

/// One input on all builds.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub function: String,
    pub params: Vec<ParamRow>,
    pub inputs: Vec<Number>,
    pub rows: Vec<EvaluationRow>,
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
        let build = Cell::new(printable(&row.build));
        let (bits, result, note) = match &row.answer {
            Answer::Baseline(result) => (Cell::new(""), Some(result), "baseline".to_string()),
            Answer::Variant { result, bits, change } => {
                let bits = bits.map_or_else(|| Cell::new("-"), |b| style.bits(b));
                (bits, Some(result), change.unwrap_or("").to_string())
            }
            Answer::Absent { reason } => (Cell::new(""), None, printable(gist(reason))),
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
    use crate::fp::Scalar;
    use crate::report::sample::{HOSTILE, number, value};

    #[test]
    fn every_build_has_a_line() {
        let variant = |result: model::Answer, bits, change| Answer::Variant { result, bits, change };
        let fault = model::Answer::Fault(model::FaultKind::Signal(11));
        let row = |build: &str, answer| EvaluationRow {
            build: build.into(),
            emulated: build.ends_with("/aarch64"),
            answer,
        };
        let evaluation = Evaluation {
            function: "hypot_naive".into(),
            params: ["x", "y"].map(|p| ParamRow { name: p.into(), ty: Scalar::F64 }).to_vec(),
            inputs: vec![number(-1.5), number(1.0 / 3.0)],
            rows: vec![
                row("gcc/O0/native", Answer::Baseline(value(0.1))),
                row("gcc/O2/aarch64", variant(value(0.1), Some(0.0), None)),
                row("gcc/O3-fast/native", variant(value(f64::NAN), Some(62.0), Some("finite-to-nan"))),
                row("gcc/O3/native", variant(fault, None, Some("crash"))),
                row(HOSTILE, Answer::Absent { reason: "clang-16 is not installed\nmore".into() }),
            ],
        };
        insta::assert_snapshot!(render(&evaluation, Style::PLAIN));
    }
}
