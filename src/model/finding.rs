//! The id of a finding: how commands, files and reports name one difference of a run.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::BuildId;

/// `function#build.place`, such as `sinh#gcc/O3/native.2`. It is unique in a run and stable for a seed, and has
/// the build's name and not its index, so that adding a build renames nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FindingId {
    pub function: String,
    pub build: BuildId,
    pub place: FindingPlace,
}

/// Which finding of a function and build it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingPlace {
    /// A range, counted from 1.
    Range(usize),
    /// The comparison's own witness: the input of most bits.
    Max,
    /// What only the replay of a gate showed.
    Gate,
}

impl FindingId {
    /// The range at an index of a comparison's list.
    pub fn of_range(function: &str, build: &BuildId, index: usize) -> FindingId {
        FindingId { function: function.into(), build: build.clone(), place: FindingPlace::Range(index + 1) }
    }

    /// A comparison's own witness.
    pub fn of_max(function: &str, build: &BuildId) -> FindingId {
        FindingId { function: function.into(), build: build.clone(), place: FindingPlace::Max }
    }

    /// What a gate saw at a witness of its lock.
    pub fn of_gate(function: &str, build: &BuildId) -> FindingId {
        FindingId { function: function.into(), build: build.clone(), place: FindingPlace::Gate }
    }
}

const MAX: &str = "max";
const GATE: &str = "gate";

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}.", self.function, self.build)?;
        match self.place {
            FindingPlace::Range(number) => write!(f, "{number}"),
            FindingPlace::Max => f.write_str(MAX),
            FindingPlace::Gate => f.write_str(GATE),
        }
    }
}

/// By their texts, which is the order that files have them in.
impl Ord for FindingId {
    fn cmp(&self, other: &FindingId) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl PartialOrd for FindingId {
    fn partial_cmp(&self, other: &FindingId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Why a text is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no id of a finding; expected function#build.1, with the number of a range, or function#build.max"
)]
pub struct ParseFindingIdError(String);

impl FromStr for FindingId {
    type Err = ParseFindingIdError;

    fn from_str(text: &str) -> Result<FindingId, ParseFindingIdError> {
        let parts = || {
            let (function, rest) = text.split_once('#')?;
            let (build, place) = rest.rsplit_once('.')?;
            let place = match place {
                MAX => FindingPlace::Max,
                GATE => FindingPlace::Gate,
                number => FindingPlace::Range(number.parse().ok()?),
            };
            let id = FindingId { function: function.into(), build: build.into(), place };
            // `+1` and `01` are numbers too, and no ids.
            (id.to_string() == text).then_some(id)
        };
        parts().ok_or_else(|| ParseFindingIdError(text.into()))
    }
}

impl From<FindingId> for String {
    fn from(id: FindingId) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for FindingId {
    type Error = ParseFindingIdError;

    fn try_from(text: String) -> Result<FindingId, ParseFindingIdError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_from_its_text() {
        for text in ["f#gcc-12.2/O3/native.1", "f#gcc/O3/native/env.max", "a.b#c.d.10", "f#x.gate"] {
            assert_eq!(text.parse::<FindingId>().unwrap().to_string(), text);
        }
        let id: FindingId = "f#gcc-12.2/O3/native.12".parse().unwrap();
        assert_eq!(id, FindingId::of_range("f", &"gcc-12.2/O3/native".into(), 11));
        for odd in ["", "f", "f#gcc", "f#gcc.", "f#gcc.01", "f#gcc.+1", "f#gcc.most"] {
            assert!(odd.parse::<FindingId>().is_err(), "{odd}");
        }
    }

    #[test]
    fn ids_are_ordered_as_their_texts_are() {
        let id = |index| FindingId::of_range("f", &"b".into(), index);
        assert!(id(9) < id(1), "f#b.10 stands before f#b.2");
        assert!(id(1) < FindingId::of_max("f", &"b".into()));
    }
}
