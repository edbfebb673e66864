//! What a gate says beside its findings: changed builds, differences that vanished, expectations of the matrix.

use std::collections::{BTreeMap, BTreeSet};

use super::verdict::{Gone, Policy, Replayed};
use crate::findings::Verdict;
use crate::model::{BuildId, GapKind, GateFinding, GateNote, LockBuild, LockFile, NoteKind, RunFile};

/// Builds that are made of something else than they were.
pub(super) fn of_builds(lock: &LockFile, run: &RunFile) -> Vec<GateNote> {
    let mut notes = Vec::new();
    for row in run.builds.iter().filter(|row| row.is_built()) {
        match lock.builds.get(&row.id) {
            // `coverage` has more to say of it.
            None if lock.absent.contains_key(&row.id) => {}
            None => notes.push(note(NoteKind::BuildChanged, format!("{} is not in the lock", row.id))),
            Some(then) => {
                for (field, then, now) in then.changes(&LockBuild::of(row)) {
                    let text = format!("{}: {field} was `{then}`, is `{now}`", row.id);
                    notes.push(note(NoteKind::BuildChanged, text));
                }
            }
        }
    }
    notes
}

/// Builds with findings whose numbers come from an emulator.
pub(super) fn of_emulators(run: &RunFile, findings: &[GateFinding]) -> Vec<GateNote> {
    let builds: BTreeSet<&BuildId> = findings.iter().map(|f| &f.build).collect();
    let emulated = builds.into_iter().filter(|build| run.is_emulated(build));
    emulated.map(|build| note(NoteKind::Emulated, format!("{build} is emulated"))).collect()
}

/// Accepted differences that are not there any more.
pub(super) fn of_replay(replayed: &[Replayed<'_>]) -> Vec<GateNote> {
    let mut gone: BTreeMap<(&str, &BuildId), (usize, usize)> = BTreeMap::new();
    for (seen, verdict) in replayed {
        let pair = gone.entry((&seen.look.function, &seen.look.build)).or_default();
        pair.1 += 1;
        pair.0 += usize::from(matches!(verdict, Verdict::Gone { .. }));
    }
    let gone = gone.into_iter().filter(|(_, (gone, _))| *gone > 0);
    gone.map(|((function, build), (gone, of))| {
        let text = format!("{function} on {build}: gone at {gone} of {of} accepted witnesses");
        note(NoteKind::Vanished, text)
    })
    .collect()
}

/// What should differ and does not, as far as it was compared to the end, and limits about nothing.
pub(super) fn of_expectations(
    policy: &Policy<'_>,
    run: &RunFile,
    differing: &BTreeSet<(&str, &BuildId)>,
) -> (Vec<Gone>, Vec<GateNote>) {
    let (mut gone, mut notes) = (BTreeSet::new(), Vec::new());
    for limit in policy.limits {
        let mut idle = true;
        for function in &run.functions {
            for comparison in &function.comparisons {
                let pair = (function.name.as_str(), &comparison.build);
                if !limit.matches(pair.0, pair.1.as_str()) {
                    continue;
                }
                idle = false;
                let differs = comparison.witness.is_some() || differing.contains(&pair);
                if limit.expect && !differs && GapKind::of(comparison).is_none() {
                    gone.insert(pair);
                }
            }
        }
        if idle {
            let shown = |glob: &Option<String>| glob.clone().unwrap_or_else(|| "*".into());
            let (function, build) = (shown(&limit.function), shown(&limit.build));
            let text = format!("the limit of function `{function}` on build `{build}` matches nothing");
            notes.push(note(NoteKind::IdleLimit, text));
        }
    }
    let gone = gone.into_iter().map(|(f, b)| Gone { function: f.into(), build: b.clone() });
    (gone.collect(), notes)
}

fn note(kind: NoteKind, text: String) -> GateNote {
    GateNote { kind, text }
}
