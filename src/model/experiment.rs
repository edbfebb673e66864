//! A validated matrix: what to compile, how, and which functions to search.

use std::path::PathBuf;

use super::{Build, Environment, FpEnvPolicy, Function, Implementation, Limit, SearchSettings};

/// A `[[compiler]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerSpec {
    pub name: String,
    pub command: String,
    pub args: Vec<String>,
    pub optional: bool,
}

/// A `[[flags]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagSet {
    pub name: String,
    pub args: Vec<String>,
    pub fpenv: FpEnvPolicy,
}

/// A `[[target]]`; `native` is there unless targets are declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpec {
    pub name: String,
    pub triple: Option<String>,
    /// The command of each compiler (by name) for this target; a compiler it does not name is not
    /// crossed with it. None: every compiler with its own command (native).
    pub compilers: Option<Vec<(String, String)>>,
    pub args: Vec<String>,
    pub runner: Vec<String>,
    /// Overrides the flag set's.
    pub fpenv: Option<FpEnvPolicy>,
    /// A machine may lack its compilers or its runner.
    pub optional: bool,
}

/// An `[[exclude]]`: cells that match every given name (globs allowed) are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclude {
    /// The empty name is that of `[sources]`.
    pub implementation: Option<String>,
    pub compiler: Option<String>,
    pub flags: Option<String>,
    pub target: Option<String>,
    pub environment: Option<String>,
}

/// Axes for a move that many people make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    PortArm,
    PortMusl,
    X87,
    Upgrade,
    FastMath,
}

impl Preset {
    pub const ALL: [(&str, Preset); 5] = [
        ("port-arm", Preset::PortArm),
        ("port-musl", Preset::PortMusl),
        ("x87", Preset::X87),
        ("upgrade", Preset::Upgrade),
        ("fast-math", Preset::FastMath),
    ];
}

/// `[harness]`: C that is no part of what is tested and compiled in the same way for all builds of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harness {
    /// Absolute, sorted.
    pub files: Vec<PathBuf>,
    pub args: Vec<String>,
}

/// `[sandbox]`: what compilers and code under test may read beside the project and the system. It decides no result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Files and folders, absolute.
    pub read: Vec<PathBuf>,
}

/// A validated matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    pub name: String,
    /// The matrix file, absolute.
    pub path: PathBuf,
    /// The baseline as written; the plan resolves it. None: the first build.
    pub baseline: Option<String>,
    /// `[sources]` first, where it is there; then those with a name, in the order of the file.
    pub implementations: Vec<Implementation>,
    pub harness: Harness,
    pub sandbox: SandboxSettings,
    /// Their axes are yet to be added.
    pub presets: Vec<Preset>,
    pub compilers: Vec<CompilerSpec>,
    pub flags: Vec<FlagSet>,
    pub targets: Vec<TargetSpec>,
    /// One without a name when none is declared.
    pub environments: Vec<Environment>,
    pub exclude: Vec<Exclude>,
    /// All functions of the matrix: what is compiled together does not depend on which of them were asked for.
    pub declared: Vec<Function>,
    /// Those asked for, in the order of the matrix.
    pub functions: Vec<Function>,
    pub search: SearchSettings,
    /// Those of functions first, then `[[limit]]` in the order of the file: a later one overrides.
    pub limits: Vec<Limit>,
}

impl Experiment {
    /// The implementation that a build is one of.
    pub fn implementation(&self, build: &Build) -> &Implementation {
        Implementation::named(&build.implementation, &self.implementations)
    }
}
