//! What compiling a build left behind: a shared object, or the reason there is none.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{BuildId, ControlWords};

/// Whether a build has a function under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FunctionStatus {
    /// The shim symbol: `void symbol(const uint64_t *in, uint64_t *out)`.
    Ready { symbol: String },
    /// The shim did not compile or link; the tool's own words.
    Missing { message: String },
}

/// A loadable object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltObject {
    /// The shared object in the cache. Loaders load a private copy of it.
    pub path: PathBuf,
    /// Set in this environment before every batch.
    pub control: ControlWords,
    /// `void setup(void)` to call once after loading, if any.
    pub setup_symbol: Option<String>,
    /// One entry per function of the experiment, in its order.
    pub functions: Vec<FunctionStatus>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactStatus {
    Built(BuiltObject),
    /// The compiler's own message.
    Failed {
        message: String,
    },
    /// Not tried: the compiler or target is not on this machine; says what would bring it.
    Skipped {
        reason: String,
    },
}

/// A build after compilation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub build: BuildId,
    /// First line of the compiler's `--version`; empty when it was not found.
    pub version: String,
    pub status: ArtifactStatus,
}

impl Artifact {
    pub fn object(&self) -> Option<&BuiltObject> {
        match &self.status {
            ArtifactStatus::Built(object) => Some(object),
            _ => None,
        }
    }
}
