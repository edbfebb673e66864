//! The domain of a parameter as it is written: a text, or one number.

use toml::Spanned;
use toml::de::{DeArray, DeValue};

use super::keys::Reader;
use super::place::{Place, Text};
use super::problem::Problem;

/// What a parameter's domain is written as.
pub(super) enum RawDomain {
    Text(Text),
    /// One number, as written in decimal.
    Number(Text),
}

impl RawDomain {
    pub fn read(reader: &mut Reader<'_>, param: &str, value: &Spanned<DeValue<'_>>) -> Option<RawDomain> {
        let what = format!("the domain of `{param}`");
        if let Some(number) = number_text(value.get_ref()) {
            return Some(RawDomain::Number(Text::new(reader.file, reader.place(value), &number)));
        }
        match value.get_ref() {
            DeValue::String(_) => reader.text(&what, value, "a string").map(RawDomain::Text),
            DeValue::Array(items) => {
                reader.problems.add(as_array(&what, reader.place(value), items));
                None
            }
            _ => {
                reader.wrong_type(&what, value, "a string such as \"[0, 1]\", or a number", None);
                None
            }
        }
    }
}

/// An array of TOML looks like an interval and like a list of values, so it is taken for neither.
fn as_array(what: &str, place: Place, items: &DeArray<'_>) -> Problem {
    let written = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        other => number_text(other),
    };
    let written: Option<Vec<String>> = items.iter().map(written).collect();
    let help = match written.as_deref() {
        Some([low, high]) => both(low, high),
        Some([]) | None => both("0", "1"),
        Some(list) => format!("write \"{{{}}}\" for these values alone", list.join(", ")),
    };
    let problem = Problem::new(place, format!("{what} must be a string: an array could mean two things"));
    problem.label("an interval, or a list of values?").help(help)
}

fn both(low: &str, high: &str) -> String {
    format!(
        "write \"[{low}, {high}]\" for all values from {low} to {high}, or \"{{{low}, {high}}}\" for these two alone"
    )
}

/// A number as text: TOML's own conversion to a double would round a float twice.
fn number_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(integer) => match i128::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) => Some(number.to_string()),
            Err(_) => Some(integer.to_string()),
        },
        DeValue::Float(float) => Some(float.as_str().to_owned()),
        _ => None,
    }
}
