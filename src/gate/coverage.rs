//! How much of what the lock is about a run searched. A green gate needs all of it.

use std::collections::BTreeSet;

use super::accepted::accepts_fault;
use crate::findings::{Unsearched, compares, unsearched};
use crate::model::{
    Budget, BuildId, BuildRow, BuildStatus, ComparisonRow, FaultKind, GapKind, GateGap, GateNote, GateShare,
    LockFile, NoteKind, RunFile, StopReason, gist,
};

/// What was searched, what was not, and what the lock cannot tell.
pub(super) struct Coverage {
    pub searched: GateShare,
    pub gaps: Vec<GateGap>,
    pub notes: Vec<GateNote>,
}

/// A function on a build.
type Pair<'a> = (&'a str, &'a BuildId);

impl Coverage {
    pub fn of(lock: &LockFile, run: &RunFile) -> Coverage {
        let locked: BTreeSet<Pair<'_>> = lock
            .functions
            .iter()
            .flat_map(|(name, function)| function.compared().map(move |build| (name.as_str(), build)))
            .collect();
        let (mut gaps, mut share) = (Vec::new(), 0.0);
        for &pair in &locked {
            let gap = locked_gap(lock, run, pair);
            share += gap.as_ref().map_or(1.0, part);
            gaps.extend(gap);
        }
        let searched = GateShare {
            comparisons: locked.len() - gaps.len(),
            of: locked.len(),
            // Far below 2^53.
            share: if locked.is_empty() { 0.0 } else { share / locked.len() as f64 },
        };
        gaps.extend(other_gaps(lock, run, &locked));
        let mut notes = absent_builds(lock, run);
        let recorded = |(name, build): &Pair<'_>| lock.functions[*name].evaluations.contains_key(*build);
        let unrecorded = locked.iter().filter(|pair| !recorded(pair)).count();
        if unrecorded > 0 {
            let text = format!(
                "the lock does not record the evaluations of {unrecorded} of {} comparisons, so that a slow function \
                 that was hardly searched cannot be told; `bitrift accept` records them",
                locked.len()
            );
            notes.push(GateNote { kind: NoteKind::Unrecorded, text });
        }
        Coverage { searched, gaps, notes }
    }
}

/// The part of a comparison's evaluations that were made, as far as the lock says how many there should be.
fn part(gap: &GateGap) -> f64 {
    match gap.accepted {
        // Counts far below 2^53.
        Some(accepted) if accepted > 0 => (gap.evaluations as f64 / accepted as f64).min(1.0),
        _ => 0.0,
    }
}

/// Why a comparison of the lock was not searched as far as the lock asks.
fn locked_gap(lock: &LockFile, run: &RunFile, (name, build): Pair<'_>) -> Option<GateGap> {
    let accepted = lock.functions.get(name).and_then(|function| function.evaluations.get(build)).copied();
    let row = run.functions.iter().find(|row| row.name == name);
    let comparison = row.and_then(|row| row.comparisons.iter().find(|row| row.build == *build));
    let Some(comparison) = comparison else {
        let missing = row.and_then(|row| row.missing.get(build)).map(|why| gist(why).to_string());
        let reason = missing.unwrap_or_else(|| GapKind::Missing.words().into());
        return Some(gap(GapKind::Missing, (name, build), reason, 0, accepted));
    };
    let evaluations = comparison.evaluations;
    if let Some(kind) = GapKind::of(comparison) {
        // Nothing can be searched in what is known to answer differently each time, and that was accepted.
        if kind == GapKind::Nondeterministic && accepts_drift(lock, name, [build, &lock.baseline]) {
            return None;
        }
        return Some(gap(kind, (name, build), kind.words().into(), evaluations, accepted));
    }
    let fewest = fewest(comparison, lock.search.budget, run.budget, accepted);
    let reason = || match accepted {
        Some(accepted) => format!("{evaluations} evaluations, the accepted search had {accepted}"),
        None => format!("{evaluations} evaluations, under a smaller budget than the lock's"),
    };
    (evaluations < fewest).then(|| gap(GapKind::TooFew, (name, build), reason(), evaluations, accepted))
}

