//! What the page needs at once: names, and the most bits of every function in every build.

use std::collections::BTreeSet;

use serde::Serialize;

use super::value::bits;
use super::why::Why;
use crate::model::{ComparisonRow, FunctionRow, GapKind};
use crate::report::Material;

/// The first block of data; columns of the matrix are the builds that were compared.
#[derive(Debug, Serialize)]
pub(super) struct Overview<'a> {
    baseline: &'a str,
    builds: Vec<&'a str>,
    /// Those of them whose arithmetic is an emulator's.
    emulated: Vec<&'a str>,
    categories: Vec<&'a str>,
    functions: Vec<Cells<'a>>,
    /// None: nobody asked.
    why: Option<Why<'a>>,
}

/// One row of the matrix.
#[derive(Debug, Serialize)]
struct Cells<'a> {
    name: &'a str,
    bits: Vec<f64>,
    /// A letter per build: `s` the same, `d` different, `u` nothing found but not searched to the end, `m` not compared; a
    /// capital where it has faults.
    marks: String,
    /// Places in the list of categories.
    categories: Vec<usize>,
}

impl<'a> Overview<'a> {
    pub(super) fn new(material: &'a Material) -> Overview<'a> {
        let run = &material.run;
        let rows = || run.functions.iter().flat_map(|f| &f.comparisons);
        let compared: BTreeSet<&str> = rows().map(|c| c.build.as_str()).collect();
        let mut builds: Vec<&str> = run.builds.iter().map(|b| b.id.as_str()).collect();
        builds.retain(|id| compared.contains(id));
        let emulated: BTreeSet<&str> =
            run.builds.iter().filter(|b| b.emulated).map(|b| b.id.as_str()).collect();
        let mut seen = BTreeSet::new();
        builds.retain(|id| seen.insert(*id));
        let categories: BTreeSet<&str> =
            rows().flat_map(|c| &c.ranges).map(|r| r.category.as_str()).collect();
        let categories: Vec<&str> = categories.into_iter().collect();
        let functions = run.functions.iter().map(|f| Cells::new(f, &builds, &categories)).collect();
        let emulated = builds.iter().copied().filter(|id| emulated.contains(id)).collect();
        Overview { baseline: &run.baseline, builds, emulated, categories, functions, why: Why::new(material) }
    }
}

impl<'a> Cells<'a> {
    fn new(function: &'a FunctionRow, builds: &[&str], categories: &[&str]) -> Cells<'a> {
        let of = |build: &str| function.comparisons.iter().find(|c| c.build == build);
        let kinds: BTreeSet<&str> =
            function.comparisons.iter().flat_map(|c| &c.ranges).map(|r| r.category.as_str()).collect();
        Cells {
            name: &function.name,
            bits: builds.iter().map(|build| of(build).map_or(0.0, |c| bits(c.max_bits))).collect(),
            marks: builds.iter().map(|build| mark(function, build, of(build))).collect(),
            categories: kinds.into_iter().filter_map(|k| categories.binary_search(&k).ok()).collect(),
        }
    }
}

fn mark(function: &FunctionRow, build: &str, comparison: Option<&ComparisonRow>) -> char {
    let mark = match comparison {
        None => 'm',
        Some(c) if c.ranges.is_empty() && c.witness.is_none() => match GapKind::of(c) {
            None => 's',
            Some(_) => 'u',
        },
        Some(_) => 'd',
    };
    let faulty = function.faults.iter().any(|f| f.build == build);
    if faulty { mark.to_ascii_uppercase() } else { mark }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn cells_tell_same_different_missing_and_faulty_apart() {
        let material = sample::material();
        let overview = Overview::new(&material);
        assert_eq!(overview.builds.len(), 4);
        assert_eq!(overview.emulated, ["gcc/O2/aarch64"]);
        let marks = |name: &str| overview.functions.iter().find(|f| f.name == name).unwrap().marks.clone();
        assert_eq!(marks("quadratic_root"), "sddm");
        assert_eq!(marks("divide_or_die"), "mSmm");
        assert_eq!(marks("lone"), "mdmm");
        let airy = &overview.functions[0];
        assert_eq!(airy.bits, [0.0, 63.16, 0.0, 0.0]);
        let names: Vec<_> = airy.categories.iter().map(|&c| overview.categories[c]).collect();
        assert_eq!(names, ["class-change", "rounding"]);
    }
}
