//! `bitrift confirm`: which witnesses plain executables show too; and what the tables of a run say of it.

use std::fmt::Write;

use comfy_table::Cell;

use super::number::{exact, worst};
use super::style::{Style, text_of, wrap};
use crate::findings::witnesses;
use crate::model::{Answer, ConfirmFile, Confirmed, FindingId, RunFile, gist, printable};

/// The witnesses that are not confirmed, or all of them, then how many are.
pub fn render(run: &RunFile, confirm: &ConfirmFile, all: bool, style: Style) -> String {
    let mut table = style.table(&["confirmed", "witness, and what plain executables answer"]);
    for witness in run.functions.iter().flat_map(witnesses) {
        let Some(row) = confirm.witnesses.get(&witness.id) else { continue };
        if row.confirmed == Confirmed::Yes && !all {
            continue;
        }
        let mut lines = vec![printable(&witness.id.to_string())];
        lines.extend(witness.row.inputs.iter().map(|input| format!("  at {}", exact(input))));
        let stored = &witness.row;
        lines.push(format!("  run   {}{} -> {}", worst(stored), stored.baseline.dec(), stored.variant.dec()));
        if let (Some(baseline), Some(variant)) = (&row.baseline, &row.variant) {
            lines.push(format!("  plain {} -> {}", baseline.dec(), variant.dec()));
        }
        if row.confirmed == Confirmed::Unknown {
            lines.push(format!("  {}", printable(gist(&row.reason))));
        }
        table.add_row(vec![style.status(word(row.confirmed)), Cell::new(lines.join("\n"))]);
    }
    let mut text = if table.is_empty() { String::new() } else { text_of(&table) + "\n" };
    text.push_str(&wrap(&summary(run, confirm), style.width));
    text
}

fn word(confirmed: Confirmed) -> &'static str {
    match confirmed {
        Confirmed::Yes => "yes",
        Confirmed::No => "NO",
        Confirmed::Unknown => "unknown",
    }
}

/// `188 of 189 witnesses confirmed in plain executables, 1 NOT confirmed`, of the functions in the run.
pub fn summary(run: &RunFile, confirm: &ConfirmFile) -> String {
    let known = run.functions.iter().flat_map(witnesses).map(|w| confirm.witnesses.get(&w.id));
    let known: Vec<Option<Confirmed>> = known.map(|row| row.map(|r| r.confirmed)).collect();
    let of = |confirmed: Option<Confirmed>| known.iter().filter(|k| **k == confirmed).count();
    let noun = if known.len() == 1 { "witness" } else { "witnesses" };
    let mut text =
        format!("{} of {} {noun} confirmed in plain executables", of(Some(Confirmed::Yes)), known.len());
    if of(Some(Confirmed::No)) > 0 {
        let _ = write!(text, ", {} NOT confirmed", of(Some(Confirmed::No)));
    }
    let untried = of(Some(Confirmed::Unknown)) + of(None);
    if untried > 0 {
        let _ = write!(text, ", {untried} could not be tried");
    }
    text
}

/// What stands below a witness that is not confirmed; nothing below one that is.
pub(super) fn mark(confirm: Option<&ConfirmFile>, finding: &FindingId) -> Option<String> {
    let row = confirm?.witnesses.get(finding)?;
    match row.confirmed {
        Confirmed::Yes => None,
        Confirmed::No => {
            let dec = |answer: Option<Answer>| answer.map_or_else(|| "?".to_string(), Answer::dec);
            let answers = format!("{} -> {}", dec(row.baseline), dec(row.variant));
            Some(format!("  NOT confirmed: plain executables\n  answer {answers}"))
        }
        Confirmed::Unknown => Some(format!("  not confirmed: {}", printable(gist(&row.reason)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CONFIRM_SCHEMA, ConfirmRow};
    use crate::report::sample;
    use crate::report::table::{self, TableOptions};

    fn confirmed() -> (RunFile, ConfirmFile) {
        let mut run = sample::run();
        for function in &mut run.functions {
            for comparison in &mut function.comparisons {
                for (index, range) in comparison.ranges.iter_mut().enumerate() {
                    range.id = FindingId::of_range(&function.name, &comparison.build, index);
                }
            }
        }
        let yes = ConfirmRow {
            confirmed: Confirmed::Yes,
            worst: None,
            baseline: Some(sample::value(0.1)),
            variant: Some(sample::value(0.2)),
            reason: String::new(),
        };
        let ids = run.functions.iter().flat_map(witnesses).map(|w| w.id);
        let mut witnesses: std::collections::BTreeMap<_, _> = ids.map(|id| (id, yes.clone())).collect();
        let no = ConfirmRow { confirmed: Confirmed::No, worst: None, variant: yes.baseline, ..yes };
        witnesses.insert("airy_ai#gcc/O3-fast/native.1".parse().unwrap(), no);
        let failed = "gcc/O3-fast/native: a.c:3: error: no\u{1b}[31m such thing";
        witnesses.insert("lone#gcc/O3-fast/native.max".parse().unwrap(), ConfirmRow::unknown(failed.into()));
        (run, ConfirmFile { schema: CONFIRM_SCHEMA.into(), witnesses })
    }

    #[test]
    fn what_is_not_confirmed_is_listed_and_the_rest_counted() {
        let (run, confirm) = confirmed();
        insta::assert_snapshot!(render(&run, &confirm, false, Style::PLAIN));
        let all = render(&run, &confirm, true, Style::PLAIN);
        assert!(all.matches("\nyes ").count() > 5, "{all}");
    }

    #[test]
    fn the_table_of_a_run_marks_what_is_not_confirmed() {
        let (run, confirm) = confirmed();
        let options = TableOptions { confirm: Some(&confirm), ..TableOptions::default() };
        let text = table::render(&run, options, Style { width: 80, color: false, unicode: false });
        assert_eq!(text.matches("NOT confirmed: plain").count(), 1, "{text}");
        assert!(text.contains("answer 0.1 -> 0.1"), "{text}");
        assert!(
            text.contains("witnesses confirmed in plain executables, 1 NOT confirmed, 1 could not"),
            "{text}"
        );
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    }
}
