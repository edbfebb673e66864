//! `[[limit]]`, and the limits of a `[[function]]`: what a gate lets pass.

use toml::de::{DeTable, DeValue};

use super::keys::{Keys, Reader};
use super::place::{At, Place, Text};
use super::problem::{Problem, Problems};
use super::raw::{RawFunction, to_value};
use crate::fp::Tolerance;
use crate::model::SettingValue;
use crate::model::{Function, Limit, LimitRule};

pub(super) const LIMIT: &[&str] = &["function", "build", "max_bits", "allow", "expect", "tolerance"];
const TOLERANCE: &[&str] = &["abs", "rel"];

/// No two results are further apart.
const MOST_BITS: f64 = 64.0;

pub(super) struct RawLimit {
    pub place: Place,
    pub function: Option<Text>,
    pub build: Option<Text>,
    pub rules: RawRules,
}

/// What a limit says, wherever it stands.
#[derive(Default)]
pub(super) struct RawRules {
    pub max_bits: Option<At<SettingValue>>,
    pub allow: Option<Text>,
    pub expect: Option<bool>,
    pub tolerance: Option<RawTolerance>,
}

/// The parts of a tolerance, each a number.
pub(super) struct RawTolerance {
    place: Place,
    abs: Option<At<SettingValue>>,
    rel: Option<At<SettingValue>>,
}

pub(super) fn read(reader: &mut Reader<'_>, place: Place, table: DeTable<'_>) -> RawLimit {
    let mut keys = Keys::open(reader, "[[limit]]", place, table, LIMIT);
    RawLimit {
        place,
        function: keys.text(reader, "function"),
        build: keys.text(reader, "build"),
        rules: read_rules(reader, &mut keys),
    }
}

