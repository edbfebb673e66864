//! Two runs side by side: on the terminal and for a pull request.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Color};

use super::markdown::table;
use super::number::{count, interval, plural};
use super::style::{Style, indented, text_of, wrap};
use super::text::code;
use crate::gate::compare::{
    BaselineMove, Change, Difference, FaultChange, Found, Only, PairChange, RangeChange, RunComparison,
};
use crate::model::{WitnessRow, printable};

/// Changed ranges and faults that a pull request shows.
const MOST: usize = 50;

/// For the terminal. `all` lists what is unchanged too.
pub fn render(comparison: &RunComparison, all: bool, style: Style) -> String {
    let mut sections = vec![heading(comparison, style)];
    sections.push(lines("what else differs", differences(comparison), style));
    sections.push(lines("baselines that moved", baselines(comparison), style));
    sections.push(changes(comparison, all, style));
    sections.push(lines("only in the first", only(&comparison.only_a), style));
    sections.push(lines("only in the second", only(&comparison.only_b), style));
    sections.push(lines("not comparable", incomparable(comparison), style));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// `2 new, 1 worse`; what did not happen is left out.
fn totals(comparison: &RunComparison) -> String {
    let told = Change::ALL.iter().filter(|change| comparison.total(**change) > 0);
    let told: Vec<_> =
        told.map(|c| format!("{} {}", count(comparison.total(*c) as u64), c.as_str())).collect();
    if told.is_empty() { "no range in either run".into() } else { told.join(", ") }
}

fn heading(comparison: &RunComparison, style: Style) -> String {
    let (a, b) = (printable(&comparison.a.run), printable(&comparison.b.run));
    let functions = plural(comparison.functions.len(), "function");
    let text = format!("{a} -> {b}, {functions} in both: {}", totals(comparison));
    let tolerance = format!("ranges within {} bits of each other count as unchanged", comparison.tolerance);
    wrap(&text, style.width) + &wrap(&tolerance, style.width)
}

fn lines(heading: &str, lines: Vec<String>, style: Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| indented(line, style.width)).collect();
    format!("{heading}:\n{lines}")
}

fn differences(comparison: &RunComparison) -> Vec<String> {
    let line = |d: &Difference| {
        let builds = match d.builds.len() {
            0 => String::new(),
            1 => format!(" ({})", printable(&d.builds[0])),
            n => format!(" ({})", plural(n, "build")),
        };
        format!("{}: {} -> {}{builds}", d.what, shown(&d.a), shown(&d.b))
    };
    let mut told: Vec<String> = comparison.differences.iter().map(line).collect();
    let domains = comparison.functions.iter().filter(|f| f.domains_differ);
    told.extend(domains.map(|f| format!("domain of {}: another one", printable(&f.function))));
    told
}

fn shown(text: &str) -> String {
    if text.is_empty() { "none".into() } else { printable(text) }
}

fn only(only: &Only) -> Vec<String> {
    let functions: Vec<String> = only.functions.iter().map(|name| printable(name)).collect();
    let functions = (!functions.is_empty()).then(|| format!("functions: {}", functions.join(", ")));
    let builds = only.builds.iter().map(|b| format!("{} ({})", printable(&b.id), printable(&b.why)));
    let pairs = only.comparisons.iter();
    let pairs = pairs.map(|p| format!("{} under {}", printable(&p.function), printable(&p.build)));
    functions.into_iter().chain(builds).chain(pairs).collect()
}

/// Functions whose baselines give other results, whatever the differences between builds.
fn baselines(comparison: &RunComparison) -> Vec<String> {
    let line = |moved: &BaselineMove| {
        let function = printable(&moved.function);
        let blocks = format!("{} of {} blocks of inputs have other results", moved.blocks.len(), moved.of);
        let first = moved.blocks.first().copied().unwrap_or_default();
        format!("{function}: {blocks}; bitrift eval {function} --block {first} lists one")
    };
    comparison.baselines.iter().map(line).collect()
}

fn incomparable(comparison: &RunComparison) -> Vec<String> {
    let lines = comparison.incomparable.iter();
    lines.map(|i| format!("{}: {}", printable(&i.function), printable(&i.reason))).collect()
}

