//! `bitrift replay`: what became of every stored witness.

use std::fmt::Write;

use comfy_table::Cell;

use super::number::{exact, worst};
use super::style::{Style, text_of, wrap};
use crate::findings::{StoredWitness, Verdict};
use crate::model::{Answer, gist, printable};

/// A witness with what a new evaluation says about it.
pub type Replayed = (StoredWitness, Verdict);

/// The witnesses that did not hold, or all of them, then how many held, moved, went or could not be
/// evaluated.
pub fn render(replayed: &[Replayed], all: bool, style: Style) -> String {
    let mut table = style.table(&["verdict", "witness, then and now"]);
    for (witness, verdict) in replayed.iter().filter(|(_, v)| all || *v != Verdict::Held) {
        let mut lines = vec![printable(&witness.id.to_string())];
        lines.extend(witness.row.inputs.iter().map(|input| format!("  at {}", exact(input))));
        lines.push(format!(
            "  then {}{}",
            worst(&witness.row),
            pair(&witness.row.baseline, &witness.row.variant)
        ));
        match verdict {
            Verdict::Held => {}
            Verdict::Moved { baseline, variant, bits } => {
                let bits = bits.map(|b| format!(" ({b:.1} bits)")).unwrap_or_default();
                lines.push(format!("  now  {}{bits}", pair(baseline, variant)));
            }
            Verdict::Gone { baseline, variant } => lines.push(format!("  now  {}", pair(baseline, variant))),
            Verdict::Unevaluated { reason } => {
                // Wrapped here: a table forgets the indent.
                let text = wrap(&printable(gist(reason)), style.width.saturating_sub(24));
                let indented = text.lines().map(str::trim_start).enumerate();
                lines.extend(
                    indented.map(|(i, l)| format!("  {}{l}", if i == 0 { "now  " } else { "     " })),
                );
            }
        }
        table.add_row(vec![style.status(verdict.as_str()), Cell::new(lines.join("\n"))]);
    }
    let mut text = if table.is_empty() { String::new() } else { text_of(&table) + "\n" };
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

fn pair(baseline: &Answer, variant: &Answer) -> String {
    format!("{} -> {}", baseline.dec(), variant.dec())
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
            id: id.parse().unwrap(),
            build: "gcc/O3-fast/native".into(),
            baseline: "gcc/O0/native".into(),
            inputs: vec![0, 0, 0],
            row: row.clone(),
        };
        let (baseline, variant) = (row.baseline, row.baseline);
        let moved = Answer::Fault(crate::model::FaultKind::Timeout);
        vec![
            (witness("quadratic_root#gcc/O3-fast/native.1"), Verdict::Held),
            (witness("b#x.1"), Verdict::Moved { baseline, variant: moved, bits: None }),
            (witness("c#x.1"), Verdict::Gone { baseline, variant }),
            (
                witness(&format!("{HOSTILE}#x.1")),
                Verdict::Unevaluated { reason: "build tcc is not there".into() },
            ),
        ]
    }

    #[test]
    fn every_witness_has_its_verdict() {
        insta::assert_snapshot!(render(&replayed(), true, Style::PLAIN));
    }

    #[test]
    fn witnesses_that_hold_are_only_counted_unless_all_are_asked_for() {
        let text = render(&replayed(), false, Style::PLAIN);
        assert!(!text.contains("\nheld") && text.contains("\nmoved"), "{text}");
        assert_eq!(render(&replayed()[..1], false, Style::PLAIN), "1 witness: 1 held, 0 moved, 0 gone\n");
    }

    #[test]
    fn the_summary_counts_and_keeps_zeros() {
        assert_eq!(summary(&replayed()[..1]), "1 witness: 1 held, 0 moved, 0 gone");
        assert_eq!(render(&[], false, Style::PLAIN), "0 witnesses: 0 held, 0 moved, 0 gone\n");
    }
}
