//! The types in the head of a function, as far as their words tell. Names that a typedef or a macro makes mean
//! nothing here: what they stand for is the compiler's to say.

use super::definitions::{closing, split_at_commas};
use crate::c::token::{Token, tokens};
use crate::c::types::{NoScalar, is_type_word, scalar_of};
use crate::fp::Scalar;

/// The types of a function's result and parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub returns: TypeWords,
    /// None when the list is not one of plain declarations.
    pub parameters: Option<Vec<TypeWords>>,
}

/// A type as its words tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeWords {
    Scalar(Scalar),
    LongDouble,
    Complex(Scalar),
    /// `struct pair`
    Tagged(String),
    Void,
    /// A pointer or an array, to whatever.
    Pointer,
    /// Nothing that C knows by itself.
    Unknown,
}

/// Words in front of a type that do not change what is passed.
const BESIDE: [&str; 14] = [
    "extern",
    "static",
    "inline",
    "__inline",
    "__inline__",
    "const",
    "volatile",
    "register",
    "restrict",
    "__restrict",
    "__restrict__",
    "__extension__",
    "_Noreturn",
    "__const",
];

impl Heading {
    /// Of the tokens in front of a body; the function's name is at `name`.
    pub(super) fn read(head: &[Token], name: usize) -> Heading {
        let open = name + 1;
        let inside = head.get(open + 1..closing(head, open).min(head.len())).unwrap_or_default();
        let parameters: Vec<TypeWords> = match inside {
            [] => Vec::new(),
            [only] if only.is_name("void") => Vec::new(),
            _ => split_at_commas(inside).into_iter().map(|declared| type_words(declared, true)).collect(),
        };
        // `f()` says nothing of its parameters, and one word alone may be a macro for several.
        let is_word =
            matches!(inside, [] | [Token::Name(_)]) && !matches!(inside, [only] if only.is_name("void"));
        let is_plain = !is_word || matches!(inside, [Token::Name(word)] if is_type_word(word));
        let is_plain = is_plain && !inside.iter().any(|token| token.is("("));
        Heading { returns: type_words(&head[..name], false), parameters: is_plain.then_some(parameters) }
    }

    /// Of a prototype; None when it is none.
    pub fn of_prototype(text: &str) -> Option<Heading> {
        let head = tokens(text);
        let name = head.windows(2).position(|pair| pair[0].name().is_some() && pair[1].is("("))?;
        Some(Heading::read(&head, name))
    }

    /// Whether one of two heads cannot be meant by the other, whatever unknown names stand for.
    pub fn contradicts(&self, other: &Heading) -> bool {
        let parameters = match (&self.parameters, &other.parameters) {
            (Some(own), Some(others)) => {
                own.len() != others.len() || own.iter().zip(others).any(|(a, b)| a.contradicts(b))
            }
            _ => false,
        };
        parameters || self.returns.contradicts(&other.returns)
    }

    /// Whether every type is known.
    pub fn is_known(&self) -> bool {
        let known = |ty: &TypeWords| *ty != TypeWords::Unknown;
        known(&self.returns) && self.parameters.as_ref().is_some_and(|all| all.iter().all(known))
    }
}

impl TypeWords {
    fn contradicts(&self, other: &TypeWords) -> bool {
        match (self, other) {
            (TypeWords::Unknown, _) | (_, TypeWords::Unknown) => false,
            // The sign of an integer changes what its bits mean and not how they are passed.
            (TypeWords::Scalar(a), TypeWords::Scalar(b)) => {
                a.is_float() != b.is_float() || a.width() != b.width()
            }
            (a, b) => a != b,
        }
    }
}

/// The type of a declaration; that of a parameter may have a name behind it.
fn type_words(declared: &[Token], may_be_named: bool) -> TypeWords {
    let mut words: Vec<&str> = Vec::new();
    for token in declared {
        match token {
            Token::Mark("*" | "[") => return TypeWords::Pointer,
            Token::Name(word) if BESIDE.contains(&word.as_str()) => {}
            Token::Name(word) => words.push(word),
            _ => return TypeWords::Unknown,
        }
    }
    if let [tag @ ("struct" | "union"), name, rest @ ..] = words.as_slice() {
        return if rest.len() <= usize::from(may_be_named) {
            TypeWords::Tagged(format!("{tag} {name}"))
        } else {
            TypeWords::Unknown
        };
    }
    let known = words.iter().take_while(|word| is_type_word(word)).count();
    if known == 0 || words.len() - known > usize::from(may_be_named) {
        return TypeWords::Unknown;
    }
    let is_complex = |word: &&str| ["complex", "_Complex"].contains(word);
    let (complex, plain): (Vec<&str>, Vec<&str>) = words[..known].iter().copied().partition(is_complex);
    match (scalar_of(&plain), complex.is_empty(), plain.as_slice()) {
        (Ok(scalar), true, _) => TypeWords::Scalar(scalar),
        (Ok(scalar), false, _) => TypeWords::Complex(scalar),
        (Err(NoScalar::LongDouble), true, _) => TypeWords::LongDouble,
        (_, true, ["void"]) => TypeWords::Void,
        _ => TypeWords::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contradicts(declared: &str, defined: &str) -> bool {
        Heading::of_prototype(declared).unwrap().contradicts(&Heading::of_prototype(defined).unwrap())
    }

    #[test]
    fn types_that_are_passed_in_other_ways_contradict_each_other() {
        for (declared, defined) in [
            ("float f(float x)", "double f(double x)"),
            ("double f(double x)", "double f(float)"),
            ("double f(int n)", "double f(long n)"),
            ("double f(double x)", "double f(double x, int n)"),
            ("double f(double x)", "long double f(double x)"),
            ("double f(double x)", "static inline double complex f(double x)"),
            ("double f(double x)", "double f(const double *x)"),
            ("int f(double x)", "void f(double x)"),
            ("double f(struct a p)", "double f(struct b p)"),
            ("double f(double x)", "double f(void)"),
        ] {
            assert!(contradicts(declared, defined), "{declared}; {defined}");
        }
    }

    #[test]
    fn spellings_signs_and_names_that_are_not_known_contradict_nothing() {
        for (declared, defined) in [
            ("double f(unsigned long n)", "extern double f(const size_t n)"),
            ("double f(int n)", "double f(unsigned)"),
            ("long f(int64_t n)", "long long int f(long n)"),
            ("double f(double x)", "real f(real x)"),
            ("double f(double x)", "API double f(ARGUMENTS)"),
            ("double f(double x)", "double f()"),
            ("double f(double v[3])", "double f(const double *restrict v)"),
            ("double f(struct pair p)", "double f(pair p)"),
        ] {
            assert!(!contradicts(declared, defined), "{declared}; {defined}");
        }
        assert!(!Heading::of_prototype("real f(double x)").unwrap().is_known());
        assert!(Heading::of_prototype("double f(float)").unwrap().is_known());
    }
}
