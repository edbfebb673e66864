//! How far a patch goes to make code precise.

use crate::c::tree::CStatement;

/// From the least to the most that may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// The pragma or attribute alone.
    Precise,
    /// Multiplications and additions are not fused either.
    WithoutContraction,
    /// Mathematical functions are called as they are written: clang's pragmas do not reach its own
    /// simplifications of calls, such as `log(exp(x))`.
    WithoutBuiltins,
}

impl Remedy {
    pub const ALL: [Remedy; 3] = [Remedy::Precise, Remedy::WithoutContraction, Remedy::WithoutBuiltins];
}

/// Functions of the C library that compilers know the mathematics of; with `f` behind them too.
const KNOWN: [&str; 46] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "modf",
    "nearbyint",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
];

/// The attribute that takes this knowledge from clang in one function; None when no statement calls one.
pub fn no_builtin<'a>(statements: impl Iterator<Item = &'a CStatement>) -> Option<String> {
    let mut names: Vec<&str> = statements.flat_map(|statement| calls(&statement.text)).collect();
    names.sort_unstable();
    names.dedup();
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    (!quoted.is_empty()).then(|| format!("__attribute__((no_builtin({})))", quoted.join(", ")))
}

/// The known functions that an expression calls.
fn calls(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let names = text.match_indices('(').filter_map(move |(at, _)| {
        let before = text[..at].trim_end();
        let name = before.rsplit(|c: char| !is_word(c)).next()?;
        // A member of a structure is no function of the library.
        let member = before[..before.len() - name.len()].ends_with(['.', '>']);
        (!member).then_some(name)
    });
    names.filter(|name| KNOWN.contains(name) || name.strip_suffix('f').is_some_and(|n| KNOWN.contains(&n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_c_library_are_seen_and_others_are_not() {
        let names = |text| calls(text).collect::<Vec<_>>();
        assert_eq!(names("(e - 1.0) / log (e) + sqrtf(x)"), ["log", "sqrtf"]);
        assert_eq!(names("s->exp(x) + t.log(x) + mylog(x) + exp"), [""; 0]);
        assert_eq!(names("é(sin(x))"), ["sin"]);
    }
}
