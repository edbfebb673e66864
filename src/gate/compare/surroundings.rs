//! What differs around the functions of two runs: a reader must know it before blaming the code.

use std::collections::BTreeMap;

use super::Rules;
use super::outcome::{Difference, budget_text};
use crate::model::{BuildId, BuildRow, RunFile, libraries_text};

/// Of the whole runs first, then of builds that both have; equal ones of several builds are one.
pub(super) fn differences(a: &RunFile, b: &RunFile, rules: &Rules) -> Vec<Difference> {
    let whole = [
        ("processor", a.host.cpu.clone(), b.host.cpu.clone()),
        ("libm of the host", a.host.libm.clone(), b.host.libm.clone()),
        ("baseline", rules.renamed(&a.baseline).to_string(), b.baseline.to_string()),
        ("bitrift", a.bitrift.clone(), b.bitrift.clone()),
        ("strategy", a.strategy.to_string(), b.strategy.to_string()),
        ("budget", budget_text(a.budget), budget_text(b.budget)),
        ("seed", a.seed.to_string(), b.seed.to_string()),
    ];
    let whole = whole.into_iter().filter(|(_, a, b)| a != b);
    let mut found: Vec<Difference> =
        whole.map(|(what, a, b)| Difference { what: what.into(), a, b, builds: Vec::new() }).collect();
    let mut of_builds: BTreeMap<(usize, String, String), Vec<BuildId>> = BTreeMap::new();
    for before in a.builds.iter().filter(|build| build.is_built()) {
        let name = rules.renamed(&before.id);
        let Some(now) = b.builds.iter().find(|build| build.id == name && build.is_built()) else {
            continue;
        };
        for (index, (a, b)) in parts(before).into_iter().zip(parts(now)).enumerate() {
            if a != b {
                of_builds.entry((index, a, b)).or_default().push(now.id.clone());
            }
        }
    }
    found.extend(of_builds.into_iter().map(|((index, a, b), builds)| Difference {
        what: PARTS[index].into(),
        a,
        b,
        builds,
    }));
    found
}

const PARTS: [&str; 7] = ["compiler", "flags", "target", "fp environment", "libm", "libraries", "emulated"];

/// What a build is made of, in the order of `PARTS`.
fn parts(build: &BuildRow) -> [String; 7] {
    [
        build.version.clone(),
        build.flags.join(" "),
        build.target.clone(),
        build.fpenv.clone(),
        build.libm.clone(),
        libraries_text(&build.libraries),
        if build.emulated { "yes" } else { "no" }.into(),
    ]
}