fn changes(comparison: &RunComparison, all: bool, style: Style) -> String {
    let mut table = style.table(&["function, build", "change", "before", "after", "range, witness"]);
    for function in &comparison.functions {
        let wanted = |change: Change| all || change != Change::Unchanged;
        let pairs = function.builds.iter().filter(|pair| pair.changes().any(wanted));
        for (index, pair) in pairs.enumerate() {
            if index == 0 {
                table.add_row(vec![style.bold(&printable(&function.function))]);
            }
            let mut name = format!("  {}", build(pair));
            for range in pair.ranges.iter().filter(|r| wanted(r.change)) {
                let place = places(range, &function.params).join("\n");
                table.add_row(row(std::mem::take(&mut name), range.change, ends(range), place));
            }
            for fault in pair.faults.iter().filter(|f| wanted(f.change)) {
                let ends = [fault.a, fault.b].map(|n| format!("{} x", count(n)));
                table.add_row(row(std::mem::take(&mut name), fault.change, ends, fault.kind.to_string()));
            }
        }
    }
    for index in [2, 3] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if table.is_empty() { String::new() } else { text_of(&table) }
}

fn row(name: String, change: Change, [before, after]: [String; 2], place: String) -> Vec<Cell> {
    let word = Cell::new(change.as_str());
    let word = match change {
        Change::New | Change::Worse => word.fg(Color::Red),
        Change::Better | Change::Gone => word.fg(Color::Green),
        Change::Unchanged => word,
    };
    vec![Cell::new(name), word, Cell::new(before), Cell::new(after), Cell::new(place)]
}

/// `gcc-12/O2/native -> gcc-13/O2/native`, or the one name that both have.
fn build(pair: &PairChange) -> String {
    if pair.a == pair.b {
        return printable(&pair.b);
    }
    format!("{} -> {}", printable(&pair.a), printable(&pair.b))
}

/// Bits before and after.
fn ends(range: &RangeChange) -> [String; 2] {
    let bits = |found: &Option<Found>| found.as_ref().map_or("-".into(), |f| format!("{:.1}", f.max_bits));
    [bits(&range.a), bits(&range.b)]
}

/// Where the range is now, or was: the kind, a line for each parameter and the witness.
fn places(range: &RangeChange, params: &[String]) -> Vec<String> {
    let Some(found) = range.b.as_ref().or(range.a.as_ref()) else { return Vec::new() };
    let category = match (&range.a, &range.b) {
        (Some(a), Some(b)) if a.category != b.category => {
            format!("{} -> {}", a.category_text(), b.category_text())
        }
        _ => found.category_text().into(),
    };
    let mut lines = vec![printable(&category)];
    for (name, (lo, hi)) in params.iter().zip(found.lo.iter().zip(&found.hi)) {
        lines.push(format!("{} in {}", printable(name), interval(lo, hi)));
    }
    // The decimals read back exactly.
    let WitnessRow { inputs, baseline, variant, .. } = &found.witness;
    let inputs: Vec<_> = inputs.iter().map(|x| x.dec()).collect();
    lines.push(format!("at {}:", inputs.join(", ")));
    lines.push(format!("{} -> {}", baseline.dec(), variant.dec()));
    lines
}

/// For a pull request: what changed in a table, what else differs folded away.
pub fn render_markdown(comparison: &RunComparison) -> String {
    let mut text =
        format!("### bitrift: {} against {}\n\n", code(&comparison.b.run), code(&comparison.a.run));
    let functions = plural(comparison.functions.len(), "function");
    let tolerance = comparison.tolerance;
    let _ = writeln!(
        text,
        "{functions} in both runs: **{}** (ranges within {tolerance} bits count as unchanged).",
        totals(comparison)
    );
    let rows = changed_rows(comparison);
    let headings = ["function", "build", "change", "before:", "after:", "range, witness"];
    let shown = table(&headings, &rows[..rows.len().min(MOST)]);
    if !shown.is_empty() {
        let _ = write!(text, "\n{shown}");
    }
    if rows.len() > MOST {
        let _ = write!(text, "\n+ {}\n", plural(rows.len() - MOST, "more change"));
    }
    for (title, lines) in [
        ("What else differs", differences(comparison)),
        ("Baselines that moved", baselines(comparison)),
        ("Only in the first run", only(&comparison.only_a)),
        ("Only in the second run", only(&comparison.only_b)),
        ("Not comparable", incomparable(comparison)),
    ] {
        if !lines.is_empty() {
            let lines: String = lines.iter().map(|line| format!("* {}\n", code(line))).collect();
            let _ = write!(text, "\n<details><summary>{title}</summary>\n\n{lines}\n</details>\n");
        }
    }
    text
}

