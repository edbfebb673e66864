//! What clang's driver says to its own compiler under a list of arguments, and the arguments that say it
//! one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::arguments::words;
use super::atoms::{Kind, States, Switch};
use super::compiler::Compiler;

/// Words on the line of the compiler proper, and the driver's arguments for their presence and for their
/// absence. The driver derives -ffast-math, -funsafe-math-optimizations and -ffinite-math-only on that line
/// from these, and says -mreassociate only without signed zeros and trapping math.
const FLOAT: [(&str, &str, &str); 8] = [
    ("-mreassociate", "-fassociative-math", "-fno-associative-math"),
    ("-freciprocal-math", "-freciprocal-math", "-fno-reciprocal-math"),
    ("-menable-no-nans", "-fno-honor-nans", "-fhonor-nans"),
    ("-menable-no-infs", "-fno-honor-infinities", "-fhonor-infinities"),
    ("-fno-signed-zeros", "-fno-signed-zeros", "-fsigned-zeros"),
    ("-fapprox-func", "-fapprox-func", "-fno-approx-func"),
    ("-fmath-errno", "-fmath-errno", "-fno-math-errno"),
    ("-frounding-math", "-frounding-math", "-fno-rounding-math"),
];
const CONTRACT: &str = "-ffp-contract=";
const DENORMAL: &str = "-fdenormal-fp-math=";
const EXCEPTIONS: &str = "-ffp-exception-behavior=";
/// Arguments whose effects are all among the words above.
const TOLD: [&str; 8] = [
    "-ffast-math",
    "-funsafe-math-optimizations",
    "-ffinite-math-only",
    "-ftrapping-math",
    "-ffp-model=",
    CONTRACT,
    DENORMAL,
    EXCEPTIONS,
];
const START_UP: &str = "-ffast-math's start-up code";

