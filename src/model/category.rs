//! The kinds of disagreement, from what most deserves a look to what least does.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The symptom of a range. A range gets the first that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// At the witness one build gave no value: it crashed, left or ran out of time.
    Fault,
    /// A finite number, an infinity and a NaN stand against each other somewhere in the range.
    ClassChange,
    /// The witness is +0 on one build and -0 on the other, where the matrix counts that.
    ZeroSign,
    /// At the witness one build has zero where the other has a subnormal number, or every input of
    /// the range is subnormal in some parameter: flushing of subnormals explains it.
    Flush,
    /// At the witness the results are nonzero and of opposite sign.
    Sign,
    /// More than 48 of a double's bits differ: not even the leading digit can be relied on.
    Magnitude,
    /// More than 32 of a double's bits differ: less than half of the digits agree.
    Halved,
    /// More than 8 of a double's bits differ: the trailing digits are lost.
    Digits,
    /// At most 8 of a double's bits differ: a few units in the last place.
    Rounding,
    /// One input that lies in no range. Locks have it; no search gives it to a range.
    Lone,
}

impl Category {
    /// Those that a range of a run may have.
    pub const ALL: [Category; 9] = [
        Category::Fault,
        Category::ClassChange,
        Category::ZeroSign,
        Category::Flush,
        Category::Sign,
        Category::Magnitude,
        Category::Halved,
        Category::Digits,
        Category::Rounding,
    ];

    /// The spelling in `run.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Fault => "fault",
            Category::ClassChange => "class-change",
            Category::ZeroSign => "zero-sign",
            Category::Flush => "flush",
            Category::Sign => "sign",
            Category::Magnitude => "magnitude",
            Category::Halved => "halved",
            Category::Digits => "digits",
            Category::Rounding => "rounding",
            Category::Lone => "lone",
        }
    }

    /// A sentence for readers who meet the name for the first time.
    pub fn meaning(self) -> &'static str {
        match self {
            Category::Fault => "At the witness one build crashed, left or ran out of time.",
            Category::ClassChange => {
                "A finite number, an infinity and a NaN stand against each other somewhere in the range."
            }
            Category::ZeroSign => "A zero has its sign on one build and lost it on the other.",
            Category::Flush => "One build flushes subnormal numbers to zero where the other keeps them.",
            Category::Sign => "At the witness the results have opposite signs.",
            Category::Magnitude => {
                "Not even the leading digit can be relied on (more than 48 bits of a double)."
            }
            Category::Halved => "Less than half of the digits agree (more than 32 bits of a double).",
            Category::Digits => "The trailing digits are lost (more than 8 bits of a double).",
            Category::Rounding => "A few units in the last place differ.",
            Category::Lone => "One input differs that lies in no range.",
        }
    }

    /// Whether a value stands against none, or a number against something else than a number: worse than any
    /// number of bits.
    pub fn changes_class(self) -> bool {
        matches!(self, Category::Fault | Category::ClassChange)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_its_own_name() {
        let names: std::collections::BTreeSet<_> = Category::ALL.iter().map(|c| c.as_str()).collect();
        assert_eq!(names.len(), Category::ALL.len());
        for category in Category::ALL.into_iter().chain([Category::Lone]) {
            assert_eq!(serde_json::to_value(category).unwrap(), category.as_str());
        }
    }
}
