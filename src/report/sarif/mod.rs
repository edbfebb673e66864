//! A run as SARIF 2.1.0, for code scanning: the rules are the categories, the results the ranges, each at the
//! definition of its function.

mod log;

use std::collections::BTreeMap;

use super::digest::Level;
use super::number::{exact, interval, plural, share, worst};
use super::place::Place;
use super::text::uri_path;
use super::{Material, cause, unsearched};
use crate::findings::compares;
use crate::model::{
    Answer, Category, ComparisonRow, FindingId, FunctionRow, Number, RangeRow, WitnessRow, gist, printable,
};
use log::{
    ArtifactLocation, Driver, Invocation, Location, Log, LogicalLocation, Message, Notification,
    PhysicalLocation, Region, RelatedLocation, ReportingConfiguration, Rule, Run, SarifResult, Tool,
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const VERSION: &str = "2.1.0";
/// What relative paths are relative to: the top of the repository.
const ROOT: &str = "%SRCROOT%";

/// The JSON text. `root` is the matrix's folder in the repository.
pub fn render(material: &Material, root: &str) -> String {
    let run = &material.run;
    let results = run.functions.iter().flat_map(|f| of_function(material, f, root)).collect();
    let uri_base: BTreeMap<&str, ArtifactLocation> = [(
        ROOT,
        ArtifactLocation {
            description: Some(Message::new("The top of the repository that holds the matrix.")),
            ..ArtifactLocation::default()
        },
    )]
    .into();
    let failed = run.builds.iter().filter(|b| !b.is_built());
    let of_builds = failed.map(|build| Notification {
        level: "warning",
        message: Message::new(format!(
            "{} was not evaluated ({}): {}",
            printable(&build.id),
            build.status,
            printable(gist(&build.reason))
        )),
    });
    let unsearched = unsearched::lines(run).into_iter().map(|line| Notification {
        level: "error",
        message: Message::new(match line.builds.as_slice() {
            [] => format!("{} was not searched: {}", line.function, line.reason),
            builds => format!("{} on {} was not searched: {}", line.function, builds.join(", "), line.reason),
        }),
    });
    let notifications: Vec<Notification> = of_builds.chain(unsearched).collect();
    let log = Log {
        schema: SCHEMA,
        version: VERSION,
        runs: [Run {
            tool: Tool { driver: driver(&run.bitrift) },
            original_uri_base_ids: uri_base,
            invocations: [Invocation {
                execution_successful: compares(run),
                tool_execution_notifications: notifications,
            }],
            results,
            column_kind: "unicodeCodePoints",
        }],
    };
    // Plain data with string keys always has a JSON text.
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn driver(version: &str) -> Driver {
    let rules = Category::ALL.iter().map(|category| Rule {
        id: category.as_str(),
        short_description: Message::new(format!("Builds disagree: {category}")),
        full_description: Message::new(category.meaning()),
        default_configuration: ReportingConfiguration { level: level_of(*category) },
    });
    Driver { name: "bitrift", version: printable(version), rules: rules.collect() }
}

/// What results of a category mostly have; each says its own.
fn level_of(category: Category) -> &'static str {
    match category {
        Category::Fault | Category::Sign | Category::Magnitude => "error",
        Category::ClassChange | Category::Flush | Category::Halved | Category::Digits => "warning",
        Category::ZeroSign | Category::Rounding | Category::Lone => "note",
    }
}

fn of_function(material: &Material, function: &FunctionRow, root: &str) -> Vec<SarifResult> {
    let mut results = Vec::new();
    for comparison in &function.comparisons {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for range in &comparison.ranges {
            // Ranges of an orthant are stored in the order of their values, so a number in it is steadier
            // than a bound, which moves with every search.
            let orthant = orthant(range);
            let number = seen.entry(orthant.clone()).or_default();
            *number += 1;
            let key = format!("{orthant} {number}");
            let mut result = result(function, comparison, root, &key);
            result.rule_id = range.category.to_string();
            result.level = spelled(Level::of(range.max_bits, Some(range.category)));
            result.message = Message::new(message(material, function, comparison, range));
            results.push(finished(explained(material, &range.id, root, result)));
        }
        if let (true, Some(witness)) = (comparison.ranges.is_empty(), &comparison.witness) {
            let mut result = result(function, comparison, root, "lone");
            let category = if is_fault(witness) { Category::Fault } else { Category::Rounding };
            result.rule_id = category.to_string();
            result.level = spelled(Level::of(comparison.max_bits, Some(category)));
            let head = head(material, function, comparison, comparison.max_bits);
            result.message = Message::new(format!("{head} at one input; {}", told(function, witness)));
            let id = FindingId::of_max(&function.name, &comparison.build);
            results.push(finished(explained(material, &id, root, result)));
        }
    }
    results
}

fn is_fault(witness: &WitnessRow) -> bool {
    [witness.baseline, witness.variant].iter().any(|answer| matches!(answer, Answer::Fault(_)))
}

fn spelled(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// Which rule it is in the driver's list, now that its id is known.
fn finished(mut result: SarifResult) -> SarifResult {
    result.rule_index = Category::ALL.iter().position(|c| c.as_str() == result.rule_id);
    result
}

/// A result at the definition of a function, with what makes it the same result in another run.
fn result(function: &FunctionRow, comparison: &ComparisonRow, root: &str, key: &str) -> SarifResult {
    let region = |line: u64| Region { start_line: line.max(1), start_column: None };
    let source = function.source.as_ref();
    let physical = source.map(|source| physical(&source.file, root, region(source.line)));
    let name = printable(&function.name);
    let print = blake3::hash(format!("{}\n{}\n{key}", function.name, comparison.build).as_bytes());
    SarifResult {
        rule_id: String::new(),
        rule_index: None,
        level: "warning",
        message: Message::new(""),
        locations: [Location {
            physical_location: physical,
            logical_locations: [LogicalLocation { name, kind: "function" }],
        }],
        related_locations: Vec::new(),
        partial_fingerprints: [("bitriftFinding/v1", print.to_hex()[..32].to_owned())].into(),
    }
}

fn physical(file: &str, root: &str, region: Region) -> PhysicalLocation {
    let place = Place::new(file, root);
    let path = uri_path(place.path());
    let (uri, uri_base_id) = match place.is_absolute() {
        true => (format!("file://{path}"), None),
        false => (path, Some(ROOT)),
    };
    PhysicalLocation {
        artifact_location: ArtifactLocation { uri: Some(uri), uri_base_id, description: None },
        region,
    }
}

/// Adds the cause of a finding: its statements as places, its line to the message.
fn explained(material: &Material, finding: &FindingId, root: &str, mut result: SarifResult) -> SarifResult {
    let Some(cause) = material.cause(finding) else { return result };
    result.message.text.push_str(&format!("; cause: {}", cause::line(cause)));
    let statements = cause.causes.iter().flatten().filter(|suspect| suspect.line > 0);
    let related = statements.map(|suspect| RelatedLocation {
        physical_location: physical(
            &suspect.file,
            root,
            Region { start_line: suspect.line, start_column: Some(suspect.column.max(1)) },
        ),
        message: Message::new(printable(&suspect.text)),
    });
    result.related_locations = related.collect();
    result
}

/// The signs of a range's inputs, such as `+-`; `*` where the range reaches over zero.
fn orthant(range: &RangeRow) -> String {
    let is_negative = |end: &Number| end.scalar.is_negative(end.bits);
    range
        .hi
        .iter()
        .zip(&range.lo)
        .map(|(hi, lo)| match (is_negative(lo), is_negative(hi)) {
            (true, false) if hi.ordinal() != Some(0) => '*',
            (false, false) => '+',
            _ => '-',
        })
        .collect()
}

fn head(material: &Material, function: &FunctionRow, comparison: &ComparisonRow, bits: f64) -> String {
    let emulated = material.run.is_emulated(&comparison.build);
    format!(
        "{} under {}{} is up to {bits:.1} bits from {}",
        printable(&function.name),
        printable(&comparison.build),
        if emulated { " (emulated)" } else { "" },
        printable(&comparison.baseline)
    )
}

fn told(function: &FunctionRow, witness: &WitnessRow) -> String {
    let inputs = function.params.iter().zip(&witness.inputs);
    let inputs: Vec<_> = inputs.map(|(p, x)| format!("{} = {}", printable(&p.name), exact(x))).collect();
    let (baseline, variant) = (witness.baseline.dec(), witness.variant.dec());
    format!("at {}: {}{baseline} becomes {variant}", inputs.join(", "), worst(witness))
}

fn message(
    material: &Material,
    function: &FunctionRow,
    comparison: &ComparisonRow,
    range: &RangeRow,
) -> String {
    let bounds = function.params.iter().zip(range.lo.iter().zip(&range.hi));
    let bounds: Vec<_> =
        bounds.map(|(p, (lo, hi))| format!("{} in {}", printable(&p.name), interval(lo, hi))).collect();
    let confirmed = material.confirmation(&range.id).map(|row| row.confirmed.as_str());
    let confirmed = confirmed.map(|word| format!("; confirmed in plain executables: {word}"));
    format!(
        "{} for {} ({} of {}); {}{}",
        head(material, function, comparison, range.max_bits),
        bounds.join(", "),
        share(range.inconsistent, range.samples),
        // Counts of samples are far below what a machine can count.
        plural(usize::try_from(range.samples).unwrap_or(usize::MAX), "sample"),
        told(function, &range.witness),
        confirmed.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn every_range_is_a_result_of_its_category_at_its_function() {
        insta::assert_snapshot!(render(&sample::material(), ""));
    }

    fn prints(material: &Material) -> Vec<String> {
        let log: serde_json::Value = serde_json::from_str(&render(material, "lab")).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|r| r["partialFingerprints"].to_string()).collect()
    }

    #[test]
    fn a_finding_keeps_its_fingerprint_when_its_bounds_and_bits_move() {
        let before = sample::material();
        let mut after = before.clone();
        let range = &mut after.run.functions[0].comparisons[0].ranges[0];
        range.lo[0] = sample::number(-1e300);
        range.max_bits += 0.25;
        let (before, after) = (prints(&before), prints(&after));
        assert_eq!(before, after);
        let distinct: std::collections::BTreeSet<_> = before.iter().collect();
        assert_eq!(distinct.len(), before.len());
    }

    #[test]
    fn paths_outside_the_matrix_are_whole_and_odd_characters_are_escaped() {
        let mut material = sample::material();
        material.run.functions.truncate(1);
        material.explain = None;
        let source = material.run.functions[0].source.as_mut().unwrap();
        source.file = "/usr/src/a b.c".into();
        let text = render(&material, "lab");
        assert!(text.contains("\"uri\": \"file:///usr/src/a%20b.c\"") && !text.contains("uriBaseId\""));
    }
}
