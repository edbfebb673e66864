//! The stored form of what is true of a function: `truth/NAME.json`, schema `bitrift.truth/1`.
//!
//! Field names are a contract with every reader outside this program.

use serde::{Deserialize, Serialize};

use super::number::c_name;
use super::{Answer, BuildRow, HostRow, Number, ParamRow, WitnessRow};
use crate::fp::{Scalar, Side};

pub const TRUTH_SCHEMA: &str = "bitrift.truth/1";

/// A closed stretch of the swept parameter's domain, on one side of zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthSegment<N = Number> {
    pub lo: N,
    pub hi: N,
}

/// Inconsistent inputs of consecutive cells of one side, away from zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthCells {
    pub side: Side,
    /// Number of the first cell: its distance from zero on the axis, in cells.
    pub first: u64,
    /// Words: `-` a clean cell, `+` one whose every input is inconsistent, else the number of
    /// inconsistent inputs in base 36. `12*-` is twelve clean cells.
    pub counts: String,
}

/// One variant against the baseline, every input of the domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruthComparison<N = Number, A = Answer> {
    pub build: BuildRow,
    pub inputs: u64,
    pub inconsistent: u64,
    pub max_bits: f64,
    /// Inconsistent inputs with `max_bits`.
    pub at_max: u64,
    /// None when nothing is inconsistent.
    pub witness: Option<WitnessRow<N, A>>,
    /// Cells of 1/16 binade that hold inputs.
    pub cells: u64,
    /// Those that hold an inconsistent one.
    pub cells_inconsistent: u64,
    pub counts: Vec<TruthCells>,
}

/// The whole of a truth file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruthFile<N = Number, A = Answer> {
    pub schema: String,
    /// The version that wrote it.
    pub bitrift: String,
    /// The lab.
    pub name: String,
    pub host: HostRow,
    pub function: String,
    pub params: Vec<ParamRow>,
    /// The result's type.
    #[serde(with = "c_name")]
    pub result: Scalar,
    /// The values of a function that gives several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ParamRow>,
    /// As written in the matrix; empty: every finite value.
    pub domains: Vec<String>,
    /// Index of the parameter that was swept; the others are fixed.
    pub swept: usize,
    /// Its domain.
    pub segments: Vec<TruthSegment<N>>,
    pub baseline: BuildRow,
    pub comparisons: Vec<TruthComparison<N, A>>,
}
