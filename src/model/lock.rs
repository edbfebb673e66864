//! The stored form of what was accepted: `bitrift.lock.json`, schema `bitrift.lock/1`. It is committed and read
//! by people, so everything in it has an order of its own and nothing depends on when or where it was made.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::run::budget_text;
use super::{Budget, BuildRow, EdgeRow, NumberText, ParamRow, WitnessRow};
use crate::fp::{NanPolicy, Scalar};

pub const LOCK_SCHEMA: &str = "bitrift.lock/1";

/// The whole of `bitrift.lock.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockFile {
    pub schema: String,
    /// The version that wrote it.
    pub bitrift: String,
    /// The lab's name.
    pub name: String,
    /// Id of the build the others were compared with.
    pub baseline: String,
    /// What of a NaN counted.
    pub nan: NanPolicy,
    pub search: LockSearch,
    /// By id: every build that was compared, the baseline too.
    pub builds: BTreeMap<String, LockBuild>,
    /// By name: every function that was searched.
    pub functions: BTreeMap<String, LockFunction>,
}

/// The search whose findings were accepted; a gate searches in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockSearch {
    pub seed: u64,
    pub strategy: String,
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
        ];
        fields.into_iter().filter(|(_, then, now)| then != now).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockFunction {
    pub params: Vec<ParamRow>,
    /// The result's type.
    pub result: String,
    /// By build: what differs from the baseline.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub builds: BTreeMap<String, LockComparison>,
    /// Builds that were compared and do not differ.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub clean: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<LockFault>,
}

impl LockFunction {
    /// The types of parameters and result; None when one is no type that bitrift knows.
    pub fn scalars(&self) -> Option<(Vec<Scalar>, Scalar)> {
        let of = |name: &str| Scalar::ALL.into_iter().find(|s| s.c_name() == name);
        Some((self.params.iter().map(|p| of(&p.ty)).collect::<Option<_>>()?, of(&self.result)?))
    }

    /// `double (double, int32_t)`.
    pub fn signature(&self) -> String {
        let params: Vec<&str> = self.params.iter().map(|p| p.ty.as_str()).collect();
        format!("{} ({})", self.result, params.join(", "))
    }
}

/// One build against the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockComparison {
    /// Kinds of change between number, infinity and NaN that were seen.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub class_changes: BTreeSet<String>,
    /// In the order of the run.
    pub ranges: Vec<LockRange>,
}

/// An accepted range: inputs from `lo` to `hi` may differ by up to `max_bits`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockRange {
    pub lo: Vec<NumberText>,
    pub hi: Vec<NumberText>,
    pub edges: Vec<EdgeRow>,
    pub max_bits: f64,
    pub category: String,
    pub witness: WitnessRow,
}

/// An accepted fault of a build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LockFault {
    pub build: String,
    /// As in `run.json`: `timeout`, `SIGSEGV`, ...
    pub kind: String,
}