/// Whether one of these builds is accepted as nondeterministic.
fn accepts_drift(lock: &LockFile, name: &str, builds: [&BuildId; 2]) -> bool {
    builds.iter().any(|build| accepts_fault(lock, name, build, FaultKind::Nondeterministic))
}

/// The fewest evaluations with which a comparison counts as searched. A search under the lock's own budget is as long as
/// what it finds asks for; a clock decides over one that is paced, and another budget over all of them.
fn fewest(comparison: &ComparisonRow, locked: Budget, budget: Budget, accepted: Option<u64>) -> u64 {
    let as_asked = match (budget, locked) {
        (Budget::Evaluations(now), Budget::Evaluations(then)) => now >= then,
        (now, then) => now == then,
    };
    match (comparison.stop_reason, accepted) {
        (StopReason::Complete | StopReason::Budget, _) if as_asked => 1,
        (StopReason::Budget, Some(accepted)) => accepted,
        (_, Some(accepted)) => accepted.div_ceil(2),
        (StopReason::Pace, None) if as_asked => 1,
        (_, None) => u64::MAX,
    }
}

/// What else a green gate must not pass over: searches of functions and builds that the lock does not know, tools that
/// the matrix asks for and the machine lacks, and a gate about nothing.
fn other_gaps(lock: &LockFile, run: &RunFile, locked: &BTreeSet<Pair<'_>>) -> Vec<GateGap> {
    let is_new =
        |one: &Unsearched<'_>| one.build.is_none_or(|build| !locked.contains(&(one.function, build)));
    let is_open = |one: &Unsearched<'_>| match (one.kind, one.build) {
        // What was missing when the lock was made is a row of the run, not a claim of the lock.
        (GapKind::Missing, _) => !lock.functions.contains_key(one.function),
        (GapKind::Nondeterministic, Some(build)) => {
            !accepts_drift(lock, one.function, [build, &lock.baseline])
        }
        _ => true,
    };
    let of_functions =
        unsearched(run).into_iter().filter(|one| is_new(one) && is_open(one)).map(|one| GateGap {
            kind: one.kind,
            function: Some(one.function.into()),
            build: one.build.cloned(),
            reason: one.reason.into(),
            evaluations: one.evaluations,
            accepted: None,
        });
    // A build that did not compile when the lock was made is in the lock as absent.
    let is_broken =
        |build: &BuildRow| build.status == BuildStatus::Failed && !lock.absent.contains_key(&build.id);
    let wanting = run.builds.iter().filter(|build| build.is_wanting() || is_broken(build));
    let of_builds = wanting.map(|build| GateGap {
        kind: GapKind::Absent,
        function: None,
        build: Some(build.id.clone()),
        reason: gist(&build.reason).into(),
        evaluations: 0,
        accepted: None,
    });
    let nothing = (!compares(run)).then(|| GateGap {
        kind: GapKind::NothingToCompare,
        function: None,
        build: None,
        reason: GapKind::NothingToCompare.words().into(),
        evaluations: 0,
        accepted: None,
    });
    of_functions.chain(of_builds).chain(nothing).collect()
}

fn gap(kind: GapKind, pair: Pair<'_>, reason: String, evaluations: u64, accepted: Option<u64>) -> GateGap {
    let (function, build) = (Some(pair.0.into()), Some(pair.1.clone()));
    GateGap { kind, function, build, reason, evaluations, accepted }
}

/// What became of the builds that were absent when the lock was made.
fn absent_builds(lock: &LockFile, run: &RunFile) -> Vec<GateNote> {
    let told = |(id, then): (&BuildId, &String)| {
        let text = match run.builds.iter().find(|row| row.id == *id) {
            Some(row) if row.is_built() => {
                format!(
                    "{id} was absent when the lock was made ({then}) and is here now: nothing of it is accepted"
                )
            }
            Some(row) => format!("{id} is absent, as when the lock was made: {}", gist(&row.reason)),
            None => {
                format!("{id} was absent when the lock was made ({then}) and is not in the matrix any more")
            }
        };
        GateNote { kind: NoteKind::AbsentBuild, text }
    };
    lock.absent.iter().map(told).collect()
}
