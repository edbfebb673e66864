//! The search settings by name: which values each accepts. Used by `[search]` and by the command line.

use toml::de::DeValue;

use super::MatrixError;
use super::suggest::{nearest, quoted};
use crate::fp::NanPolicy;
use crate::model::{Budget, ClusterBackend, SearchSettings, StrategyName};

/// Every key of `[search]`.
pub const SEARCH_KEYS: [&str; 26] = [
    "strategy",
    "seed",
    "budget",
    "timeout_ms",
    "max_faults",
    "pace_us",
    "deadline_s",
    "memory_mb",
    "batch",
    "nan",
    "samples",
    "dense",
    "partitions_f64",
    "partitions_f32",
    "coverage",
    "edges",
    "literals",
    "threshold",
    "clustering",
    "popsize",
    "generations",
    "crossover",
    "dither",
    "tolerance",
    "tighten",
    "gap",
];

/// A value as TOML has it, without its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Text(String),
    List(Vec<Value>),
    /// Something no setting takes; says what it is.
    Other(&'static str),
}

impl Value {
    /// The value as a message names it.
    pub fn describe(&self) -> String {
        match self {
            Value::Integer(n) => n.to_string(),
            Value::Float(x) => format!("{x:?}"),
            Value::Boolean(b) => b.to_string(),
            Value::Text(text) => format!("{text:?}"),
            Value::List(items) if items.len() <= 8 => {
                format!("[{}]", items.iter().map(Value::describe).collect::<Vec<_>>().join(", "))
            }
            Value::List(items) => format!("an array of {} values", items.len()),
            Value::Other(what) => (*what).into(),
        }
    }
}

/// What a setting should have been: "an integer from 1 to 10", and the word that was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub what: String,
    pub meant: Option<String>,
}

fn expected<T>(what: impl Into<String>) -> Result<T, Expected> {
    Err(Expected { what: what.into(), meant: None })
}

/// Sets one search setting from text, as on a command line: `popsize`, `30`.
pub fn set_search_key(settings: &mut SearchSettings, key: &str, text: &str) -> Result<(), MatrixError> {
    let fail = |message| MatrixError::Setting { key: key.into(), message };
    if !SEARCH_KEYS.contains(&key) {
        let near =
            nearest(key, SEARCH_KEYS).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        return Err(fail(format!("unknown search setting `{key}`; {near}known are {}", quoted(SEARCH_KEYS))));
    }
    // What is no TOML value is a word: `paper` needs no quotes on a command line.
    let value = match DeValue::parse(text) {
        Ok(value) => super::raw::to_value(&value),
        Err(_) => Value::Text(text.into()),
    };
    apply(settings, key, &value).map_err(|wrong| {
        let near = wrong.meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        fail(format!("search setting `{key}` must be {}, not {}{near}", wrong.what, value.describe()))
    })
}

/// Sets a known key, or says what it should have been.
pub(super) fn apply(s: &mut SearchSettings, key: &str, value: &Value) -> Result<(), Expected> {
    match key {
        "strategy" => s.strategy = choice(value, &StrategyName::ALL.map(|name| (name.as_str(), name)))?,
        "seed" => s.seed = integer(value, 0, i64::MAX.cast_unsigned())?,
        "budget" => s.budget = budget(value)?,
        "timeout_ms" => s.timeout_ms = integer(value, 1, 3_600_000)?,
        "max_faults" => s.max_faults = small(value, 1, 1_000_000)?,
        "pace_us" => s.pace_us = above(value, 0.0, 1e9)?,
        "deadline_s" => s.deadline_s = Some(above(value, 0.0, 31_536_000.0)?),
        "memory_mb" => s.memory_mb = integer(value, 64, 16_777_216)?,
        "batch" => s.batch = small(value, 1, 1_048_576)?,
        "nan" => s.nan = choice(value, &NanPolicy::ALL)?,
        "samples" => s.samples = small(value, 1, 1_000_000)?,
        "dense" => s.dense = small(value, 1, 1_000_000)?,
        "partitions_f64" => s.partitions_f64 = exponents(value, -1074, 1023)?,
        "partitions_f32" => s.partitions_f32 = exponents(value, -149, 127)?,
        "coverage" => s.coverage = boolean(value)?,
        "edges" => s.edges = boolean(value)?,
        "literals" => s.literals = boolean(value)?,
        "threshold" => s.threshold = above(value, 0.0, 1.0)?,
        "clustering" => {
            s.clustering =
                choice(value, &[("grid", ClusterBackend::Grid), ("linfa", ClusterBackend::Linfa)])?;
        }
        "popsize" => s.popsize = small(value, 4, 10_000)?,
        // None at all is allowed: it switches differential evolution off.
        "generations" => s.generations = small(value, 0, 100_000)?,
        "crossover" => s.crossover = between(value, 0.0, 1.0)?,
        "dither" => s.dither = dither(value)?,
        "tolerance" => s.tolerance = between(value, 0.0, 1.0)?,
        "tighten" => s.tighten = boolean(value)?,
        "gap" => s.gap = above(value, 0.0, 4096.0)?,
        _ => return expected(format!("one of {}", quoted(SEARCH_KEYS))),
    }
    Ok(())
}

