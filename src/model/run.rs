//! The stored form of a run: `run.json`, schema `bitrift.run/1`.
//!
//! Field names are a contract with every reader outside this program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Arithmetic, Budget, EdgeKind, InstructionCounts, StopReason};
use crate::fp::{NanPolicy, Scalar, format_dec, format_hex};

pub const SCHEMA: &str = "bitrift.run/1";

/// A number as exact and as readable text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberText {
    pub hex: String,
    pub dec: String,
}

impl NumberText {
    pub fn new(scalar: Scalar, bits: u64) -> NumberText {
        NumberText { hex: format_hex(scalar, bits), dec: format_dec(scalar, bits) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    pub cpu: String,
    pub libm: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRow {
    pub id: String,
    /// The name of the implementation; not there for `[sources]`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub implementation: String,
    pub compiler: String,
    pub version: String,
    /// The arguments, as given to the compiler.
    pub flags: Vec<String>,
    pub target: String,
    /// `ieee`, `ftz` or the registers in hex.
    pub fpenv: String,
    pub emulated: bool,
    /// How the emulator computes, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<Arithmetic>,
    /// The mathematics library it runs with: file, build id, version.
    #[serde(default)]
    pub libm: String,
    /// By function: instructions that decide bits. A function without any is not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub audit: BTreeMap<String, InstructionCounts>,
    /// Why the instructions of a built one could not be counted; not there when they were.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unaudited: String,
    /// `built`, `failed` or `skipped`.
    pub status: String,
    /// Why not built; empty when built.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParamRow {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
}

/// The input of most bits, with both results; a fault stands as its name (`timeout`, `SIGSEGV`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessRow {
    pub inputs: Vec<NumberText>,
    pub baseline: NumberText,
    pub variant: NumberText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeRow {
    pub lo: EdgeKind,
    pub hi: EdgeKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeRow {
    /// Unique in the run and stable for a seed: `function#comparison.range`.
    pub id: String,
    pub lo: Vec<NumberText>,
    pub hi: Vec<NumberText>,
    pub edges: Vec<EdgeRow>,
    pub samples: u64,
    pub inconsistent: u64,
    pub mean_bits: f64,
    pub max_bits: f64,
    pub witness: WitnessRow,
    pub category: String,
    /// With flushing of subnormals off in both builds, at inputs that differ with it; None where neither
    /// flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_flushing: Option<WithoutFlushing>,
}

/// What becomes of a finding when subnormals are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithoutFlushing {
    /// The builds agree: flushing is all there is to it.
    Agrees,
    Differs,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    pub build: String,
    pub baseline: String,
    pub evaluations: u64,
    pub stop_reason: StopReason,
    pub max_bits: f64,
    /// None when nothing is inconsistent.
    pub witness: Option<WitnessRow>,
    pub class_changes: BTreeMap<String, u64>,
    pub ranges: Vec<RangeRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRow {
    pub build: String,
    /// `timeout`, `SIGSEGV`, `exit 3`, `fpenv`, `nondeterministic`, `state-dependent`.
    pub kind: String,
    pub count: u64,
    pub examples: Vec<Vec<NumberText>>,
}

/// Builds that agree bit for bit on some ranges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampRow {
    /// Ids of the ranges.
    pub ranges: Vec<String>,
    /// Ids of the builds; the baseline's camp last.
    pub camps: Vec<Vec<String>>,
    /// What divides them, such as `all aarch64 builds | the rest`; empty when all agree.
    pub divided_by: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionRow {
    pub name: String,
    pub params: Vec<ParamRow>,
    /// The result's type.
    pub result: String,
    /// As written in the matrix; empty: every finite value.
    pub domains: Vec<String>,
    /// `searched`, `partial` (some build lacks it) or `missing` (the baseline lacks it).
    pub status: String,
    pub stop_reason: StopReason,
    pub evaluations: u64,
    pub comparisons: Vec<ComparisonRow>,
    pub faults: Vec<FaultRow>,
    /// Where more than two builds were compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub camps: Vec<CampRow>,
    /// Builds without this function, with the tool's own words.
    pub missing: BTreeMap<String, String>,
    /// Where it is defined, where that could be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRow>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRow {
    /// Relative to the matrix's folder where it is below it.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
}

/// The whole of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    pub schema: String,
    /// The version that wrote it.
    pub bitrift: String,
    pub name: String,
    pub seed: u64,
    pub strategy: String,
    /// A number of evaluations, or "paper".
    #[serde(with = "budget_text")]
    pub budget: Budget,
    /// What of a NaN counts; not there when nothing does.
    #[serde(default, skip_serializing_if = "is_any")]
    pub nan: NanPolicy,
    pub host: HostRow,
    pub baseline: String,
    pub builds: Vec<BuildRow>,
    /// Digests of the sources and of the headers that are theirs, by path from the matrix's folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
    pub functions: Vec<FunctionRow>,
}

impl RunFile {
    /// Whether a build's numbers come from an emulator.
    pub fn is_emulated(&self, build: &str) -> bool {
        self.builds.iter().any(|row| row.emulated && row.id == build)
    }
}

fn is_any(nan: &NanPolicy) -> bool {
    *nan == NanPolicy::Any
}

/// A budget as a reader expects it: `100000` or `"paper"`.
pub(super) mod budget_text {
    use serde::de::{Error, Unexpected, Visitor};
    use serde::{Deserializer, Serializer};

    use super::Budget;

    const PAPER: &str = "paper";

    pub fn serialize<S: Serializer>(budget: &Budget, serializer: S) -> Result<S::Ok, S::Error> {
        match budget {
            Budget::Paper => serializer.serialize_str(PAPER),
            Budget::Evaluations(count) => serializer.serialize_u64(*count),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Budget, D::Error> {
        deserializer.deserialize_any(BudgetVisitor)
    }

    struct BudgetVisitor;

    impl Visitor<'_> for BudgetVisitor {
        type Value = Budget;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            write!(f, "a number of evaluations or \"{PAPER}\"")
        }

        fn visit_u64<E: Error>(self, count: u64) -> Result<Budget, E> {
            Ok(Budget::Evaluations(count))
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<Budget, E> {
            if word == PAPER {
                Ok(Budget::Paper)
            } else {
                Err(E::invalid_value(Unexpected::Str(word), &self))
            }
        }
    }
}
