//! The comparisons of a domain's text: `> 0`, `!= 0.5`.

use crate::fp::Scalar;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    /// Whether a special value passes; a NaN is unequal to everything and nothing else.
    pub fn holds(self, ty: Scalar, bits: u64, than: i128) -> bool {
        let Some(at) = ty.ordinal(bits) else { return self == Comparison::NotEqual };
        match self {
            Comparison::Less => at < than,
            Comparison::LessOrEqual => at <= than,
            Comparison::Greater => at > than,
            Comparison::GreaterOrEqual => at >= than,
            Comparison::Equal => at == than,
            Comparison::NotEqual => at != than,
        }
    }
}

/// Longer signs first, so that `<=` is not read as `<`.
pub(super) const SIGNS: [(&str, Comparison); 6] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];
