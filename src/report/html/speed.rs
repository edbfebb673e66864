//! Speed beside bits: what each build's calls take, and which builds no other beats in both.

use serde::{Serialize, Serializer};

use crate::findings::{BuildCost, build_costs};
use crate::model::{RunFile, SpeedFile, printable};

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct SpeedView {
    build: String,
    /// The geometric mean over the functions that it and the baseline have.
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

/// The timed builds, fastest first, and how many functions their times are of at most.
pub(super) fn views(speed: &SpeedFile, run: &RunFile) -> (Vec<SpeedView>, usize) {
    let mut costs = build_costs(run, speed);
    costs.retain(|cost| cost.timed > 0);
    costs.sort_by(|a, b| a.emulated.cmp(&b.emulated).then(a.ns.total_cmp(&b.ns)));
    let functions = costs.iter().map(|cost| cost.timed).max().unwrap_or(0);
    let view = |cost: &BuildCost| SpeedView {
        build: printable(&cost.build),
        ns: cost.ns,
        gain: cost.speed_up.filter(|_| !cost.emulated),
        worst: cost.worst_bits,
        mean: cost.mean_bits,
        is_baseline: cost.build == run.baseline,
        is_front: cost.on_worst_front || cost.on_mean_front,
        emulated: cost.emulated,
    };
    (costs.iter().map(view).collect(), functions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SPEED_SCHEMA, SpeedRow};
    use crate::report::sample;

    fn row(build: &str, times: &[(&str, f64)], emulated: bool) -> SpeedRow {
        let functions = times.iter().map(|(name, ns)| ((*name).into(), *ns)).collect();
        SpeedRow { build: build.into(), functions, emulated }
    }

    #[test]
    fn a_build_that_is_slower_and_further_off_is_not_on_the_front() {
        let builds = vec![
            row("gcc/O0/native", &[("a", 8.0), ("b", 2.0)], false),
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
        let builds = vec![row("a", &[("f", 1.0)], false), row("b", &[("g", 1.0)], false)];
        let speed = SpeedFile { schema: SPEED_SCHEMA.into(), cpu: String::new(), builds };
        assert_eq!(views(&speed, &sample::run()), (Vec::new(), 0));
    }
}
