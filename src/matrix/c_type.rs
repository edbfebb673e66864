//! Why a C type cannot be that of a parameter or a result, in the words of the matrix.

use std::ops::Range;

use super::problem::Fault;
use crate::c::{self, NoScalar};
use crate::fp::Scalar;
use crate::model::nearest;

/// What to do with a type that cannot be sampled.
pub(super) const USE_BODY: &str = "wrap the call: give `name` and scalar `params`, and a `body` that makes what the function needs and ends in `return`";

/// Why a spelling is no usable type, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeFault {
    pub title: String,
    pub label: String,
    pub help: String,
}

impl TypeFault {
    /// In the text of the type.
    pub fn at(&self, range: Range<usize>) -> Fault {
        Fault::new(range, self.title.clone()).label(self.label.clone()).help(self.help.clone())
    }
}

/// The type that words such as `unsigned`, `long` spell.
pub(super) fn scalar_of(words: &[&str]) -> Result<Scalar, TypeFault> {
    const UNSAMPLED: &str = "not a type bitrift samples";
    let spelling = words.join(" ");
    c::scalar_of(words).map_err(|why| match why {
        NoScalar::Impossible => unusable(&spelling, "not a C type"),
        NoScalar::LongDouble => unusable("long double", UNSAMPLED),
        NoScalar::Other => unusable(&spelling, UNSAMPLED),
        NoScalar::Unknown => unknown(&spelling),
    })
}

fn unusable(spelling: &str, label: &str) -> TypeFault {
    TypeFault {
        title: format!("`{spelling}` cannot be the type of a parameter or a result"),
        label: label.into(),
        help: match spelling {
            "bool" | "_Bool" => {
                "use a parameter `int` with the domain `{0, 1}` and a `call`, or wrap the call in a `body`"
                    .into()
            }
            _ => format!("usable are double, float and C's integer types; otherwise {USE_BODY}"),
        },
    }
}

fn unknown(spelling: &str) -> TypeFault {
    let near = nearest(spelling, c::scalar_words());
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
    fn a_type_that_is_misspelt_comes_with_the_one_it_resembles() {
        assert!(scalar_of(&["duoble"]).unwrap_err().label.contains("`double`"));
    }
}
