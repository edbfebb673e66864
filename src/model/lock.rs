//! The stored form of what was accepted: `bitrift.lock.json`, schema `bitrift.lock/1`. It is committed and read
//! by people, so everything in it has an order of its own and nothing depends on when or where it was made.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::number::c_name;
use super::run::is_default;
use super::run::libraries_text;
use super::shape::results_of;
use super::{
    Answer, Budget, BuildId, BuildRow, Category, ClassChange, EdgeRow, FaultKind, HeldRow, Number, ParamRow,
    Results, Shape, StrategyName, WitnessRow, budget_text,
};
use crate::fp::{NanPolicy, Scalar, Tolerance, ZeroPolicy};

pub const LOCK_SCHEMA: &str = "bitrift.lock/1";

/// The whole of `bitrift.lock.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockFile<F = LockFunction> {
    pub schema: String,
    /// The version that wrote it.
    pub bitrift: String,
    /// The lab's name.
    pub name: String,
    /// Id of the build the others were compared with.
    pub baseline: BuildId,
    /// What of a NaN counted.
    pub nan: NanPolicy,
    /// What of a zero counted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zero: ZeroPolicy,
    pub search: LockSearch,
    /// By id: every build that was compared, the baseline too.
    pub builds: BTreeMap<BuildId, LockBuild>,
    /// Builds that the machine could not make, with the reason: nothing is accepted of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub absent: BTreeMap<BuildId, String>,
    /// By name: every function that was searched.
    pub functions: BTreeMap<String, F>,
}

/// The search whose findings were accepted; a gate searches in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockSearch {
    pub seed: u64,
    pub strategy: StrategyName,
    #[serde(with = "budget_text")]
    pub budget: Budget,
}

/// What a build was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockBuild {
    pub compiler: String,
    pub version: String,
    /// The arguments, as given to the compiler.
    pub flags: Vec<String>,
    pub target: String,
    /// `ieee`, `ftz` or the registers in hex.
    pub fpenv: String,
    /// The mathematics library: file, build id, version.
    #[serde(default)]
    pub libm: String,
    /// By its path: a digest of each further library file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
}

impl LockBuild {
    pub fn of(row: &BuildRow) -> LockBuild {
        LockBuild {
            compiler: row.compiler.clone(),
            version: row.version.clone(),
            flags: row.flags.clone(),
            target: row.target.clone(),
            fpenv: row.fpenv.clone(),
            libm: row.libm.clone(),
            libraries: row.libraries.clone(),
        }
    }

    /// What is different now, as name, then and now.
    pub fn changes(&self, now: &LockBuild) -> Vec<(&'static str, String, String)> {
        let fields = [
            ("compiler", self.compiler.clone(), now.compiler.clone()),
            ("version", self.version.clone(), now.version.clone()),
            ("flags", self.flags.join(" "), now.flags.join(" ")),
            ("target", self.target.clone(), now.target.clone()),
            ("fpenv", self.fpenv.clone(), now.fpenv.clone()),
            ("libm", self.libm.clone(), now.libm.clone()),
            ("libraries", libraries_text(&self.libraries), libraries_text(&now.libraries)),
        ];
        fields.into_iter().filter(|(_, then, now)| then != now).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "N: Deserialize<'de>, A: Deserialize<'de>"))]
pub struct LockFunction<N = Number, A = Answer> {
    pub params: Vec<ParamRow>,
    /// The result's type.
    #[serde(with = "c_name")]
    pub result: Scalar,
    /// The values of a function that gives several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ParamRow>,
    /// As written in the matrix; empty: every finite value. A lock of an older version has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    /// What the baseline made of inputs that depend on the domain alone. A lock of an older version has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldRow>,
    /// By build: what differs from the baseline.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub builds: BTreeMap<BuildId, LockComparison<N, A>>,
    /// Builds that were compared and do not differ.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub clean: BTreeSet<BuildId>,
    /// By build: the evaluations of the search that was accepted. A lock of an older version has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evaluations: BTreeMap<BuildId, u64>,
    /// By build: how far apart results may be before they are a difference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tolerances: BTreeMap<BuildId, Tolerance>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<LockFault>,
}

impl LockFunction {
    pub fn scalars(&self) -> Vec<Scalar> {
        self.params.iter().map(|p| p.ty).collect()
    }

    /// The values the function gives.
    pub fn returns(&self) -> Results {
        results_of(self.result, &self.results)
    }

    /// The builds that were compared, those that differ first.
    pub fn compared(&self) -> impl Iterator<Item = &BuildId> {
        self.builds.keys().chain(&self.clean)
    }

    pub fn shape(&self) -> Shape {
        Shape::new(&self.params, self.returns())
    }
}

/// One build against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockComparison<N = Number, A = Answer> {
    /// Kinds of change between number, infinity and NaN that were seen.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub class_changes: BTreeSet<ClassChange>,
    /// In the order of the run.
    pub ranges: Vec<LockRange<N, A>>,
}

impl Default for LockComparison {
    fn default() -> LockComparison {
        LockComparison { class_changes: BTreeSet::new(), ranges: Vec::new() }
    }
}

/// An accepted range: inputs from `lo` to `hi` may differ by up to `max_bits`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockRange<N = Number, A = Answer> {
    pub lo: Vec<N>,
    pub hi: Vec<N>,
    pub edges: Vec<EdgeRow>,
    pub max_bits: f64,
    pub category: Category,
    pub witness: WitnessRow<N, A>,
}

/// An accepted fault of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockFault {
    pub build: BuildId,
    pub kind: FaultKind,
}

/// By build, then by the spelling of the kind: the order of the file.
impl Ord for LockFault {
    fn cmp(&self, other: &LockFault) -> Ordering {
        let key = |fault: &LockFault| (fault.build.clone(), fault.kind.to_string());
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for LockFault {
    fn partial_cmp(&self, other: &LockFault) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
