//! The verdict of a gate: what was seen at every input that decides, against the lock and the limits of the
//! matrix. Red needs an input that shows it; everything else is a note.

use std::collections::{BTreeMap, BTreeSet};

use super::accepted::{Accepted, accepts_fault};
use super::coverage::Coverage;
use super::held::{Held, Kept};
use super::look::{Role, Seen};
use super::moved::AtWitnesses;
use super::notes;
use super::point::{Point, PointRules};
use crate::findings::{Verdict, judge};
use crate::fp::Equality;
use crate::model::{
    BuildId, FindingId, FunctionRow, GATE_SCHEMA, GateFile, GateFinding, GateKind, GateNote, GateSymptom,
    GateVerdict, Limit, LimitRule, LockFile, NoteKind, Number, ReplayCounts, RunFile, tolerance_of,
};

/// What a run is judged by.
pub struct Policy<'a> {
    pub lock: &'a LockFile,
    pub limits: &'a [Limit],
    /// Bits by which a difference may be worse than accepted.
    pub tolerance: f64,
    /// What counts as equal, but for the tolerances of the matrix.
    pub equality: Equality,
    /// The same by the matrix; None where the caller has another word in it.
    pub matrix_equality: Option<Equality>,
    pub kept: Kept<'a>,
    /// An expected difference that is not there fails.
    pub strict: bool,
}

impl Policy<'_> {
    /// The last limit about a function and build decides.
    pub(super) fn rule(&self, function: &str, build: &BuildId) -> Option<&LimitRule> {
        let about = self.limits.iter().filter(|limit| limit.matches(function, build.as_str()));
        about.filter_map(|limit| limit.rule.as_ref()).next_back()
    }

    /// What counts as equal on a build.
    pub(super) fn equality_on(&self, function: &str, build: &BuildId) -> Equality {
        Equality { tolerance: tolerance_of(self.limits, function, build.as_str()), ..self.equality }
    }
}

/// Judges a run by what was seen at the inputs that decide.
pub fn verdict(policy: &Policy<'_>, run: &RunFile, seen: &[Seen]) -> GateFile {
    let bench = Bench::new(policy, run, seen);
    let mut notes = notes::of_builds(policy.lock, run);
    notes.extend(notes::of_replay(&bench.replayed));
    let Coverage { searched, gaps: mut unsearched, notes: told } = Coverage::of(policy.lock, run);
    notes.extend(told);
    let (mut findings, allowed) = bench.findings();
    let held = Held::of(policy, run);
    let told = held.findings.iter().filter(|found| found.kind == GateKind::BaselineMoved);
    let told = told.map(|found| found.function.clone()).collect();
    let at_witnesses = AtWitnesses::of(policy, run, &bench.replayed, &told);
    findings.extend(held.findings);
    findings.extend(at_witnesses.findings);
    notes.extend(at_witnesses.notes);
    // Of a function that was not searched that is enough to say.
    let known: BTreeSet<_> = unsearched.iter().map(|gap| gap.function.clone()).collect();
    unsearched.extend(held.gaps.into_iter().filter(|gap| !known.contains(&gap.function)));
    notes.extend(held.notes);
    notes.extend(allowed);
    notes.extend(bench.unsteady());
    let (gone, idle) = notes::of_expectations(policy, run, &bench.differing());
    notes.extend(idle);
    if policy.strict {
        findings.extend(gone.into_iter().map(expected_gone));
    } else {
        notes.extend(gone.into_iter().map(|gone| GateNote {
            kind: NoteKind::ExpectedGone,
            text: format!("{} on {} is expected to differ and does not", gone.function, gone.build),
        }));
    }
    sort(run, &mut findings);
    notes.extend(notes::of_emulators(run, &findings));
    notes.sort();
    GateFile {
        schema: GATE_SCHEMA.into(),
        bitrift: env!("CARGO_PKG_VERSION").into(),
        name: run.name.clone(),
        baseline: run.baseline.clone(),
        verdict: match (findings.is_empty(), unsearched.is_empty()) {
            (false, _) => GateVerdict::Red,
            (true, false) => GateVerdict::Incomplete,
            (true, true) => GateVerdict::Green,
        },
        partial: None,
        tolerance: policy.tolerance,
        replay: counts(&bench.replayed),
        searched,
        findings,
        unsearched,
        notes,
        moved: at_witnesses.moved,
    }
}