/// Passes that the driver's arguments switch: the argument for on, the one for off, the word of the compiler
/// proper for on, and the levels at which they do not run without a word.
const PASSES: [(&str, &str, &str, &[&str]); 4] = [
    ("-fvectorize", "-fno-vectorize", "-vectorize-loops", &[]),
    ("-fslp-vectorize", "-fno-slp-vectorize", "-vectorize-slp", &[]),
    ("-finline-functions", "-fno-inline-functions", "-finline-functions", &["-O0"]),
    ("-funroll-loops", "-fno-unroll-loops", "-funroll-loops", &["-O0", "-O1", "-Og"]),
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Floats {
    present: [bool; FLOAT.len()],
    contract: String,
    denormal: String,
    exceptions: String,
    /// Whether an executable is linked with code that sets the floating-point environment.
    start_up: bool,
}

/// The effects of a list of arguments.
pub(super) struct ClangStates {
    floats: Floats,
    passes: [bool; PASSES.len()],
    /// Features of the processor, on or off.
    features: BTreeMap<String, bool>,
}

impl States for ClangStates {
    const KEEPS_COMPOSITES: bool = false;

    fn ask(compiler: &Compiler, args: &[String]) -> Result<ClangStates, String> {
        let end = ["-###", "-c", "-x", "c", "/dev/null"].map(String::from);
        let (_, answer) = compiler.ask(&[args, &end[..]].concat())?;
        let line = proper_line(&answer).ok_or("its answer does not name its own compiler")?;
        Ok(ClangStates {
            floats: floats(&line, args),
            passes: passes(&line),
            features: features(&machine_answer(compiler, args)?),
        })
    }

    fn covers(&self, word: &str) -> bool {
        let name = match word.split_once('=') {
            Some((name, _)) => format!("{name}="),
            None => word.replacen("-fno-", "-f", 1),
        };
        let same = |argument: &str| argument == word;
        TOLD.contains(&name.as_str())
            || FLOAT.iter().any(|(_, on, off)| same(on) || same(off))
            || PASSES.iter().any(|(on, off, ..)| same(on) || same(off))
            || word.strip_prefix("-m").is_some_and(|feature| {
                self.features.contains_key(feature.strip_prefix("no-").unwrap_or(feature))
            })
    }

    fn has_fma(&self) -> bool {
        // Elsewhere than on x86 there is no feature for them.
        ["fma", "fma4", "avx512f"].iter().any(|name| self.features.get(*name) == Some(&true))
            || !self.features.contains_key("sse2")
    }

    fn contract(&self) -> &str {
        &self.floats.contract
    }

    fn switches(from: &ClangStates, to: &ClangStates, left: [&ClangStates; 2]) -> Vec<Switch> {
        let all = [from, to, left[0], left[1]];
        let mut switches = Vec::new();
        // All or none: the driver decides each of its words by several of these.
        if all.iter().any(|states| states.floats != to.floats) {
            switches = float_switches(&from.floats, &to.floats);
        }
        for (at, (on, off, ..)) in PASSES.iter().enumerate() {
            if all.iter().any(|states| states.passes[at] != to.passes[at]) {
                let argument =
                    |states: &ClangStates| Some(if states.passes[at] { on } else { off }.to_string());
                switches.push(Switch::new(Kind::Flag, argument(from), argument(to)));
            }
        }
        let names: BTreeSet<&String> = all.iter().flat_map(|states| states.features.keys()).collect();
        for name in names {
            let on = |states: &ClangStates| states.features.get(name) == Some(&true);
            if all.iter().any(|states| on(states) != on(to)) {
                let argument =
                    |states: &ClangStates| Some(format!("-m{}{name}", if on(states) { "" } else { "no-" }));
                switches.push(Switch::new(Kind::Machine, argument(from), argument(to)));
            }
        }
        switches
    }
}

fn float_switches(from: &Floats, to: &Floats) -> Vec<Switch> {
    let both =
        |argument: &dyn Fn(&Floats) -> Option<String>| Switch::new(Kind::Float, argument(from), argument(to));
    let table = FLOAT.iter().enumerate().map(|(at, (_, on, off))| {
        both(&|floats| Some(if floats.present[at] { on } else { off }.to_string()))
    });
    let mut switches: Vec<Switch> = table.collect();
    switches.push(both(&|floats| Some(format!("{CONTRACT}{}", floats.contract))));
    switches.push(both(&|floats| Some(format!("{DENORMAL}{}", floats.denormal))));
    let start_up = both(&|floats| floats.start_up.then(|| "-ffast-math".into()));
    switches.push(Switch { name: Some(START_UP), ..start_up });
    switches.push(both(&|floats| {
        Some(match floats.exceptions.as_str() {
            "strict" => "-ftrapping-math".into(),
            // What clang does without a word; the driver lets nothing be reassociated unless it is told.
            "ignore" => "-fno-trapping-math".into(),
            other => format!("{EXCEPTIONS}{other}"),
        })
    }));
    switches
}

/// The words of the first line that calls the compiler proper.
fn proper_line(answer: &str) -> Option<Vec<String>> {
    let line = answer.lines().find(|line| line.contains("\"-cc1\""))?;
    // Every second piece between quotes; an escaped quote only occurs in words that are not asked for.
    Some(line.split('"').skip(1).step_by(2).map(String::from).collect())
}

fn floats(line: &[String], args: &[String]) -> Floats {
    let value = |name: &str, default: &str| {
        let found = line.iter().rev().find_map(|word| word.strip_prefix(name));
        found.unwrap_or(default).to_string()
    };
    Floats {
        present: FLOAT.map(|(word, _, _)| line.iter().any(|other| other == word)),
        contract: value(CONTRACT, "off"),
        denormal: value(DENORMAL, "ieee,ieee"),
        exceptions: value(EXCEPTIONS, "ignore"),
        start_up: links_start_up(args),
    }
}

/// As the driver decides it: by the level, else by the last composite.
fn links_start_up(args: &[String]) -> bool {
    let last = |wanted: &dyn Fn(&str) -> bool| args.iter().rev().find(|arg| wanted(arg)).map(String::as_str);
    let composite = last(&|arg| {
        ["-ffast-math", "-funsafe-math-optimizations"].contains(&arg.replacen("-fno-", "-f", 1).as_str())
    });
    last(&|arg| arg.starts_with("-O")) == Some("-Ofast")
        || composite.is_some_and(|arg| !arg.starts_with("-fno-"))
}

fn passes(line: &[String]) -> [bool; PASSES.len()] {
    let has = |word: &str| line.iter().any(|other| other == word);
    let level = line.iter().rev().find(|word| word.starts_with("-O")).map_or("-O0", String::as_str);
    PASSES.map(|(_, off, on, not_at)| {
        // The vectorizers always have their word when they run.
        let by_level = !not_at.is_empty() && !not_at.contains(&level);
        has(on) || (by_level && !has(off))
    })
}

/// A function as clang prints it under the machine options of a list; others could name files that are not
/// here.
fn machine_answer(compiler: &Compiler, args: &[String]) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = folder.path().join("probe.c");
    fs::write(&source, "void probe(void) {}\n").map_err(|e| e.to_string())?;
    let machine = |word: &Vec<String>| {
        word[0].starts_with("-m") || word[0] == "-target" || word[0].starts_with("--target")
    };
    let mut question: Vec<String> = words(args).into_iter().filter(machine).flatten().collect();
    question.extend(["-w", "-S", "-emit-llvm", "-o", "-", "-x", "c"].map(String::from));
    question.push(source.display().to_string());
    compiler.ask(&question).map(|(answer, _)| answer)
}

