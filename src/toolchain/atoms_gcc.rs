//! The state of gcc's flags under a list of arguments, as `-Q --help` tells it.

use std::collections::BTreeMap;

use super::atoms::{Kind, States, Switch};
use super::compiler::Compiler;

/// Flags that decide floating-point results, the likeliest causes first.
const FLOAT: [&str; 16] = [
    "-fassociative-math",
    "-freciprocal-math",
    "-ffinite-math-only",
    "-fsigned-zeros",
    "-ftrapping-math",
    "-fmath-errno",
    "-ffp-contract=",
    "-fexcess-precision=",
    "-funsafe-math-optimizations",
    "-fcx-limited-range",
    "-fcx-fortran-rules",
    "-frounding-math",
    "-fsignaling-nans",
    "-ffloat-store",
    "-fsingle-precision-constant",
    "-ffp-int-builtin-inexact",
];
/// What gcc derives from other flags (-ffinite-math-only), or what the user's own words choose.
const NOT_SWITCHED: [&str; 4] = ["-mieee-fp", "-march=", "-mtune=", "-mcpu="];

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    On,
    Off,
    Value(String),
    /// Left to gcc: it says nothing, or `[default]`.
    Open,
}

/// The state of each flag, by its name; that of a flag with values ends in `=`.
pub(super) struct GccStates(BTreeMap<String, State>);

impl States for GccStates {
    const KEEPS_COMPOSITES: bool = true;

    fn ask(compiler: &Compiler, args: &[String]) -> Result<GccStates, String> {
        let question = ["-Q", "--help=optimizers", "--help=target"].map(String::from);
        let (answer, _) = compiler.ask(&[&question[..], args].concat())?;
        let states = parse(&answer);
        if states.is_empty() { Err("its answer names no flag".into()) } else { Ok(GccStates(states)) }
    }

    fn covers(&self, word: &str) -> bool {
        let name = match word.split_once('=') {
            Some((name, _)) => format!("{name}="),
            None => word.replacen("-fno-", "-f", 1).replacen("-mno-", "-m", 1),
        };
        word == "-ffast-math"
            || word == "-fno-fast-math"
            || (!NOT_SWITCHED.contains(&name.as_str()) && self.0.contains_key(&name))
    }

    fn has_fma(&self) -> bool {
        // Elsewhere than on x86 there is no flag for them.
        ["-mfma", "-mfma4", "-mavx512f"].iter().any(|flag| self.0.get(*flag) == Some(&State::On))
            || !self.0.contains_key("-mfma")
    }

    fn contract(&self) -> &str {
        match self.0.get("-ffp-contract=") {
            Some(State::Value(value)) => value,
            _ => "fast",
        }
    }

    fn switches(from: &GccStates, to: &GccStates, left: [&GccStates; 2]) -> Vec<Switch> {
        let state = |states: &GccStates, name: &str| states.0.get(name).cloned().unwrap_or(State::Open);
        let differs = |name: &str| {
            let wanted = state(to, name);
            [from, left[0], left[1]].iter().any(|states| state(states, name) != wanted)
        };
        // Where a flag comes on and off, gcc chooses its value.
        let implied = |name: &str| name.strip_suffix('=').is_some_and(differs);
        let names = to.0.keys().chain(from.0.keys().filter(|name| !to.0.contains_key(*name)));
        let mut names: Vec<&String> = names
            .filter(|name| differs(name) && !implied(name) && !NOT_SWITCHED.contains(&name.as_str()))
            .collect();
        let rank = |name: &str| FLOAT.iter().position(|flag| *flag == name).unwrap_or(FLOAT.len());
        names.sort_by_key(|name| (rank(name), (*name).clone()));
        let kind = |name: &str| match name {
            _ if rank(name) < FLOAT.len() => Kind::Float,
            _ if name.starts_with("-m") => Kind::Machine,
            _ => Kind::Flag,
        };
        let switch = |name: &str| {
            Switch::new(kind(name), argument(name, &state(from, name)), argument(name, &state(to, name)))
        };
        names.into_iter().map(|name| switch(name)).collect()
    }
}

/// The argument for a state.
fn argument(name: &str, state: &State) -> Option<String> {
    match state {
        State::On => Some(name.into()),
        State::Off => Some(format!("{}no-{}", name.get(..2)?, name.get(2..)?)),
        State::Value(value) => Some(format!("{name}{value}")),
        State::Open => None,
    }
}

