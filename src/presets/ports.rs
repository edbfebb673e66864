//! Moves to another machine or another C library.

use super::axes::{Axes, compiler, flags};
use crate::model::{Environment, Exclude, Libm, TargetSpec};
use crate::toolchain::newest;

pub(super) fn native() -> TargetSpec {
    TargetSpec {
        name: "native".into(),
        triple: None,
        compilers: None,
        args: Vec::new(),
        runner: Vec::new(),
        fpenv: None,
        optional: false,
    }
}

/// A machine may lack it, as it may lack the compilers of a preset.
fn target(name: &str, triple: &str, clang: Option<&str>, runner: &[&str]) -> TargetSpec {
    let mut compilers = vec![("gcc".into(), format!("{triple}-gcc"))];
    compilers.extend(clang.map(|command| ("clang".into(), command.into())));
    TargetSpec {
        name: name.into(),
        triple: Some(triple.into()),
        compilers: Some(compilers),
        runner: runner.iter().map(ToString::to_string).collect(),
        optional: true,
        ..native()
    }
}

/// x86-64 with and without fma, and aarch64, whose compilers use it by default: so that a difference
/// that is only contraction shows as one.
pub(super) fn arm() -> Axes {
    let clang = newest("clang").unwrap_or_else(|| "clang".into());
    let aarch64 = target(
        "aarch64",
        "aarch64-linux-gnu",
        Some(&clang),
        &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    );
    Axes {
        compilers: vec![compiler("gcc", "gcc"), compiler("clang", &clang)],
        flags: vec![flags("O2", &["-O2"]), flags("O2-fma", &["-O2", "-mfma", "-ffp-contract=fast"])],
        targets: vec![native(), aarch64],
        exclude: vec![Exclude {
            flags: Some("O2-fma".into()),
            target: Some("aarch64".into()),
            ..Exclude::default()
        }],
        ..Axes::default()
    }
}

/// The same objects on glibc and on musl.
pub(super) fn musl() -> Axes {
    let environment = |name: &str, libm| Environment { name: name.into(), libm, ..Environment::default() };
    Axes {
        compilers: vec![compiler("gcc", "gcc")],
        flags: vec![flags("O2", &["-O2"])],
        targets: vec![native()],
        environments: vec![environment("glibc", None), environment("musl", Some(Libm::Musl))],
        ..Axes::default()
    }
}

/// x86-64, and 32-bit code with the x87 and without it.
pub(super) fn x87() -> Axes {
    Axes {
        compilers: vec![compiler("gcc", "gcc")],
        flags: vec![flags("O2", &["-O2"]), flags("O2-sse", &["-O2", "-msse2", "-mfpmath=sse"])],
        targets: vec![native(), target("i686", "i686-linux-gnu", None, &[])],
        exclude: vec![Exclude {
            flags: Some("O2-sse".into()),
            target: Some("native".into()),
            ..Exclude::default()
        }],
        ..Axes::default()
    }
}
