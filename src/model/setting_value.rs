//! Values of settings as people write them, in a matrix or on a command line, and what is made of them within bounds.

use super::nearest;
use super::settings::Budget;

/// A value as TOML has it, without its place.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Text(String),
    List(Vec<SettingValue>),
    /// Something no setting takes; says what it is.
    Other(&'static str),
}

impl SettingValue {
    /// A word of a command line.
    pub fn of_word(word: &str) -> SettingValue {
        let plain = word.replace('_', "");
        match word {
            "true" => SettingValue::Boolean(true),
            "false" => SettingValue::Boolean(false),
            _ => match (plain.parse(), plain.parse()) {
                (Ok(n), _) => SettingValue::Integer(n),
                (_, Ok(x)) => SettingValue::Float(x),
                _ => SettingValue::Text(word.into()),
            },
        }
    }

    /// A list in one word of a command line, with commas between its values.
    pub fn of_list(word: &str) -> SettingValue {
        SettingValue::List(word.split(',').map(|part| SettingValue::of_word(part.trim())).collect())
    }

    /// The value as a message names it.
    pub fn describe(&self) -> String {
        match self {
            SettingValue::Integer(n) => n.to_string(),
            SettingValue::Float(x) => format!("{x:?}"),
            SettingValue::Boolean(b) => b.to_string(),
            SettingValue::Text(text) => format!("{text:?}"),
            SettingValue::List(items) if items.len() <= 8 => {
                format!("[{}]", items.iter().map(SettingValue::describe).collect::<Vec<_>>().join(", "))
            }
            SettingValue::List(items) => format!("an array of {} values", items.len()),
            SettingValue::Other(what) => (*what).into(),
        }
    }
}

/// What a setting should have been: "an integer from 1 to 10", and the word that was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub what: String,
    pub meant: Option<String>,
}

fn expected<T>(what: impl Into<String>) -> Result<T, Expected> {
    Err(Expected { what: what.into(), meant: None })
}

pub(super) fn choice<T: Copy>(value: &SettingValue, allowed: &[(&str, T)]) -> Result<T, Expected> {
    let names = || allowed.iter().map(|(name, _)| *name);
    let word = match value {
        SettingValue::Text(word) => word.as_str(),
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

pub(super) fn boolean(value: &SettingValue) -> Result<bool, Expected> {
    match value {
        SettingValue::Boolean(b) => Ok(*b),
        _ => expected("`true` or `false`"),
    }
}

/// A whole number; 2e6 is a fair way to write one.
fn whole(value: &SettingValue) -> Option<i128> {
    match value {
        SettingValue::Integer(n) => Some(*n),
        // Exact: no fraction and far below 2^127.
        SettingValue::Float(x) if x.fract() == 0.0 && x.abs() < 1e18 => Some(*x as i128),
        _ => None,
    }
}

pub(super) fn integer(value: &SettingValue, least: u64, most: u64) -> Result<u64, Expected> {
    whole(value)
        .and_then(|n| u64::try_from(n).ok())
        .filter(|n| (least..=most).contains(n))
        .map_or_else(|| expected(format!("an integer from {least} to {most}")), Ok)
}

pub(super) fn small(value: &SettingValue, least: u32, most: u32) -> Result<u32, Expected> {
    let n = integer(value, least.into(), most.into())?;
    // Never reached: `most` is a u32.
    u32::try_from(n).or_else(|_| expected(format!("an integer from {least} to {most}")))
}

fn real(value: &SettingValue) -> Option<f64> {
    match value {
        SettingValue::Float(x) if x.is_finite() => Some(*x),
        // Nearest double: bounds are checked after.
        SettingValue::Integer(n) => Some(*n as f64),
        _ => None,
    }
}

pub(super) fn above(value: &SettingValue, least: f64, most: f64) -> Result<f64, Expected> {
    real(value)
        .filter(|x| *x > least && *x <= most)
        .map_or_else(|| expected(format!("a number greater than {least} and at most {most}")), Ok)
}

pub(super) fn between(value: &SettingValue, least: f64, most: f64) -> Result<f64, Expected> {
    real(value)
        .filter(|x| (least..=most).contains(x))
        .map_or_else(|| expected(format!("a number from {least} to {most}")), Ok)
}

pub(super) fn budget(value: &SettingValue) -> Result<Budget, Expected> {
    const MOST: u64 = 1_000_000_000_000;
    let fail = || "\"paper\" or a number of evaluations from 1 to 1_000_000_000_000".to_owned();
    match value {
        SettingValue::Text(word) if word == "paper" => Ok(Budget::Paper),
        SettingValue::Text(word) => {
            Err(Expected { what: fail(), meant: nearest(word, ["paper"]).map(str::to_owned) })
        }
        _ => integer(value, 1, MOST).map(Budget::Evaluations).or_else(|_| expected(fail())),
    }
}

pub(super) fn exponents(value: &SettingValue, least: i32, most: i32) -> Result<Vec<i32>, Expected> {
    const LONGEST: usize = 64;
    let fail = || format!("an array of 1 to {LONGEST} increasing integers from {least} to {most}");
    let SettingValue::List(items) = value else { return expected(fail()) };
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

pub(super) fn dither(value: &SettingValue) -> Result<(f64, f64), Expected> {
    if let SettingValue::List(items) = value
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
