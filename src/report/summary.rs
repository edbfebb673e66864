//! A run at a glance: what moved worst, under which builds, what could not be evaluated, where to look next.
//! Every range and witness is in `table`.

use comfy_table::{Cell, CellAlignment};

use super::digest::{self, Moved};
use super::number::{count, exact, plural};
use super::style::{Style, indented, text_of, wrap};
use super::{Material, cause, ranges, unsearched};
use crate::model::{CauseRow, FunctionRow, RunFile, gist, printable};

/// Lines of a list that is cut.
const MOST: usize = 10;
const MOST_OTHERS: usize = 5;

/// The whole summary.
pub fn render(material: &Material, style: Style) -> String {
    let run = &material.run;
    let moved = digest::moved(run);
    let sections = [
        heading(run, &moved, style),
        functions(material, &moved, style),
        builds(run, style),
        emulated(run, style),
        faults(run, style),
        not_built(run, style),
        not_searched(run, style),
        remarks(run, style),
        causes(material, style),
        confirmed(material, style),
        next(material, &moved, style),
    ];
    let sections: Vec<_> = sections.into_iter().filter(|s| !s.is_empty()).collect();
    sections.join("\n")
}

fn heading(run: &RunFile, moved: &[Moved], style: Style) -> String {
    let name = printable(&run.name);
    let ranges: usize = moved.iter().map(|m| m.ranges).sum();
    let functions = run.functions.len();
    let text = match moved.first() {
        None => format!("{name}: no inconsistency found in {}", unsearched::searched_of(run)),
        Some(worst) => format!(
            "{name}: {} of {} differ, in {}; worst {:.1} bits{}",
            moved.len(),
            plural(functions, "function"),
            plural(ranges, "range"),
            worst.worst.max_bits,
            match unsearched::functions(run) {
                0 => String::new(),
                gaps => format!("; {gaps} not searched"),
            }
        ),
    };
    let mut text = wrap(&text, style.width);
    let against = format!(
        "{} against {}; strategy {}, seed {}",
        plural(run.builds.len().saturating_sub(1), "build"),
        printable(&run.baseline),
        run.strategy,
        run.seed
    );
    text.push_str(&wrap(&against, style.width));
    let kinds: Vec<String> = digest::categories(run).iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    if !kinds.is_empty() {
        text.push_str(&wrap(&format!("ranges by kind: {}", kinds.join(", ")), style.width));
    }
    text
}

/// The worst functions.
fn functions(material: &Material, moved: &[Moved], style: Style) -> String {
    if moved.is_empty() {
        return String::new();
    }
    let mut table = style.table(&["function", "bits", "ranges", "kind", "worst build"]);
    for m in moved.iter().take(MOST) {
        let others = match m.builds {
            0 | 1 => String::new(),
            n => format!(" (+{})", n - 1),
        };
        table.add_row(vec![
            style.bold(&printable(&m.function.name)),
            style.bits(m.worst.max_bits),
            Cell::new(count(m.ranges as u64)),
            Cell::new(printable(m.category())),
            Cell::new(printable(&m.worst.build) + &others),
        ]);
    }
    for index in [1, 2] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = text_of(&table);
    if moved.len() > MOST {
        let more = plural(moved.len() - MOST, "more function");
        text.push_str(&format!("+ {more}: {}\n", command(material, "show", "")));
    }
    text
}

fn builds(run: &RunFile, style: Style) -> String {
    let mut table = style.table(&["build", "functions", "ranges", "bits", "worst in"]);
    for (id, tally) in digest::by_build(run) {
        let mut cells = vec![Cell::new(printable(id)), Cell::new(count(tally.functions as u64))];
        if tally.functions > 0 {
            cells.push(Cell::new(count(tally.ranges as u64)));
            cells.push(style.bits(tally.max_bits));
            cells.push(Cell::new(printable(tally.worst)));
        }
        table.add_row(cells);
    }
    for index in 1..=3 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if table.is_empty() { String::new() } else { text_of(&table) }
}

/// Whose numbers are an emulator's.
fn emulated(run: &RunFile, style: Style) -> String {
    let ids: Vec<_> = run.builds.iter().filter(|b| b.emulated).map(|b| printable(&b.id)).collect();
    if ids.is_empty() { String::new() } else { wrap(&format!("emulated: {}", ids.join(", ")), style.width) }
}

/// A heading and its lines, of which the first few are shown.
fn list(heading: &str, lines: &[String], style: Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("{heading}\n");
    for line in lines.iter().take(MOST_OTHERS) {
        text.push_str(&indented(line, style.width));
    }
    if lines.len() > MOST_OTHERS {
        text.push_str(&format!("  + {} more\n", lines.len() - MOST_OTHERS));
    }
    text
}

