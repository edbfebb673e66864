//! Speed beside bits: what each build's calls take, and which builds no other beats in both.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::model::{RunFile, SpeedFile, SpeedRow, printable};

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct SpeedView {
    build: String,
    /// The geometric mean over the functions that all of them have.
    #[serde(serialize_with = "hundredths")]
    ns: f64,
    /// Times as fast as the baseline; None when that was not measured.
    #[serde(serialize_with = "factor")]
    gain: Option<f64>,
    #[serde(serialize_with = "tenths")]
    worst: f64,
    /// Of the most bits of every function.
    #[serde(serialize_with = "tenths")]
    mean: f64,
    is_baseline: bool,
    /// No measured build is both faster and closer to the baseline.
    is_front: bool,
    emulated: bool,
}

fn hundredths<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{x:.2}"))
}

fn tenths<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{x:.1}"))
}

fn factor<S: Serializer>(x: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match x {
        Some(x) => serializer.collect_str(&format_args!("× {x:.2}")),
        None => serializer.serialize_str("–"),
    }
}

/// The builds and how many functions their times are of; no builds when they have no function in common.
pub(super) fn views(speed: &SpeedFile, run: &RunFile) -> (Vec<SpeedView>, usize) {
    let native = || speed.builds.iter().filter(|b| !b.emulated);
    let common = common_functions(native());
    let measured = speed.builds.iter().filter(|row| common.iter().all(|f| row.functions.contains_key(*f)));
    let measured: Vec<&SpeedRow> = measured.filter(|_| !common.is_empty()).collect();
    let time = |row: &SpeedRow| mean_time(row, &common);
    let baseline = measured.iter().find(|row| row.build == run.baseline).map(|row| time(row));
    let costs: Vec<(f64, f64, bool)> =
        measured.iter().map(|row| (time(row), bits(run, &row.build).0, row.emulated)).collect();
    let view = |(row, &(ns, worst, emulated)): (&&SpeedRow, &(f64, f64, bool))| {
        let beats = |other: &(f64, f64, bool)| {
            let (time, bits, emulated) = *other;
            !emulated && time <= ns && bits <= worst && (time < ns || bits < worst)
        };
        SpeedView {
            build: printable(&row.build),
            ns,
            gain: baseline.filter(|_| !emulated).map(|base| base / ns),
            worst,
            mean: bits(run, &row.build).1,
            is_baseline: row.build == run.baseline,
            is_front: !emulated && !costs.iter().any(beats),
            emulated,
        }
    };
    let mut views: Vec<SpeedView> = measured.iter().zip(&costs).map(view).collect();
    views.sort_by(|a, b| a.emulated.cmp(&b.emulated).then(a.ns.total_cmp(&b.ns)));
    (views, common.len())
}

/// Functions with a usable time in every one of the builds.
fn common_functions<'a>(mut rows: impl Iterator<Item = &'a SpeedRow>) -> BTreeSet<&'a str> {
    let names = |row: &'a SpeedRow| -> BTreeSet<&'a str> {
        let timed = row.functions.iter().filter(|(_, ns)| ns.is_finite() && **ns > 0.0);
        timed.map(|(name, _)| name.as_str()).collect()
    };
    let first = rows.next().map(names).unwrap_or_default();
    rows.fold(first, |common, row| common.intersection(&names(row)).copied().collect())
}

fn mean_time(row: &SpeedRow, functions: &BTreeSet<&str>) -> f64 {
    let times = functions.iter().filter_map(|f| row.functions.get(*f));
    // A count of functions is far below 2^53.
    (times.map(|ns| ns.ln()).sum::<f64>() / functions.len() as f64).exp()
}

/// The worst and the mean of the most bits of each function.
fn bits(run: &RunFile, build: &str) -> (f64, f64) {
    let rows = run.functions.iter().flat_map(|f| &f.comparisons).filter(|c| c.build == build);
    let bits: Vec<f64> = rows.map(|c| c.max_bits).collect();
    let worst = bits.iter().copied().fold(0.0, f64::max);
    // The sum of nothing is -0. A count of functions is far below 2^53.
    let sum = bits.iter().fold(0.0, |sum, bits| sum + bits);
    (worst, sum / bits.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SPEED_SCHEMA;
    use crate::report::sample;

    fn row(build: &str, times: &[(&str, f64)], emulated: bool) -> SpeedRow {
        let functions = times.iter().map(|(name, ns)| ((*name).into(), *ns)).collect();
        SpeedRow { build: build.into(), functions, emulated }
    }

    #[test]
    fn a_build_that_is_slower_and_further_off_is_not_on_the_front() {
        let builds = vec![
            row("gcc/O0/native", &[("a", 8.0), ("b", 2.0), ("c", 1.0)], false),
            row("gcc/O2/native", &[("a", 4.0), ("b", 1.0)], false),
            row("gcc/O3-fast/native", &[("a", 5.0), ("b", 1.0)], false),
            row("gcc/O2/aarch64", &[("a", 50.0), ("b", 50.0)], true),
        ];
        let speed = SpeedFile { schema: SPEED_SCHEMA.into(), cpu: "x86".into(), builds };
        let (views, functions) = views(&speed, &sample::run());
        assert_eq!(functions, 2);
        let shown: Vec<_> = views.iter().map(|v| (v.build.as_str(), v.ns.round(), v.is_front)).collect();
        assert_eq!(
            shown,
            [
                ("gcc/O2/native", 2.0, true),
                ("gcc/O3-fast/native", 2.0, false),
                ("gcc/O0/native", 4.0, false),
                ("gcc/O2/aarch64", 50.0, false)
            ]
        );
        assert_eq!(views[0].gain.map(f64::round), Some(2.0));
        assert_eq!(views[3].gain, None);
        let text = serde_json::to_string(&views[2]).unwrap();
        assert!(text.contains(r#""ns":"4.00","gain":"× 1.00","worst":"0.0","mean":"0.0""#), "{text}");
    }

    #[test]
    fn builds_without_a_common_function_are_not_compared() {
        let builds = vec![row("a", &[("f", 1.0)], false), row("b", &[("g", f64::NAN)], false)];
        let speed = SpeedFile { schema: SPEED_SCHEMA.into(), cpu: String::new(), builds };
        assert_eq!(views(&speed, &sample::run()), (Vec::new(), 0));
    }
}
