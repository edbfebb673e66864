//! The stored form of a run: `run.json`, schema `bitrift.run/1`.
//!
//! Field names are a contract with every reader outside this program. Rows that hold numbers have them as
//! `Number` and `Answer`; `stored` reads them with `NumberText` in their places.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::number::c_name;
use super::shape::results_of;
use super::{
    Answer, Arithmetic, Budget, BuildId, Category, ClassChange, EdgeKind, FaultKind, FindingId, HeldRow,
    InstructionCounts, Number, Outcome, ParamRow, ResultValue, Results, Shape, StopReason, StrategyName,
    budget_text,
};
use crate::fp::{NanPolicy, Scalar, Tolerance, ZeroPolicy};

pub const SCHEMA: &str = "bitrift.run/1";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    pub cpu: String,
    pub libm: String,
}

/// What became of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildStatus {
    Built,
    /// A tool refused it.
    Failed,
    /// A tool is not there.
    Skipped,
}

impl BuildStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            BuildStatus::Built => "built",
            BuildStatus::Failed => "failed",
            BuildStatus::Skipped => "skipped",
        }
    }
}

impl fmt::Display for BuildStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRow {
    pub id: BuildId,
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
    /// By its path, from the matrix's folder where it is below that: a digest of each further library file that it
    /// loads. The machine's C library and its compilers' own are not among them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
    /// By function: instructions that decide bits. A function without any is not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub audit: BTreeMap<String, InstructionCounts>,
    /// Why the instructions of a built one could not be counted; not there when they were.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unaudited: String,
    pub status: BuildStatus,
    /// Why not built; empty when built.
    pub reason: String,
    /// It was skipped, and the matrix says that a run may do without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// Library files with their digests, in words: `lib/libv.so.1 (0123456789abcdef)`.
pub fn libraries_text(libraries: &BTreeMap<String, String>) -> String {
    let words = libraries.iter().map(|(path, digest)| format!("{path} ({digest})"));
    words.collect::<Vec<_>>().join(", ")
}

impl BuildRow {
    pub fn is_built(&self) -> bool {
        self.status == BuildStatus::Built
    }

    /// Whether a tool that the matrix asks for is not there.
    pub fn is_wanting(&self) -> bool {
        self.status == BuildStatus::Skipped && !self.optional
    }
}

/// The input of most bits, with both results; a fault stands as its name (`timeout`, `SIGSEGV`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessRow<N = Number, A = Answer> {
    pub inputs: Vec<N>,
    /// Of the value that differs most.
    pub baseline: A,
    pub variant: A,
    /// The name of that value, of a function that gives several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
    /// All values, of a function that gives several.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultRow<A>>,
}

/// One value of a function that gives several, as both builds have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRow<A = Answer> {
    pub name: String,
    pub baseline: A,
    pub variant: A,
}

impl<N, A> WitnessRow<N, A> {
    /// Of a function that gives one value.
    pub fn of_one(inputs: Vec<N>, baseline: A, variant: A) -> WitnessRow<N, A> {
        WitnessRow { inputs, baseline, variant, worst: None, results: Vec::new() }
    }
}

impl WitnessRow {
    /// An input with what both builds made of it.
    pub fn new(
        results: &Results,
        inputs: Vec<Number>,
        worst: u8,
        values: &[(Outcome, Outcome)],
    ) -> WitnessRow {
        let answers = |(value, &(baseline, variant)): (&ResultValue, &(Outcome, Outcome))| ResultRow {
            name: value.name.clone(),
            baseline: Answer::new(value.ty, baseline),
            variant: Answer::new(value.ty, variant),
        };
        let mut rows: Vec<ResultRow> = results.values().iter().zip(values).map(answers).collect();
        let most = rows.get(usize::from(worst)).or(rows.first());
        let nothing = Answer::new(results.ty(0), Outcome::Value(0));
        let (baseline, variant) = most.map_or((nothing, nothing), |row| (row.baseline, row.variant));
        let worst = results.name(worst).map(String::from);
        if worst.is_none() {
            rows.clear();
        }
        WitnessRow { inputs, baseline, variant, worst, results: rows }
    }

    /// All values of the baseline and of the variant, however many the function gives.
    pub fn answers(&self) -> (Vec<Answer>, Vec<Answer>) {
        match self.results.as_slice() {
            [] => (vec![self.baseline], vec![self.variant]),
            rows => rows.iter().map(|row| (row.baseline, row.variant)).unzip(),
        }
    }

