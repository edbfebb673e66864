//! The stored form of where a run came from: `origin.json`, schema `bitrift.origin/1`. It stands beside a run, whose
//! own bytes do not depend on the place of anything.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub const ORIGIN_SCHEMA: &str = "bitrift.origin/1";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginFile {
    pub schema: String,
    /// The matrix file from the run's folder: it holds when both are moved together.
    pub matrix: PathBuf,
    /// The matrix file's whole path: it holds when the run's folder alone is moved.
    pub matrix_absolute: PathBuf,
    /// The witnesses were to be confirmed in plain executables.
    pub confirm: bool,
    /// Everything that decided the results, by name: what the run can be gone on with by.
    pub fingerprint: BTreeMap<String, String>,
}
