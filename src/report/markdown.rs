//! A run for a pull request: a line, a table of the worst functions, the rest folded away.

use std::fmt::Write;

use super::digest::{self, Moved};
use super::number::{count, exact, interval, plural, share, worst};
use super::text::code;
use super::{Material, cause, unsearched};
use crate::model::{BuildId, CauseRow, ExplainFile, Layer, RunFile, Suspect, WitnessRow, gist};

/// Functions in the table.
const MOST: usize = 20;

/// The whole report, in the Markdown that GitHub and GitLab show.
pub fn render(material: &Material) -> String {
    let run = &material.run;
    let moved = digest::moved(run);
    let mut text = format!("### bitrift: {}\n\n", code(&run.name));
    let ranges: usize = moved.iter().map(|m| m.ranges).sum();
    let functions = plural(run.functions.len(), "function");
    let gaps = unsearched::functions(run);
    let _ = match moved.first() {
        None => {
            let searched = unsearched::searched_of(run);
            writeln!(text, "No inconsistency with {} found in {searched}.", code(&run.baseline))
        }
        Some(worst) => writeln!(
            text,
            "**{} of {functions}** give other results than {} under some build: {}, worst **{:.1} bits**.",
            moved.len(),
            code(&run.baseline),
            plural(ranges, "range"),
            worst.worst.max_bits
        ),
    };
    if gaps > 0 {
        let _ = writeln!(text, "\n**{} not searched**, or not to the end.", plural(gaps, "function"));
    }
    let shown = &moved[..moved.len().min(MOST)];
    text.push_str(&worst_table(run, shown, moved.len()));
    text.push_str(&material.explain.as_ref().map(causes).unwrap_or_default());
    for (title, table) in [
        (format!("Witnesses of the {} worst", shown.len()), witnesses(material, shown)),
        ("Builds".into(), builds(run)),
        ("Faults".into(), faults(run)),
        ("Not searched".into(), not_searched(run)),
        ("Not evaluated".into(), not_evaluated(run)),
        ("Worth knowing".into(), remarks(run)),
    ] {
        if !table.is_empty() {
            // GitHub reads Markdown inside a block of HTML only behind an empty line.
            let _ = write!(text, "\n<details><summary>{title}</summary>\n\n{table}\n</details>\n");
        }
    }
    text
}

/// A table, or nothing when it has no rows. A column whose heading ends in `:` is aligned right.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(headings.iter().map(|h| h.trim_end_matches(':')).collect());
    text.push_str(&line(headings.iter().map(|h| if h.ends_with(':') { "--:" } else { "---" }).collect()));
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

/// A build, with a word if its numbers come from an emulator.
fn stamped(run: &RunFile, build: &BuildId) -> String {
    code(build) + if run.is_emulated(build) { " (emulated)" } else { "" }
}

fn worst_table(run: &RunFile, moved: &[Moved], of: usize) -> String {
    let row = |m: &Moved| {
        let place = m.range.map(|range| {
            let bounds = m.function.params.iter().zip(range.lo.iter().zip(&range.hi));
            let bounds: Vec<_> =
                bounds.map(|(p, (lo, hi))| code(&format!("{} in {}", p.name, interval(lo, hi)))).collect();
            bounds.join("<br>")
        });
        vec![
            code(&m.function.name),
            format!("{:.1}", m.worst.max_bits),
            code(m.category()),
            stamped(run, &m.worst.build),
            m.range.map(|range| share(range.inconsistent, range.samples)).unwrap_or_default(),
            place.unwrap_or_else(|| "one input".into()),
            count(m.ranges as u64),
        ]
    };
    let rows: Vec<_> = moved.iter().map(row).collect();
    let headings = ["function", "bits:", "kind", "worst build", "share:", "range", "ranges:"];
    let mut text = table(&headings, &rows);
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    if of > moved.len() {
        let _ = write!(text, "\n+ {}\n", plural(of - moved.len(), "more function"));
    }
    text
}

