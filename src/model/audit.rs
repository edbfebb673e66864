//! What the machine code of a build is made of, as far as that decides its bits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Instructions of one function and of what it calls. None of a kind is not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCounts {
    /// Multiplications and additions rounded once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fma: u64,
    /// Estimates of a reciprocal or of the reciprocal of a square root.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub approximate: u64,
    /// Arithmetic of the x87, which rounds to 64 bits; moves are not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub x87: u64,
    /// Places that refer to a vector function of a mathematics library.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub vector_math: u64,
    /// Those of the instructions counted whose bits the maker of the processor decides, such as `rcpps`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub by_maker: BTreeSet<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl InstructionCounts {
    pub fn is_empty(&self) -> bool {
        *self == InstructionCounts::default()
    }

    pub fn add(&mut self, other: &InstructionCounts) {
        self.fma += other.fma;
        self.approximate += other.approximate;
        self.x87 += other.x87;
        self.vector_math += other.vector_math;
        self.by_maker.extend(other.by_maker.iter().cloned());
    }
}

/// The instructions of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// By the function's name; one without any is left out.
    pub functions: BTreeMap<String, InstructionCounts>,
    /// A digest of the function's code by its name, where all of that is known: equal in builds with the same code.
    pub digests: BTreeMap<String, String>,
    /// Why they could not be counted; empty when they were.
    pub unread: String,
}
