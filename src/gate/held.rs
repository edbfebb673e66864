//! What a gate holds beside differences: the baseline's own results, and what the matrix asks for. A change that moves
//! all builds alike, or that asks for less than was accepted, shows in no difference between builds.

use std::collections::BTreeMap;

use super::moved::{Move, words};
use super::verdict::{Gone, Policy, expected_gone};
use crate::model::{
    Answer, BuildId, ComparisonRow, FunctionRow, GapKind, GateFinding, GateGap, GateKind, GateNote, HeldRow,
    HeldValue, LockBuild, LockFunction, NoteKind, Number, Results, Returned, RunFile, WitnessRow, digest,
};

/// Kept values of the baseline by function: those of the lock, and those of the run.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    pub then: &'a BTreeMap<String, Vec<HeldValue>>,
    pub now: &'a BTreeMap<String, Vec<HeldValue>>,
}

/// What became of held results.
#[derive(Default)]
pub(super) struct Held {
    pub findings: Vec<GateFinding>,
    pub gaps: Vec<GateGap>,
    pub notes: Vec<GateNote>,
}

impl Held {
    pub fn of(policy: &Policy<'_>, run: &RunFile) -> Held {
        let mut held = Held { findings: changed_builds(policy, run), ..Held::default() };
        held.findings.extend(changed_metric(policy));
        let mut unheld = 0;
        for (name, lock) in &policy.lock.functions {
            let Some(row) = run.functions.iter().find(|row| row.name == *name) else { continue };
            if let Some(text) = changed_domains(lock, row) {
                held.findings.push(changed(name, &run.baseline, text));
                continue;
            }
            held.findings.extend(changed_tolerances(name, lock, row));
            // Of a lock whose every block had a call that ran out of time nothing is held.
            let Some(then) = lock.held.as_ref().filter(|then| then.compared(then) > 0) else {
                unheld += 1;
                continue;
            };
            let now = row.held.clone().unwrap_or_default();
            held.findings.extend(moved(policy, (name, row), &run.baseline, then.moved(&now), then));
            // A search that a clock ends may have half of the evaluations, and with them half of the blocks.
            if 2 * then.compared(&now) < then.compared(then) {
                let reason =
                    "of the baseline's results that the lock holds, less than half were asked for again";
                held.gaps.push(GateGap {
                    kind: GapKind::TooFew,
                    function: Some(name.clone()),
                    build: Some(run.baseline.clone()),
                    reason: reason.into(),
                    evaluations: now.inputs,
                    accepted: Some(then.inputs),
                });
            }
        }
        if unheld > 0 {
            let text = format!(
                "the lock holds no results of the baseline for {unheld} of {} functions, so that a change which moves all \
                 builds alike cannot be told there; `bitrift accept` records them",
                policy.lock.functions.len()
            );
            held.notes.push(GateNote { kind: NoteKind::Unrecorded, text });
        }
        held
    }
}

/// Builds whose arguments are not those that were accepted.
fn changed_builds(policy: &Policy<'_>, run: &RunFile) -> Vec<GateFinding> {
    let change = |(id, then): (&BuildId, &LockBuild)| {
        let now = LockBuild::of(run.builds.iter().find(|row| row.id == *id && row.is_built())?);
        let text = format!("arguments were `{}`, are `{}`", then.flags.join(" "), now.flags.join(" "));
        (then.flags != now.flags).then(|| changed("", id, text))
    };
    policy.lock.builds.iter().filter_map(change).collect()
}

fn changed_metric(policy: &Policy<'_>) -> Option<GateFinding> {
    let (lock, now) = (policy.lock, policy.matrix_equality?);
    let keys =
        [("nan", lock.nan.as_str(), now.nan.as_str()), ("zero", lock.zero.as_str(), now.zero.as_str())];
    let texts = keys.into_iter().filter(|(_, then, now)| then != now);
    let texts: Vec<String> =
        texts.map(|(key, then, now)| format!("`{key}` was \"{then}\", is \"{now}\"")).collect();
    (!texts.is_empty()).then(|| changed("", &lock.baseline, texts.join(", ")))
}