/// Why they differ: a line, a table of causes with most findings.
fn causes(file: &ExplainFile) -> String {
    let listed = |texts: Vec<String>| texts.iter().map(|text| code(text)).collect::<Vec<_>>().join("<br>or ");
    let row = |cause: &CauseRow| {
        let part = |suspect: &Suspect| {
            let expression = code(&suspect.text);
            let gap = if expression.is_empty() { "" } else { "<br>" };
            format!("{}{gap}{expression}", code(&cause::place(suspect)))
        };
        let sets = cause.causes.iter().map(|set| set.iter().map(part).collect::<Vec<_>>().join("<br>and "));
        let fix = cause.fix.as_ref().map(|fix| format!("{}<br>{}", code(&fix.what), cause::fix_effect(fix)));
        vec![
            sets.collect::<Vec<_>>().join("<br>or ") + if cause.certain { "" } else { "<br>(likely)" },
            code(&cause.build),
            listed(cause::named(file, cause, Layer::Flags)),
            listed(cause::named(file, cause, Layer::Pass)),
            count(cause.findings.len() as u64),
            fix.unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = file.causes.iter().take(MOST).map(row).collect();
    let table = table(&["cause", "build", "flags", "pass", "findings:", "fix"], &rows);
    let mut text = format!("\n**{}**\n", cause::count(file));
    if !table.is_empty() {
        let _ = write!(text, "\n{table}");
    }
    if file.causes.len() > MOST {
        let _ = write!(text, "\n+ {}\n", plural(file.causes.len() - MOST, "more cause"));
    }
    text
}

fn witnesses(material: &Material, moved: &[Moved]) -> String {
    let row = |m: &Moved| {
        let witness = m.witness()?;
        let WitnessRow { inputs, baseline, variant, .. } = witness;
        let inputs = m.function.params.iter().zip(inputs);
        let inputs: Vec<_> = inputs.map(|(p, x)| code(&format!("{} = {}", p.name, exact(x)))).collect();
        let confirmed = m.range.and_then(|range| material.confirmation(&range.id));
        let confirmed = confirmed.map(|row| row.confirmed.as_str());
        Some(vec![
            code(&m.function.name),
            inputs.join("<br>"),
            code(&format!("{}{}", worst(witness), baseline.dec())),
            code(&format!("{}{}", worst(witness), variant.dec())),
            confirmed.unwrap_or("not tried").into(),
        ])
    };
    let rows: Vec<_> = moved.iter().filter_map(row).collect();
    table(&["function", "input", "baseline", "worst build", "confirmed"], &rows)
}

fn builds(run: &RunFile) -> String {
    let tallies = digest::by_build(run);
    let row = |build: &crate::model::BuildRow| {
        let tally = tallies.iter().find(|(id, _)| **id == build.id).map(|(_, tally)| tally);
        let of = |f: &dyn Fn(&digest::BuildTally) -> String| tally.map(f).unwrap_or_default();
        let what = match build.id == run.baseline {
            true => "baseline".to_owned(),
            false => of(&|t| count(t.functions as u64)),
        };
        let most = of(&|t| if t.functions > 0 { format!("{:.1}", t.max_bits) } else { "0".into() });
        vec![stamped(run, &build.id), what, of(&|t| count(t.ranges as u64)), most, code(&build.version)]
    };
    let rows: Vec<_> = run.builds.iter().filter(|b| b.is_built()).map(row).collect();
    table(&["build", "functions that differ:", "ranges:", "most bits:", "compiler"], &rows)
}

fn faults(run: &RunFile) -> String {
    let mut rows = Vec::new();
    for function in &run.functions {
        for fault in &function.faults {
            let example = fault.examples.first().map(|inputs| {
                let inputs: Vec<_> = inputs.iter().map(|x| code(&exact(x))).collect();
                inputs.join("<br>")
            });
            rows.push(vec![
                code(&function.name),
                stamped(run, &fault.build),
                code(&fault.kind.to_string()),
                count(fault.count),
                example.unwrap_or_default(),
            ]);
        }
    }
    table(&["function", "build", "fault", "count:", "first input"], &rows)
}

fn not_searched(run: &RunFile) -> String {
    let row = |line: unsearched::GapLine| {
        let builds: Vec<String> = line.builds.iter().map(|build| code(build)).collect();
        vec![code(&line.function), builds.join("<br>"), code(&line.reason)]
    };
    let rows: Vec<_> = unsearched::lines(run).into_iter().map(row).collect();
    table(&["function", "build", "because"], &rows)
}

fn remarks(run: &RunFile) -> String {
    let rows = run.functions.iter().flat_map(|function| {
        unsearched::remarks(function).into_iter().map(|remark| vec![code(&function.name), code(&remark)])
    });
    table(&["function", "remark"], &rows.collect::<Vec<_>>())
}

/// Builds that are not there.
fn not_evaluated(run: &RunFile) -> String {
    let builds = run.builds.iter().filter(|b| !b.is_built());
    let rows: Vec<_> = builds.map(|b| vec![code(&b.id), code(gist(&b.reason))]).collect();
    table(&["build", "because"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_pull_request_gets_a_short_table_and_the_rest_folded_away() {
        insta::assert_snapshot!(render(&sample::material()));
    }

    #[test]
    fn every_row_has_as_many_cells_as_its_heading_whatever_the_names() {
        let mut material = sample::material();
        material.run.functions[0].name = "a|b`c\\|<b>d\n* e".into();
        let text = render(&material);
        let mut columns = 0;
        for line in text.lines() {
            if !line.starts_with('|') {
                columns = 0;
                continue;
            }
            let found = line.matches('|').count();
            assert!(columns == 0 || found == columns, "{line}");
            columns = found;
        }
        assert!(!text.contains("<script") && !text.contains("<b>"), "{text}");
    }

    #[test]
    fn a_run_without_findings_is_one_line() {
        let mut material = sample::material();
        material.run.functions.retain(|f| f.name == "kahan_sum");
        assert!(render(&material).contains("No inconsistency with `gcc/O0/native` found in 1 function."));
    }
}
