//! A source written again with some of its functions and statements precise.

use std::collections::BTreeSet;

use super::dialect::{Dialect, attribute, inline_pragmas};
use super::edit::Edits;
use super::fix::{Fix, fix};
use super::remedy::Remedy;
use crate::c::Source;
use crate::c::tree::{CFunction, CStatement, Form};

/// A variable that no source has.
const MADE: &str = "bitrift_value";

impl Source {
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
        for function in whole.iter().filter_map(|f| self.functions().get(*f)) {
            if function.obstacle.is_none() {
                make_precise(dialect, function, &mut edits);
            }
        }
        for (function, statement) in statements.iter().filter(|(f, _)| !whole.contains(f)) {
            if let Some(statement) = self.statement(*function, *statement) {
                wrap(statement, &mut edits);
            }
        }
        edits.apply(self.text())
    }

    /// A change that a person would accept: the narrowest pragma or attribute that makes these statements of
    /// a function precise, or the whole function when there are none. None when the function has an obstacle or something is not there.
    pub fn fixed(
        &self,
        dialect: Dialect,
        function: usize,
        statements: &BTreeSet<usize>,
        remedy: Remedy,
    ) -> Option<Fix> {
        let function = self.functions().get(function).filter(|f| f.obstacle.is_none())?;
        let chosen: Option<Vec<&CStatement>> =
            statements.iter().map(|s| function.statements.get(*s)).collect();
        Some(fix(self.text(), dialect, function, &chosen?, remedy))
    }

    fn statement(&self, function: usize, statement: usize) -> Option<&CStatement> {
        self.functions().get(function)?.statements.get(statement)
    }
}

/// Pragmas alone leave clang's calls, negations and choices (`?:`) as they were unless a cast stands around
/// them: a cast puts all that is computed inside it under the options that are valid at its place. So what is
/// precise stands in a cast to `void`, or to `_Bool` where it is a condition. A `return` may stand in a
/// statement expression there, and so may macros that are statements.
fn make_precise(dialect: Dialect, function: &CFunction, edits: &mut Edits) {
    if dialect == Dialect::Gcc {
        edits.insert(function.start, format!("{} ", attribute(true)));
        return;
    }
    edits.insert(function.body.start, format!("{{ {} (void)(", inline_pragmas()));
    for statement in &function.statements {
        cast_truths(statement, edits);
    }
    edits.insert(function.body.end, "); }");
}

fn wrap(statement: &CStatement, edits: &mut Edits) {
    let pragmas = inline_pragmas();
    let expression = &statement.expression;
    let (range, open, close) = match &statement.form {
        Form::Whole(range) => (range, format!("{{ {pragmas} (void)({{ "), " }); }".to_owned()),
        Form::Condition => (expression, format!("({{ {pragmas} (_Bool)("), "); })".to_owned()),
        Form::Discarded => (expression, format!("({{ {pragmas} (void)("), "); })".to_owned()),
        Form::Set { .. } | Form::Value => {
            // A cast to the type itself does not do for structures and complex numbers.
            let made = format!("__typeof__({}) {MADE}; (void)({MADE} = (", statement.text);
            (expression, format!("({{ {pragmas} {made}"), format!(")); {MADE}; }})"))
        }
    };
    edits.insert(range.start, open);
    cast_truths(statement, edits);
    edits.insert(range.end, close);
}

