//! What a comparison of two runs says, as data. Field names are a contract: `bitrift compare --json` prints it.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::model::{
    Budget, BuildId, Category, ComparisonRow, FaultKind, FindingId, FunctionRow, HostRow, Number, RunFile,
    WitnessRow,
};

pub const COMPARE_SCHEMA: &str = "bitrift.compare/1";

/// What became of a range, a fault or a build, what needs a look first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only in the second run.
    New,
    Worse,
    Better,
    /// Only in the first run.
    Gone,
    Unchanged,
}

impl Change {
    pub const ALL: [Change; 5] =
        [Change::New, Change::Worse, Change::Better, Change::Gone, Change::Unchanged];

    pub fn as_str(self) -> &'static str {
        match self {
            Change::New => "new",
            Change::Worse => "worse",
            Change::Better => "better",
            Change::Gone => "gone",
            Change::Unchanged => "unchanged",
        }
    }
}

/// The ranges of one run that are about the same inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    pub ids: Vec<RangeName>,
    /// The one of most bits.
    pub lo: Vec<Number>,
    pub hi: Vec<Number>,
    pub max_bits: f64,
    /// None of one input that is in no range.
    #[serde(serialize_with = "category_text")]
    pub category: Option<Category>,
    pub witness: WitnessRow,
}

impl Found {
    /// The category in words.
    pub fn category_text(&self) -> &'static str {
        self.category.map_or(ONE_INPUT, Category::as_str)
    }
}

const ONE_INPUT: &str = "one input";

fn category_text<S: Serializer>(category: &Option<Category>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(category.map_or(ONE_INPUT, Category::as_str))
}

/// What a piece of a comparison is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RangeName {
    /// As in its run.json.
    Range(FindingId),
    /// The one input that is in no range.
    #[serde(serialize_with = "lone_text")]
    Lone,
}

fn lone_text<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(Category::Lone.as_str())
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RangeChange {
    pub change: Change,
    pub a: Option<Found>,
    pub b: Option<Found>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultChange {
    pub change: Change,
    pub kind: FaultKind,
    /// How often in each run; a search that goes elsewhere meets a fault more or less often.
    pub a: u64,
    pub b: u64,
}

/// One build of a function, in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairChange {
    /// Of its ranges and faults, the one that needs a look most.
    pub change: Change,
    pub a: BuildId,
    pub b: BuildId,
    pub max_bits_a: f64,
    pub max_bits_b: f64,
    pub ranges: Vec<RangeChange>,
    pub faults: Vec<FaultChange>,
}

impl PairChange {
    /// The changes of its ranges and faults.
    pub fn changes(&self) -> impl Iterator<Item = Change> {
        self.ranges.iter().map(|r| r.change).chain(self.faults.iter().map(|f| f.change))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionChange {
    pub function: String,
    /// Names of its parameters in the second run.
    pub params: Vec<String>,
    /// Other inputs were of interest, so other ranges could be found.
    pub domains_differ: bool,
    pub builds: Vec<PairChange>,
}

/// A function whose parameters or result have other types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Incomparable {
    pub function: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OnlyBuild {
    pub id: BuildId,
    pub why: String,
}

/// A function and build that only one run compared, though the other has both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OnlyPair {
    pub function: String,
    pub build: BuildId,
}

impl OnlyPair {
    pub(super) fn new(function: &FunctionRow, comparison: &ComparisonRow) -> OnlyPair {
        OnlyPair { function: function.name.clone(), build: comparison.build.clone() }
    }
}

/// What one run has and the other has not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Only {
    pub functions: Vec<String>,
    pub builds: Vec<OnlyBuild>,
    pub comparisons: Vec<OnlyPair>,
}

impl Only {
    pub fn is_empty(&self) -> bool {
        *self == Only::default()
    }
}

/// Something around the functions that differs: a compiler, a library, the host, the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub what: String,
    pub a: String,
    pub b: String,
    /// Of these builds, by their names in the second run; none: of the whole run.
    pub builds: Vec<BuildId>,
}

/// Which run it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunHead {
    /// Its folder, as the user may name it.
    pub run: String,
    /// Of the lab.
    pub name: String,
    pub bitrift: String,
    pub baseline: BuildId,
    pub host: HostRow,
    pub functions: usize,
    pub builds: usize,
}

impl RunHead {
    pub(super) fn of(run: &RunFile, place: &str) -> RunHead {
        RunHead {
            run: place.into(),
            name: run.name.clone(),
            bitrift: run.bitrift.clone(),
            baseline: run.baseline.clone(),
            host: run.host.clone(),
            functions: run.functions.len(),
            builds: run.builds.len(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunComparison {
    pub schema: String,
    pub a: RunHead,
    pub b: RunHead,
    pub tolerance: f64,
    /// Ranges and kinds of faults by what became of them.
    pub totals: BTreeMap<Change, usize>,
    pub differences: Vec<Difference>,
    pub only_a: Only,
    pub only_b: Only,
    pub incomparable: Vec<Incomparable>,
    /// Functions whose baselines give other results: a change that moves all builds alike is no new difference.
    pub baselines: Vec<BaselineMove>,
    pub functions: Vec<FunctionChange>,
}

/// A function whose baseline's own results moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BaselineMove {
    pub function: String,
    /// Blocks of held inputs with other results, by number.
    pub blocks: Vec<usize>,
    /// Blocks that were compared.
    pub of: usize,
}

impl RunComparison {
    pub fn total(&self, change: Change) -> usize {
        self.totals.get(&change).copied().unwrap_or(0)
    }
}

/// A budget as a user gives it.
pub(super) fn budget_text(budget: Budget) -> String {
    match budget {
        Budget::Paper => "paper".into(),
        Budget::Evaluations(count) => count.to_string(),
    }
}
