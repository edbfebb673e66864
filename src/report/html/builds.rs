//! The builds of a run as the page lists them.

use serde::Serialize;

use crate::model::{BuildId, BuildRow, InstructionCounts, RunFile, printable, printable_lines};
use crate::report::number::count;
use crate::report::plan::quoted;

#[derive(Debug, Serialize)]
pub(super) struct BuildView {
    id: String,
    status: &'static str,
    is_baseline: bool,
    version: String,
    flags: String,
    target: String,
    fpenv: String,
    libm: String,
    emulated: bool,
    /// Cases the emulator was tried on, and what it got wrong.
    cases: u32,
    wrong: Vec<String>,
    log: String,
    instructions: String,
    by_maker: String,
    /// Function, instructions.
    audit: Vec<(String, String)>,
    unaudited: String,
}

pub(super) fn views(run: &RunFile) -> Vec<BuildView> {
    run.builds.iter().map(|build| view(build, &run.baseline)).collect()
}

fn view(build: &BuildRow, baseline: &BuildId) -> BuildView {
    let flags: Vec<String> = build.flags.iter().map(|flag| printable(&quoted(flag))).collect();
    let mut total = InstructionCounts::default();
    build.audit.values().for_each(|counts| total.add(counts));
    let makers: Vec<String> = total.by_maker.iter().map(|name| printable(name)).collect();
    let arithmetic = build.arithmetic.as_ref();
    BuildView {
        id: printable(&build.id),
        status: build.status.as_str(),
        is_baseline: build.id == *baseline,
        version: printable(&build.version),
        flags: flags.join(" "),
        target: printable(&build.target),
        fpenv: printable(&build.fpenv),
        libm: printable(&build.libm),
        emulated: build.emulated,
        cases: arithmetic.map_or(0, |a| a.cases),
        wrong: arithmetic.map(|a| a.wrong.iter().map(|w| printable(w)).collect()).unwrap_or_default(),
        log: printable_lines(&build.reason),
        instructions: kinds(&total),
        by_maker: makers.join(", "),
        audit: build.audit.iter().map(|(name, counts)| (printable(name), kinds(counts))).collect(),
        unaudited: printable(&build.unaudited),
    }
}

/// `12 fma, 3 x87`.
fn kinds(counts: &InstructionCounts) -> String {
    let InstructionCounts { fma, approximate, x87, vector_math, by_maker: _ } = counts;
    let kinds = [(fma, "fma"), (approximate, "approximate"), (x87, "x87"), (vector_math, "vector math")];
    let texts = kinds.iter().filter(|(n, _)| **n > 0).map(|(n, kind)| format!("{} {kind}", count(**n)));
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_named_by_kind_and_none_is_not_written() {
        let counts = InstructionCounts { fma: 1200, x87: 3, ..InstructionCounts::default() };
        assert_eq!(kinds(&counts), "1,200 fma, 3 x87");
        assert_eq!(kinds(&InstructionCounts::default()), "");
    }
}
