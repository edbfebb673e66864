//! The settings of a search by name: the one description that the matrix file, the command line and the manual share.

use super::setting_value::{
    Expected, SettingValue, above, between, boolean, budget, choice, dither, exponents, integer, small,
};
use super::settings::{ClusterBackend, SearchSettings};
use super::strategy::StrategyName;
use crate::fp::{NanPolicy, ZeroPolicy};

/// Puts a value into settings, or says what it should have been.
type Set = fn(&mut SearchSettings, &SettingValue) -> Result<(), Expected>;

/// One setting of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchKey {
    /// As in `[search]`. The option of the command line has hyphens in it.
    pub name: &'static str,
    /// What stands for a value in the help of the command line.
    pub value_name: &'static str,
    pub help: &'static str,
    set: Set,
}

const fn key(name: &'static str, value_name: &'static str, help: &'static str, set: Set) -> SearchKey {
    SearchKey { name, value_name, help, set }
}

/// Every setting of a search.
pub const SEARCH_KEYS: [SearchKey; 27] = [
    key(
        "strategy",
        "NAME",
        "The search algorithm (`exhaustive`: every input, whatever the budget)",
        |s, v| {
            s.strategy = choice(v, &StrategyName::ALL.map(|name| (name.as_str(), name)))?;
            Ok(())
        },
    ),
    key("seed", "N", "The one seed of every random choice", |s, v| {
        s.seed = integer(v, 0, u64::MAX)?;
        Ok(())
    }),
    key(
        "budget",
        "N|paper",
        "Evaluations for each function and variant, or the paper's own budget",
        |s, v| {
            s.budget = budget(v)?;
            Ok(())
        },
    ),
    key("timeout_ms", "MS", "CPU milliseconds one call may take", |s, v| {
        s.timeout_ms = integer(v, 1, 3_600_000)?;
        Ok(())
    }),
    key("max_faults", "N", "Faults of a function and build after which it is given up", |s, v| {
        s.max_faults = small(v, 1, 1_000_000)?;
        Ok(())
    }),
    key(
        "pace_us",
        "US",
        "Mean microseconds of an evaluation; a slower function gets fewer evaluations",
        |s, v| {
            s.pace_us = above(v, 0.0, 1e9)?;
            Ok(())
        },
    ),
    key("deadline_s", "S", "Seconds one function may take; results then depend on the machine", |s, v| {
        s.deadline_s = Some(above(v, 0.0, 31_536_000.0)?);
        Ok(())
    }),
    key("memory_mb", "MB", "Address space of a worker in MiB", |s, v| {
        s.memory_mb = integer(v, 64, 16_777_216)?;
        Ok(())
    }),
    key("batch", "N", "Inputs evaluated between two switches of build", |s, v| {
        s.batch = small(v, 1, 1_048_576)?;
        Ok(())
    }),
    key(
        "nan",
        "any|sign|payload",
        "What of a NaN counts: nothing (any), its sign, or all its bits (payload)",
        |s, v| {
            s.nan = choice(v, &NanPolicy::ALL)?;
            Ok(())
        },
    ),
    key("zero", "any|sign", "What of a zero counts: nothing (any), or its sign", |s, v| {
        s.zero = choice(v, &ZeroPolicy::ALL)?;
        Ok(())
    }),
    key("samples", "N", "Partitioned samples: N * 2^parameters, at most 65536", |s, v| {
        s.samples = small(v, 1, 1_000_000)?;
        Ok(())
    }),
    key("dense", "N", "Samples in each candidate range: N * 2^parameters, at most 65536", |s, v| {
        s.dense = small(v, 1, 1_000_000)?;
        Ok(())
    }),
    key("partitions_f64", "E,E,...", "Powers of two that bound a double's partitions, ascending", |s, v| {
        s.partitions_f64 = exponents(v, -1074, 1023)?;
        Ok(())
    }),
    key("partitions_f32", "E,E,...", "Powers of two that bound a float's partitions, ascending", |s, v| {
        s.partitions_f32 = exponents(v, -149, 127)?;
        Ok(())
    }),
    key("coverage", "true|false", "Sample every exponent of every parameter", |s, v| {
        s.coverage = boolean(v)?;
        Ok(())
    }),
    key("edges", "true|false", "Sample edge values: largest, smallest, ends of domains", |s, v| {
        s.edges = boolean(v)?;
        Ok(())
    }),
    key(
        "literals",
        "true|false",
        "Sample numbers of the sources: what the function and those it calls compare with",
        |s, v| {
            s.literals = boolean(v)?;
            Ok(())
        },
    ),
    key(
        "threshold",
        "X",
        "Distance that parts two clusters, of the normalised span, times sqrt(parameters)",
        |s, v| {
            s.threshold = above(v, 0.0, 1.0)?;
            Ok(())
        },
    ),
    key("clustering", "grid|linfa", "Implementation of single linkage", |s, v| {
        s.clustering = choice(v, &ClusterBackend::ALL)?;
        Ok(())
    }),
    key("popsize", "N", "Members of the population for each parameter", |s, v| {
        s.popsize = small(v, 4, 10_000)?;
        Ok(())
    }),
    key("generations", "N", "Generations of the differential evolution; 0 for none", |s, v| {
        s.generations = small(v, 0, 100_000)?;
        Ok(())
    }),
    key("crossover", "0..1", "Probability that a parameter is taken from the mutant", |s, v| {
        s.crossover = between(v, 0.0, 1.0)?;
        Ok(())
    }),
    key("dither", "LO,HI", "Limits of the mutation factor, drawn anew for each generation", |s, v| {
        s.dither = dither(v)?;
        Ok(())
    }),
    key("tolerance", "X", "Stop when the population's spread is below this part of its mean", |s, v| {
        s.tolerance = between(v, 0.0, 1.0)?;
        Ok(())
    }),
    key("tighten", "true|false", "Bisect the sides of each range and split it at clean gaps", |s, v| {
        s.tighten = boolean(v)?;
        Ok(())
    }),
    key("gap", "X", "The narrowest clean gap, in binades, that splits a range", |s, v| {
        s.gap = above(v, 0.0, 4096.0)?;
        Ok(())
    }),
];