/// Lines such as `-fexcess-precision=[fast|standard|16]  fast` and `-mfma  [disabled]`.
fn parse(answer: &str) -> BTreeMap<String, State> {
    let mut states = BTreeMap::new();
    for line in answer.lines() {
        let (flag, said) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let known = ["-f", "-m"].iter().any(|start| flag.starts_with(start));
        // A flag that is negative by its name is listed by its other name too.
        if !known || flag.starts_with("-mno-") || flag.starts_with("-fno-") {
            continue;
        }
        let name = match flag.split_once('=') {
            Some((name, _)) => format!("{name}="),
            None => flag.to_string(),
        };
        let state = match said.trim() {
            "[enabled]" => State::On,
            "[disabled]" => State::Off,
            "" | "[default]" => State::Open,
            value if name.ends_with('=') && !value.starts_with('[') => State::Value(value.into()),
            // A flag of another language, or another name of a flag.
            _ => continue,
        };
        states.insert(name, state);
    }
    // It stands for others and has no state.
    states.remove("-ffast-math");
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "The following options control optimizations:\n  -O<number>                  \t\t\n  \
        -falign-loops               \t\t[disabled]\n  -falign-loops=              \t\t\n  \
        -fassociative-math          \t\t[disabled]\n  -fexcess-precision=[fast|standard|16] \t[default]\n  \
        -ffast-math                 \t\t\n  -fhandle-exceptions         \t\t-fexceptions\n  \
        -fno-threadsafe-statics     \t\t[available in C++, ObjC++]\n  -fsigned-zeros              \t\t[enabled]\n  \
        -ftree-vrp                  \t\t[enabled]\n\nThe following options are target specific:\n  \
        -mfma                       \t\t[disabled]\n  -mno-sse4                   \t\t[enabled]\n  \
        -mmove-max=                 \t\t128\n\n  Known valid arguments for -mmove-max= option:\n    128 256\n";

    fn states(text: &str) -> GccStates {
        GccStates(parse(text))
    }

    fn after() -> String {
        let changes = [
            ("-falign-loops               \t\t[disabled]", "-falign-loops               \t\t[enabled]"),
            ("-falign-loops=              \t\t", "-falign-loops=              \t\t16"),
            ("-fassociative-math          \t\t[disabled]", "-fassociative-math          \t\t[enabled]"),
            ("[default]", "fast"),
            ("-fsigned-zeros              \t\t[enabled]", "-fsigned-zeros              \t\t[disabled]"),
            ("-mfma                       \t\t[disabled]", "-mfma                       \t\t[enabled]"),
            ("\t128\n", "\t256\n"),
        ];
        changes.iter().fold(BEFORE.to_string(), |text, (old, new)| text.replacen(old, new, 1))
    }

    #[test]
    fn flags_whose_state_differs_are_switched_both_ways_floating_point_first() {
        let (from, to) = (states(BEFORE), states(&after()));
        let switches = GccStates::switches(&from, &to, [&from, &to]);
        let texts: Vec<(String, String)> =
            switches.iter().map(|switch| (switch.from.join(" "), switch.to.join(" "))).collect();
        let wanted = [
            ("-fno-associative-math", "-fassociative-math"),
            ("-fsigned-zeros", "-fno-signed-zeros"),
            ("", "-fexcess-precision=fast"),
            ("-fno-align-loops", "-falign-loops"),
            ("-mno-fma", "-mfma"),
            ("-mmove-max=128", "-mmove-max=256"),
        ];
        assert_eq!(texts, wanted.map(|(from, to)| (from.to_string(), to.to_string())));
    }

    #[test]
    fn a_state_that_only_lost_words_gave_to_both_lists_is_stated() {
        let both = states(&after());
        let plain = states(BEFORE);
        let switches = GccStates::switches(&both, &both, [&plain, &both]);
        assert!(switches.iter().all(|switch| switch.from == switch.to));
        assert_eq!(switches[0].to, ["-fassociative-math"]);
        assert!(GccStates::switches(&plain, &plain, [&plain, &plain]).is_empty());
    }

    #[test]
    fn words_are_covered_when_the_answer_lists_their_flag() {
        let states = states(BEFORE);
        for word in ["-fno-tree-vrp", "-fexcess-precision=standard", "-mno-fma", "-ffast-math"] {
            assert!(states.covers(word), "{word}");
        }
        for word in ["-fPIC", "-DX=1", "-march=native", "-std=c99", "", "-ffp-contract", "="] {
            assert!(!states.covers(word), "{word}");
        }
    }

    #[test]
    fn noise_names_no_flag() {
        assert!(parse("noise\n\n   \n -x [enabled]\n-f").len() <= 1);
        assert!(parse("").is_empty());
    }
}
