//! Data and scripts inside a page: nothing in them can end the element they are in, and the browser runs
//! only the one script whose hash the page declares.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::model::printable;

/// JSON for a `<script type="application/json">`: what could be read as markup, and what cannot be seen,
/// is escaped inside the strings.
pub(super) fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            // Line separators, and marks that make an editor show another order than the one read.
            c if !c.is_ascii() && hides(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    safe.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => safe.push(c),
        }
    }
    Ok(safe)
}

fn hides(c: char) -> bool {
    !printable(c.encode_utf8(&mut [0; 4])).starts_with(c)
}

/// What a content security policy calls a script by.
pub(super) fn hash(script: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_data_reads_as_markup() {
        let hostile = "</script><!--<script>&amp;\u{2028}\u{2029}\u{202e}\u{e0041}\"'{{ }} ü";
        let text = json(&vec![hostile]).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{202e}', '\u{e0041}']), "{text}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [hostile]);
    }

    #[test]
    fn a_hash_is_the_one_of_the_standard() {
        // The example of the Content Security Policy specification.
        assert_eq!(hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
    }
}