/// Clang takes the options of the command line for an operand in parentheses that it asks for its truth.
fn cast_truths(statement: &CStatement, edits: &mut Edits) {
    for range in &statement.truths {
        edits.insert(range.start, "(_Bool)(");
        edits.insert(range.end, ")");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const P: &str = "_Pragma(\"float_control(precise, on)\") _Pragma(\"clang fp contract(off)\")";

    fn everything(file: &Source) -> BTreeSet<(usize, usize)> {
        let units = |(f, function): (usize, &CFunction)| (0..function.statements.len()).map(move |s| (f, s));
        file.functions().iter().enumerate().flat_map(units).collect()
    }

    fn all_statements(text: &str) -> String {
        let file = Source::new(text);
        file.precise(Dialect::Clang, &BTreeSet::new(), &everything(&file)).replace(P, "P")
    }

    #[test]
    fn statements_become_blocks_and_values_statement_expressions() {
        assert_eq!(
            all_statements("double f(double x) { double y = x * x; if (x < y) x = y + 1; return x; }"),
            "double f(double x) { double y = ({ P __typeof__(x * x) bitrift_value; \
             (void)(bitrift_value = (x * x)); bitrift_value; }); if (({ P (_Bool)(x < y); })) \
             { P (void)({ x = y + 1; }); } return x; }"
        );
        assert_eq!(
            all_statements("double f(double x) { for (x = g(x); ; x *= 2) return x + 1; }"),
            "double f(double x) { for (({ P (void)(x = g(x)); }); ; ({ P (void)(x *= 2); })) \
             { P (void)({ return x + 1; }); } }"
        );
    }

    #[test]
    fn operands_in_parentheses_that_are_asked_for_their_truth_are_cast() {
        let text = "int f(double x) { return x < 2 && (g(x) > 1 || !(x > 3)) ? 1 : (x) ?: 2; }";
        let inner = "x < 2 && (_Bool)((g(x) > 1 || !(_Bool)((x > 3)))) ? 1 : (x) ?: 2";
        assert_eq!(
            all_statements(text),
            format!("int f(double x) {{ {{ P (void)({{ return {inner}; }}); }} }}")
        );
        assert_eq!(
            all_statements("int f(double x) { if ((x)) x = g(x); }"),
            "int f(double x) { if (({ P (_Bool)((_Bool)((x))); })) { P (void)({ x = g(x); }); } }"
        );
    }

    #[test]
    fn lines_stay_where_they_are() {
        let text = "double f(double x)\n{\n  double y =\n    x *\n    x;\n  return y\n    * x;\n}\n";
        let made = all_statements(text);
        assert_ne!(made, text);
        assert_eq!(made.lines().count(), text.lines().count());
    }

    #[test]
    fn a_whole_function_needs_none_of_its_statements() {
        let file = Source::new("double f(double x) { return x * x; }\ndouble g(double x) { return x + x; }");
        let made = file.precise(Dialect::Clang, &BTreeSet::from([0]), &BTreeSet::from([(0, 0)]));
        assert_eq!(
            made.replace(P, "P"),
            "double f(double x) { P (void)({ return x * x; }); }\ndouble g(double x) { return x + x; }"
        );
    }

    #[test]
    fn gcc_takes_the_function_for_a_statement() {
        let file = Source::new("static double\nf(double x) { return x * x; }");
        let made = file.precise(Dialect::Gcc, &BTreeSet::new(), &BTreeSet::from([(0, 0), (0, 9), (7, 0)]));
        let attribute = "__attribute__((optimize(\"no-fast-math\",\"fp-contract=off\")))";
        assert_eq!(made, format!("{attribute} static double\nf(double x) {{ return x * x; }}"));
    }

    #[test]
    fn what_has_an_obstacle_or_is_not_there_stays_as_it_is() {
        let text = "T FUNC(a)(double x) { return x * x; }";
        let file = Source::new(text);
        for dialect in [Dialect::Clang, Dialect::Gcc] {
            assert_eq!(
                file.precise(dialect, &BTreeSet::from([0, 5]), &BTreeSet::from([(0, 0), (9, 9)])),
                text
            );
            assert_eq!(file.fixed(dialect, 0, &BTreeSet::new(), Remedy::Precise), None);
            assert_eq!(file.fixed(dialect, 5, &BTreeSet::new(), Remedy::Precise), None);
        }
    }

    #[test]
    fn nesting_without_end_is_read_all_the_same() {
        for (open, close) in
            [("{", "}"), ("(", ")"), ("if (x) ", ""), ("x ? x : ", ""), ("- ", ""), ("[", "")]
        {
            let text = format!("int f(double x) {{ {} x; {} }}", open.repeat(5000), close.repeat(5000));
            let file = Source::new(&text);
            file.precise(Dialect::Clang, &BTreeSet::from([0]), &everything(&file));
        }
    }

    /// Pieces of C in any order: more of it parses than of arbitrary text.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "double f(double x)",
            "{",
            "}",
            "(",
            ")",
            ";",
            "x = y * 2.0;",
            "if (x < y)",
            "else",
            "for (;;)",
            "\n",
            "#if A\n",
            "#else\n",
            "#endif\n",
            "#define M(x) {\n",
            "M(x)",
            "return x + 1;",
            "double z = -x;",
            "/*",
            "*/",
            "//",
            "\"",
            "'",
            "\\",
            "é",
            "complex double",
            "case 1:",
            "? :",
            "static",
            "#",
            ",",
            "\r\n",
        ]);
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
    }

    fn survives(text: &str) {
        let file = Source::new(text);
        let all: BTreeSet<usize> = (0..file.functions().len()).collect();
        for dialect in [Dialect::Clang, Dialect::Gcc] {
            assert_eq!(file.precise(dialect, &BTreeSet::new(), &BTreeSet::new()), text);
            file.precise(dialect, &all, &BTreeSet::new());
            let made = file.precise(dialect, &BTreeSet::new(), &everything(&file));
            assert_eq!(made.matches('\n').count(), text.matches('\n').count());
            for (f, s) in everything(&file) {
                let fix = file.fixed(dialect, f, &BTreeSet::from([s]), Remedy::WithoutBuiltins);
                assert!(fix.is_some_and(|fix| fix.text != text));
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart_and_comes_back_unchanged(text in any::<String>()) {
            survives(&text);
        }

        #[test]
        fn broken_c_is_taken_apart_and_comes_back_unchanged(text in pieces()) {
            survives(&text);
        }
    }
}
