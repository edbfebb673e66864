//! The words of C's types and the scalars they spell (LP64: long has 64 bits).

use crate::fp::Scalar;

/// Names that stand for one type alone.
const ALIASES: [(&str, Scalar); 15] = [
    ("size_t", Scalar::U64),
    ("ssize_t", Scalar::I64),
    ("ptrdiff_t", Scalar::I64),
    ("intptr_t", Scalar::I64),
    ("uintptr_t", Scalar::U64),
    ("int8_t", Scalar::I8),
    ("uint8_t", Scalar::U8),
    ("int16_t", Scalar::I16),
    ("uint16_t", Scalar::U16),
    ("int32_t", Scalar::I32),
    ("uint32_t", Scalar::U32),
    ("int64_t", Scalar::I64),
    ("uint64_t", Scalar::U64),
    ("double", Scalar::F64),
    ("float", Scalar::F32),
];

/// Words that combine: `unsigned long int`.
const COMBINING: [&str; 6] = ["char", "short", "int", "long", "signed", "unsigned"];

/// Words of types that are no scalars of ours.
const OTHER: [&str; 9] =
    ["void", "_Bool", "bool", "struct", "union", "enum", "_Complex", "complex", "__int128"];

/// Whether a word is part of a type's spelling.
pub fn is_type_word(word: &str) -> bool {
    OTHER.contains(&word) || scalar_words().any(|known| known == word)
}

/// Every word that scalars are spelled with.
pub fn scalar_words() -> impl Iterator<Item = &'static str> {
    ALIASES.iter().map(|(name, _)| *name).chain(COMBINING)
}

/// Why words spell no scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoScalar {
    /// Words of integers in a combination that C has not got.
    Impossible,
    LongDouble,
    /// A type of C that is no scalar of ours.
    Other,
    /// Nothing that C knows by itself.
    Unknown,
}

/// The scalar that words such as `unsigned`, `long` spell.
pub fn scalar_of(words: &[&str]) -> Result<Scalar, NoScalar> {
    if let [word] = words
        && let Some((_, scalar)) = ALIASES.iter().find(|(name, _)| name == word)
    {
        return Ok(*scalar);
    }
    if words.iter().all(|word| COMBINING.contains(word)) {
        return integer(words).ok_or(NoScalar::Impossible);
    }
    if words.contains(&"double") && words.contains(&"long") {
        return Err(NoScalar::LongDouble);
    }
    let is_other = words.iter().any(|word| OTHER.contains(word));
    Err(if is_other { NoScalar::Other } else { NoScalar::Unknown })
}

/// The integer type of a multiset of words; None when C has no such combination.
fn integer(words: &[&str]) -> Option<Scalar> {
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    let (char, short, int, long) = (count("char"), count("short"), count("int"), count("long"));
    let (signed, unsigned) = (count("signed"), count("unsigned"));
    if words.is_empty() || char > 1 || short > 1 || int > 1 || long > 2 || signed + unsigned > 1 {
        return None;
    }
    let signed = unsigned == 0;
    let pick = |yes, no| Some(if signed { yes } else { no });
    match (char, short, int, long) {
        // Plain char is signed on x86-64.
        (1, 0, 0, 0) => pick(Scalar::I8, Scalar::U8),
        (0, 1, _, 0) => pick(Scalar::I16, Scalar::U16),
        (0, 0, _, 0) => pick(Scalar::I32, Scalar::U32),
        (0, 0, _, 1 | 2) => pick(Scalar::I64, Scalar::U64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_integers_in_any_order() {
        for (text, scalar) in [
            ("char", Scalar::I8),
            ("signed char", Scalar::I8),
            ("unsigned char", Scalar::U8),
            ("short", Scalar::I16),
            ("short int", Scalar::I16),
            ("unsigned short", Scalar::U16),
            ("int", Scalar::I32),
            ("signed", Scalar::I32),
            ("unsigned", Scalar::U32),
            ("unsigned int", Scalar::U32),
            ("int unsigned", Scalar::U32),
            ("long", Scalar::I64),
            ("unsigned long", Scalar::U64),
            ("long long int", Scalar::I64),
            ("long unsigned int", Scalar::U64),
            ("size_t", Scalar::U64),
            ("int8_t", Scalar::I8),
            ("uint64_t", Scalar::U64),
            ("double", Scalar::F64),
            ("float", Scalar::F32),
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(scalar_of(&words), Ok(scalar), "{text}");
        }
    }

    #[test]
    fn other_types_are_refused() {
        for text in [
            "void",
            "long double",
            "double long",
            "struct point",
            "long long long",
            "unsigned float",
            "short long",
            "signed unsigned",
            "char int",
            "size_t int",
            "real",
            "_Bool",
            "double _Complex",
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert!(scalar_of(&words).is_err(), "{text}");
        }
    }
}
