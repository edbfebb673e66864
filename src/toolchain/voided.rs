//! Flags that a compiler takes and does not act on.

use super::atoms::{Atoms, Kind};
use super::compiler::{Compiler, Family};

/// How gcc ends the line about a flag that others forbid.
const DISABLED: &str = "disabled; other options take precedence";

/// The floating-point flags among arguments that others of them void, in the words that name atoms: both compilers
/// reassociate only without signed zeros and trapping math. gcc says so in a warning (`-Q --help=optimizers` still
/// lists the flag as enabled); clang's driver keeps quiet, and what it leaves out beside `wanted` is told.
pub fn voided(compiler: &Compiler, args: &[String], wanted: &[String]) -> Result<Vec<String>, String> {
    match compiler.family {
        Family::Gcc => {
            let question = ["-fsyntax-only", "-x", "c", "/dev/null"].map(String::from);
            let loud: Vec<String> =
                args.iter().filter(|arg| *arg != "-w" && *arg != "-Werror").cloned().collect();
            let (_, said) = compiler.ask(&[&loud[..], &question[..]].concat())?;
            Ok(said.lines().filter_map(disabled).collect())
        }
        Family::Clang => {
            let lacking = Atoms::between(compiler, args, wanted)?;
            let floats = lacking.list().iter().filter(|atom| atom.kind == Kind::Float);
            Ok(floats.map(|atom| atom.name.clone()).collect())
        }
        Family::Tcc | Family::Other => Ok(Vec::new()),
    }
}

/// The flag of gcc's line; its quotes depend on the locale.
fn disabled(line: &str) -> Option<String> {
    let (before, _) = line.split_once(DISABLED)?;
    let flag = before.split_whitespace().last()?;
    Some(flag.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{ToolReach, find};

    fn asked(command: &str, args: &str) -> Vec<String> {
        let list = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        voided(&find(command, &ToolReach::default()).unwrap(), &list(args), &list("-O3 -ffast-math")).unwrap()
    }

    #[test]
    fn association_beside_signed_zeros_or_traps_is_void() {
        for args in ["-O3 -ffast-math -fsigned-zeros", "-O3 -ffast-math -ftrapping-math"] {
            assert_eq!(asked("gcc", args), ["-fassociative-math"], "{args}");
            assert!(asked("clang-16", args).contains(&"-fassociative-math".to_owned()), "{args}");
        }
        for args in ["-O3 -ffast-math", "-O3 -ffast-math -fsigned-zeros -fno-associative-math"] {
            assert!(asked("gcc", args).is_empty(), "{args}");
        }
        assert!(asked("clang-16", "-O3 -ffast-math").is_empty());
    }
}