/// A function and a build that should differ.
pub(super) struct Gone {
    pub function: String,
    pub build: BuildId,
}

pub(super) fn expected_gone(gone: Gone) -> GateFinding {
    GateFinding {
        kind: GateKind::ExpectedGone,
        function: gone.function,
        build: gone.build,
        lo: Vec::new(),
        hi: Vec::new(),
        bits: None,
        accepted: None,
        what: None,
        text: String::new(),
        witness: None,
    }
}

/// Points that are one finding.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// Faults of one kind, whatever showed them.
    Fault(Option<GateSymptom>, BuildId),
    Range(FindingId),
    /// A point of its own, by its place.
    Input(usize),
}

/// A witness of the lock with what became of it.
pub(super) type Replayed<'a> = (&'a Seen, Verdict);

/// Everything that was seen, judged.
struct Bench<'a> {
    policy: &'a Policy<'a>,
    run: &'a RunFile,
    points: Vec<(&'a Seen, Point)>,
    replayed: Vec<Replayed<'a>>,
}

impl<'a> Bench<'a> {
    fn new(policy: &'a Policy<'a>, run: &'a RunFile, seen: &'a [Seen]) -> Bench<'a> {
        let rows: BTreeMap<&str, &FunctionRow> = run.functions.iter().map(|f| (f.name.as_str(), f)).collect();
        let (mut points, mut replayed) = (Vec::new(), Vec::new());
        let mut accepted: BTreeMap<(&str, &BuildId), Accepted> = BTreeMap::new();
        for one in seen {
            let Some(function) = rows.get(one.look.function.as_str()) else { continue };
            let pair = (one.look.function.as_str(), &one.look.build);
            let accepted = accepted
                .entry(pair)
                .or_insert_with(|| Accepted::of(policy.lock, pair.0, pair.1, &function.scalars()));
            let results = function.returns();
            let equality = policy.equality_on(pair.0, pair.1);
            let rules = PointRules { lock: policy.lock, tolerance: policy.tolerance, equality };
            points.push((one, rules.judge(one, accepted, &results)));
            if let Role::Witness(row) = &one.look.role {
                let both = (one.first.0.returned(), one.first.1.returned());
                replayed.push((one, judge(equality, &results, row, both)));
            }
        }
        Bench { policy, run, points, replayed }
    }

    /// Of every range the worst of what is red, and notes on what the matrix allows.
    fn findings(&self) -> (Vec<GateFinding>, Vec<GateNote>) {
        let mut ranges: BTreeMap<(&str, &BuildId, Subject), GateFinding> = BTreeMap::new();
        let mut allowed: BTreeMap<(&str, &BuildId), (usize, &str)> = BTreeMap::new();
        for (index, (seen, point)) in self.points.iter().enumerate() {
            let Some(found) = &point.finding else { continue };
            let look = &seen.look;
            let pair = (look.function.as_str(), &look.build);
            let is_fault = found.kind == GateKind::Fault;
            if let (false, Some(LimitRule::Allow(reason))) = (is_fault, self.policy.rule(pair.0, pair.1)) {
                allowed.entry(pair).or_insert((0, reason)).0 += 1;
                continue;
            }
            let group = match &look.role {
                _ if is_fault => Subject::Fault(found.what, found.build.clone()),
                Role::Range(id) | Role::End(id) => Subject::Range(id.clone()),
                Role::Witness(_) | Role::Fault(_) => Subject::Input(index),
            };
            let place = ranges.entry((pair.0, pair.1, group)).or_insert_with(|| found.clone());
            if worse(found, place) {
                *place = found.clone();
            }
        }
        let mut findings: Vec<GateFinding> = ranges.into_values().collect();
        drop_repeated(&mut findings);
        findings.extend(self.over_limits());
        findings.extend(self.unwitnessed());
        let notes = allowed.into_iter().map(|((function, build), (count, reason))| {
            let text = format!("{function} on {build}: {count} allowed: {reason}");
            GateNote { kind: NoteKind::Allowed, text }
        });
        (findings, notes.collect())
    }

    /// For each function and build the input that is furthest above its limit.
    fn over_limits(&self) -> Vec<GateFinding> {
        let mut worst: BTreeMap<(&str, &BuildId), GateFinding> = BTreeMap::new();
        for (seen, point) in &self.points {
            let look = &seen.look;
            let Some(bits) = point.differs else { continue };
            // Between a number and none there are no bits to be counted.
            let changed = point.class_changed;
            let Some(LimitRule::MaxBits(limit)) = self.policy.rule(&look.function, &look.build) else {
                continue;
            };
            let Some(witness) = point.witness.clone().filter(|_| changed || bits > *limit) else { continue };
            let found = GateFinding {
                kind: GateKind::OverLimit,
                function: look.function.clone(),
                build: look.build.clone(),
                lo: look.lo.clone(),
                hi: look.hi.clone(),
                bits: Some(bits),
                accepted: Some(*limit),
                what: None,
                text: String::new(),
                witness: Some(witness),
            };
            let place = worst.entry((&look.function, &look.build)).or_insert_with(|| found.clone());
            if worse(&found, place) {
                *place = found;
            }
        }
        worst.into_values().collect()
    }

    /// Faults of the search that have no input to show for them: builds that answered differently for one input, and
    /// code that wrote to the pipe of its worker.
    fn unwitnessed(&self) -> Vec<GateFinding> {
        let mut findings = Vec::new();
        for function in &self.run.functions {
            for fault in function.faults.iter().filter(|fault| fault.examples.is_empty()) {
                if !accepts_fault(self.policy.lock, &function.name, &fault.build, fault.kind) {
                    let gone = Gone { function: function.name.clone(), build: fault.build.clone() };
                    let what = Some(GateSymptom::Fault(fault.kind));
                    findings.push(GateFinding { kind: GateKind::Fault, what, ..expected_gone(gone) });
                }
            }
        }
        findings
    }

    fn unsteady(&self) -> Vec<GateNote> {
        let unsteady = self.points.iter().filter(|(_, point)| point.unsteady).map(|(seen, _)| GateNote {
            kind: NoteKind::Unsteady,
            text: match &seen.look.role {
                Role::Fault(kind) => {
                    format!("{} on {}: {kind} did not repeat", seen.look.function, seen.look.build)
                }
                _ => format!("{} on {}: a call is close to its timeout", seen.look.function, seen.look.build),
            },
        });
        let mut notes: Vec<GateNote> = unsteady.collect();
        notes.dedup();
        notes
    }

    /// Functions and builds at which a difference was seen.
    fn differing(&self) -> std::collections::BTreeSet<(&str, &BuildId)> {
        let differing = self.points.iter().filter(|(_, point)| point.differs.is_some());
        differing.map(|(seen, _)| (seen.look.function.as_str(), &seen.look.build)).collect()
    }
}

