//! What each build costs in time and in bits, and which builds no other beats in both.

use crate::model::{BuildId, ComparisonRow, RunFile, SpeedFile, SpeedRow};

/// A build of a run whose calls were timed.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildCost {
    pub build: BuildId,
    pub emulated: bool,
    /// Functions that were timed in it and in the baseline.
    pub timed: usize,
    /// Geometric mean over those.
    pub ns: f64,
    /// How many times faster than the baseline, by the geometric mean; None where nothing can be compared.
    pub speed_up: Option<f64>,
    /// Over all functions of the run that it was compared on.
    pub worst_bits: f64,
    /// Mean of the functions' worst bits.
    pub mean_bits: f64,
    pub differing: usize,
    pub compared: usize,
    /// No build is at least as fast and has fewer worst bits, or is faster with as many.
    pub on_worst_front: bool,
    /// The same by mean bits.
    pub on_mean_front: bool,
}

/// The cost of every timed build, the baseline's bits being zero.
pub fn build_costs(run: &RunFile, speed: &SpeedFile) -> Vec<BuildCost> {
    let baseline = speed.builds.iter().find(|row| row.build == run.baseline);
    let mut costs: Vec<BuildCost> = speed.builds.iter().map(|row| cost(run, row, baseline)).collect();
    let comparable = |cost: &&mut BuildCost| !cost.emulated && cost.speed_up.is_some();
    let points = |bits: fn(&BuildCost) -> f64, costs: &mut [BuildCost]| {
        let time = |cost: &BuildCost| cost.speed_up.map_or(f64::INFINITY, f64::recip);
        let points: Vec<(f64, f64)> =
            costs.iter_mut().filter(comparable).map(|cost| (time(cost), bits(cost))).collect();
        front(&points)
    };
    let worst = points(|cost| cost.worst_bits, &mut costs);
    let mean = points(|cost| cost.mean_bits, &mut costs);
    for (cost, (worst, mean)) in costs.iter_mut().filter(comparable).zip(worst.into_iter().zip(mean)) {
        (cost.on_worst_front, cost.on_mean_front) = (worst, mean);
    }
    costs
}

fn cost(run: &RunFile, row: &SpeedRow, baseline: Option<&SpeedRow>) -> BuildCost {
    let compared: Vec<&ComparisonRow> = match row.build == run.baseline {
        true => Vec::new(),
        false => run.functions.iter().flat_map(|f| &f.comparisons).filter(|c| c.build == row.build).collect(),
    };
    let of_baseline = |name: &String| baseline.and_then(|b| b.functions.get(name)).copied();
    let common: Vec<(f64, f64)> = row
        .functions
        .iter()
        .filter_map(|(name, &ns)| Some((ns, of_baseline(name)?)))
        .filter(|(ns, base)| *ns > 0.0 && *base > 0.0)
        .collect();
    let bits = compared.iter().map(|c| c.max_bits);
    // Counts of functions stay far below 2^53.
    let mean_bits = bits.clone().fold(0.0, |sum, b| sum + b) / compared.len().max(1) as f64;
    BuildCost {
        build: row.build.clone(),
        emulated: row.emulated,
        timed: common.len(),
        ns: geometric_mean(common.iter().map(|(ns, _)| *ns)).unwrap_or(0.0),
        speed_up: geometric_mean(common.iter().map(|(ns, base)| base / ns)),
        worst_bits: bits.fold(0.0, f64::max),
        mean_bits,
        differing: compared.iter().filter(|c| c.witness.is_some() || !c.ranges.is_empty()).count(),
        compared: compared.len(),
        on_worst_front: false,
        on_mean_front: false,
    }
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// Which points no other beats: none is as good in both and better in one. Less is better.
pub fn front(points: &[(f64, f64)]) -> Vec<bool> {
    let beaten = |&(x, y): &(f64, f64)| points.iter().any(|&(a, b)| a <= x && b <= y && (a < x || b < y));
    points.iter().map(|point| !beaten(point)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SPEED_SCHEMA;
    use proptest::prelude::*;

    #[test]
    fn equal_points_share_the_front_and_a_better_one_takes_it() {
        assert_eq!(front(&[(1.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.5, 3.0)]), [true, true, false, true]);
        assert!(front(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn no_point_of_the_front_is_beaten_and_every_other_is_by_one_of_it(
            points in proptest::collection::vec((0u8..20, 0u8..20), 0..30)
        ) {
            let points: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).collect();
            let on = front(&points);
            let beats = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
            for (i, point) in points.iter().enumerate() {
                let mut front = points.iter().zip(&on).filter(|(_, on)| **on).map(|(p, _)| *p);
                prop_assert_eq!(on[i], !front.any(|other| beats(other, *point)));
            }
        }
    }

    #[test]
    fn times_are_compared_on_the_functions_that_both_have() {
        let row = |build: &str, times: &[(&str, f64)]| SpeedRow {
            build: build.into(),
            functions: times.iter().map(|(f, ns)| (f.to_string(), *ns)).collect(),
            emulated: false,
        };
        let speed = SpeedFile {
            schema: SPEED_SCHEMA.into(),
            cpu: String::new(),
            builds: vec![
                row("base", &[("f", 8.0), ("g", 2.0)]),
                row("fast", &[("f", 2.0), ("g", 2.0), ("only here", 1e9)]),
                row("none", &[]),
            ],
        };
        let text = include_str!("../../tests/hostile/good.json");
        let mut run: RunFile = serde_json::from_str(text).unwrap();
        run.baseline = "base".into();
        let costs = build_costs(&run, &speed);
        assert_eq!((costs[0].ns, costs[0].speed_up, costs[0].worst_bits), (4.0, Some(1.0), 0.0));
        assert!((costs[1].ns - 2.0).abs() < 1e-9 && (costs[1].speed_up.unwrap() - 2.0).abs() < 1e-9);
        assert_eq!((costs[2].timed, costs[2].speed_up, costs[2].on_worst_front), (0, None, false));
    }
}
