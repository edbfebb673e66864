//! A build: one implementation, one compiler, one flag set, one target, one environment.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

use glob::{Pattern, PatternError};
use serde::{Deserialize, Serialize};

use super::run::is_default;

/// `compiler/flags/target`, such as `clang-16/O3-fast/native`, with `/environment` behind it where one is declared
/// and `implementation:` in front where that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BuildId(pub String);

impl BuildId {
    pub fn new(compiler: &str, flags: &str, target: &str) -> BuildId {
        BuildId(format!("{compiler}/{flags}/{target}"))
    }

    /// The same build in an environment of this name; the implied one has none.
    pub fn in_environment(self, name: &str) -> BuildId {
        if name.is_empty() { self } else { BuildId(format!("{self}/{name}")) }
    }

    /// The same build of an implementation; the one of `[sources]` has no name.
    pub fn of_implementation(self, name: &str) -> BuildId {
        if name.is_empty() { self } else { BuildId(format!("{name}:{self}")) }
    }

    /// The name of the implementation, empty for `[sources]`.
    pub fn implementation(&self) -> &str {
        BuildId::split(&self.0).0
    }

    /// The implementation's name in an id or a part of one, and what stands behind it. No other name of the matrix
    /// may have a colon.
    pub fn split(id: &str) -> (&str, &str) {
        id.split_once(':').unwrap_or(("", id))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for BuildId {
    fn from(id: &str) -> BuildId {
        BuildId(id.into())
    }
}

impl From<String> for BuildId {
    fn from(id: String) -> BuildId {
        BuildId(id)
    }
}

/// An id is shown, matched and split as its text.
impl Deref for BuildId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// For looking up an id by its text; both are ordered and hashed alike.
impl Borrow<str> for BuildId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for BuildId {
    fn eq(&self, id: &str) -> bool {
        self.0 == id
    }
}

impl PartialEq<&str> for BuildId {
    fn eq(&self, id: &&str) -> bool {
        self.0 == *id
    }
}

/// A glob over ids. Without a colon it is about `[sources]` alone; `*:*` is about all named implementations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildGlob {
    /// None: the implementation without a name.
    implementation: Option<Pattern>,
    cell: Pattern,
}

impl BuildGlob {
    pub fn new(text: &str) -> Result<BuildGlob, PatternError> {
        let (implementation, cell) = match text.split_once(':') {
            Some((implementation, cell)) => (Some(Pattern::new(implementation)?), cell),
            None => (None, text),
        };
        Ok(BuildGlob { implementation, cell: Pattern::new(cell)? })
    }

    pub fn matches(&self, id: &str) -> bool {
        let (implementation, cell) = BuildId::split(id);
        let own = match &self.implementation {
            Some(pattern) => !implementation.is_empty() && pattern.matches(implementation),
            None => implementation.is_empty(),
        };
        own && self.cell.matches(cell)
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which floating-point environment a build's calls run in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// Which way results are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Rounding {
    pub fn as_str(self) -> &'static str {
        match self {
            Rounding::Nearest => "nearest",
            Rounding::Up => "up",
            Rounding::Down => "down",
            Rounding::Zero => "zero",
        }
    }
}

/// The significand that the x87 rounds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    Single,
    Double,
    Extended,
}

impl Precision {
    pub fn bits(self) -> u64 {
        match self {
            Precision::Single => 24,
            Precision::Double => 53,
            Precision::Extended => 64,
        }
    }
}

/// A mathematics library that a build is linked with in place of its compiler's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Libm {
    /// By the program `musl-gcc`.
    Musl,
    /// A library file.
    File(PathBuf),
}

/// An `[[environment]]`: what calls run in beside the build's own code. What is None stays as the
/// build would have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Environment {
    /// Empty for the one that is there when none is declared.
    pub name: String,
    pub fpenv: Option<FpEnvPolicy>,
    pub rounding: Option<Rounding>,
    pub precision: Option<Precision>,
    pub libm: Option<Libm>,
    /// The value of GLIBC_TUNABLES.
    pub tunables: Option<String>,
    /// Absent means skipped, and that is no failure.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
}

/// What is set before every batch of a build; what is None stays as its program starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FpSetting {
    pub flush: Option<bool>,
    pub rounding: Option<Rounding>,
    pub precision: Option<Precision>,
}

/// The control registers that decide rounding and flushing on x86-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlWords {
    pub mxcsr: u32,
    pub x87: u16,
}

impl Default for ControlWords {
    fn default() -> ControlWords {
        ControlWords::IEEE
    }
}

impl ControlWords {
    /// What the System V ABI starts a process with.
    pub const IEEE: ControlWords = ControlWords { mxcsr: 0x1f80, x87: 0x037f };
    /// IEEE with FTZ and DAZ set, as crtfastmath.o does.
    pub const FTZ: ControlWords = ControlWords { mxcsr: 0x9fc0, x87: 0x037f };

    pub fn flushes(self) -> bool {
        self.mxcsr & 0x8040 != 0
    }

