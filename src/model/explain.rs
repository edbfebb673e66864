//! The stored form of an explanation: `explain.json`, schema `bitrift.explain/1`. It stands beside a run,
//! which is never rewritten.
//!
//! Field names are a contract with every reader outside this program.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{BuildId, FindingId};

pub const EXPLAIN_SCHEMA: &str = "bitrift.explain/1";

/// One question about a finding, in the order they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    Environment,
    File,
    Flags,
    Function,
    Statement,
    Pass,
    Fix,
}

impl Layer {
    pub const ALL: [Layer; 7] = [
        Layer::Environment,
        Layer::File,
        Layer::Flags,
        Layer::Function,
        Layer::Statement,
        Layer::Pass,
        Layer::Fix,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Environment => "environment",
            Layer::File => "file",
            Layer::Flags => "flags",
            Layer::Function => "function",
            Layer::Statement => "statement",
            Layer::Pass => "pass",
            Layer::Fix => "fix",
        }
    }
}

/// What finding something out took. Answers from the cache cost no compile and no link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Objects that a compiler made.
    pub compiles: u64,
    /// Objects or programs put together.
    pub links: u64,
    /// Calls of functions under test.
    pub evaluations: u64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.compiles += other.compiles;
        self.links += other.links;
        self.evaluations += other.evaluations;
    }
}

/// How a layer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It has an answer that was checked in both directions.
    Found,
    /// It has an answer that holds in one direction only: see its words.
    Likely,
    /// It looked and there is nothing to blame.
    Nothing,
    /// It could not look: see its words.
    Stopped,
}

/// Something that can be blamed. What a layer does not know is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Suspect {
    /// `implementation`, `flushing`, `libm`, `tunables`, `rounding`, `precision`, `compiler` or `target`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub environment: String,
    /// Relative to the matrix's folder where it is below it; `call of NAME` for the matrix's own C.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// Counted from 1; 0 when there is no statement.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub column: u64,
    /// The statement's expression.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// A compiler argument.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flag: String,
    /// An optimisation pass, as the compiler calls it, with what it ran on where that is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pass: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What one layer says of one finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerRow {
    pub standing: Standing,
    /// Each entry alone shows the difference; the parts of one entry are needed together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Vec<Suspect>>,
    /// The answer, or why there is none, in words.
    pub text: String,
    pub cost: Cost,
}

/// Whether the builds differ because the function is sensitive at this input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fragility {
    /// How far the baseline's own result moves when one parameter moves by one ulp: the most, in bits.
    pub neighbour_bits: f64,
    /// How far the two builds are apart here.
    pub bits: f64,
    /// The baseline moves as far as the builds are apart: the input is ill-conditioned.
    pub ill_conditioned: bool,
}

/// A change to a source that makes the findings of a cause go away. It is offered, never applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixRow {
    /// A unified diff, from the matrix's folder.
    pub patch: String,
    /// What it does, in words.
    pub what: String,
    /// Findings of the cause whose witness agrees with it.
    pub cured: usize,
    /// Of so many.
    pub of: usize,
    /// Nanoseconds a call of the variant takes without it and with it, where both could be timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns: Option<(f64, f64)>,
}

/// How explaining a finding ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explained {
    /// There is a cause.
    Yes,
    /// The difference is there, and no layer could say why.
    #[default]
    No,
    /// The builds no longer answer as stored.
    Gone,
    /// A source is not what it was when the run was made.
    SourceChanged,
    /// A compiler, a build or the function is not there.
    Unavailable,
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExplainRow {
    pub explained: Explained,
    /// Why there is no cause, in words; empty when there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The digest of everything the answer depends on.
    pub inputs: String,
    /// Layers that were asked for.
    pub asked: BTreeSet<Layer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragility: Option<Fragility>,
    pub layers: BTreeMap<Layer, LayerRow>,
}

impl ExplainRow {
    pub fn cost(&self) -> Cost {
        let mut sum = Cost::default();
        self.layers.values().for_each(|layer| sum += layer.cost);
        sum
    }
}

/// Findings with one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseRow {
    /// The builds between which it makes a difference.
    pub baseline: BuildId,
    pub build: BuildId,
    /// As in the last layer that found something.
    pub causes: Vec<Vec<Suspect>>,
    /// In words, one line.
    pub text: String,
    /// Checked in both directions.
    pub certain: bool,
    pub findings: Vec<FindingId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixRow>,
}

/// The most of a build's flags that keep every witness of the run within a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SafeRow {
    pub build: BuildId,
    pub baseline: BuildId,
    /// Bits that a witness may have.
    pub limit: f64,
    /// The arguments that keep the promise.
    pub args: Vec<String>,
    /// Parts of the build's own flags that are kept and that are given up.
    pub kept: Vec<String>,
    pub given_up: Vec<String>,
    /// Findings that the safe set keeps within the limit, of those looked at.
    pub within: usize,
    pub of: usize,
    /// Nanoseconds a call, the geometric mean over functions: baseline, safe set, all flags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns: Option<[f64; 3]>,
    pub cost: Cost,
}

/// The whole of `explain.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplainFile {
    pub schema: String,
    pub findings: BTreeMap<FindingId, ExplainRow>,
    /// Most findings first.
    pub causes: Vec<CauseRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub safe: Vec<SafeRow>,
}

impl Default for ExplainFile {
    fn default() -> ExplainFile {
        ExplainFile {
            schema: EXPLAIN_SCHEMA.into(),
            findings: BTreeMap::new(),
            causes: Vec::new(),
            safe: Vec::new(),
        }
    }
}

impl ExplainFile {
    /// The cause of a finding and its place in the list.
    pub fn cause(&self, finding: &FindingId) -> Option<(usize, &CauseRow)> {
        self.causes.iter().enumerate().find(|(_, cause)| cause.findings.contains(finding))
    }
}
