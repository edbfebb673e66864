//! Plain data as one text that is the same in every process and for every version of the compiler: what digests
//! and keys are made of.

use serde::Serialize;

/// The JSON of a value: every field by its name, maps in their order.
pub fn canonical(value: &impl Serialize) -> String {
    // Plain data with string keys always has a JSON text.
    serde_json::to_string(value).unwrap_or_default()
}