/// `"target-features"="+avx,-avx512f"` as names with their states.
fn features(answer: &str) -> BTreeMap<String, bool> {
    let list = answer.split_once("\"target-features\"=\"").map_or("", |(_, rest)| rest);
    let list = list.split('"').next().unwrap_or("");
    let state = |feature: &str| match (feature.strip_prefix('+'), feature.strip_prefix('-')) {
        (Some(name), _) => Some((name.to_string(), true)),
        (_, Some(name)) => Some((name.to_string(), false)),
        _ => None,
    };
    list.split(',').filter_map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "Debian clang version 16.0.6\n \"/usr/lib/llvm-16/bin/clang\" \"-cc1\" \"-triple\" \
        \"x86_64-pc-linux-gnu\" \"-menable-no-nans\" \"-fapprox-func\" \"-fdenormal-fp-math=preserve-sign,preserve-sign\" \
        \"-ffp-contract=fast\" \"-fno-rounding-math\" \"-O3\" \"-vectorize-loops\" \"-fno-unroll-loops\" \"-x\" \"c\"\n";

    #[test]
    fn the_line_of_the_compiler_proper_gives_the_states() {
        let line = proper_line(ANSWER).unwrap();
        let floats = floats(&line, &[]);
        let on: Vec<&str> = FLOAT
            .iter()
            .zip(floats.present)
            .filter(|(_, on)| *on)
            .map(|((_, argument, _), _)| *argument)
            .collect();
        assert_eq!(on, ["-fno-honor-nans", "-fapprox-func"]);
        assert_eq!(
            (floats.contract.as_str(), floats.denormal.as_str(), floats.exceptions.as_str(), floats.start_up),
            ("fast", "preserve-sign,preserve-sign", "ignore", false)
        );
        assert_eq!(passes(&line), [true, false, true, false]);
        assert_eq!(proper_line("clang: error: no input files\n"), None);
    }

    #[test]
    fn features_are_read_with_their_states() {
        let text = "attributes #0 = { \"target-cpu\"=\"x86-64\" \"target-features\"=\"+avx,-fma,+sse4.1\" }";
        let wanted = [("avx", true), ("fma", false), ("sse4.1", true)];
        assert_eq!(features(text), wanted.map(|(name, on)| (name.to_string(), on)).into_iter().collect());
        assert!(features("no attributes").is_empty());
        assert!(features("\"target-features\"=\"").is_empty());
    }

    #[test]
    fn the_last_composite_or_the_level_links_the_start_up_code() {
        for (args, wanted) in [
            ("-O3 -ffast-math", true),
            ("-Ofast -fno-fast-math", true),
            ("-Ofast -O2", false),
            ("-ffast-math -fno-unsafe-math-optimizations", false),
            ("-fno-fast-math -funsafe-math-optimizations", true),
            ("-fassociative-math", false),
        ] {
            let args: Vec<String> = args.split_whitespace().map(String::from).collect();
            assert_eq!(links_start_up(&args), wanted, "{args:?}");
        }
    }
}
