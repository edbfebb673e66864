//! The stored form of a confirmation: `confirm.json`, schema `bitrift.confirm/1`. It stands beside a run,
//! which is never rewritten.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::NumberText;

pub const CONFIRM_SCHEMA: &str = "bitrift.confirm/1";

/// Whether plain executables, built with the builds' own flags and nothing added, show a witness too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirmed {
    /// Both builds answer as stored.
    Yes,
    /// They do not.
    No,
    /// One of them could not be made or asked.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmRow {
    pub confirmed: Confirmed,
    /// What the executables answer; None where there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<NumberText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<NumberText>,
    /// Why not, in words; empty when confirmed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl ConfirmRow {
    /// Of a witness that could not be tried.
    pub fn unknown(reason: String) -> ConfirmRow {
        ConfirmRow { confirmed: Confirmed::Unknown, baseline: None, variant: None, reason }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmFile {
    pub schema: String,
    /// By the id of a finding: a range's id, or `function#build.max` for a comparison's own witness.
    pub witnesses: BTreeMap<String, ConfirmRow>,
}
