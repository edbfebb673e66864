//! The change to a source that a person would accept in a patch.

use std::ops::Range;

use super::dialect::{Dialect, NO_CONTRACTION, PRECISE, attribute};
use super::edit::Edits;
use super::layout::{comment_after, deeper, indent_at, line_at, newline, step};
use super::remedy::{Remedy, no_builtin};
use crate::c::tree::{CFunction, CStatement, Form};

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
    remedy: Remedy,
) -> Fix {
    let without_contraction = remedy >= Remedy::WithoutContraction;
    let mut pragmas = vec![format!("#pragma {PRECISE}")];
    if without_contraction {
        pragmas.push(format!("#pragma {NO_CONTRACTION}"));
    }
    let writer = Writer { text, pragmas, step: step(text), newline: newline(text) };
    let fix = match (dialect, statements) {
        (Dialect::Gcc, _) => writer.with_attribute(function, attribute(without_contraction)),
        (Dialect::Clang, [only]) => match &only.form {
            Form::Whole(range) => writer.in_block(range.clone(), only),
            Form::Set { declaration, declarator_end, name } => {
                writer.set_in_block(declaration.clone(), *declarator_end, name, only)
            }
            Form::Condition | Form::Discarded | Form::Value => writer.at_start_of_block(function, statements),
        },
        (Dialect::Clang, _) => writer.at_start_of_block(function, statements),
    };
    match (dialect, remedy) {
        (Dialect::Clang, Remedy::WithoutBuiltins) => writer.without_builtins(fix, function, statements),
        _ => fix,
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

    /// The head of the function is before everything that was changed, so its place is still the same.
    fn without_builtins(&self, fix: Fix, function: &CFunction, statements: &[&CStatement]) -> Fix {
        let attribute = match statements {
            [] => no_builtin(function.statements.iter()),
            some => no_builtin(some.iter().copied()),
        };
        let Some(attribute) = attribute else { return fix };
        let at = function.start;
        let line = format!("{attribute}{}{}", self.newline, indent_at(self.text, at));
        let mut edits = Edits::default();
        edits.insert(at, line);
        Fix {
            text: edits.apply(&fix.text),
            what: format!("{} and `{attribute}` before {}", fix.what, function.name),
        }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::c::Source;

    fn fixed(text: &str, dialect: Dialect, statements: &[usize]) -> Fix {
        let chosen: BTreeSet<usize> = statements.iter().copied().collect();
        Source::new(text).fixed(dialect, 0, &chosen, Remedy::Precise).expect("a fix")
    }

    const P: &str = "#pragma float_control(precise, on)";

    #[test]
    fn a_statement_goes_into_a_block_with_its_comment() {
        let fix = fixed("void f(double *p)\n{\n  *p = *p\n    * 2; /* twice */\n}\n", Dialect::Clang, &[0]);
        assert_eq!(
            fix.text,
            format!("void f(double *p)\n{{\n  {{\n    {P}\n    *p = *p\n      * 2; /* twice */\n  }}\n}}\n")
        );
        assert_eq!(fix.what, format!("puts line 3 into a block with `{P}`"));
    }

    #[test]
    fn a_branch_without_braces_gets_them() {
        let text = "int f(double x) {\n\tif (g(x)) return x * 2 > 1; else return 0;\n}\n";
        assert_eq!(
            fixed(text, Dialect::Clang, &[1]).text,
            format!(
                "int f(double x) {{\n\tif (g(x)) {{\n\t\t{P}\n\t\treturn x * 2 > 1;\n\t}} else return 0;\n}}\n"
            )
        );
    }

    #[test]
    fn a_variable_is_declared_first_and_set_in_a_block() {
        let fix =
            fixed("double f(double x) {\n    double y = x * x;\n    return y;\n}\n", Dialect::Clang, &[0]);
        let block = format!("{{\n        {P}\n        y = x * x;\n    }}");
        assert_eq!(
            fix.text,
            format!("double f(double x) {{\n    double y;\n    {block}\n    return y;\n}}\n")
        );
        assert_eq!(
            fix.what,
            format!("declares y on line 2 without a value and sets it in a block with `{P}`")
        );
    }

    #[test]
    fn what_cannot_be_put_into_a_block_takes_the_block_around_it() {
        let text = "double f(double x) {\n  if (x > 1) {\n    const double y = x * x;\n    return y;\n  }\n  return x;\n}\n";
        let fix = fixed(text, Dialect::Clang, &[1]);
        assert_eq!(fix.text, text.replace("1) {\n", &format!("1) {{\n    {P}\n")));
        assert_eq!(fix.what, format!("puts `{P}` at the start of the block on line 2"));
        let fix = fixed(text, Dialect::Clang, &[0]);
        assert_eq!(fix.text, text.replace("double x) {\n", &format!("double x) {{\n  {P}\n")));
        assert_eq!(fix.what, format!("puts `{P}` at the start of the body of f"));
        assert_eq!(fixed(text, Dialect::Clang, &[0, 1]), fix);
        assert_eq!(fixed(text, Dialect::Clang, &[]), fix);
    }

    #[test]
    fn a_body_on_one_line_is_opened() {
        let fix = fixed("int f(double x) { if (x > 1) return 1; return 0; }\n", Dialect::Clang, &[0]);
        assert_eq!(fix.text, format!("int f(double x) {{\n    {P}\n    if (x > 1) return 1; return 0; }}\n"));
    }

    #[test]
    fn lines_end_as_they_did() {
        let fix = fixed("int f(double x) {\r\n  return x * 2 > 1;\r\n}\r\n", Dialect::Clang, &[0]);
        assert_eq!(fix.text.matches('\n').count(), fix.text.matches("\r\n").count());
    }

    #[test]
    fn gcc_gets_an_attribute_on_a_line_of_its_own() {
        let text = "/* why */\nstatic double\nf(double x) { return x * x; }\n";
        let fix = fixed(text, Dialect::Gcc, &[0]);
        let attribute = "__attribute__((optimize(\"no-fast-math\")))";
        assert_eq!(fix.text, text.replace("static", &format!("{attribute}\nstatic")));
        assert_eq!(fix.what, format!("puts `{attribute}` before f"));
    }

    #[test]
    fn contraction_is_forbidden_when_asked_for() {
        let file = Source::new("double f(double x) { return x * x; }\n");
        let texts = [Dialect::Clang, Dialect::Gcc].map(|dialect| {
            file.fixed(dialect, 0, &BTreeSet::from([0]), Remedy::WithoutContraction).map(|fix| fix.text)
        });
        assert!(texts[0].as_ref().is_some_and(|t| t.contains("#pragma clang fp contract(off)")));
        assert!(texts[1].as_ref().is_some_and(|t| t.contains("fp-contract=off")));
    }

    #[test]
    fn calls_that_clang_simplifies_can_be_kept() {
        let file = Source::new("#include <math.h>\ndouble f(double x) {\n    return log(exp(x));\n}\n");
        let fix =
            file.fixed(Dialect::Clang, 0, &BTreeSet::from([0]), Remedy::WithoutBuiltins).expect("a fix");
        let attribute = "__attribute__((no_builtin(\"exp\", \"log\")))";
        assert!(
            fix.text.contains(&format!("\n{attribute}\ndouble f(double x) {{\n    {{\n")),
            "{}",
            fix.text
        );
        assert!(fix.what.ends_with(&format!("and `{attribute}` before f")), "{}", fix.what);
    }
}
