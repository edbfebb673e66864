//! The stored form of a confirmation: `confirm.json`, schema `bitrift.confirm/1`. It stands beside a run,
//! which is never rewritten.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answer, FindingId};

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

impl Confirmed {
    pub fn as_str(self) -> &'static str {
        match self {
            Confirmed::Yes => "yes",
            Confirmed::No => "no",
            Confirmed::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "A: Deserialize<'de>"))]
pub struct ConfirmRow<A = Answer> {
    pub confirmed: Confirmed,
    /// The value that differs most, of a function that gives several: the answers are its.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
    /// What the executables answer; None where there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<A>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<A>,
    /// Why not, in words; empty when confirmed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl ConfirmRow {
    /// Of a witness that could not be tried.
    pub fn unknown(reason: String) -> ConfirmRow {
        ConfirmRow { confirmed: Confirmed::Unknown, worst: None, baseline: None, variant: None, reason }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmFile<A = Answer> {
    pub schema: String,
    pub witnesses: BTreeMap<FindingId, ConfirmRow<A>>,
}
