//! What -ffast-math stands for, one flag at a time, as the compiler at hand says.

use super::axes::{Axes, PresetError, compiler, flags};
use super::ports::native;
use crate::model::{CompilerSpec, Exclude, FlagSet};
use crate::toolchain::{Family, ToolReach, fast_math_flags, find, newest};

const LEVEL: &str = "-O3";

/// -O3, -O3 -ffast-math, and -O3 with each of its sub-flags, for every compiler of the matrix; for gcc and
/// the newest clang when it has none.
pub(super) fn sub_flags(declared: &[CompilerSpec], reach: &ToolReach) -> Result<Axes, PresetError> {
    let usual = || {
        let clang = newest("clang").map(|command| compiler("clang", &command));
        [Some(compiler("gcc", "gcc")), clang].into_iter().flatten().collect()
    };
    let compilers: Vec<CompilerSpec> = if declared.is_empty() { usual() } else { declared.to_vec() };
    let mut axes = Axes {
        flags: vec![flags("O3", &[LEVEL]), flags("O3-fast-math", &[LEVEL, "-ffast-math"])],
        targets: vec![native()],
        ..Axes::default()
    };
    for spec in &compilers {
        // One that is not on this machine has its row; nobody can ask it.
        let Ok(found) = find(&spec.command, reach) else { continue };
        if !matches!(found.family, Family::Gcc | Family::Clang) {
            continue;
        }
        let parts = fast_math_flags(&found, LEVEL)
            .map_err(|reason| PresetError::NoAnswer { command: spec.command.clone(), reason })?;
        axes.flags.extend(parts.iter().map(|part| flag_set(&spec.name, part)));
        let others = compilers.iter().filter(|other| other.name != spec.name);
        axes.exclude.extend(others.map(|other| Exclude {
            compiler: Some(other.name.clone()),
            flags: Some(format!("{}-only-*", glob::Pattern::escape(&spec.name))),
            ..Exclude::default()
        }));
    }
    axes.compilers = compilers;
    Ok(axes)
}

/// `gcc-only-reciprocal-math`: the flag may mean nothing to another compiler.
fn flag_set(compiler: &str, part: &[String]) -> FlagSet {
    let name = part.first().map(|flag| flag.trim_start_matches("-f").replace('=', "-")).unwrap_or_default();
    let args: Vec<&str> = [LEVEL].into_iter().chain(part.iter().map(String::as_str)).collect();
    flags(&format!("{compiler}-only-{name}"), &args)
}
