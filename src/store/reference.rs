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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_of_the_gsl_fixture_is_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/gsl/reference.toml");
        let reference = read_reference(&path).unwrap();
        let (published, timed) = (reference.published.unwrap(), reference.timed.unwrap());
        assert_eq!((published.functions, published.rows[0].over), (175, [125, 127, 133, 163]));
        assert_eq!((timed.functions.len(), timed.functions[0].evaluations), (7, 3866));
    }

    #[test]
    fn a_time_of_nothing_is_refused() {
        let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
        let text =
            r#"{"timed": {"source": "", "functions": [{"name": "f", "seconds": 0, "evaluations": 1}]}}"#;
        std::fs::write(file.path(), text).unwrap();
        let error = read_reference(file.path()).unwrap_err().to_string();
        assert!(error.contains("the seconds of f are 0"), "{error}");
    }
}
