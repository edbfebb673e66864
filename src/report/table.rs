//! A run on the terminal: ranges, clean functions, faults, builds, instructions, totals.

use std::fmt::Write;

use comfy_table::Cell;

use super::instructions;
use super::number::{count, exact, plural};
use super::ranges::{self, is_inconsistent};
use super::style::{Style, text_of, wrap};
use super::{cause, confirm};
use crate::model::{
    Budget, BuildStatus, ConfirmFile, ExplainFile, FunctionRow, RunFile, StopReason, gist, printable,
};

/// What to show of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableOptions<'a> {
    /// Every range, and every example of a fault.
    pub all: bool,
    /// What `bitrift show` has to be given to show the run again; None for the latest.
    pub run: Option<&'a str>,
    /// What plain executables say to the witnesses, where they were asked.
    pub confirm: Option<&'a ConfirmFile>,
    /// Why they differ, where that was asked.
    pub explain: Option<&'a ExplainFile>,
}

/// The whole report.
pub fn render(run: &RunFile, options: TableOptions, style: Style) -> String {
    let sections = [
        heading(run),
        ranges::render(run, options, style),
        clean(run, style),
        faults(run, options.all, style),
        missing(run, style),
        builds(run, style),
        instructions::render(run, options, style),
        totals(run, options, style),
    ];
    let sections: Vec<_> = sections.into_iter().filter(|s| !s.is_empty()).collect();
    sections.join("\n")
}

fn heading(run: &RunFile) -> String {
    let budget = match run.budget {
        Budget::Paper => "the paper's".to_string(),
        Budget::Evaluations(n) => count(n),
    };
    format!(
        "{}: baseline {}, strategy {}, budget {budget}, seed {}\n",
        printable(&run.name),
        printable(&run.baseline),
        run.strategy,
        run.seed
    )
}

/// Functions on which every build agrees, in one paragraph.
fn clean(run: &RunFile, style: Style) -> String {
    let is_clean = |f: &&FunctionRow| !f.comparisons.is_empty() && !is_inconsistent(f);
    let name = |f: &FunctionRow| {
        let faults = if f.faults.is_empty() { "" } else { " (but faults)" };
        format!("{}{faults}", printable(&f.name))
    };
    let names: Vec<_> = run.functions.iter().filter(is_clean).map(name).collect();
    if names.is_empty() {
        return String::new();
    }
    wrap(&format!("no inconsistency found: {}", names.join(", ")), style.width)
}

fn faults(run: &RunFile, all: bool, style: Style) -> String {
    let mut table = style.table(&["function", "build", "fault", "count", "example input"]);
    for function in &run.functions {
        for fault in &function.faults {
            let shown = if all { fault.examples.len() } else { 1 };
            let example = |inputs: &Vec<_>| inputs.iter().map(exact).collect::<Vec<_>>().join("\n");
            let examples: Vec<_> = fault.examples.iter().take(shown).map(example).collect();
            table.add_row(vec![
                Cell::new(printable(&function.name)),
                Cell::new(printable(&fault.build)),
                Cell::new(fault.kind.to_string()),
                Cell::new(count(fault.count)),
                Cell::new(examples.join("\n")),
            ]);
        }
    }
    if table.is_empty() { String::new() } else { text_of(&table) }
}

/// Functions that some builds lack, with the tool's own words.
fn missing(run: &RunFile, style: Style) -> String {
    let mut table = style.table(&["function", "not in build", "because"]);
    for function in &run.functions {
        // One reason that several builds share is said once.
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for (build, message) in &function.missing {
            let (build, message) = (printable(build), gist(message));
            match reasons.iter_mut().find(|(known, _)| *known == message) {
                Some((_, builds)) => builds.push(build),
                None => reasons.push((message, vec![build])),
            }
        }
        for (message, builds) in reasons {
            let cells = [printable(&function.name), builds.join("\n"), printable(message)];
            table.add_row(cells.map(Cell::new).to_vec());
        }
    }
    if table.is_empty() { String::new() } else { text_of(&table) }
}

fn builds(run: &RunFile, style: Style) -> String {
    let mut table = style.table(&["build", "status", "compiler, or why not"]);
    for build in &run.builds {
        let mut about = match build.status {
            BuildStatus::Built => printable(&build.version),
            _ => printable(gist(&build.reason)),
        };
        if build.id == run.baseline {
            about.push_str(" (baseline)");
        }
        if build.emulated {
            about.push_str(" (emulated");
            if let Some(known) = build.arithmetic.as_ref().filter(|known| !known.wrong.is_empty()) {
                let _ = write!(about, ": {} of {} hard cases wrong", known.wrong.len(), known.cases);
            }
            about.push(')');
        }
        if !matches!(build.fpenv.as_str(), "ieee" | "") {
            let _ = write!(about, " ({})", printable(&build.fpenv));
        }
        let status = style.status(build.status.as_str());
        table.add_row(vec![Cell::new(printable(&build.id)), status, Cell::new(about)]);
    }
    if table.is_empty() { String::new() } else { text_of(&table) }
}

