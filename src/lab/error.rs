//! What ends the work of a lab. A failed compile, a crash, a build that cannot be asked are data, not errors.

use std::path::PathBuf;

use crate::compile::CompileError;
use crate::explain::ExplainError;
use crate::matrix::{MatrixError, nearest, quoted};
use crate::model::{BuildId, FindingId, StrategyName, UnknownStrategy, printable};
use crate::plan::PlanError;
use crate::pool::PoolError;
use crate::presets::PresetError;
use crate::sandbox::real;
use crate::store::StoreError;

/// Why a lab cannot go on, in words for the user of the matrix.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    #[error(transparent)]
    Preset(#[from] PresetError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Explain(ExplainError),
    /// The machinery of processes broke.
    #[error(transparent)]
    Pool(PoolError),
    /// What a matrix declares is not what is called: whole messages, which open with `error:`.
    #[error("{0}")]
    Declared(String),
    #[error(
        "a link leads out of the project:{0}\nwhoever may change the project could have any file of yours shown so; name the place that it leads to \
         in the matrix, or in `[sandbox] read`, or use --no-sandbox"
    )]
    LeadsOut(String),
    #[error("the folder for temporary files, {0}, is not there; make it or set TMPDIR")]
    NoTemporaryFolder(String),
    #[error(
        "code under test runs in processes that are started from this program, and its `main` does not do their work: \
         call `bitrift::lab::serve()` there, before anything else"
    )]
    NotServed,
    #[error("no function matches `{word}`{}\nfunctions {whose}: {}", meant(word, known), quoted(known.iter().map(String::as_str)))]
    NoSuchFunction { word: String, known: Vec<String>, whose: &'static str },
    #[error("no finding `{id}`{}\n{whose}: {}", meant(id, near), quoted(known.iter().map(String::as_str)))]
    NoSuchFinding { id: String, near: Vec<String>, whose: String, known: Vec<String> },
    #[error("{0}{near}\nstrategies: {all}", near = meant(&.0.0, &strategies()), all = quoted(strategies()))]
    Strategy(#[from] UnknownStrategy),
    #[error(
        "`exhaustive` takes functions with one free parameter of at most 2^32 values; these have more:{functions}\n\
         choose others with --function, or narrow their domains in {matrix}"
    )]
    TooManyInputs { functions: String, matrix: String },
    #[error("the baseline {build} cannot be used:{why}")]
    BaselineUnusable { build: BuildId, why: String },
    #[error("the baseline {build} has none of the functions:\n{why}")]
    BaselineEmpty { build: BuildId, why: String },
    /// A build that was there can no longer be asked.
    #[error("{build}: {reason}")]
    Unanswered { build: BuildId, reason: String },
    #[error(
        "{lock} is the lock of the lab `{of}`, the matrix is `{matrix}`; name its own lock with --lock, or make one \
         with `bitrift accept --lock FILE`"
    )]
    OtherLock { lock: String, of: String, matrix: String },
    #[error(
        "{lock} was made against the baseline {then}, the matrix has {now}: nothing can be compared; set the \
         baseline back, or delete the lock and make it anew: `bitrift run`, then `bitrift accept`"
    )]
    OtherBaseline { lock: String, then: BuildId, now: BuildId },
    #[error("the gate cannot compare all that {lock} is about:{missing}\n{mend}")]
    LockUnmet { lock: String, missing: String, mend: &'static str },
    /// A stored truth that is none.
    #[error(transparent)]
    Truth(#[from] crate::findings::TruthError),
    #[error("{id} cannot be shown: {reason}")]
    NotShown { id: FindingId, reason: String },
    /// A build that a finding needs is not there.
    #[error("{id} cannot be shown: {build}: {reason}")]
    NoProgram { id: FindingId, build: BuildId, reason: String },
    #[error("failed to start {jobs} threads: {reason}")]
    Threads { jobs: usize, reason: String },
    #[error("interrupted")]
    Interrupted(Progress),
}

/// How far the work was when the user interrupted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is worth telling.
    Begun,
    /// What was compiled is in the cache.
    Compiling,
    /// So many functions of a run are done; the folder is None when nothing of it is stored.
    Searching { done: usize, of: usize, folder: Option<PathBuf> },
    /// So many searches of a bench are done and stored.
    Benching { done: usize, of: usize },
    /// What is explained so far is stored.
    Explaining,
}

fn strategies() -> [&'static str; StrategyName::ALL.len()] {
    StrategyName::ALL.map(StrategyName::as_str)
}

/// `; did you mean ...?` when one of the known words is near.
fn meant(word: &str, known: &[impl AsRef<str>]) -> String {
    let near = nearest(word, known.iter().map(AsRef::as_ref));
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

impl LabError {
    /// These paths lead out of the project.
    pub(super) fn leads_out(paths: &[PathBuf]) -> LabError {
        let shown = |path: &PathBuf| {
            let place = real(path).display().to_string();
            format!("\n  {} leads to {}", printable(&path.display().to_string()), printable(&place))
        };
        LabError::LeadsOut(paths.iter().map(shown).collect())
    }

    /// The work as a whole was interrupted.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, LabError::Interrupted(_))
    }
}

impl From<PoolError> for LabError {
    fn from(error: PoolError) -> LabError {
        match error {
            PoolError::Interrupted => LabError::Interrupted(Progress::Begun),
            other => LabError::Pool(other),
        }
    }
}

impl From<ExplainError> for LabError {
    fn from(error: ExplainError) -> LabError {
        match error {
            ExplainError::Interrupted => LabError::Interrupted(Progress::Explaining),
            ExplainError::Compile(error) => LabError::Compile(error),
            other => LabError::Explain(other),
        }
    }
}
