//! Beside a lock file, results of the baseline as they were accepted: the lock has their digests, this file the values, so
//! that a lock stays short enough to be reviewed and a moved result can be shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{StoreError, atomic, read};
use crate::model::HeldValue;

const VALUES_SCHEMA: &str = "bitrift.values/1";

/// The whole of `bitrift.lock.values.json`.
#[derive(Serialize, Deserialize)]
struct ValuesFile {
    schema: String,
    /// By function.
    functions: BTreeMap<String, Vec<HeldValue>>,
}

/// `bitrift.lock.json` has `bitrift.lock.values.json`.
fn path_of(lock: &Path) -> PathBuf {
    lock.with_extension("values.json")
}

/// The values beside a lock; none where there is no such file. A gate believes only those whose digest the lock has.
pub fn read_values(lock: &Path) -> Result<BTreeMap<String, Vec<HeldValue>>, StoreError> {
    let path = path_of(lock);
    if read::metadata(&path)?.is_none() {
        return Ok(BTreeMap::new());
    }
    let file: ValuesFile = read::read_json(&path, VALUES_SCHEMA)?;
    Ok(file.functions)
}

/// Plain data always has a JSON text.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// One value a line, so that a change is a short diff.
pub fn write_values(lock: &Path, functions: &BTreeMap<String, Vec<HeldValue>>) -> Result<(), StoreError> {
    let path = path_of(lock);
    if functions.is_empty() && read::metadata(&path)?.is_none() {
        return Ok(());
    }
    let mut lines = format!("{{\n  \"schema\": \"{VALUES_SCHEMA}\",\n  \"functions\": {{");
    for (k, (name, values)) in functions.iter().enumerate() {
        let comma = if k == 0 { "" } else { "," };
        lines.push_str(&format!("{comma}\n    {}: [", json(name)));
        let values: Vec<String> = values.iter().map(|value| format!("\n      {}", json(value))).collect();
        lines.push_str(&values.join(","));
        lines.push_str("\n    ]");
    }
    lines.push_str("\n  }\n}\n");
    atomic::write(&path, lines.as_bytes())
}