    /// The bits of the inputs.
    pub fn bits(&self) -> Vec<u64> {
        self.inputs.iter().map(|number| number.bits).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeRow {
    pub lo: EdgeKind,
    pub hi: EdgeKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeRow<N = Number, A = Answer> {
    pub id: FindingId,
    pub lo: Vec<N>,
    pub hi: Vec<N>,
    pub edges: Vec<EdgeRow>,
    pub samples: u64,
    pub inconsistent: u64,
    pub mean_bits: f64,
    pub max_bits: f64,
    pub witness: WitnessRow<N, A>,
    pub category: Category,
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
pub struct ComparisonRow<N = Number, A = Answer> {
    pub build: BuildId,
    pub baseline: BuildId,
    pub evaluations: u64,
    pub stop_reason: StopReason,
    pub max_bits: f64,
    /// None when nothing is inconsistent.
    pub witness: Option<WitnessRow<N, A>>,
    pub class_changes: BTreeMap<ClassChange, u64>,
    /// How far apart results may be before they are a difference.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tolerance: Tolerance,
    pub ranges: Vec<RangeRow<N, A>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRow<N = Number> {
    pub build: BuildId,
    pub kind: FaultKind,
    pub count: u64,
    pub examples: Vec<Vec<N>>,
}

/// Builds that agree bit for bit on some ranges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampRow {
    pub ranges: Vec<FindingId>,
    /// The baseline's camp last.
    pub camps: Vec<Vec<BuildId>>,
    /// What divides them, such as `all aarch64 builds | the rest`; empty when all agree.
    pub divided_by: String,
}

/// Which builds have a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchStatus {
    Searched,
    /// Some build lacks it.
    Partial,
    /// The baseline lacks it.
    Missing,
}

impl SearchStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            SearchStatus::Searched => "searched",
            SearchStatus::Partial => "partial",
            SearchStatus::Missing => "missing",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionRow<N = Number, A = Answer> {
    pub name: String,
    pub params: Vec<ParamRow>,
    /// The result's type; of several values the first one's.
    #[serde(with = "c_name")]
    pub result: Scalar,
    /// The values of a function that gives several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ParamRow>,
    /// As written in the matrix; empty: every finite value.
    pub domains: Vec<String>,
    pub status: SearchStatus,
    pub stop_reason: StopReason,
    pub evaluations: u64,
    pub comparisons: Vec<ComparisonRow<N, A>>,
    pub faults: Vec<FaultRow<N>>,
    /// Where more than two builds were compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub camps: Vec<CampRow>,
    /// Builds without this function, with the tool's own words.
    pub missing: BTreeMap<BuildId, String>,
    /// What the baseline made of inputs that depend on the domain alone; not there where it could not be held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldRow>,
    /// Where it is defined, where that could be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRow>,
    /// The one answer that every build gave to every input, all its values; not there when there were several.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<A>,
    /// It is library code that no source of the matrix defines and no build compiles: every build runs the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_code: bool,
}

impl FunctionRow {
    pub fn scalars(&self) -> Vec<Scalar> {
        self.params.iter().map(|p| p.ty).collect()
    }

    /// The values the function gives.
    pub fn returns(&self) -> Results {
        results_of(self.result, &self.results)
    }

    pub fn shape(&self) -> Shape {
        Shape::new(&self.params, self.returns())
    }
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
pub struct RunFile<F = FunctionRow> {
    pub schema: String,
    /// The version that wrote it.
    pub bitrift: String,
    pub name: String,
    pub seed: u64,
    pub strategy: StrategyName,
    /// A number of evaluations, or "paper".
    #[serde(with = "budget_text")]
    pub budget: Budget,
    /// What of a NaN counts; not there when nothing does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nan: NanPolicy,
    /// What of a zero counts; not there when nothing does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zero: ZeroPolicy,
    pub host: HostRow,
    pub baseline: BuildId,
    pub builds: Vec<BuildRow>,
    /// Digests of the sources and of the headers that are theirs, by path from the matrix's folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
    pub functions: Vec<F>,
}

impl RunFile {
    /// Whether a build's numbers come from an emulator.
    pub fn is_emulated(&self, build: &BuildId) -> bool {
        self.builds.iter().any(|row| row.emulated && row.id == *build)
    }
}

/// Whether a field says nothing that is worth a place in a file.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
