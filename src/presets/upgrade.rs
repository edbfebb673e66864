//! Two versions of one compiler, the newest on this machine.

use super::axes::{Axes, PresetError, compiler, flags};
use super::ports::native;
use crate::toolchain::versions_of;

const FAMILIES: [&str; 2] = ["gcc", "clang"];

/// The versioned commands of each family, oldest first.
pub(super) fn versions() -> Vec<Vec<String>> {
    FAMILIES.iter().map(|family| versions_of(family)).collect()
}

/// The newest two of the first family that has two; the older is the first, and so the baseline.
pub(super) fn newest_two(versions: &[Vec<String>]) -> Result<Axes, PresetError> {
    let Some(family) = versions.iter().find(|family| family.len() > 1) else {
        let found: Vec<&str> = versions.iter().flatten().map(String::as_str).collect();
        let found = if found.is_empty() { "none".into() } else { found.join(" and ") };
        return Err(PresetError::OneVersion { found });
    };
    Ok(Axes {
        compilers: family[family.len() - 2..].iter().map(|command| compiler(command, command)).collect(),
        flags: vec![flags("O0", &["-O0"]), flags("O2", &["-O2"]), flags("O3", &["-O3"])],
        targets: vec![native()],
        ..Axes::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_newest_two_of_one_family_are_compared() {
        let axes = newest_two(&[list(&["gcc-12"]), list(&["clang-9", "clang-14", "clang-16"])]).unwrap();
        let names: Vec<&str> = axes.compilers.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["clang-14", "clang-16"]);
    }

    #[test]
    fn one_version_of_each_is_an_error_that_names_them() {
        let error = newest_two(&[list(&["gcc-12"]), list(&["clang-16"])]).unwrap_err().to_string();
        assert!(error.contains("this machine has gcc-12 and clang-16"), "{error}");
        let error = newest_two(&[Vec::new()]).unwrap_err().to_string();
        assert!(error.contains("this machine has none"), "{error}");
    }
}
