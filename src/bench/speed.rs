//! A bench's seconds beside those of another implementation, function by function.

use super::Grid;
use super::numbers::{geometric_mean, median};
use crate::model::Timed;

/// One function of the reference with every strategy's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    pub function: String,
    pub reference_s: f64,
    pub reference_evaluations: u64,
    /// Busy seconds of each strategy, median over seeds; None where it has no row.
    pub seconds: Vec<Option<f64>>,
}

/// Every timed function that the bench has.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    pub timings: Vec<Timing>,
    /// Of each strategy: the geometric mean of reference seconds over its seconds.
    pub times_faster: Vec<Option<f64>>,
    /// Timed functions that the bench lacks.
    pub absent: Vec<String>,
}

/// None when the bench has none of the functions.
pub fn speed(grid: &Grid<'_>, timed: &Timed) -> Option<Speed> {
    let (mut timings, mut absent) = (Vec::new(), Vec::new());
    for reference in &timed.functions {
        let Some(function) = grid.functions.iter().position(|name| *name == reference.name) else {
            absent.push(reference.name.clone());
            continue;
        };
        let seconds = |strategy| {
            let all: Vec<f64> = grid.rows(strategy, function).map(|row| row.busy_s).collect();
            (!all.is_empty()).then(|| median(&all))
        };
        timings.push(Timing {
            function: reference.name.clone(),
            reference_s: reference.seconds,
            reference_evaluations: reference.evaluations,
            seconds: (0..grid.strategies.len()).map(seconds).collect(),
        });
    }
    let faster = |strategy: usize| {
        let ratios: Vec<f64> = timings
            .iter()
            .filter_map(|t| Some(t.reference_s / t.seconds[strategy].filter(|s| *s > 0.0)?))
            .collect();
        geometric_mean(&ratios)
    };
    let times_faster = (0..grid.strategies.len()).map(faster).collect();
    (!timings.is_empty()).then_some(Speed { timings, times_faster, absent })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    #[test]
    fn ratios_are_of_the_functions_both_have() {
        let file = sample::bench();
        let timed = sample::reference().timed.unwrap();
        let speed = speed(&Grid::new(&file), &timed).unwrap();
        assert_eq!(speed.absent, ["gone"]);
        assert_eq!(speed.timings[0].seconds, [Some(0.5), Some(0.25)]);
        // walk: 50 / 0.5 = 100 and 5 / 0.5 = 10; their geometric mean is sqrt(1000).
        assert!((speed.times_faster[0].unwrap() - 1000f64.sqrt()).abs() < 1e-10);
        let other = Timed { functions: vec![timed.functions[2].clone()], ..timed };
        assert_eq!(super::speed(&Grid::new(&file), &other), None);
    }
}
