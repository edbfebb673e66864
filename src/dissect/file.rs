//! One C source as text and what it defines.

use std::collections::BTreeSet;

use super::dialect::{Dialect, attribute, inline_pragmas};
use super::edit::Edits;
use super::fix::{Fix, fix};
use super::function::{CFunction, functions};
use super::statement::{CStatement, Form};
use super::syntax::parse;

/// A text taken apart. Any text is one, also one that is no C: then it has no functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CFile {
    text: String,
    functions: Vec<CFunction>,
}

impl CFile {
    pub fn parse(text: &str) -> CFile {
        let functions = parse(text).map(|tree| functions(tree.root_node(), text)).unwrap_or_default();
        CFile { text: text.to_owned(), functions }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn functions(&self) -> &[CFunction] {
        &self.functions
    }

    /// The whole text with these functions precise as a whole and, beside them, these single statements (of
    /// which function, which). No line moves. Where a dialect knows only functions, the function of a
    /// statement is precise; what is not there or has an obstacle stays as it is.
    pub fn precise(
        &self,
        dialect: Dialect,
        functions: &BTreeSet<usize>,
        statements: &BTreeSet<(usize, usize)>,
    ) -> String {
        let mut whole = functions.clone();
        if !dialect.has_statements() {
            whole.extend(statements.iter().filter(|(f, s)| self.statement(*f, *s).is_some()).map(|(f, _)| f));
        }
        let mut edits = Edits::default();
        for function in whole.iter().filter_map(|f| self.functions.get(*f)) {
            if function.obstacle.is_none() {
                make_precise(dialect, function, &mut edits);
            }
        }
        for (function, statement) in statements.iter().filter(|(f, _)| !whole.contains(f)) {
            if let Some(statement) = self.statement(*function, *statement) {
                wrap(statement, &mut edits);
            }
        }
        edits.apply(&self.text)
    }

    /// A change that a person would accept: the narrowest pragma or attribute that makes these statements of
    /// a function precise, or the whole function when there are none. Contraction is only forbidden when
    /// asked for. None when the function has an obstacle or something is not there.
    pub fn fixed(
        &self,
        dialect: Dialect,
        function: usize,
        statements: &BTreeSet<usize>,
        without_contraction: bool,
    ) -> Option<Fix> {
        let function = self.functions.get(function).filter(|f| f.obstacle.is_none())?;
        let chosen: Option<Vec<&CStatement>> =
            statements.iter().map(|s| function.statements.get(*s)).collect();
        Some(fix(&self.text, dialect, function, &chosen?, without_contraction))
    }

    fn statement(&self, function: usize, statement: usize) -> Option<&CStatement> {
        self.functions.get(function)?.statements.get(statement)
    }
}

fn make_precise(dialect: Dialect, function: &CFunction, edits: &mut Edits) {
    match dialect {
        Dialect::Clang => {
            edits.insert(function.body.start, format!("{{ {} (void)(", inline_pragmas()));
            edits.insert(function.body.end, "); }");
        }
        Dialect::Gcc => edits.insert(function.start, format!("{} ", attribute(true))),
    }
}

/// Pragmas alone leave clang's calls, negations and choices (`?:`) as they were unless a cast stands around
/// them: a cast puts all that is computed inside it under the options that are valid at its place. So every
/// form has one, to the type the expression has anyway or to what becomes of it. A `return` may stand in a
/// statement expression, and so may macros that are statements.
fn wrap(statement: &CStatement, edits: &mut Edits) {
    let pragmas = inline_pragmas();
    let (range, open, close) = match &statement.form {
        Form::Whole(range) => (range, format!("{{ {pragmas} (void)({{ "), " }); }"),
        Form::Condition => (&statement.expression, format!("({{ {pragmas} (_Bool)("), "); })"),
        Form::Discarded => (&statement.expression, format!("({{ {pragmas} (void)("), "); })"),
        Form::Set { .. } | Form::Value => {
            (&statement.expression, format!("({{ {pragmas} (__typeof__({}))(", statement.text), "); })")
        }
    };
    edits.insert(range.start, open);
    edits.insert(range.end, close);
}