/// Whether a finding says more than another of the same range.
fn worse(one: &GateFinding, other: &GateFinding) -> bool {
    let bits = |f: &GateFinding| f.bits.unwrap_or(0.0);
    one.kind < other.kind || (one.kind == other.kind && bits(one) > bits(other))
}

/// The same input may be a witness of the lock and of the run.
fn drop_repeated(findings: &mut Vec<GateFinding>) {
    let mut seen = std::collections::BTreeSet::new();
    findings.retain(|found| {
        let inputs: Vec<Number> = found.witness.iter().flat_map(|w| w.inputs.clone()).collect();
        inputs.is_empty() || seen.insert((found.kind, found.function.clone(), found.build.clone(), inputs))
    });
}

/// In the order of the run's functions, then by build, then the worst first.
fn sort(run: &RunFile, findings: &mut [GateFinding]) {
    let order: BTreeMap<&str, usize> =
        run.functions.iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
    findings.sort_by(|a, b| {
        let key = |f: &GateFinding| (order.get(f.function.as_str()).copied(), f.build.clone(), f.kind);
        let bits = |f: &GateFinding| f.bits.unwrap_or(0.0);
        key(a).cmp(&key(b)).then_with(|| bits(b).total_cmp(&bits(a)))
    });
}

fn counts(replayed: &[Replayed<'_>]) -> ReplayCounts {
    let mut counts = ReplayCounts { witnesses: replayed.len(), ..ReplayCounts::default() };
    for (_, verdict) in replayed {
        match verdict {
            Verdict::Held => counts.held += 1,
            Verdict::Gone { .. } => counts.gone += 1,
            Verdict::Moved { bits: Some(_), .. } => counts.moved += 1,
            Verdict::Moved { bits: None, .. } | Verdict::Unevaluated { .. } => counts.faulted += 1,
        }
    }
    counts
}
