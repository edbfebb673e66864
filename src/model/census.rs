//! Every input of a domain counted for one variant, by cells of the axis.

use serde::{Deserialize, Serialize};

use crate::fp::Side;

/// A cell of 1/16 binade (of an integer: a small stretch), numbered from zero outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusCell {
    pub side: Side,
    pub index: u64,
    pub inputs: u64,
    pub inconsistent: u64,
}

/// What a sweep of a whole domain counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    pub inputs: u64,
    pub inconsistent: u64,
    /// Inconsistent inputs with as many bits as the witness.
    pub at_max: u64,
    /// Cells that hold inputs: negative side first, each side away from zero.
    pub cells: Vec<CensusCell>,
}
