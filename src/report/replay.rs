//! `bitrift replay`: what became of every stored witness.

use std::fmt::Write;

use comfy_table::Cell;

use super::number::exact;
use super::style::{Style, text_of};
use crate::findings::{StoredWitness, Verdict};
use crate::model::{NumberText, printable};

/// A witness with what a new evaluation says about it.
pub type Replayed = (StoredWitness, Verdict);

/// One line per witness, then how many held, moved, went or could not be evaluated.
pub fn render(replayed: &[Replayed], style: Style) -> String {
    let mut table = style.table(&["witness", "verdict", "input", "results then, now"]);
    for (witness, verdict) in replayed {
        let then = pair(&witness.row.baseline, &witness.row.variant);
        let results = match verdict {
            Verdict::Held => then,
            Verdict::Moved { baseline, variant, bits } => {
                let bits = bits.map(|b| format!(" ({b:.1} bits)")).unwrap_or_default();
                format!("{then}\n{}{bits}", pair(baseline, variant))
            }
            Verdict::Gone { baseline, variant } => format!("{then}\n{}", pair(baseline, variant)),
            Verdict::Unevaluated { reason } => format!("{then}\n{}", printable(reason)),
        };
        let inputs: Vec<_> = witness.row.inputs.iter().map(exact).collect();
        table.add_row(vec![
            Cell::new(printable(&witness.id)),
            style.status(verdict.as_str()),
            Cell::new(inputs.join("\n")),
            Cell::new(results),
        ]);
    }
    let mut text = if replayed.is_empty() { String::new() } else { text_of(&table) + "\n" };
    let _ = writeln!(text, "{}", summary(replayed));
    text
}

/// `12 witnesses: 10 held, 1 moved, 1 gone`.
pub fn summary(replayed: &[Replayed]) -> String {
    let of = |verdict: &str| replayed.iter().filter(|(_, v)| v.as_str() == verdict).count();
    let counts = ["held", "moved", "gone", "unevaluated"].map(|verdict| (verdict, of(verdict)));
    let shown: Vec<_> = counts
        .iter()
        .filter(|(verdict, n)| *n > 0 || *verdict != "unevaluated")
        .map(|(verdict, n)| format!("{n} {verdict}"))
        .collect();
    let noun = if replayed.len() == 1 { "witness" } else { "witnesses" };
    format!("{} {noun}: {}", replayed.len(), shown.join(", "))
}

fn pair(baseline: &NumberText, variant: &NumberText) -> String {
    format!("{} -> {}", printable(&baseline.dec), printable(&variant.dec))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{HOSTILE, run};

    fn replayed() -> Vec<Replayed> {
        let run = run();
        let row = &run.functions[1].comparisons[1].ranges[0].witness;
        let witness = |id: &str| StoredWitness {
            function: "quadratic_root".into(),
            id: id.into(),
            build: "gcc/O3-fast/native".into(),
            baseline: "gcc/O0/native".into(),
            inputs: vec![0, 0, 0],
            row: row.clone(),
        };
        let (baseline, variant) = (row.baseline.clone(), row.baseline.clone());
        let moved = NumberText { hex: "timeout".into(), dec: "timeout".into() };
        vec![
            (witness("quadratic_root#gcc/O3-fast/native.1"), Verdict::Held),
            (witness("b"), Verdict::Moved { baseline: baseline.clone(), variant: moved, bits: None }),
            (witness("c"), Verdict::Gone { baseline, variant }),
            (witness(HOSTILE), Verdict::Unevaluated { reason: "build tcc is not there".into() }),
        ]
    }

    #[test]
    fn every_witness_has_its_verdict() {
        insta::assert_snapshot!(render(&replayed(), Style::PLAIN));
    }

    #[test]
    fn the_summary_counts_and_keeps_zeros() {
        assert_eq!(summary(&replayed()[..1]), "1 witness: 1 held, 0 moved, 0 gone");
        assert_eq!(render(&[], Style::PLAIN), "0 witnesses: 0 held, 0 moved, 0 gone\n");
    }
}
