//! What compiling a build left behind: a shared object, or the reason there is none.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Audit, BuildId, ControlWords, FpSetting};

/// Whether a build has a function under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FunctionStatus {
    /// The shim symbol: `void symbol(const uint64_t *in, uint64_t *out)`.
    Ready { symbol: String },
    /// The shim did not compile or link; the tool's own words.
    Missing { message: String },
}

/// How a build that is a program of its own is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerPlan {
    /// The emulator and its arguments; empty when this machine runs the program itself.
    pub command: Vec<String>,
    /// Added to the environment of the program.
    pub variables: Vec<(String, String)>,
    pub setting: FpSetting,
}

/// How an emulator computes: operations whose IEEE 754 answer is known, and what the standard leaves
/// open of a NaN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arithmetic {
    pub cases: u32,
    /// Those that came out wrong, in words.
    pub wrong: Vec<String>,
    /// The bits of 0/0.
    pub default_nan: String,
    /// The bits of the NaN fff8000000001234 plus 1.
    pub payload_nan: String,
}

/// What the calls of a build go to: an object to load, or a program to ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltObject {
    /// The shared object or program, for as long as the cache that it is of is open. It is used through a private copy.
    pub path: PathBuf,
    /// Registers of x86-64: set before every batch of an object; what a program starts with.
    pub control: ControlWords,
    /// None: loaded into the worker, beside the others.
    pub runner: Option<RunnerPlan>,
    /// Known of emulated builds.
    pub arithmetic: Option<Arithmetic>,
    /// The mathematics library: file, build id, version.
    pub libm: String,
    /// By its path: a digest of each further library file that it loads.
    pub libraries: BTreeMap<String, String>,
    /// `void setup(void)` to call once after loading, if any.
    pub setup_symbol: Option<String>,
    /// One entry per function of the experiment, in its order.
    pub functions: Vec<FunctionStatus>,
    /// What its code is made of. Not sent to workers, which have no use for it.
    #[serde(skip)]
    pub audit: Audit,
}

impl BuiltObject {
    /// The name of its file, for messages.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The same code with flushing of subnormals off; None when it does not flush.
    pub fn unflushed(&self) -> Option<BuiltObject> {
        if !self.control.flushes() {
            return None;
        }
        let mut calm = self.clone();
        calm.control = self.control.with(&FpSetting { flush: Some(false), ..FpSetting::default() });
        if let Some(runner) = &mut calm.runner {
            runner.setting.flush = Some(false);
        }
        Some(calm)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactStatus {
    Built(Box<BuiltObject>),
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
