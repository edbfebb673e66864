//! A run as workflow commands of GitHub Actions: an annotation at each function that moved, worst first.

use super::digest::{self, Level, Moved};
use super::number::{exact, interval, plural, worst};
use super::place::Place;
use super::text::{workflow_data, workflow_property};
use super::{Material, unsearched};
use crate::model::printable;

/// GitHub shows ten annotations of a level and step, and drops the rest without a word.
const MOST: usize = 10;

/// One line per annotation. `root` is the matrix's folder in the repository.
pub fn render(material: &Material, root: &str) -> String {
    let moved = digest::moved(&material.run);
    let mut text: String = moved.iter().take(MOST).map(|m| annotation(material, m, root)).collect();
    let message = match moved.len() {
        0 => format!("no inconsistency found in {}", unsearched::searched_of(&material.run)),
        n if n <= MOST => format!("{} of {} differ", n, plural(material.run.functions.len(), "function")),
        n => format!(
            "{n} of {} differ; the {MOST} worst are annotated",
            plural(material.run.functions.len(), "function")
        ),
    };
    let gaps = unsearched::lines(&material.run);
    if !gaps.is_empty() {
        let line = |gap: &unsearched::GapLine| format!("{}: {}", gap.function, gap.reason);
        let lines: Vec<String> = gaps.iter().map(line).collect();
        let message = workflow_data(&lines.join("\n"));
        text.push_str(&format!("::warning title=bitrift%3A not searched::{message}\n"));
    }
    text.push_str(&format!("::notice title=bitrift::{}\n", workflow_data(&message)));
    text
}

fn annotation(material: &Material, m: &Moved, root: &str) -> String {
    let level = match Level::of(m.worst.max_bits, m.range.map(|range| range.category)) {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let name = printable(&m.function.name);
    let title = format!("{name}: {:.1} bits ({})", m.worst.max_bits, m.category());
    let mut properties = Vec::new();
    if let Some(source) = &m.function.source {
        let place = Place::new(&source.file, root);
        properties.push(format!("file={}", workflow_property(&printable(place.path()))));
        properties.push(format!("line={}", source.line));
    }
    properties.push(format!("title={}", workflow_property(&title)));
    let message = workflow_data(&message(material, m));
    format!("::{level} {}::{message}\n", properties.join(","))
}

fn message(material: &Material, m: &Moved) -> String {
    let (build, baseline) = (printable(&m.worst.build), printable(&m.worst.baseline));
    let stamp = if material.run.is_emulated(&m.worst.build) { " (emulated)" } else { "" };
    let mut lines = vec![format!("{build}{stamp} against {baseline}")];
    if m.builds > 1 {
        lines.push(plural(m.builds - 1, "more build"));
    }
    if let Some(range) = m.range {
        let bounds = m.function.params.iter().zip(range.lo.iter().zip(&range.hi));
        lines.extend(bounds.map(|(p, (lo, hi))| format!("{} in {}", printable(&p.name), interval(lo, hi))));
    }
    if let Some(witness) = m.witness() {
        let inputs: Vec<_> = witness.inputs.iter().map(exact).collect();
        lines.push(format!("at {}", inputs.join(", ")));
        lines.push(format!("{}{} -> {}", worst(witness), witness.baseline.dec(), witness.variant.dec()));
    }
    if let Some(row) = m.range.and_then(|range| material.confirmation(&range.id)) {
        lines.push(format!("confirmed in plain executables: {}", row.confirmed.as_str()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn every_function_that_moved_is_annotated_where_it_is_defined() {
        let text = render(&sample::material(), "");
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|line| line.starts_with("::")), "no text can start a command of its own");
    }

    #[test]
    fn there_are_never_more_than_github_shows() {
        let mut material = sample::material();
        let one = material.run.functions[0].clone();
        material.run.functions = vec![one; 40];
        let text = render(&material, "lab");
        assert_eq!(text.lines().count(), MOST + 1);
        assert!(text.contains("file=lab/src/airy.c,line=12,"), "{text}");
        assert!(
            text.ends_with("::notice title=bitrift::40 of 40 functions differ; the 10 worst are annotated\n")
        );
    }
}
