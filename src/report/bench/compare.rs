//! The sections of a bench that hold something else beside it: exact truth, another bench, another
//! implementation.

use super::cell::{digits, fixed, grouped, percent};
use super::section::Section;
use crate::bench::{self, Against, Grid, NEAR_BITS, TruthTally};
use crate::model::BenchFile;
use crate::report::number::count;

fn headings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// Against exact truth, where it is known.
pub(super) fn truth(grid: &Grid<'_>) -> Option<Section> {
    let tallies = bench::truth(grid)?;
    let share = |x: f64| format!("{:.1}%", 100.0 * x);
    let row = |t: &TruthTally| {
        vec![
            t.strategy.to_string(),
            t.functions.to_string(),
            format!("{} ({})", t.reached, percent(t.reached, t.functions)),
            share(t.covered),
            share(t.filled),
            digits(t.density),
        ]
    };
    let missed = tallies.iter().filter(|t| !t.missed.is_empty());
    Some(Section {
        title: "Against exact truth",
        before: vec![format!(
            "Functions whose maximum is within {NEAR_BITS} bits of the true one; the share of all inconsistent inputs inside the ranges; the share of the \
             cells of 1/16 binade inside the ranges that hold one; how much denser the ranges are than the domain. Medians over seeds, means over functions."
        )],
        headings: headings(&[
            "strategy",
            "functions",
            "maximum reached",
            "covered",
            "cells filled",
            "density",
        ]),
        rows: tallies.iter().map(row).collect(),
        after: missed
            .map(|t| format!("{} misses the true maximum of {}.", t.strategy, t.missed.join(", ")))
            .collect(),
    })
}

/// Against another bench.
pub(super) fn against(grid: &Grid<'_>, name: &str, other: &BenchFile) -> Section {
    let all = bench::against(grid, other);
    let row = |a: &Against| {
        let near = format!("{} ({})", a.near, percent(a.near, a.functions));
        vec![
            a.strategy.to_string(),
            a.functions.to_string(),
            near,
            a.above.to_string(),
            a.short.len().to_string(),
        ]
    };
    let short = |a: &Against| {
        let each = a
            .short
            .iter()
            .map(|s| format!("{} {} of {}", s.function, fixed(s.bits, 2), fixed(s.other_bits, 2)));
        format!("{} is below it on: {}.", a.strategy, each.collect::<Vec<_>>().join(", "))
    };
    Section {
        title: "Against another bench",
        before: vec![format!(
            "Functions whose maximum (median over seeds) is within {NEAR_BITS} bits of the most that any strategy and seed of {} found, or above.",
            name.replace('`', "'")
        )],
        headings: headings(&["strategy", "functions", "reached", "of these clearly above", "below"]),
        rows: all.iter().map(row).collect(),
        after: all.iter().filter(|a| !a.short.is_empty()).map(short).collect(),
    }
}

/// Beside another implementation.
pub(super) fn speed(file: &BenchFile, grid: &Grid<'_>) -> Option<Section> {
    let timed = file.reference.as_ref()?.timed.as_ref()?;
    let speed = bench::speed(grid, timed)?;
    let mut names = headings(&["function", "reference s", "its evaluations"]);
    names.extend(grid.strategies.iter().map(|s| s.to_string()));
    let mut rows = Vec::new();
    for timing in &speed.timings {
        let mut row =
            vec![timing.function.clone(), digits(timing.reference_s), count(timing.reference_evaluations)];
        row.extend(timing.seconds.iter().map(|seconds| match seconds {
            Some(s) if *s > 0.0 => format!("{} s ({} x)", digits(*s), grouped(timing.reference_s / s)),
            _ => "-".into(),
        }));
        rows.push(row);
    }
    let mut last = headings(&["geometric mean", "", ""]);
    last.extend(
        speed.times_faster.iter().map(|t| t.map_or_else(|| "-".into(), |x| format!("{} x", grouped(x)))),
    );
    rows.push(last);
    let mut after = vec![format!("Reference: {}.", timed.source)];
    if !speed.absent.is_empty() {
        after.push(format!("Timed there and not searched here: {}.", speed.absent.join(", ")));
    }
    Some(Section {
        title: "Speed beside the reference",
        before: vec![
            "Seconds for a function, median over seeds, and how many times faster than the reference: the \
             seconds of its workers added up, as one core would take."
                .into(),
        ],
        headings: names,
        rows,
        after,
    })
}
