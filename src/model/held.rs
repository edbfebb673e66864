//! Results of the baseline that a lock holds: what it made of inputs that depend on the function's name and domain
//! alone. A change that moves the baseline and all variants alike shows in no difference between them; it shows here.

use serde::{Deserialize, Serialize};

use super::{Answer, FaultKind, Number, NumberText, Outcome, Results, Returned};
use crate::fp::{Equality, Scalar};

/// Inputs of the first block, whose results are kept as they are.
pub const KEPT_INPUTS: usize = 64;
/// Inputs of every other block, of which only a digest is kept.
pub const BLOCK_INPUTS: usize = 512;
/// Blocks behind the first, at most.
pub const MOST_BLOCKS: usize = 64;

/// Digests of inputs and results, block by block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRow {
    /// Inputs of all blocks.
    pub inputs: u64,
    /// One word of hexadecimal digits for each block; `-` for a block in which a call ran out of time, which says more
    /// about the machine than about the code.
    #[serde(with = "words")]
    pub blocks: Vec<Option<u64>>,
}

impl HeldRow {
    /// Blocks that both have and whose results are others, by number.
    pub fn moved(&self, now: &HeldRow) -> Vec<usize> {
        let both = self.blocks.iter().zip(&now.blocks).enumerate();
        both.filter(|(_, (then, now))| then.is_some() && now.is_some() && then != now)
            .map(|(k, _)| k)
            .collect()
    }

    /// Blocks that both have.
    pub fn compared(&self, now: &HeldRow) -> usize {
        self.blocks.iter().zip(&now.blocks).filter(|(then, now)| then.is_some() && now.is_some()).count()
    }

    /// Inputs of a block.
    pub fn len_of(block: usize) -> usize {
        if block == 0 { KEPT_INPUTS } else { BLOCK_INPUTS }
    }
}

/// An input of the first block with what the baseline made of it, as exact text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldValue {
    pub inputs: Vec<String>,
    pub results: Vec<String>,
}

impl HeldValue {
    pub fn new(scalars: &[Scalar], input: &[u64], results: &Results, returned: Returned<'_>) -> HeldValue {
        HeldValue {
            inputs: Number::list(scalars, input).into_iter().map(Number::hex).collect(),
            results: results.answers(returned).into_iter().map(Answer::hex).collect(),
        }
    }

    /// The input and the results as numbers; None where the text is of other types.
    pub fn typed(&self, scalars: &[Scalar], results: &Results) -> Option<(Vec<Number>, Vec<Answer>)> {
        let text = |text: &String| NumberText { hex: text.clone(), dec: String::new() };
        let types = results.scalars();
        if self.inputs.len() != scalars.len() || self.results.len() != types.len() {
            return None;
        }
        let inputs = self.inputs.iter().zip(scalars).map(|(t, &scalar)| text(t).number(scalar).ok());
        let answers = self.results.iter().zip(types).map(|(t, scalar)| text(t).answer(scalar).ok());
        Some((inputs.collect::<Option<_>>()?, answers.collect::<Option<_>>()?))
    }
}

/// The digest of a block; None where a call ran out of time.
pub fn digest<'a>(
    results: &Results,
    equality: Equality,
    block: impl Iterator<Item = (&'a [u64], Returned<'a>)>,
) -> Option<u64> {
    let mut hasher = blake3::Hasher::new_derive_key("bitrift held results 1");
    for (input, returned) in block {
        for word in input {
            hasher.update(&word.to_le_bytes());
        }
        for (k, value) in results.values().iter().enumerate() {
            match returned.value(k) {
                Outcome::Value(bits) => hasher.update(&equality.essence(value.ty, bits).to_le_bytes()),
                Outcome::Fault(FaultKind::Timeout) => return None,
                Outcome::Fault(kind) => hasher.update(kind.to_string().as_bytes()),
            };
        }
    }
    let bytes = *hasher.finalize().as_bytes();
    Some(bytes.iter().take(8).fold(0, |word, &byte| word << 8 | u64::from(byte)))
}

/// Digests on one line.
mod words {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(blocks: &[Option<u64>], serializer: S) -> Result<S::Ok, S::Error> {
        let word = |block: &Option<u64>| block.map_or_else(|| "-".to_string(), |word| format!("{word:016x}"));
        serializer.serialize_str(&blocks.iter().map(word).collect::<Vec<_>>().join(" "))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<u64>>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let block = |word: &str| match word {
            "-" => Ok(None),
            word => u64::from_str_radix(word, 16)
                .map(Some)
                .map_err(|_| D::Error::custom(format!("`{word}` is no digest of a block"))),
        };
        text.split_whitespace().map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Option<u64> {
        let words: Vec<[u64; 1]> = values.iter().map(|x| [x.to_bits()]).collect();
        let returned = |x: &f64| Returned { first: Outcome::Value(x.to_bits()), rest: &[] };
        let block = words.iter().map(|w| w.as_slice()).zip(values.iter().map(returned));
        // The inputs are the same for all.
        let block = block.map(|(_, returned)| ([7u64].as_slice(), returned));
        digest(&Results::one(Scalar::F64), Equality::default(), block)
    }

    #[test]
    fn one_moved_result_moves_its_block_and_no_other() {
        let row = |a, b| HeldRow { inputs: 3, blocks: vec![of(&[1.0, a]), of(&[b]), None] };
        assert_eq!(row(2.0, 3.0).moved(&row(2.0f64.next_up(), 3.0)), [0]);
        assert_eq!(row(2.0, 3.0).moved(&row(2.0, 4.0)), [1]);
        assert!(row(0.0, f64::NAN).moved(&row(-0.0, -f64::NAN)).is_empty(), "zeros and NaNs are one");
        assert_eq!(row(0.0, 0.0).compared(&row(1.0, 1.0)), 2);
        let text = serde_json::to_string(&row(2.0, 3.0)).unwrap();
        assert_eq!(serde_json::from_str::<HeldRow>(&text).unwrap(), row(2.0, 3.0));
    }

    #[test]
    fn a_block_with_a_timeout_has_no_digest() {
        let late = Returned { first: Outcome::Fault(FaultKind::Timeout), rest: &[] };
        assert_eq!(
            digest(&Results::one(Scalar::F64), Equality::default(), [([1u64].as_slice(), late)].into_iter()),
            None
        );
    }
}