fn totals(run: &RunFile, options: TableOptions, style: Style) -> String {
    let functions = &run.functions;
    let inconsistent = functions.iter().filter(|f| is_inconsistent(f)).count();
    let faulty = functions.iter().filter(|f| !f.faults.is_empty()).count();
    let evaluations: u64 = functions.iter().fold(0, |sum, f| sum.saturating_add(f.evaluations));
    let comparisons = || functions.iter().flat_map(|f| &f.comparisons);
    let ranges: usize = comparisons().map(|c| c.ranges.len()).sum();
    let not_built = run.builds.iter().filter(|b| !b.is_built()).count();
    let summary = format!(
        "{}: {inconsistent} inconsistent, {faulty} with faults; {}; {} ({not_built} not built); {} evaluations",
        plural(functions.len(), "function"),
        plural(ranges, "range"),
        plural(run.builds.len(), "build"),
        count(evaluations),
    );
    let mut text = wrap(&summary, style.width);
    let worst = |f: &FunctionRow| f.comparisons.iter().map(|c| c.max_bits).fold(0.0, f64::max);
    let over = |limit: f64| functions.iter().filter(|f| worst(f) > limit).count();
    let _ = writeln!(
        text,
        "functions with more than 48 / 32 / 8 / 0 bits: {} / {} / {} / {}",
        over(48.0),
        over(32.0),
        over(8.0),
        over(0.0)
    );
    if let Some(confirm) = options.confirm {
        text.push_str(&wrap(&confirm::summary(run, confirm), style.width));
    }
    if let Some(explain) = options.explain {
        text.push_str(&wrap(&cause::count(explain), style.width));
    }
    for (reason, words) in [
        (StopReason::Budget, "stopped by the budget"),
        (StopReason::Faults, "given up after too many faults"),
        (StopReason::Deadline, "stopped by the deadline"),
        (StopReason::Pace, "slow: fewer evaluations"),
        (StopReason::Nondeterministic, "not deterministic"),
        (StopReason::Missing, "missing"),
    ] {
        let names = functions.iter().filter(|f| f.stop_reason == reason).map(|f| printable(&f.name));
        let names: Vec<_> = names.collect();
        if !names.is_empty() {
            text.push_str(&wrap(&format!("{words}: {}", names.join(", ")), style.width));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const NARROW: Style = Style { width: 80, color: false, unicode: false };

    fn widest(text: &str) -> usize {
        text.lines().map(|l| l.chars().count()).max().unwrap()
    }

    #[test]
    fn a_run_fits_80_columns() {
        let text = render(&sample::run(), TableOptions::default(), NARROW);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_wide_run_has_a_line_per_parameter() {
        let text = render(
            &sample::run(),
            TableOptions { all: true, ..TableOptions::default() },
            Style { width: 160, ..NARROW },
        );
        insta::assert_snapshot!(text);
    }

    #[test]
    fn tables_stay_within_the_width() {
        let mut run = sample::run();
        run.functions.retain(|f| !f.name.starts_with("evil"));
        for width in [80, 100, 160] {
            let text = ranges::render(
                &run,
                TableOptions { all: true, ..TableOptions::default() },
                Style { width, ..NARROW },
            );
            assert!(widest(&text) <= usize::from(width), "{} > {width}", widest(&text));
        }
    }

    #[test]
    fn nothing_a_terminal_would_act_on_gets_through() {
        for color in [false, true] {
            let text = render(
                &sample::run(),
                TableOptions { all: true, ..TableOptions::default() },
                Style { width: 120, color, unicode: true },
            );
            assert!(
                !text.contains("\u{1b}[31m<") && !text.contains("\u{1b}]0") && !text.contains('\u{202e}')
            );
            assert!(text.contains("evil\\u{1b}[31m"), "{text}");
            assert_eq!(text.contains('\u{1b}'), color);
        }
    }

    #[test]
    fn plain_output_is_ascii_and_ends_with_a_newline() {
        let text = render(&sample::run(), TableOptions::default(), Style::PLAIN);
        assert!(text.is_ascii() && text.ends_with('\n'));
        assert!(text.lines().all(|l| l == l.trim_end()));
    }

    #[test]
    fn what_explains_a_range_stands_below_it() {
        let explain = sample::material().explain;
        let options = TableOptions { explain: explain.as_ref(), ..TableOptions::default() };
        let mut run = sample::run();
        run.functions.retain(|f| !f.name.starts_with("evil"));
        let text = render(&run, options, NARROW);
        assert_eq!(text.matches("  cause: src/airy.c:14:9 in airy_ai").count(), 2, "{text}");
        assert_eq!(text.matches("  cause: flushing").count(), 1, "{text}");
        assert!(text.contains("\n3 findings explained: 2 causes, 1 not explained\n"), "{text}");
        assert!(widest(&text) <= 80 && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }

    #[test]
    fn an_empty_run_is_still_a_report() {
        let mut run = sample::run();
        run.functions.clear();
        run.builds.clear();
        assert!(render(&run, TableOptions::default(), NARROW).contains("0 functions"));
    }
}
