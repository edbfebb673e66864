//! The stored form of a gate's verdict: `gate.json`, schema `bitrift.gate/1`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Answer, BuildId, ClassChange, FaultKind, GapKind, Number, WitnessRow};

pub const GATE_SCHEMA: &str = "bitrift.gate/1";

/// The whole of `gate.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "N: Deserialize<'de>, A: Deserialize<'de>"))]
pub struct GateFile<N = Number, A = Answer> {
    pub schema: String,
    /// The version that wrote it.
    pub bitrift: String,
    /// The lab's name.
    pub name: String,
    pub baseline: BuildId,
    pub verdict: GateVerdict,
    /// Only some functions of the lock were judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<PartialGate>,
    /// Bits by which a difference may be worse than accepted.
    pub tolerance: f64,
    pub replay: ReplayCounts,
    #[serde(default)]
    pub searched: GateShare,
    /// Each of them makes the gate red.
    pub findings: Vec<GateFinding<N, A>>,
    /// What was not searched as far as the lock asks. Without a finding, any of it makes the gate incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsearched: Vec<GateGap>,
    pub notes: Vec<GateNote>,
    /// Every accepted witness at which the baseline moved, red or not as a finding of its own: what `accept` must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedWitness<N, A>>,
}

/// An accepted witness at which the baseline says something else than it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "N: Deserialize<'de>, A: Deserialize<'de>"))]
pub struct MovedWitness<N = Number, A = Answer> {
    pub function: String,
    /// What the baseline said then stands as `baseline`, what it says now as `variant`.
    pub witness: WitnessRow<N, A>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateVerdict {
    Green,
    Red,
    /// Nothing red was seen, but not all was searched.
    Incomplete,
}

/// How much of the lock's comparisons was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GateShare {
    /// Comparisons that were searched as far as the lock asks.
    pub comparisons: usize,
    pub of: usize,
    /// The mean over all comparisons of the lock, from 0 to 1: of one that fell short the part of the evaluations that
    /// the lock records.
    pub share: f64,
}

/// A function or a build that was not searched as far as the lock asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateGap {
    pub kind: GapKind,
    /// None where it is about all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildId>,
    pub reason: String,
    pub evaluations: u64,
    /// What the lock records; None where it records nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u64>,
}

/// Which part of a lock was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialGate {
    /// Functions of the lock that were judged, by name.
    pub functions: Vec<String>,
    /// All functions of the lock.
    pub of: usize,
}

/// What became of the witnesses of the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayCounts {
    pub witnesses: usize,
    /// Both builds answer as stored.
    pub held: usize,
    /// They differ in another way.
    pub moved: usize,
    /// They agree now.
    pub gone: usize,
    /// One of them gives no value any more.
    pub faulted: usize,
}

/// Why the gate is red.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateKind {
    /// A build gives no value where it gave one, or has a fault that was not accepted.
    Fault,
    /// More bits than the matrix allows.
    OverLimit,
    /// The matrix asks for something else than was accepted: a domain, arguments, what counts as equal.
    Changed,
    /// The baseline's own results are not those that were accepted.
    BaselineMoved,
    /// A difference outside every accepted range.
    New,
    /// A change between number, infinity and NaN of a kind that was not accepted.
    ClassChange,
    /// More bits than accepted.
    Worse,
    /// The matrix expects a difference that is not there (under `--strict`).
    ExpectedGone,
}

impl GateKind {
    pub fn as_str(self) -> &'static str {
        match self {
            GateKind::Fault => "fault",
            GateKind::OverLimit => "over-limit",
            GateKind::Changed => "changed",
            GateKind::BaselineMoved => "baseline-moved",
            GateKind::New => "new",
            GateKind::ClassChange => "class-change",
            GateKind::Worse => "worse",
            GateKind::ExpectedGone => "expected-gone",
        }
    }
}

/// What a finding is made of beside bits: a fault or a change of class. Of what has the name of both, `timeout`,
/// a gate only ever sees the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GateSymptom {
    Fault(FaultKind),
    Change(ClassChange),
}

impl fmt::Display for GateSymptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateSymptom::Fault(kind) => kind.fmt(f),
            GateSymptom::Change(change) => change.fmt(f),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "N: Deserialize<'de>, A: Deserialize<'de>"))]
pub struct GateFinding<N = Number, A = Answer> {
    pub kind: GateKind,
    /// Empty where it is about a build as a whole.
    pub function: String,
    pub build: BuildId,
    /// Ends of the range it lies in, one per parameter; empty where there is no range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lo: Vec<N>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hi: Vec<N>,
    /// At the witness; None where a build gave no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<f64>,
    /// What the lock accepts there, or the limit; None where nothing is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<GateSymptom>,
    /// What no number says; empty where there is no more to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// An input that shows it, evaluated at least twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<WitnessRow<N, A>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// A build is made of something else than when its findings were accepted.
    BuildChanged,
    /// The baseline itself answers differently at accepted witnesses, in a way that does not count: a fault, or the sign
    /// of a zero.
    BaselineMoved,
    /// Accepted differences are not there any more.
    Vanished,
    /// The matrix expects a difference that is not there.
    ExpectedGone,
    /// Findings that the matrix allows.
    Allowed,
    /// A fault that did not repeat.
    Unsteady,
    /// A search that was cut short, in verdicts of versions before `unsearched`.
    CutShort,
    /// A limit of the matrix that is about nothing.
    IdleLimit,
    /// A build with findings runs on an emulator.
    Emulated,
    /// The lock does not record how many evaluations its searches had.
    Unrecorded,
    /// A build that was absent when the lock was made is here now, or is absent still.
    AbsentBuild,
}

/// Something worth knowing that does not fail the gate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GateNote {
    pub kind: NoteKind,
    pub text: String,
}
