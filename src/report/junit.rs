//! A run as JUnit XML: a suite per build, a test case per function. It fails where the build disagrees with the
//! baseline, is an error where it faults or was not searched, and is skipped where there is nothing to compare. A run that
//! compared nothing at all is an error too.

use quick_junit::{NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::number::{exact, exact_answer, interval, others, plural, share, worst};
use super::ranges::differs;
use super::{Material, cause};
use crate::findings::compares;
use crate::model::{
    BuildRow, ComparisonRow, FaultRow, FindingId, FunctionRow, GapKind, Number, RangeRow, RunFile,
    WitnessRow, gist, printable,
};

/// The XML text.
pub fn render(material: &Material) -> Result<String, SerializeError> {
    let run = &material.run;
    let mut report = Report::new(format!("bitrift {}", printable(&run.name)));
    let suites = run.builds.iter().map(|build| suite(material, build));
    report.add_test_suites(suites.filter(|suite| !suite.test_cases.is_empty()));
    if !run.functions.is_empty() && !compares(run) {
        report.add_test_suite(nothing_compared(run));
    }
    let text = report.to_string()?;
    // The schema that Jenkins reads by knows this attribute of a suite, and not of all of them. A quote
    // in a name would be escaped, so this is the attribute.
    Ok(text.replacen(&format!(" skipped=\"{}\"", report.skipped), "", 1))
}

/// Skipped cases alone, or none, would pass for a success.
fn nothing_compared(run: &RunFile) -> TestSuite {
    let kind = GapKind::NothingToCompare;
    let mut suite = TestSuite::new("bitrift");
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind.as_str());
    status.set_message(format!("nothing was compared with {}: {}", printable(&run.baseline), kind.words()));
    let mut case = TestCase::new("comparison", status);
    case.set_classname("bitrift");
    suite.add_test_case(case);
    suite
}

fn suite(material: &Material, build: &BuildRow) -> TestSuite {
    let run = &material.run;
    let mut suite = TestSuite::new(printable(&build.id));
    let flags = build.flags.join(" ");
    let emulated = if build.emulated { "yes".into() } else { String::new() };
    for (name, value) in [
        ("compiler", &build.version),
        ("flags", &flags),
        ("target", &build.target),
        ("emulated", &emulated),
        ("fpenv", &build.fpenv),
        ("libm", &build.libm),
        ("baseline", &run.baseline.0),
    ] {
        if !value.is_empty() {
            suite.add_property(Property::new(name, printable(value)));
        }
    }
    for function in &run.functions {
        if let Some(status) = status(material, build, function) {
            let mut case = TestCase::new(printable(&function.name), status);
            case.set_classname(printable(&build.id));
            suite.add_test_case(case);
        }
    }
    suite
}

/// None: the baseline, which is compared with nothing, and did no wrong.
fn status(material: &Material, build: &BuildRow, function: &FunctionRow) -> Option<TestCaseStatus> {
    let run = &material.run;
    let faults: Vec<&FaultRow> = function.faults.iter().filter(|f| f.build == build.id).collect();
    let comparison = function.comparisons.iter().find(|c| c.build == build.id);
    let found = comparison.filter(|c| differs(c)).map(|c| findings(material, function, c));
    if let Some(first) = faults.first() {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type(first.kind.to_string());
        status.set_message(faults.iter().map(|f| fault_line(f)).collect::<Vec<_>>().join("; "));
        let examples = faults.iter().map(|fault| fault_text(function, fault));
        status.set_description(examples.chain(found).collect::<String>());
        return Some(status);
    }
    if let (Some(comparison), Some(found)) = (comparison, found) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        let worst = comparison.ranges.iter().reduce(|a, b| if b.max_bits > a.max_bits { b } else { a });
        status.set_type(worst.map_or("one input", |range| range.category.as_str()));
        let ranges = match comparison.ranges.len() {
            0 => "at one input".into(),
            n => format!("in {}", plural(n, "range")),
        };
        let against = printable(&comparison.baseline);
        let stamp = if build.emulated { " (emulated)" } else { "" };
        status.set_message(format!("{:.1} bits from {against}, {ranges}{stamp}", comparison.max_bits));
        status.set_description(found);
        return Some(status);
    }
    if let Some(comparison) = comparison {
        return Some(GapKind::of(comparison).map_or_else(TestCaseStatus::success, unsearched));
    }
    if build.id == run.baseline && build.is_built() {
        return None;
    }
    let mut status = TestCaseStatus::skipped();
    status.set_message(printable(gist(why_skipped(run, build, function))));
    Some(status)
}