    /// These words with a setting applied.
    pub fn with(self, setting: &FpSetting) -> ControlWords {
        let ControlWords { mut mxcsr, mut x87 } = self;
        match setting.flush {
            Some(true) => mxcsr |= 0x8040,
            Some(false) => mxcsr &= !0x8040,
            None => {}
        }
        if let Some(rounding) = setting.rounding {
            let field = match rounding {
                Rounding::Nearest => 0,
                Rounding::Down => 1,
                Rounding::Up => 2,
                Rounding::Zero => 3,
            };
            mxcsr = mxcsr & !0x6000 | field << 13;
            x87 = x87 & !0x0c00 | (field as u16) << 10;
        }
        if let Some(precision) = setting.precision {
            let field = match precision {
                Precision::Single => 0,
                Precision::Double => 2,
                Precision::Extended => 3,
            };
            x87 = x87 & !0x0300 | field << 8;
        }
        ControlWords { mxcsr, x87 }
    }
}

/// One cell of the matrix, with everything its command lines need.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Build {
    pub id: BuildId,
    /// The name of the implementation; empty for `[sources]`.
    pub implementation: String,
    pub compiler: String,
    pub flags: String,
    pub target: String,
    /// The compiler command for this target: a name looked up in PATH, or a path.
    pub command: String,
    /// The flag set's arguments, then the compiler's and the target's extra ones.
    pub args: Vec<String>,
    pub fpenv: FpEnvPolicy,
    /// The compiler, the target or the environment is optional: absent means skipped, and that is no failure.
    pub optional: bool,
    /// The emulator command in front of the target's executables; empty for native.
    pub runner: Vec<String>,
    /// The target triple for `clang --target`; None for native.
    pub triple: Option<String>,
    pub environment: Environment,
    /// A program as its user would build it: nothing is added that makes code loadable.
    pub plain: bool,
    /// A program of its own because it needs another file than the process that would load it, or than another
    /// build, under one name of a library.
    pub apart: bool,
}

impl Build {
    /// Whether this machine is the target.
    pub fn is_native(&self) -> bool {
        self.runner.is_empty() && self.triple.is_none()
    }

    /// Whether it is loaded into a worker, beside the others; else it is a program of its own.
    pub fn is_loaded(&self) -> bool {
        let same_libraries = self.environment.libm.is_none() && self.environment.tunables.is_none();
        self.is_native() && same_libraries && !self.plain && !self.apart
    }

    /// The same build as a program of its own, compiled with its own flags and no others.
    pub fn plainly(&self) -> Build {
        Build { plain: true, ..self.clone() }
    }

    /// What is set before its calls.
    pub fn setting(&self) -> FpSetting {
        let flush = match self.fpenv {
            FpEnvPolicy::Probed => None,
            FpEnvPolicy::Ieee => Some(false),
            FpEnvPolicy::Ftz => Some(true),
        };
        let Environment { rounding, precision, .. } = self.environment;
        FpSetting { flush, rounding, precision }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_whose_code_it_is_and_a_glob_without_a_colon_means_the_sources() {
        let own = BuildId::new("gcc", "O2", "native");
        let gsl = own.clone().of_implementation("gsl").in_environment("up");
        assert_eq!((gsl.as_str(), gsl.implementation()), ("gsl:gcc/O2/native/up", "gsl"));
        assert_eq!((own.clone().of_implementation("").as_str(), own.implementation()), ("gcc/O2/native", ""));
        let fits = |glob: &str| {
            let glob = BuildGlob::new(glob).unwrap();
            (glob.matches(own.as_str()), glob.matches(gsl.as_str()))
        };
        for (glob, wanted) in [
            ("*", (true, false)),
            ("gcc/*", (true, false)),
            ("gsl:*", (false, true)),
            ("*:*", (false, true)),
            ("g?l:gcc/*/up", (false, true)),
            ("gsl*", (false, false)),
            ("musl:*", (false, false)),
        ] {
            assert_eq!(fits(glob), wanted, "{glob}");
        }
        assert!(BuildGlob::new("[:*").is_err() && BuildGlob::new("*:[").is_err());
    }

    #[test]
    fn a_setting_changes_its_own_fields_of_the_registers_alone() {
        let set =
            |flush, rounding, precision| ControlWords::IEEE.with(&FpSetting { flush, rounding, precision });
        assert_eq!(set(None, None, None), ControlWords::IEEE);
        assert_eq!(set(Some(true), None, None), ControlWords::FTZ);
        assert_eq!(
            ControlWords::FTZ.with(&FpSetting { flush: Some(false), ..FpSetting::default() }),
            ControlWords::IEEE
        );
        assert_eq!(set(None, Some(Rounding::Up), None), ControlWords { mxcsr: 0x5f80, x87: 0x0b7f });
        assert_eq!(set(None, Some(Rounding::Zero), None), ControlWords { mxcsr: 0x7f80, x87: 0x0f7f });
        assert_eq!(set(None, None, Some(Precision::Double)), ControlWords { mxcsr: 0x1f80, x87: 0x027f });
    }
}