fn changed_rows(comparison: &RunComparison) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for function in &comparison.functions {
        for pair in &function.builds {
            let head =
                |change: Change| vec![code(&function.function), code(&build(pair)), change.as_str().into()];
            for range in pair.ranges.iter().filter(|r| r.change != Change::Unchanged) {
                let place: Vec<String> =
                    places(range, &function.params).iter().map(|line| code(line.trim())).collect();
                let row = head(range.change).into_iter().chain(ends(range)).chain([place.join("<br>")]);
                rows.push((range.change, row.collect()));
            }
            for fault in pair.faults.iter().filter(|f| f.change != Change::Unchanged) {
                let FaultChange { change, kind, a, b } = fault;
                let row = head(*change).into_iter().chain([count(*a), count(*b), code(&kind.to_string())]);
                rows.push((*change, row.collect()));
            }
        }
    }
    // What needs a look first.
    rows.sort_by_key(|(change, _)| *change);
    rows.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp::Scalar;
    use crate::gate::compare::{Rules, compare};
    use crate::model::RunFile;
    use crate::model::{Category, FaultKind};
    use crate::report::sample;

    const NARROW: Style = Style { width: 80, color: false, unicode: false };

    /// The shared run and what became of it with another compiler.
    fn runs() -> (RunFile, RunFile) {
        let a = sample::run();
        let mut b = sample::run();
        b.name = "odd again".into();
        b.host.libm = "glibc 2.38".into();
        for build in b.builds.iter_mut().filter(|build| build.is_built()) {
            build.version = "gcc (Debian 13.2.0-1) 13.2.0".into();
        }
        b.builds.remove(3);
        let airy = &mut b.functions[0].comparisons[0];
        airy.ranges[0].max_bits = 40.0;
        airy.ranges[1].max_bits = 9.0;
        airy.ranges[1].category = Category::Digits;
        airy.max_bits = 40.0;
        let range = airy.ranges[1].clone();
        let kahan = b.functions.iter_mut().find(|f| f.name == "kahan_sum").unwrap();
        kahan.comparisons[0].ranges.push(range);
        let crash = b.functions.iter_mut().find(|f| f.name == "divide_or_die").unwrap();
        crash.faults[0].kind = FaultKind::Signal(8);
        crash.domains[0] = "> 0".into();
        b.functions.retain(|f| f.name != "log_sum_exp");
        let lone = b.functions.iter_mut().find(|f| f.name == "lone").unwrap();
        lone.params[0].ty = Scalar::F32;
        (a, b)
    }

    fn compared() -> RunComparison {
        let (a, b) = runs();
        compare(
            &a,
            &b,
            &Rules { tolerance: 0.5, runs: ["0001-odd".into(), "0002-odd".into()], ..Rules::default() },
        )
    }

    #[test]
    fn two_runs_fit_80_columns() {
        insta::assert_snapshot!(render(&compared(), false, NARROW));
    }

    #[test]
    fn a_pull_request_gets_the_changes_as_a_table() {
        insta::assert_snapshot!(render_markdown(&compared()));
    }

    #[test]
    fn all_lists_what_is_unchanged_and_nothing_hostile_gets_through() {
        let text = render(&compared(), true, Style { color: true, ..NARROW });
        assert!(text.contains("unchanged") && text.contains('\u{1b}'));
        assert!(!text.contains("\u{1b}[31m<") && !text.contains('\u{202e}') && !text.contains("\u{1b}]0"));
        assert!(!render_markdown(&compared()).contains("<script"));
    }

    #[test]
    fn two_equal_runs_are_one_line_and_the_tolerance() {
        let run = sample::run();
        let text = render(&compare(&run, &run, &Rules::default()), false, NARROW);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("unchanged") && !text.contains("new"));
    }
}
