//! A build: one compiler, one flag set, one target.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `compiler/flags/target`, such as `clang-16/O3-fast/native`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BuildId(pub String);

impl BuildId {
    pub fn new(compiler: &str, flags: &str, target: &str) -> BuildId {
        BuildId(format!("{compiler}/{flags}/{target}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which floating-point environment a build's calls run in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FpEnvPolicy {
    /// What an executable built with exactly these flags starts with.
    #[default]
    Probed,
    /// Subnormals kept.
    Ieee,
    /// Subnormals flushed to zero (FTZ and DAZ).
    Ftz,
}

/// The control registers that decide rounding and flushing on x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlWords {
    pub mxcsr: u32,
    pub x87: u16,
}

impl ControlWords {
    /// What the System V ABI starts a process with.
    pub const IEEE: ControlWords = ControlWords { mxcsr: 0x1f80, x87: 0x037f };
    /// IEEE with FTZ and DAZ set, as crtfastmath.o does.
    pub const FTZ: ControlWords = ControlWords { mxcsr: 0x9fc0, x87: 0x037f };

    pub fn flushes(self) -> bool {
        self.mxcsr & 0x8040 != 0
    }
}

/// One cell of the matrix, with everything its command lines need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub id: BuildId,
    pub compiler: String,
    pub flags: String,
    pub target: String,
    /// The compiler command for this target: a name looked up in PATH, or a path.
    pub command: String,
    /// The flag set's arguments, then the compiler's and the target's extra ones.
    pub args: Vec<String>,
    pub fpenv: FpEnvPolicy,
    /// The compiler is optional: absent means skipped, and that is no failure.
    pub optional: bool,
    /// The emulator command in front of the target's executables; empty for native.
    pub runner: Vec<String>,
    /// The target triple for `clang --target`; None for native.
    pub triple: Option<String>,
}

impl Build {
    pub fn is_native(&self) -> bool {
        self.runner.is_empty() && self.triple.is_none()
    }
}