/// Nothing was found where nothing, or not all, was searched.
fn unsearched(kind: GapKind) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind.as_str());
    status.set_message(format!("not searched: {}", kind.words()));
    status
}

fn why_skipped<'a>(run: &RunFile, build: &'a BuildRow, function: &'a FunctionRow) -> &'a str {
    if !build.is_built() {
        return &build.reason;
    }
    let missing = function.missing.get(&build.id).or_else(|| function.missing.get(&run.baseline));
    missing.map_or("it was not compared", String::as_str)
}

fn fault_line(fault: &FaultRow) -> String {
    format!("{} x {}", fault.count, fault.kind)
}

fn inputs(function: &FunctionRow, inputs: &[Number]) -> String {
    let inputs = function.params.iter().zip(inputs);
    let inputs: Vec<_> = inputs.map(|(p, x)| format!("{} = {}", printable(&p.name), exact(x))).collect();
    inputs.join(", ")
}

fn fault_text(function: &FunctionRow, fault: &FaultRow) -> String {
    let mut text = format!("{}\n", fault_line(fault));
    for example in &fault.examples {
        text.push_str(&format!("  at {}\n", inputs(function, example)));
    }
    text
}

/// Every range with its witness, or the one input that differs.
fn findings(material: &Material, function: &FunctionRow, comparison: &ComparisonRow) -> String {
    if comparison.ranges.is_empty() {
        let witness = comparison.witness.as_ref().map(|w| witness_lines(function, w));
        let cause = cause_line(material, &FindingId::of_max(&function.name, &comparison.build));
        return format!("one input, in no range\n{}{cause}", witness.unwrap_or_default());
    }
    comparison.ranges.iter().map(|range| range_text(material, function, range)).collect()
}

fn range_text(material: &Material, function: &FunctionRow, range: &RangeRow) -> String {
    let bounds = function.params.iter().zip(range.lo.iter().zip(&range.hi));
    let bounds: Vec<_> =
        bounds.map(|(p, (lo, hi))| format!("{} in {}", printable(&p.name), interval(lo, hi))).collect();
    let confirmed = material.confirmation(&range.id);
    let confirmed = confirmed.map(|row| format!("  confirmed: {}\n", row.confirmed.as_str()));
    format!(
        "{}: {}, {} of inputs, mean {:.1}, max {:.1} bits\n{}{}{}",
        bounds.join(", "),
        range.category.as_str(),
        share(range.inconsistent, range.samples),
        range.mean_bits,
        range.max_bits,
        witness_lines(function, &range.witness),
        confirmed.unwrap_or_default(),
        cause_line(material, &range.id)
    )
}

fn cause_line(material: &Material, finding: &FindingId) -> String {
    material.cause(finding).map(|found| format!("  cause: {}\n", cause::line(found))).unwrap_or_default()
}

fn witness_lines(function: &FunctionRow, witness: &WitnessRow) -> String {
    let at = inputs(function, &witness.inputs);
    let others: String = others(witness).iter().map(|line| format!("    {line}\n")).collect();
    let (name, baseline, variant) =
        (worst(witness), exact_answer(&witness.baseline), exact_answer(&witness.variant));
    format!("  at {at}\n  {name}{baseline} -> {variant}\n{others}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn every_function_and_build_is_a_test_case() {
        insta::assert_snapshot!(render(&sample::material()).unwrap());
    }

    #[test]
    fn an_empty_run_is_still_a_report() {
        let mut material = sample::material();
        material.run.functions.clear();
        material.run.builds.clear();
        assert!(render(&material).unwrap().contains("<testsuites name=\"bitrift odd\" tests=\"0\" failures"));
    }
}
