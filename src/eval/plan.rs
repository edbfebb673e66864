//! What an evaluator is given: an object to load for each build, and limits for its calls.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{BuildId, BuiltObject};

/// An object to load, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadPlan {
    pub build: BuildId,
    pub object: BuiltObject,
}

/// What code under test may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLimits {
    /// CPU time of one call.
    pub timeout: Duration,
    /// Address space of a process.
    pub memory_mb: u64,
}