pub(super) fn read_rules(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> RawRules {
    RawRules {
        max_bits: number(reader, keys, "max_bits"),
        allow: keys.text(reader, "allow"),
        expect: keys.boolean(reader, "expect"),
        tolerance: read_tolerance(reader, keys),
    }
}

fn number(reader: &Reader<'_>, keys: &mut Keys<'_>, key: &str) -> Option<At<SettingValue>> {
    let value = keys.value(key)?;
    Some(At { place: reader.place(&value), value: to_value(&value) })
}

fn read_tolerance(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Option<RawTolerance> {
    let value = keys.value("tolerance")?;
    let place = reader.place(&value);
    let DeValue::Table(table) = value.get_ref() else {
        let help = "write `tolerance = { abs = 1e-12 }`, `{ rel = 1e-9 }`, or both".to_string();
        reader.wrong_type("`tolerance`", &value, "a table with `abs`, `rel` or both", Some(help));
        return None;
    };
    let mut parts = Keys::open(reader, "`tolerance`", place, table.clone(), TOLERANCE);
    let (abs, rel) = (number(reader, &mut parts, "abs"), number(reader, &mut parts, "rel"));
    Some(RawTolerance { place, abs, rel })
}

/// All limits: those of functions first, so that a `[[limit]]` can say more about one build.
pub(super) fn resolve(
    raw: &[RawLimit],
    raw_functions: &[RawFunction],
    functions: &[Function],
    problems: &mut Problems,
) -> Vec<Limit> {
    let mut limits = Vec::new();
    for (index, entry) in raw_functions.iter().enumerate() {
        let (rule, expect) = rules(&entry.limit, problems);
        // A function that could not be read has its own problem.
        let tolerance = entry.limit.tolerance.as_ref().map(|raw| tolerance(raw, problems));
        let says_something = rule.is_some() || expect || tolerance.is_some();
        if let (true, Some(function)) = (says_something, functions.get(index)) {
            let function = Some(glob::Pattern::escape(&function.name));
            limits.push(Limit { function, build: None, rule, tolerance, expect });
        }
    }
    let names: Vec<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    for entry in raw {
        let RawRules { max_bits, allow, expect, tolerance: within } = &entry.rules;
        if max_bits.is_none() && allow.is_none() && expect.is_none() && within.is_none() {
            let problem = Problem::new(entry.place, "[[limit]] limits nothing")
                .label("expected `max_bits`, `allow`, `expect` or `tolerance`");
            problems.add(problem.help("for example `max_bits = 8`, or `allow = \"why it may differ\"`"));
        }
        check_function(entry.function.as_ref(), &names, problems);
        check_pattern(entry.build.as_ref(), problems);
        let (rule, expect) = rules(&entry.rules, problems);
        let value = |text: &Option<Text>| text.as_ref().map(|text| text.value.clone());
        limits.push(Limit {
            function: value(&entry.function),
            build: value(&entry.build),
            rule,
            tolerance: within.as_ref().map(|raw| tolerance(raw, problems)),
            expect,
        });
    }
    limits
}

fn rules(raw: &RawRules, problems: &mut Problems) -> (Option<LimitRule>, bool) {
    if let (Some(max_bits), Some(allow)) = (&raw.max_bits, &raw.allow) {
        let problem = Problem::new(allow.place, "a limit has `max_bits` or `allow`, not both");
        let problem = problem.label("lets every difference pass").also(max_bits.place, "sets a limit");
        problems.add(problem.help("keep one; a second [[limit]] can be about other builds"));
    }
    let expect = raw.expect.unwrap_or(false);
    if let Some(allow) = &raw.allow {
        if allow.value.trim().is_empty() {
            let problem = Problem::new(allow.place, "`allow` has no reason");
            problems.add(problem.label("expected why differences are fine here"));
        }
        return (Some(LimitRule::Allow(allow.value.clone())), expect);
    }
    let rule = raw.max_bits.as_ref().map(|bits| LimitRule::MaxBits(max_bits(bits, problems)));
    (rule, expect)
}

fn tolerance(raw: &RawTolerance, problems: &mut Problems) -> Tolerance {
    let mut part = |key: &str, value: &Option<At<SettingValue>>, most: f64, allowed: &str| {
        let Some(value) = value else { return 0.0 };
        let number = plain(&value.value);
        if !(0.0..=most).contains(&number) {
            let problem = Problem::new(value.place, format!("`{key}` of a tolerance must be {allowed}"));
            problems.add(problem.label(format!("this is {}", value.value.describe())));
        }
        number
    };
    let tolerance = Tolerance {
        abs: part("abs", &raw.abs, f64::MAX, "a finite number of at least 0"),
        rel: part("rel", &raw.rel, 1.0, "a number from 0 to 1"),
    };
    if raw.abs.is_none() && raw.rel.is_none() {
        let problem =
            Problem::new(raw.place, "`tolerance` tolerates nothing").label("expected `abs` or `rel`");
        problems.add(problem.help("for example `tolerance = { abs = 1e-12 }`"));
    }
    tolerance
}

/// A number as a double; NaN where it is none.
fn plain(value: &SettingValue) -> f64 {
    match *value {
        // The nearest double; limits are far from where that matters.
        SettingValue::Integer(n) => n as f64,
        SettingValue::Float(x) => x,
        _ => f64::NAN,
    }
}

fn max_bits(value: &At<SettingValue>, problems: &mut Problems) -> f64 {
    let bits = plain(&value.value);
    if !(0.0..=MOST_BITS).contains(&bits) {
        let problem = Problem::new(value.place, format!("`max_bits` must be a number from 0 to {MOST_BITS}"));
        problems.add(problem.label(format!("this is {}", value.value.describe())));
    }
    bits
}

/// Names of functions are known here; those of builds are the plan's.
fn check_function(text: Option<&Text>, names: &[&str], problems: &mut Problems) {
    let Some(text) = text else { return };
    let Some(pattern) = check_pattern(Some(text), problems) else { return };
    if !names.iter().any(|name| pattern.matches(name)) {
        let title = format!("no function matches `{}`", text.as_str());
        let names = names.iter().copied();
        problems.add(Problem::new(text.place, title).meant(
            text.as_str(),
            names,
            "matches nothing",
            "functions",
        ));
    }
}

fn check_pattern(text: Option<&Text>, problems: &mut Problems) -> Option<glob::Pattern> {
    let text = text?;
    match glob::Pattern::new(text.as_str()) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let problem = Problem::new(text.place, format!("`{}` is not a valid glob", text.as_str()));
            problems.add(problem.label(error.msg));
            None
        }
    }
}
