//! Options that two lists of a build's arguments decide in different ways. A compiler takes the last of them, and the
//! flag set is the last list; it was the first one in earlier versions, so that a matrix may mean something else now.

use std::collections::BTreeSet;

use crate::model::{Build, Experiment};

/// What `-ffast-math` decides, by the options that decide one thing alone.
const FAST_MATH: [(&str, &str); 9] = [
    ("fast-math", "on"),
    ("finite-math-only", "on"),
    ("associative-math", "on"),
    ("reciprocal-math", "on"),
    ("unsafe-math-optimizations", "on"),
    ("signed-zeros", "off"),
    ("math-errno", "off"),
    ("trapping-math", "off"),
    ("fp-contract", "fast"),
];

/// A note for each option of a flag set that wins over one of a compiler or a target, where that one won before.
pub fn changed_winners(experiment: &Experiment, builds: &[Build]) -> Vec<String> {
    let mut notes = BTreeSet::new();
    for build in builds {
        let compiler = experiment.compilers.iter().find(|c| c.name == build.compiler);
        let target = experiment.targets.iter().find(|t| t.name == build.target);
        let Some(flags) = experiment.flags.iter().find(|f| f.name == build.flags) else { continue };
        let others = [
            target.map(|target| ("target", &target.name, &target.args)),
            compiler.map(|compiler| ("compiler", &compiler.name, &compiler.args)),
        ];
        for (family, winner, value) in decided(&flags.args) {
            // Of the other two the target has always had the last word.
            let before = others.iter().flatten().find_map(|(kind, name, args)| {
                let (_, option, value) = decided(args).into_iter().find(|(other, ..)| *other == family)?;
                Some((kind, name, option, value))
            });
            if let Some((kind, name, loser, lost)) = before
                && lost != value
            {
                notes.insert(format!(
                    "flags `{}` win over {kind} `{name}`: `{winner}` comes behind `{loser}` (the order is compiler, \
                     target, flags; earlier versions had flags first, and `{loser}` won)",
                    flags.name
                ));
            }
        }
    }
    notes.into_iter().collect()
}

/// What arguments decide: the family of options, the argument that has the last word in the list, and the value.
fn decided(args: &[String]) -> Vec<(String, &str, String)> {
    let mut found: Vec<(String, &str, String)> = Vec::new();
    for arg in args {
        for (family, value) in settings(arg) {
            found.retain(|(known, ..)| *known != family);
            found.push((family, arg, value));
        }
    }
    found
}

/// The families of options that an argument decides, each with its value.
fn settings(arg: &str) -> Vec<(String, String)> {
    let one = |family: &str, value: &str| vec![(family.to_string(), value.to_string())];
    let fast = || FAST_MATH.iter().map(|(family, value)| (format!("-f{family}"), value.to_string()));
    match arg {
        "-ffast-math" => return fast().collect(),
        "-Ofast" => return fast().chain(one("-O", "fast")).collect(),
        _ => {}
    }
    if let Some(level) = arg.strip_prefix("-O") {
        return one("-O", level);
    }
    if let Some(language) = arg.strip_prefix("-std=") {
        return one("-std", language);
    }
    if let Some(define) = arg.strip_prefix("-D") {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        return one(&format!("-D{name}"), value);
    }
    if let Some(name) = arg.strip_prefix("-U") {
        return one(&format!("-D{name}"), "undefined");
    }
    for group in ["-f", "-m"] {
        let Some(rest) = arg.strip_prefix(group) else { continue };
        return match (rest.strip_prefix("no-"), rest.split_once('=')) {
            (Some(name), _) => one(&format!("{group}{name}"), "off"),
            (None, Some((name, value))) => one(&format!("{group}{name}"), value),
            (None, None) => one(&format!("{group}{rest}"), "on"),
        };
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families(arg: &str) -> Vec<String> {
        settings(arg).into_iter().map(|(family, value)| format!("{family} {value}")).collect()
    }

    #[test]
    fn options_of_one_family_are_told_whatever_their_spelling() {
        assert_eq!(families("-ffp-contract=off"), ["-ffp-contract off"]);
        assert_eq!(families("-mno-fma"), ["-mfma off"]);
        assert_eq!(families("-UN"), ["-DN undefined"]);
        assert!(families("-Ofast").contains(&"-ffp-contract fast".to_string()));
        assert!(families("file.c").is_empty());
        let args = ["-O2".to_string(), "-O3".into()];
        assert_eq!(decided(&args), [("-O".to_string(), "-O3", "3".to_string())]);
    }
}
