//! What a user should read before results: what could not be checked, what the caller's environment would have
//! decided, and which builds have the same code.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Artifact, Build};
use crate::toolchain::deciding_variables;

/// The most names that a note lists.
const SHOWN: usize = 6;

/// Variables of the caller that no process with code under test gets.
pub fn cleared() -> Vec<String> {
    let note = |(name, value): (&str, String)| {
        let instead = match name {
            "GLIBC_TUNABLES" => "`glibc_tunables` of an [[environment]] of the matrix",
            _ => "the path of a library file in `libs` of the matrix",
        };
        format!(
            "{name} is set ({value}) and not handed on to code under test; what it would decide is said by {instead}"
        )
    };
    deciding_variables().into_iter().map(note).collect()
}

/// Names for a note: the first of them, and how many there are.
pub fn some(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// What the machine code of builds says: those that have the same code of a function, and fused multiply-adds in
/// builds that were told not to have any.
pub fn of_code(builds: &[Build], artifacts: &[Artifact]) -> Vec<String> {
    let mut notes = same_code(builds, artifacts);
    notes.extend(builds.iter().zip(artifacts).filter_map(|(build, artifact)| contracted(build, artifact)));
    notes
}

/// Builds of one implementation in one environment that have the same code of functions: what differs there comes
/// from where the code runs, such as flushing. The environments themselves always share code.
fn same_code(builds: &[Build], artifacts: &[Artifact]) -> Vec<String> {
    let first = builds.first().map(|build| &build.environment.name);
    let mut alike: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for (build, artifact) in builds.iter().zip(artifacts) {
        let Some(object) = artifact.object().filter(|_| Some(&build.environment.name) == first) else {
            continue;
        };
        for (function, digest) in &object.audit.digests {
            alike.entry((&build.implementation, function, digest)).or_default().push(build.id.as_str());
        }
    }
    let mut functions: BTreeMap<Vec<&str>, BTreeSet<String>> = BTreeMap::new();
    for ((_, function, _), builds) in alike.into_iter().filter(|(_, builds)| builds.len() > 1) {
        functions.entry(builds).or_default().insert(function.to_string());
    }
    let note = |(builds, functions): (Vec<&str>, BTreeSet<String>)| {
        let functions: Vec<String> = functions.into_iter().collect();
        format!("the same machine code in {}: {}", builds.join(", "), some(&functions))
    };
    functions.into_iter().map(note).collect()
}

/// A build whose last word about contraction is that there be none, and what it has all the same.
fn contracted(build: &Build, artifact: &Artifact) -> Option<String> {
    let last = build.args.iter().rev().find(|arg| arg.starts_with("-ffp-contract="))?;
    if last != "-ffp-contract=off" {
        return None;
    }
    let audit = &artifact.object()?.audit;
    let fused = audit.functions.iter().filter(|(_, counts)| counts.fma > 0);
    let names: Vec<String> = fused.map(|(name, counts)| format!("{name} ({})", counts.fma)).collect();
    if names.is_empty() {
        return None;
    }
    Some(format!(
        "warning: {} asked for -ffp-contract=off and has fused multiply-adds: {}; an option behind it may ask for \
         them, or the code calls fma itself",
        build.id,
        some(&names)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_names_is_cut() {
        let names: Vec<String> = (0..9).map(|n| format!("f{n}")).collect();
        assert_eq!(some(&names[..2]), "`f0`, `f1`");
        assert!(some(&names).ends_with("`f5` and 3 more"));
    }
}
