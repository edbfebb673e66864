//! Expressions whose value a licence of fast-math changes. The value stays a whole number, so that all that follows is exact.
//!
//! A call or a product is around every sum: LLVM takes a precise sum apart when a fast one adds it to something, and the
//! statement would be guilty even with all licences taken from it.

use super::Kind;

/// An expression over `a` and `b` to add to a local.
pub fn term(kind: Kind, variant: usize, operands: [&str; 2]) -> String {
    let choices: &[&str] = match kind {
        Kind::Reassociation => &[
            "fabs((({a} + 0x1p57) - 0x1p57) - {a})",
            "fabs(({a} + 0x1p62) - 0x1p62)",
            "({a} - (({a} + 0x1p58) - 0x1p58)) * {b}",
            "fabs((0x1p59 + {a} + {b}) - 0x1p59)",
        ],
        // Products of 57 bits and more; what is left of them is rounding.
        Kind::Contraction => &[
            "fabs(({a} - 0x1p28) * ({b} + 0x1p29) + (0x1p57 + {b} * 0x1p28 - {a} * 0x1p29) - {a} * {b})",
            "fabs(({a} + 0x1p29) * ({a} + 0x1p29) - ({a} * 0x1p30 + 0x1p58) - {a} * {a})",
            "fabs((({b} - {a}) * 0x1p29 + 0x1p58) - (0x1p29 - {a}) * (0x1p29 + {b}) - {a} * {b})",
        ],
        // The remainder by an odd number keeps what the last bit of the quotient says.
        Kind::Reciprocal => &[
            "fmod({a} / 49.0 * 0x1p52, 61.0)",
            "fmod({a} / 103.0 * 0x1p52, 27.0)",
            "fmod(({a} + {b} + 1.0) / 7.0 * 0x1p52, 45.0)",
            "fmod((0x1p40 + {a}) / ({b} * {b} + 3.0) * 0x1p52, 9.0) \
             + fmod((0x1p41 - {a}) / ({b} * {b} + 3.0) * 0x1p52, 7.0) \
             + fmod((0x1p42 + {b}) / ({b} * {b} + 3.0) * 0x1p52, 5.0)",
        ],
    };
    filled(choices[variant % choices.len()], operands)
}

/// A condition that turns out otherwise.
pub fn condition(kind: Kind, variant: usize, operands: [&str; 2]) -> String {
    let choices: &[&str] = match kind {
        Kind::Reassociation => {
            &["({a} + 0x1p57) - 0x1p57 != {a}", "(({a} + {b}) + 0x1p58) - 0x1p58 == {a} + {b}"]
        }
        Kind::Contraction => &[
            "({a} + 0x1p30) * ({a} - 0x1p30) + 0x1p60 != {a} * {a}",
            "({b} - 0x1p31) * ({b} + 0x1p31) + 0x1p62 == {b} * {b}",
        ],
        Kind::Reciprocal => {
            &["fmod({a} / 49.0 * 0x1p52, 3.0) == 0.0", "fmod(({a} + {b} + 1.0) / 103.0 * 0x1p52, 5.0) != 0.0"]
        }
    };
    filled(choices[variant % choices.len()], operands)
}

fn filled(text: &str, [a, b]: [&str; 2]) -> String {
    text.replace("{a}", a).replace("{b}", b)
}
