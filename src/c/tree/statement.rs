//! One full expression of a function.

use std::ops::Range;

/// An expression that is no part of another and that floating-point options can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CStatement {
    /// Where the expression starts, counted from 1.
    pub line: usize,
    /// In bytes, as compilers count, from 1.
    pub column: usize,
    /// The expression on one line, without comments.
    pub text: String,
    /// The bytes of the expression.
    pub(in crate::c) expression: Range<usize>,
    pub(in crate::c) form: Form,
    /// Operands in it that are asked only whether they are zero and that hide what computes them behind
    /// parentheses or a macro.
    pub(in crate::c) truths: Vec<Range<usize>>,
}

/// What surrounds an expression, which decides how it can be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A statement of its own, these bytes with the semicolon: a block can stand in its place.
    Whole(Range<usize>),
    /// What a declaration with these bytes sets its only variable to.
    Set { declaration: Range<usize>, declarator_end: usize, name: String },
    /// Compared with zero to choose a branch.
    Condition,
    /// Computed for its effects: the first and the last part of a `for`.
    Discarded,
    /// Any other: initialisers, what a `switch` switches on.
    Value,
}