fn faults(run: &RunFile, style: Style) -> String {
    let of_function = |function: &FunctionRow| {
        let line = |fault: &crate::model::FaultRow| {
            let inputs = fault.examples.first().map(|inputs| inputs.iter().map(exact).collect::<Vec<_>>());
            let at = inputs.map(|inputs| format!(", first at {}", inputs.join(", "))).unwrap_or_default();
            let (name, kind) = (printable(&function.name), fault.kind);
            format!("{name}: {} x {kind} in {}{at}", count(fault.count), printable(&fault.build))
        };
        function.faults.iter().map(line).collect::<Vec<_>>()
    };
    let lines: Vec<String> = run.functions.iter().flat_map(of_function).collect();
    list("faults:", &lines, style)
}

/// Functions that were not searched on some builds, or not to the end.
fn not_searched(run: &RunFile, style: Style) -> String {
    let line = |line: unsearched::GapLine| match line.builds.as_slice() {
        [] => format!("{}: {}", line.function, line.reason),
        builds => format!("{} on {}: {}", line.function, builds.join(", "), line.reason),
    };
    let lines: Vec<String> = unsearched::lines(run).into_iter().map(line).collect();
    list("not searched:", &lines, style)
}

fn remarks(run: &RunFile, style: Style) -> String {
    list("worth knowing:", &unsearched::remark_lines(run), style)
}

/// Builds that are not there.
fn not_built(run: &RunFile, style: Style) -> String {
    let builds = run.builds.iter().filter(|b| !b.is_built());
    let lines: Vec<String> = builds
        .map(|b| format!("{} ({}): {}", printable(&b.id), b.status, printable(gist(&b.reason))))
        .collect();
    list("not evaluated:", &lines, style)
}

/// Where the causes are that are known.
fn causes(material: &Material, style: Style) -> String {
    let Some(file) = &material.explain else { return String::new() };
    let line = |row: &CauseRow| {
        let likely = if row.certain { "" } else { ", likely" };
        let findings = plural(row.findings.len(), "finding");
        format!("{} ({findings} of {}{likely})", cause::places(row), printable(&row.build))
    };
    let lines: Vec<String> = file.causes.iter().map(line).collect();
    match lines.is_empty() {
        true => cause::count(file) + "\n",
        false => list(&cause::count(file), &lines, style),
    }
}

fn confirmed(material: &Material, style: Style) -> String {
    if !material.run.functions.iter().any(ranges::is_inconsistent) {
        return String::new();
    }
    let text = match digest::confirmation(material) {
        Some(sum) => format!("confirmed in plain executables: {}", sum.text()),
        None => "confirmed in plain executables: nobody has tried yet".into(),
    };
    wrap(&text, style.width)
}

/// Commands that lead on.
fn next(material: &Material, moved: &[Moved], style: Style) -> String {
    let mut commands = Vec::new();
    if let Some(worst) = moved.first() {
        // A name that is no plain word would need quoting that differs between shells.
        let name = &worst.function.name;
        let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if let Some(witness) = worst.witness().filter(|_| plain) {
            commands.push(command(material, "show", &format!(" --function {name}")));
            // Decimals read back exactly, and are shorter.
            let inputs: Vec<_> = witness.inputs.iter().map(|x| x.dec()).collect();
            commands.push(format!("bitrift eval {name} {}", inputs.join(" ")));
        }
    }
    if material.explain.is_none() && !moved.is_empty() {
        commands.push(command(material, "explain", ""));
    }
    commands.push(command(material, "report", " --html"));
    // A line that is broken can still be pasted.
    let broken = |line: &String| indented(line, style.width - 2).trim_end().replace('\n', " \\\n") + "\n";
    format!("look next:\n{}", commands.iter().map(broken).collect::<String>())
}

/// A command of bitrift on this run.
fn command(material: &Material, name: &str, options: &str) -> String {
    let run = material.name.as_ref().map(|run| format!(" {}", printable(run))).unwrap_or_default();
    format!("bitrift {name}{run}{options}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const NARROW: Style = Style { width: 80, color: false, unicode: false };

    #[test]
    fn a_summary_fits_80_columns() {
        let text = render(&sample::material(), NARROW);
        insta::assert_snapshot!(text);
        let plain = text.lines().filter(|line| !line.contains("evil"));
        assert!(plain.clone().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn colour_is_used_only_where_it_is_allowed_and_nothing_hostile_gets_through() {
        for color in [false, true] {
            let text = render(&sample::material(), Style { color, ..NARROW });
            assert_eq!(text.contains('\u{1b}'), color);
            assert!(
                !text.contains("\u{1b}[31m<") && !text.contains('\u{202e}') && !text.contains("\u{1b}]0")
            );
        }
    }

    #[test]
    fn a_run_without_findings_says_so() {
        let mut material = sample::material();
        material.run.functions.retain(|f| f.name == "kahan_sum");
        let text = render(&material, NARROW);
        assert!(text.starts_with("odd: no inconsistency found in 1 function\n"), "{text}");
        assert!(!text.contains("confirmed"), "{text}");
    }
}
