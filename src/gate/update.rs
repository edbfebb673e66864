//! An update of a lock: what the user allows, the lock that comes of it, and every change in it.

use crate::model::{BuildId, LockFile, LockRange};

/// What the user allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Take what is new or worse too.
    pub loosen: bool,
    /// Forget functions and builds that the run has not got.
    pub prune: bool,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Added,
    Removed,
    Tightened,
    /// New or worse: it stays out.
    Refused,
    /// It could not be compared, or not to the end: it stays as it was.
    Kept,
    /// Not a finding: a build, the search.
    Changed,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LockChange {
    pub action: Action,
    pub function: String,
    /// None where it is about the function or the search.
    pub build: Option<BuildId>,
    /// What it is about when it is no range.
    pub text: String,
    pub range: Option<LockRange>,
    /// The range as it was.
    pub before: Option<LockRange>,
}

/// A new lock and how it differs from the old one.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    pub lock: LockFile,
    pub changes: Vec<LockChange>,
}
