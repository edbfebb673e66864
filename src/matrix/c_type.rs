//! The C types a parameter or a result may have, by their spellings (LP64: long has 64 bits).

use crate::fp::Scalar;
use crate::model::nearest;

/// What to do with a type that cannot be sampled.
pub(super) const USE_BODY: &str = "wrap the call: give `name` and scalar `params`, and a `body` that makes what the function needs and ends in `return`";

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
const WORDS: [&str; 6] = ["char", "short", "int", "long", "signed", "unsigned"];

/// Types that exist in C but cannot be sampled.
const REFUSED: [&str; 9] =
    ["void", "_Bool", "bool", "struct", "union", "enum", "_Complex", "complex", "__int128"];

/// Whether a word is part of a type's spelling.
pub(super) fn is_type_word(word: &str) -> bool {
    WORDS.contains(&word) || REFUSED.contains(&word) || ALIASES.iter().any(|(name, _)| *name == word)
}

/// Why a spelling is no usable type, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeFault {
    pub title: String,
    pub label: String,
    pub help: String,
}

/// The type that words such as `unsigned`, `long` spell.
pub(super) fn scalar_of(words: &[&str]) -> Result<Scalar, TypeFault> {
    let spelling = words.join(" ");
    if let [word] = words
        && let Some((_, scalar)) = ALIASES.iter().find(|(name, _)| name == word)
    {
        return Ok(*scalar);
    }
    if words.iter().all(|word| WORDS.contains(word)) {
        return integer(words).ok_or_else(|| unusable(&spelling, "not a C type"));
    }
    if words.contains(&"double") && words.contains(&"long") {
        return Err(unusable("long double", "not a type bitrift samples"));
    }
    if words.iter().any(|word| REFUSED.contains(word)) {
        return Err(unusable(&spelling, "not a type bitrift samples"));
    }
    Err(unknown(&spelling))
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

fn unusable(spelling: &str, label: &str) -> TypeFault {
    TypeFault {
        title: format!("`{spelling}` cannot be the type of a parameter or a result"),
        label: label.into(),
        help: match spelling {
            "bool" | "_Bool" => "use `int` with the domain `{0, 1}`, or wrap the call in a `body`".into(),
            _ => format!("usable are double, float and C's integer types; otherwise {USE_BODY}"),
        },
    }
}

fn unknown(spelling: &str) -> TypeFault {
    let near = nearest(spelling, ALIASES.iter().map(|(name, _)| *name).chain(WORDS));
    TypeFault {
        title: format!("unknown type `{spelling}`"),
        label: near
            .map_or("not double, float or an integer type".into(), |near| format!("did you mean `{near}`?")),
        help: "write the C type a typedef stands for: double, float, or an integer type such as int, \
               unsigned long, size_t, int32_t"
            .into(),
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
        assert!(scalar_of(&["duoble"]).unwrap_err().label.contains("`double`"));
    }
}
