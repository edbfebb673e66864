//! The change to a source that a person would accept in a patch.

use std::ops::Range;

use super::dialect::{Dialect, NO_CONTRACTION, PRECISE, attribute};
use super::edit::Edits;
use super::function::CFunction;
use super::layout::{comment_after, deeper, indent_at, line_at, newline, step};
use super::statement::{CStatement, Form};

/// A changed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub text: String,
    /// What was done, in words: "puts line 3 into a block with `#pragma float_control(precise, on)`".
    pub what: String,
}

pub fn fix(
    text: &str,
    dialect: Dialect,
    function: &CFunction,
    statements: &[&CStatement],
    without_contraction: bool,
) -> Fix {
    let mut pragmas = vec![format!("#pragma {PRECISE}")];
    if without_contraction {
        pragmas.push(format!("#pragma {NO_CONTRACTION}"));
    }
    let writer = Writer { text, pragmas, step: step(text), newline: newline(text) };
    match (dialect, statements) {
        (Dialect::Gcc, _) => writer.with_attribute(function, attribute(without_contraction)),
        (Dialect::Clang, [only]) => match &only.form {
            Form::Whole(range) => writer.in_block(range.clone(), only),
            Form::Set { declaration, declarator_end, name } => {
                writer.set_in_block(declaration.clone(), *declarator_end, name, only)
            }
            Form::Condition | Form::Discarded | Form::Value => writer.at_start_of_block(function, statements),
        },
        (Dialect::Clang, _) => writer.at_start_of_block(function, statements),
    }
}

struct Writer<'a> {
    text: &'a str,
    pragmas: Vec<String>,
    step: String,
    newline: &'static str,
}

impl Writer<'_> {
    fn done(&self, range: Range<usize>, with: String, what: String) -> Fix {
        let mut edits = Edits::default();
        edits.replace(range, with);
        Fix { text: edits.apply(self.text), what }
    }

    fn named_pragmas(&self) -> String {
        self.pragmas.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(" and ")
    }

    fn with_attribute(&self, function: &CFunction, attribute: &str) -> Fix {
        let at = function.start;
        let line = format!("{attribute}{}{}", self.newline, indent_at(self.text, at));
        self.done(at..at, line, format!("puts `{attribute}` before {}", function.name))
    }

    fn in_block(&self, range: Range<usize>, statement: &CStatement) -> Fix {
        let what = format!("puts line {} into a block with {}", statement.line, self.named_pragmas());
        let body = &self.text[range.clone()];
        let (end, comment) = self.trailing_comment(range.end);
        self.done(range.start..end, self.block(range.start, body, comment), what)
    }

    fn set_in_block(
        &self,
        declaration: Range<usize>,
        declarator_end: usize,
        name: &str,
        statement: &CStatement,
    ) -> Fix {
        let what = format!(
            "declares {name} on line {} without a value and sets it in a block with {}",
            statement.line,
            self.named_pragmas()
        );
        let indent = indent_at(self.text, declaration.start);
        let declared = &self.text[declaration.start..declarator_end];
        let body = format!("{name} = {};", &self.text[statement.expression.clone()]);
        let (end, comment) = self.trailing_comment(declaration.end);
        let block = self.block(declaration.start, &body, comment);
        self.done(declaration.start..end, format!("{declared};{}{indent}{block}", self.newline), what)
    }

    /// A comment behind a statement stays behind it.
    fn trailing_comment(&self, end: usize) -> (usize, &str) {
        comment_after(self.text, end).map_or((end, ""), |range| (range.end, &self.text[range]))
    }

    fn block(&self, at: usize, body: &str, comment: &str) -> String {
        let outer = indent_at(self.text, at);
        let end = self.newline;
        let inner = format!("{outer}{}", self.step);
        let mut block = format!("{{{end}");
        for pragma in &self.pragmas {
            block += &format!("{inner}{pragma}{end}");
        }
        block + &format!("{inner}{}{comment}{end}{outer}}}", deeper(body, &self.step))
    }

    /// Pragmas at the start of the innermost block around all of the statements.
    fn at_start_of_block(&self, function: &CFunction, statements: &[&CStatement]) -> Fix {
        let holds_all = |block: &&Range<usize>| {
            let holds = |s: &&CStatement| block.start < s.expression.start && s.expression.end < block.end;
            statements.iter().all(holds)
        };
        let innermost = function.blocks.iter().filter(holds_all).min_by_key(|block| block.len());
        let block = innermost.filter(|_| !statements.is_empty()).unwrap_or(&function.body);
        let place = if *block == function.body {
            format!("the body of {}", function.name)
        } else {
            format!("the block on line {}", line_at(self.text, block.start))
        };
        let what = format!("puts {} at the start of {place}", self.named_pragmas());

        let open = block.start + 1;
        let inner = self.inner_indent(block);
        let mut lines = String::new();
        for pragma in &self.pragmas {
            lines += &format!("{}{inner}{pragma}", self.newline);
        }
        if let Some(comment) = comment_after(self.text, open) {
            return self.done(comment.end..comment.end, lines, what);
        }
        let rest = &self.text[open..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        self.done(open..open + blanks, format!("{lines}{}{inner}", self.newline), what)
    }

    /// The indentation of the first line inside a block.
    fn inner_indent(&self, block: &Range<usize>) -> String {
        let inside = &self.text[block.start + 1..block.end - 1];
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let outer = indent_at(self.text, block.start);
        match inside.lines().skip(1).find(is_code) {
            Some(line) => {
                let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
                if indent.len() > outer.len() { indent.to_owned() } else { format!("{outer}{}", self.step) }
            }
            None => format!("{outer}{}", self.step),
        }
    }
}