fn choice<T: Copy>(value: &Value, allowed: &[(&str, T)]) -> Result<T, Expected> {
    let names = || allowed.iter().map(|(name, _)| *name);
    let word = match value {
        Value::Text(word) => word.as_str(),
        _ => "",
    };
    allowed.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice).ok_or_else(|| Expected {
        what: match allowed {
            [(only, _)] => format!("\"{only}\""),
            _ => {
                format!("one of {}", names().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", "))
            }
        },
        meant: nearest(word, names()).map(str::to_owned),
    })
}

fn boolean(value: &Value) -> Result<bool, Expected> {
    match value {
        Value::Boolean(b) => Ok(*b),
        _ => expected("`true` or `false`"),
    }
}

/// A whole number; 2e6 is a fair way to write one.
fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Integer(n) => Some(*n),
        // Exact: no fraction and far below 2^127.
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 1e18 => Some(*x as i128),
        _ => None,
    }
}

fn integer(value: &Value, least: u64, most: u64) -> Result<u64, Expected> {
    whole(value)
        .and_then(|n| u64::try_from(n).ok())
        .filter(|n| (least..=most).contains(n))
        .map_or_else(|| expected(format!("an integer from {least} to {most}")), Ok)
}

fn small(value: &Value, least: u32, most: u32) -> Result<u32, Expected> {
    let n = integer(value, least.into(), most.into())?;
    // Never reached: `most` is a u32.
    u32::try_from(n).or_else(|_| expected(format!("an integer from {least} to {most}")))
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Float(x) if x.is_finite() => Some(*x),
        // Nearest double: bounds are checked after.
        Value::Integer(n) => Some(*n as f64),
        _ => None,
    }
}

fn above(value: &Value, least: f64, most: f64) -> Result<f64, Expected> {
    real(value)
        .filter(|x| *x > least && *x <= most)
        .map_or_else(|| expected(format!("a number greater than {least} and at most {most}")), Ok)
}

fn between(value: &Value, least: f64, most: f64) -> Result<f64, Expected> {
    real(value)
        .filter(|x| (least..=most).contains(x))
        .map_or_else(|| expected(format!("a number from {least} to {most}")), Ok)
}

fn budget(value: &Value) -> Result<Budget, Expected> {
    const MOST: u64 = 1_000_000_000_000;
    let fail = || "\"paper\" or a number of evaluations from 1 to 1_000_000_000_000".to_owned();
    match value {
        Value::Text(word) if word == "paper" => Ok(Budget::Paper),
        Value::Text(word) => {
            Err(Expected { what: fail(), meant: nearest(word, ["paper"]).map(str::to_owned) })
        }
        _ => integer(value, 1, MOST).map(Budget::Evaluations).or_else(|_| expected(fail())),
    }
}

fn exponents(value: &Value, least: i32, most: i32) -> Result<Vec<i32>, Expected> {
    const LONGEST: usize = 64;
    let fail = || format!("an array of 1 to {LONGEST} increasing integers from {least} to {most}");
    let Value::List(items) = value else { return expected(fail()) };
    let list: Option<Vec<i32>> = items
        .iter()
        .map(|item| {
            let n = i32::try_from(whole(item)?).ok()?;
            (least..=most).contains(&n).then_some(n)
        })
        .collect();
    list.filter(|list| !list.is_empty() && list.len() <= LONGEST && list.is_sorted_by(|a, b| a < b))
        .map_or_else(|| expected(fail()), Ok)
}

fn dither(value: &Value) -> Result<(f64, f64), Expected> {
    if let Value::List(items) = value
        && let [low, high] = items.as_slice()
        && let (Some(low), Some(high)) = (real(low), real(high))
        && low > 0.0
        && low <= high
        && high <= 2.0
    {
        return Ok((low, high));
    }
    expected("two numbers `[low, high]` with 0 < low <= high <= 2")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: &str, text: &str) -> Result<SearchSettings, String> {
        let mut settings = SearchSettings::default();
        set_search_key(&mut settings, key, text).map_err(|e| e.to_string())?;
        Ok(settings)
    }

    #[test]
    fn every_known_key_can_be_set_and_changes_something() {
        let values = [
            "cigen",
            "7",
            "paper",
            "20",
            "5",
            "7.5",
            "1.5",
            "256",
            "64",
            "sign",
            "10",
            "11",
            "[-3, 4]",
            "[0]",
            "false",
            "false",
            "false",
            "0.3",
            "linfa",
            "30",
            "0",
            "0.9",
            "[0.4, 0.6]",
            "0",
            "false",
            "2",
        ];
        for (key, value) in SEARCH_KEYS.into_iter().zip(values) {
            let changed = set(key, value).unwrap();
            assert!(key == "strategy" || changed != SearchSettings::default(), "{key}");
        }
    }

    #[test]
    fn a_value_out_of_bounds_is_answered_with_the_bounds() {
        for (key, value, words) in [
            ("popsize", "3", "an integer from 4 to 10000, not 3"),
            ("budget", "0", "\"paper\" or a number of evaluations from 1 to"),
            ("budget", "papre", "did you mean `paper`?"),
            ("threshold", "0", "greater than 0 and at most 1"),
            ("crossover", "nan", "a number from 0 to 1"),
            ("partitions_f32", "[3, 3]", "increasing"),
            ("dither", "[1.0, 0.5]", "0 < low <= high"),
            ("nan", "none", "one of \"any\", \"sign\""),
            ("seed", "-1", "an integer from 0 to"),
            ("coverage", "1", "`true` or `false`"),
            ("popsze", "1", "did you mean `popsize`?"),
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
}
