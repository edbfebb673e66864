//! The stored form of a measurement of speed: `speed.json`, schema `bitrift.speed/1`. It stands beside a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::BuildId;

pub const SPEED_SCHEMA: &str = "bitrift.speed/1";

/// What calls of one build take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedRow {
    pub build: BuildId,
    /// Nanoseconds a call, by function: the least of several rounds.
    pub functions: BTreeMap<String, f64>,
    /// Its calls cannot be compared with native ones.
    #[serde(default)]
    pub emulated: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedFile {
    pub schema: String,
    pub cpu: String,
    pub builds: Vec<SpeedRow>,
}