/// Their names.
pub const SEARCH_KEY_NAMES: [&str; SEARCH_KEYS.len()] = {
    let mut names = [""; SEARCH_KEYS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = SEARCH_KEYS[i].name;
        i += 1;
    }
    names
};

impl SearchKey {
    /// The key of that name.
    pub fn named(name: &str) -> Option<&'static SearchKey> {
        SEARCH_KEYS.iter().find(|key| key.name == name)
    }

    /// Sets it, or says what it should have been.
    pub fn set(&self, settings: &mut SearchSettings, value: &SettingValue) -> Result<(), Expected> {
        (self.set)(settings, value)
    }

    /// Whether a value is a list, which on a command line is one word.
    pub fn is_list(&self) -> bool {
        self.value_name.contains(',')
    }

    /// A word of a command line as a value that it takes, or what it should have been.
    pub fn parse(&self, word: &str) -> Result<SettingValue, Expected> {
        let value = if self.is_list() { SettingValue::of_list(word) } else { SettingValue::of_word(word) };
        self.set(&mut SearchSettings::default(), &value)?;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Budget;

    fn set(name: &str, word: &str) -> Result<SearchSettings, String> {
        let key = SearchKey::named(name).unwrap();
        let mut settings = SearchSettings::default();
        let value = key.parse(word).map_err(|expected| format!("{} {:?}", expected.what, expected.meant))?;
        key.set(&mut settings, &value).unwrap();
        Ok(settings)
    }

    #[test]
    fn every_known_key_can_be_set_and_changes_something() {
        let words = [
            "cigen", "7", "paper", "20", "5", "7.5", "1.5", "256", "64", "sign", "sign", "10", "11", "-3,4",
            "0", "false", "false", "false", "0.3", "linfa", "30", "0", "0.9", "0.4,0.6", "0", "false", "2",
        ];
        for (key, word) in SEARCH_KEYS.into_iter().zip(words) {
            assert_ne!(set(key.name, word).unwrap(), SearchSettings::default(), "{}", key.name);
        }
    }

    #[test]
    fn a_value_out_of_bounds_is_answered_with_the_bounds() {
        for (key, value, words) in [
            ("popsize", "3", "an integer from 4 to 10000"),
            ("max_faults", "0", "an integer from 1 to 1000000"),
            ("memory_mb", "63", "an integer from 64 to"),
            ("budget", "0", "\"paper\" or a number of evaluations from 1 to"),
            ("budget", "papre", "Some(\"paper\")"),
            ("threshold", "0", "greater than 0 and at most 1"),
            ("threshold", "1.5", "greater than 0 and at most 1"),
            ("crossover", "nan", "a number from 0 to 1"),
            ("partitions_f32", "3,3", "increasing"),
            ("partitions_f64", "-1075,3", "from -1074 to 1023"),
            ("dither", "1.0,0.5", "0 < low <= high"),
            ("dither", "0,0.5", "0 < low <= high"),
            ("nan", "none", "one of \"any\", \"sign\""),
            ("seed", "-1", "an integer from 0 to"),
            ("coverage", "1", "`true` or `false`"),
        ] {
            let message = set(key, value).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn whole_floats_are_integers() {
        assert_eq!(set("budget", "2e6").unwrap().budget, Budget::Evaluations(2_000_000));
        assert!(set("budget", "2.5").is_err());
    }

    #[test]
    fn the_manual_has_every_key_with_its_bounds_and_its_default() {
        let manual = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/matrix.md")).unwrap();
        let rows: Vec<&str> = manual
            .lines()
            .skip_while(|line| !line.starts_with("| key of `[search]` |"))
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .collect();
        assert_eq!(rows.len(), SEARCH_KEYS.len());
        for (row, key) in rows.into_iter().zip(SEARCH_KEYS) {
            let bounds =
                key.set(&mut SearchSettings::default(), &SettingValue::Other("nothing")).unwrap_err();
            let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches([' ', '|'])).collect();
            let &[name, help, what, default] = cells.as_slice() else { panic!("{row}") };
            assert_eq!(name, format!("`{}`", key.name));
            assert_eq!((help, what), (key.help, bounds.what.as_str()));
            if default != "none" {
                let settings = set(key.name, default.trim_matches('`')).unwrap();
                assert_eq!(settings, SearchSettings::default(), "{row}");
            }
        }
    }
}
