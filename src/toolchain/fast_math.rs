//! What -ffast-math stands for, asked from the compiler itself.

use super::compiler::{Compiler, Family};

/// Clang's words to its own compiler, and the arguments for them that its driver takes. Reassociation
/// without the two others has no effect.
const CLANG: [(&str, &[&str]); 7] = [
    ("-menable-no-infs", &["-fno-honor-infinities"]),
    ("-menable-no-nans", &["-fno-honor-nans"]),
    ("-fapprox-func", &["-fapprox-func"]),
    ("-fno-signed-zeros", &["-fno-signed-zeros"]),
    ("-mreassociate", &["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]),
    ("-freciprocal-math", &["-freciprocal-math"]),
    ("-ffp-contract=fast", &["-ffp-contract=fast"]),
];

/// The arguments of each part of -ffast-math, the part's own first.
pub fn fast_math_flags(compiler: &Compiler, level: &str) -> Result<Vec<Vec<String>>, String> {
    let found = match compiler.family {
        Family::Clang => {
            clang_parts(&compiler.ask(&["-###", level, "-ffast-math", "-c", "-x", "c", "/dev/null"])?.1)
        }
        _ => {
            let list = |more: &[&str]| {
                compiler.ask(&[&["-Q", "--help=optimizers", level], more].concat()).map(|(out, _)| out)
            };
            gcc_parts(&list(&[])?, &list(&["-ffast-math"])?)
        }
    };
    if found.is_empty() { Err("its answer names no flag".into()) } else { Ok(found) }
}

/// The flags whose state differs between two lists.
fn gcc_parts(without: &str, with: &str) -> Vec<Vec<String>> {
    let mut parts = Vec::new();
    for (before, after) in without.lines().zip(with.lines()).filter(|(a, b)| a != b) {
        let flag = after.split_whitespace().next().unwrap_or_default();
        if !before.trim_start().starts_with(flag) {
            continue;
        }
        let args = match (after.split_whitespace().last(), flag) {
            // They stand for others that are listed too.
            (_, "-funsafe-math-optimizations") => continue,
            (Some("[enabled]"), "-fassociative-math") => {
                vec![flag.to_string(), "-fno-signed-zeros".into(), "-fno-trapping-math".into()]
            }
            (Some("[enabled]"), _) => vec![flag.to_string()],
            (Some("[disabled]"), _) => vec![flag.replacen("-f", "-fno-", 1)],
            // A flag with values: `-fexcess-precision=[fast|standard]`.
            (Some(value), _) => match flag.split_once('=') {
                Some((name, _)) => vec![format!("{name}={value}")],
                None => continue,
            },
            (None, _) => continue,
        };
        parts.push(args);
    }
    parts
}

fn clang_parts(words: &str) -> Vec<Vec<String>> {
    let has = |word: &str| words.contains(&format!("\"{word}\""));
    let known = CLANG.iter().filter(|(word, _)| has(word));
    known.map(|(_, args)| args.iter().map(ToString::to_string).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{ToolReach, find};

    #[test]
    fn the_compilers_at_hand_say_what_fast_math_stands_for() {
        for (command, wanted) in [("gcc", "-fno-math-errno"), ("clang-16", "-fno-honor-nans")] {
            let compiler = find(command, &ToolReach::default()).unwrap();
            let parts = fast_math_flags(&compiler, "-O3").unwrap();
            let names: Vec<&str> = parts.iter().map(|part| part[0].as_str()).collect();
            for flag in [wanted, "-fassociative-math", "-freciprocal-math", "-fno-signed-zeros"] {
                assert!(names.contains(&flag), "{command}: {names:?}");
            }
        }
    }

    #[test]
    fn a_flag_counts_when_its_state_changes() {
        let without = "  -fa  \t[disabled]\n  -fb  \t[enabled]\n  -fc=[x|y] \t[default]\n  -fd \t[enabled]\n";
        let with = "  -fa  \t[enabled]\n  -fb  \t[disabled]\n  -fc=[x|y] \tx\n  -fd \t[enabled]\n";
        assert_eq!(gcc_parts(without, with), [["-fa"], ["-fno-b"], ["-fc=x"]]);
        assert!(gcc_parts("noise", "other noise").is_empty());
    }
}
