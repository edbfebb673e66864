//! What the short reports say of a run: its functions from worst to best, and what else a reader must know.

use std::collections::BTreeMap;

use super::Material;
use super::ranges::differs;
use crate::model::{BuildId, Category, ComparisonRow, Confirmed, FunctionRow, RangeRow, RunFile, WitnessRow};

/// A function on which some build disagrees.
pub(super) struct Moved<'a> {
    pub function: &'a FunctionRow,
    /// The comparison of most bits.
    pub worst: &'a ComparisonRow,
    /// Its range of most bits; None when its witness is in no range.
    pub range: Option<&'a RangeRow>,
    /// Of all builds.
    pub ranges: usize,
    /// Builds that disagree.
    pub builds: usize,
}

impl Moved<'_> {
    /// The symptom of the worst range.
    pub fn category(&self) -> &'static str {
        self.range.map_or("one input", |range| range.category.as_str())
    }

    pub fn witness(&self) -> Option<&WitnessRow> {
        self.range.map(|range| &range.witness).or(self.worst.witness.as_ref())
    }
}

/// Inconsistent functions, most bits first; those of equal bits keep the order of the run.
pub(super) fn moved(run: &RunFile) -> Vec<Moved<'_>> {
    let mut found: Vec<Moved> = run.functions.iter().filter_map(of_function).collect();
    found.sort_by(|a, b| b.worst.max_bits.total_cmp(&a.worst.max_bits));
    found
}

fn of_function(function: &FunctionRow) -> Option<Moved<'_>> {
    let differing = || function.comparisons.iter().filter(|c| differs(c));
    let worst = differing().reduce(|a, b| if b.max_bits > a.max_bits { b } else { a })?;
    let range = worst.ranges.iter().reduce(|a, b| if b.max_bits > a.max_bits { b } else { a });
    let ranges = differing().map(|c| c.ranges.len()).sum();
    Some(Moved { function, worst, range, ranges, builds: differing().count() })
}

/// Ranges by category, what most deserves a look first.
pub(super) fn categories(run: &RunFile) -> Vec<(Category, usize)> {
    let mut counts: BTreeMap<Category, usize> = BTreeMap::new();
    let comparisons = run.functions.iter().flat_map(|f| &f.comparisons);
    for range in comparisons.flat_map(|c| &c.ranges) {
        *counts.entry(range.category).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// What one variant does to the functions of a run.
#[derive(Default)]
pub(super) struct BuildTally<'a> {
    pub functions: usize,
    pub ranges: usize,
    pub max_bits: f64,
    /// Where most bits are.
    pub worst: &'a str,
}

/// By build, in the order of the run; only those that were compared.
pub(super) fn by_build(run: &RunFile) -> Vec<(&BuildId, BuildTally<'_>)> {
    let compared = |id: &BuildId| run.functions.iter().any(|f| f.comparisons.iter().any(|c| c.build == *id));
    let ids = run.builds.iter().map(|b| &b.id).filter(|id| compared(id));
    ids.map(|id| (id, tally(run, id))).collect()
}

fn tally<'a>(run: &'a RunFile, build: &BuildId) -> BuildTally<'a> {
    let mut tally = BuildTally::default();
    for function in &run.functions {
        for comparison in function.comparisons.iter().filter(|c| c.build == *build && differs(c)) {
            tally.functions += 1;
            tally.ranges += comparison.ranges.len();
            if comparison.max_bits > tally.max_bits || tally.worst.is_empty() {
                tally.max_bits = comparison.max_bits;
                tally.worst = &function.name;
            }
        }
    }
    tally
}

/// How many findings plain executables show too, do not, and were not asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Confirmation {
    pub yes: usize,
    pub no: usize,
    pub unknown: usize,
}

/// Over the ranges of a run; None when nobody has tried.
pub(super) fn confirmation(material: &Material) -> Option<Confirmation> {
    material.confirm.as_ref()?;
    let mut sum = Confirmation::default();
    let comparisons = material.run.functions.iter().flat_map(|f| &f.comparisons);
    for range in comparisons.flat_map(|c| &c.ranges) {
        match material.confirmation(&range.id).map(|row| row.confirmed) {
            Some(Confirmed::Yes) => sum.yes += 1,
            Some(Confirmed::No) => sum.no += 1,
            Some(Confirmed::Unknown) | None => sum.unknown += 1,
        }
    }
    Some(sum)
}

impl Confirmation {
    /// `40 of 41 confirmed, 1 not` in words.
    pub fn text(self) -> String {
        let Confirmation { yes, no, unknown } = self;
        let mut text = format!("{yes} of {} ranges", yes + no + unknown);
        if no > 0 {
            text.push_str(&format!(", {no} not reproduced"));
        }
        if unknown > 0 {
            text.push_str(&format!(", {unknown} not tried or not possible"));
        }
        text
    }
}

/// How much a finding deserves attention, by its bits and what kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    /// Thresholds of the paper's tables. A change of class may have no bits and is still worth a warning.
    pub fn of(bits: f64, category: Option<Category>) -> Level {
        if bits > 48.0 || category == Some(Category::Fault) {
            Level::Error
        } else if bits > 8.0 || category == Some(Category::ClassChange) {
            Level::Warning
        } else {
            Level::Note
        }
    }
}
