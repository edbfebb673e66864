//! Reading a list of what others measured, TOML or JSON, to stand beside a bench.

use std::path::Path;

use super::error::shown;
use super::{StoreError, read};
use crate::model::{Reference, printable};

/// The list in a file; JSON when its name says so.
pub fn read_reference(path: &Path) -> Result<Reference, StoreError> {
    let fail = |message: String| StoreError::Reference { path: shown(path), message };
    let bytes = read::read_bounded(path)?;
    let text = String::from_utf8(bytes).map_err(|_| fail("it is not UTF-8".into()))?;
    let parsed: Result<Reference, String> = match path.extension().is_some_and(|e| e == "json") {
        true => serde_json::from_str(&text).map_err(|e| e.to_string()),
        false => toml::from_str(&text).map_err(|e| e.to_string()),
    };
    // Line by line, because TOML's messages show the place.
    let tidy = |message: String| message.lines().map(printable).collect::<Vec<_>>().join("\n  ");
    let reference = parsed.map_err(|message| fail(tidy(message)))?;
    let timed = reference.timed.iter().flat_map(|timed| &timed.functions);
    for function in timed {
        if !(function.seconds.is_finite() && function.seconds > 0.0) {
            let name = printable(&function.name);
            return Err(fail(format!(
                "the seconds of {name} are {}; expected more than 0",
                function.seconds
            )));
        }
    }
    Ok(reference)
}