/// Builds whose results may be closer together or further apart than was accepted.
fn changed_tolerances(name: &str, lock: &LockFunction, row: &FunctionRow) -> Vec<GateFinding> {
    let compared = row.comparisons.iter().filter(|c| lock.compared().any(|build| *build == c.build));
    let change = |comparison: &ComparisonRow| {
        let then = lock.tolerances.get(&comparison.build).copied().unwrap_or_default();
        let text = format!("the tolerance was {then}, is {}", comparison.tolerance);
        (then != comparison.tolerance).then(|| changed(name, &comparison.build, text))
    };
    compared.filter_map(change).collect()
}

/// How the domains of a function differ from the accepted ones; a lock of an older version says nothing of them.
fn changed_domains(lock: &LockFunction, row: &FunctionRow) -> Option<String> {
    if lock.domains.is_empty() || lock.domains == row.domains {
        return None;
    }
    let shown = |domains: &[String]| {
        let names = row.params.iter().map(|p| p.name.as_str());
        let one = |(name, domain): (&str, &String)| match domain.as_str() {
            "" => format!("{name} in all"),
            domain => format!("{name} in {domain}"),
        };
        names.zip(domains).map(one).collect::<Vec<_>>().join(", ")
    };
    Some(format!("the domain was {}, is {}", shown(&lock.domains), shown(&row.domains)))
}

fn changed(function: &str, build: &BuildId, text: String) -> GateFinding {
    let gone = Gone { function: function.into(), build: build.clone() };
    GateFinding { kind: GateKind::Changed, text, ..expected_gone(gone) }
}

/// The finding about a baseline whose results moved in some blocks.
fn moved(
    policy: &Policy<'_>,
    (name, row): (&str, &FunctionRow),
    baseline: &BuildId,
    blocks: Vec<usize>,
    then: &HeldRow,
) -> Option<GateFinding> {
    let first = *blocks.first()?;
    let gone = Gone { function: name.into(), build: baseline.clone() };
    let found = GateFinding { kind: GateKind::BaselineMoved, ..expected_gone(gone) };
    let in_blocks = format!("in {} of {} blocks of held inputs", blocks.len(), then.blocks.len());
    Some(match worst_kept(policy, (name, row), then) {
        Some((bits, witness)) => GateFinding { bits, witness: Some(witness), text: in_blocks, ..found },
        None => {
            let narrow = format!(
                "{in_blocks}, of which no value is kept; `bitrift eval {name} --block {first}` with the old and with the new \
                 tools shows which results moved"
            );
            GateFinding { text: narrow, ..found }
        }
    })
}

/// The kept value that moved most: bits, and the input with what the baseline said then and says now.
fn worst_kept(
    policy: &Policy<'_>,
    (name, row): (&str, &FunctionRow),
    then: &HeldRow,
) -> Option<(Option<f64>, WitnessRow)> {
    let (scalars, results) = (row.scalars(), row.returns());
    let read = |values: &BTreeMap<String, Vec<HeldValue>>| -> Option<Vec<(Vec<Number>, Vec<Answer>)>> {
        values.get(name)?.iter().map(|value| value.typed(&scalars, &results)).collect()
    };
    let before = read(policy.kept.then).filter(|values| is_held(policy, &results, values, then))?;
    let now = read(policy.kept.now)?;
    let pairs = before.iter().zip(&now).filter(|(then, now)| then.0 == now.0);
    let moves = pairs
        .filter_map(|((input, then), (_, now))| Move::between(policy.equality, &results, input, then, now));
    let worst = moves.reduce(|worst, other| if other.bits > worst.bits { other } else { worst })?;
    Some((worst.is_of_values().then_some(worst.bits), worst.witness))
}

/// Whether values are those whose digest the lock has.
fn is_held(
    policy: &Policy<'_>,
    results: &Results,
    values: &[(Vec<Number>, Vec<Answer>)],
    then: &HeldRow,
) -> bool {
    let inputs: Vec<Vec<u64>> =
        values.iter().map(|(input, _)| input.iter().map(|n| n.bits).collect()).collect();
    let answers: Vec<_> = values.iter().map(|(_, answers)| words(answers)).collect();
    let pairs = inputs.iter().map(Vec::as_slice).zip(answers.iter().map(|whole| whole.returned()));
    let pairs: Vec<(&[u64], Returned<'_>)> = pairs.collect();
    then.blocks.first() == Some(&digest(results, policy.equality, pairs.into_iter()))
}
