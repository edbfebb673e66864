//! Finds the full expressions of a function's body.

use std::ops::Range;

use tree_sitter::Node;

use super::judge::{Judge, declared_name};
use super::macros::Macros;
use super::node::{folded, of_kind, parts, text_of, visit};
use super::statement::{CStatement, Form};

/// What of a body can be rewritten.
#[derive(Debug, Default)]
pub struct Units {
    pub statements: Vec<CStatement>,
    /// The bytes of the body and of every block in it, with their braces.
    pub blocks: Vec<Range<usize>>,
}

impl Units {
    pub fn of(body: Node<'_>, judge: &Judge<'_>, macros: &Macros, text: &str) -> Units {
        let mut finder = Finder { judge, macros, text, open: vec![body], units: Units::default() };
        while let Some(node) = finder.open.pop() {
            finder.take(node);
        }
        let mut units = finder.units;
        units.statements.sort_by_key(|statement| statement.expression.start);
        units
    }
}

struct Finder<'a, 't> {
    judge: &'a Judge<'a>,
    macros: &'a Macros,
    text: &'a str,
    open: Vec<Node<'t>>,
    units: Units,
}

impl<'t> Finder<'_, 't> {
    fn take(&mut self, node: Node<'t>) {
        match node.kind() {
            "compound_statement" => {
                self.units.blocks.push(node.byte_range());
                if !is_broken(node) {
                    self.open.extend(parts(node));
                }
            }
            "expression_statement" | "return_statement" => self.statement(node),
            "if_statement" | "while_statement" | "do_statement" | "switch_statement" => {
                self.condition(node);
                self.open.extend(statements_of(node, &["condition"]));
            }
            "for_statement" => self.loop_header(node),
            "declaration" => self.declaration(node, true),
            "case_statement" => self.open.extend(statements_of(node, &["value"])),
            "labeled_statement" | "else_clause" | "attributed_statement" => self.open.extend(parts(node)),
            "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_elifdef" | "preproc_else" => {
                self.open.extend(statements_of(node, &["condition", "name"]))
            }
            _ => {}
        }
    }

    fn statement(&mut self, node: Node<'t>) {
        let Some(&expression) = parts(node).first().filter(|_| !node.has_error()) else { return };
        let named = expression.child_by_field_name("function").unwrap_or(expression);
        let declares = named.kind() == "identifier" && self.macros.declares(text_of(named, self.text));
        let counts = !declares && self.judge.computes(expression);
        self.add_if(counts, expression, Form::Whole(node.byte_range()));
    }

    fn condition(&mut self, node: Node<'t>) {
        let inner = node.child_by_field_name("condition").and_then(|c| parts(c).first().copied());
        let Some(expression) = inner else { return };
        if node.kind() != "switch_statement" {
            self.add_if(self.judge.decides(expression), expression, Form::Condition);
        } else {
            self.add_if(self.judge.computes(expression), expression, Form::Value);
        }
    }

    fn loop_header(&mut self, node: Node<'t>) {
        match node.child_by_field_name("initializer") {
            Some(first) if first.kind() == "declaration" => self.declaration(first, false),
            Some(first) => self.add_if(self.judge.computes(first), first, Form::Discarded),
            None => {}
        }
        if let Some(condition) = node.child_by_field_name("condition") {
            self.add_if(self.judge.decides(condition), condition, Form::Condition);
        }
        if let Some(update) = node.child_by_field_name("update") {
            self.add_if(self.judge.computes(update), update, Form::Discarded);
        }
        self.open.extend(node.child_by_field_name("body"));
    }

    /// The initialisers of variables that live in the function's frame.
    fn declaration(&mut self, node: Node<'t>, can_split: bool) {
        let words: Vec<&str> = parts(node)
            .into_iter()
            .filter(|p| matches!(p.kind(), "storage_class_specifier" | "type_qualifier"))
            .map(|p| text_of(p, self.text))
            .collect();
        if words.iter().any(|w| matches!(*w, "static" | "extern" | "constexpr" | "thread_local")) {
            return;
        }
        let is_const = words.contains(&"const");
        let declarators: Vec<Node<'t>> =
            node.children_by_field_name("declarator", &mut node.walk()).collect();
        let can_split = can_split && declarators.len() == 1 && !is_const && !words.contains(&"auto");
        for declarator in declarators {
            let Some(value) = declarator.child_by_field_name("value") else { continue };
            if value.kind() == "initializer_list" {
                self.elements(value);
            } else if self.judge.computes(value) && !(is_const && self.judge.is_named_constant(value)) {
                let split = can_split.then(|| self.split(node, declarator)).flatten();
                self.add_if(true, value, split.unwrap_or(Form::Value));
            }
        }
    }

    /// How `double x = y;` becomes `double x; x = y;`, if it can.
    fn split(&self, declaration: Node<'t>, initialised: Node<'t>) -> Option<Form> {
        let declarator = initialised.child_by_field_name("declarator")?;
        let mut inner = declarator;
        while inner.kind() == "pointer_declarator" {
            if !of_kind(inner, "type_qualifier").is_empty() {
                return None;
            }
            inner = inner.child_by_field_name("declarator")?;
        }
        let kind = text_of(declaration.child_by_field_name("type")?, self.text);
        let is_plain = inner.kind() == "identifier" && kind != "__auto_type" && kind != "auto";
        is_plain.then(|| Form::Set {
            declaration: declaration.byte_range(),
            declarator_end: declarator.end_byte(),
            name: declared_name(inner).map(|n| text_of(n, self.text).to_owned()).unwrap_or_default(),
        })
    }

    fn elements(&mut self, list: Node<'t>) {
        let mut open = vec![list];
        while let Some(node) = open.pop() {
            match node.kind() {
                "initializer_list" => open.extend(parts(node)),
                "initializer_pair" => open.extend(node.child_by_field_name("value")),
                _ => self.add_if(self.judge.computes(node), node, Form::Value),
            }
        }
    }

    fn add_if(&mut self, counts: bool, expression: Node<'t>, form: Form) {
        if !counts || expression.has_error() || expression.kind() == "gnu_asm_expression" {
            return;
        }
        let start = expression.start_position();
        let mut truths = self.truths(expression);
        if form == Form::Condition && self.judge.is_veiled(expression) {
            truths.insert(0, expression.byte_range());
        }
        self.units.statements.push(CStatement {
            line: start.row + 1,
            column: start.column + 1,
            text: folded(expression, self.text),
            expression: expression.byte_range(),
            form,
            truths,
        });
    }

    fn truths(&self, expression: Node<'t>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        visit(expression, |node| {
            let operator = node.child_by_field_name("operator").map(|o| text_of(o, self.text));
            let fields: &[&str] = match (node.kind(), operator) {
                ("binary_expression", Some("&&" | "||")) => &["left", "right"],
                ("unary_expression", Some("!")) => &["argument"],
                // The condition of `a ?: b` is also its value.
                ("conditional_expression", _) if node.child_by_field_name("consequence").is_some() => {
                    &["condition"]
                }
                _ => &[],
            };
            let operands = fields.iter().filter_map(|field| node.child_by_field_name(field));
            found.extend(operands.filter(|o| self.judge.is_veiled(*o)).map(|o| o.byte_range()));
            true
        });
        found
    }
}

/// Named children but those of these fields.
fn statements_of<'t>(node: Node<'t>, but: &[&str]) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let mut found = Vec::new();
    let mut more = cursor.goto_first_child();
    while more {
        if cursor.node().is_named() && !cursor.field_name().is_some_and(|f| but.contains(&f)) {
            found.push(cursor.node());
        }
        more = cursor.goto_next_sibling();
    }
    found
}

/// Whether the parser failed in a block outside of the blocks in it. What stands around such a place may be
/// read wrongly: half an expression looks like a statement.
fn is_broken(block: Node<'_>) -> bool {
    let mut broken = false;
    visit(block, |node| {
        if node.kind() == "compound_statement" && node != block {
            return false;
        }
        broken |= node.is_error() || (node.is_missing() && node.kind() != ";") || lacks_semicolon(node);
        !broken && node.has_error()
    });
    broken
}

/// Whether a semicolon is missing where none may be. Behind what looks like a call there may be none: it is
/// a macro that stands for a statement or for the head of a loop, and what follows is a statement anyway.
fn lacks_semicolon(node: Node<'_>) -> bool {
    let lacks = of_kind(node, ";").iter().any(|mark| mark.is_missing());
    let is_call =
        || matches!(parts(node).as_slice(), [only] if only.kind() == "call_expression" && !only.has_error());
    lacks && !(node.kind() == "expression_statement" && is_call())
}

#[cfg(test)]
mod tests {
    use crate::c::Source;

    /// The expressions of a function with this body.
    fn units(body: &str) -> Vec<String> {
        let text = format!("double f(double x, double y, int n, int m, const double *p) {{\n{body}\n}}\n");
        let file = Source::new(&text);
        assert_eq!(file.functions().len(), 1);
        assert_eq!(file.functions()[0].obstacle, None);
        file.functions()[0].statements.iter().map(|s| s.text.clone()).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn statements_initialisers_returns_and_conditions_are_units() {
        assert_eq!(units("double a = x * y, b = a; return a / b;"), ["x * y", "a / b"]);
        assert_eq!(units("if (x < y) x += y; else x = -y;"), ["x < y", "x += y", "x = -y"]);
        assert_eq!(
            units("while (x > y) x--; do x = x / 2; while (x * y > 1);"),
            ["x > y", "x--", "x = x / 2", "x * y > 1"]
        );
        assert_eq!(
            units("for (double t = x * y; t < x; t += y) g(t);"),
            ["x * y", "t < x", "t += y", "g(t)"]
        );
        assert_eq!(units("for (x = x * y, n = 1; ; n++, x -= 1) ;"), ["x = x * y, n = 1", "n++, x -= 1"]);
        assert_eq!(units("switch ((int)(x * y)) { case 2 + 1: x = y * y; }"), ["(int)(x * y)", "x = y * y"]);
        assert_eq!(units("again: x = y * y; goto again;"), ["x = y * y"]);
    }

    #[test]
    fn elements_of_an_initialiser_are_units_of_their_own() {
        assert_eq!(units("struct p a[] = {{x * y, y}, {.b = x + y, [2] = 1.0}};"), ["x * y", "x + y"]);
    }

    #[test]
    fn what_integers_and_literals_compute_is_left_out() {
        assert_eq!(units("int i, k = n * 2; for (i = 0; i < n; i++) k += m % 3; if (n) k = -1;"), NONE);
        assert_eq!(units("x = 1.0; x = y; x = -1.5; x = 2.0 * 3.0; x = n * m; x = p[n + 1]; p++;"), ["p++"]);
        assert_eq!(units("uint32_t u = n; u ^= u << 13; size_t s = sizeof(x * y); x = sizeof x * u;"), NONE);
    }

    #[test]
    fn what_may_be_floating_point_is_kept() {
        assert_eq!(
            units("n += x; n = n * 2.5; n = other * 2; if (x) n++;"),
            ["n += x", "n = n * 2.5", "n = other * 2", "x"]
        );
        assert_eq!(units("x = (x) - y; x = sizeof (x) * y;"), ["x = (x) - y", "x = sizeof (x) * y"]);
        assert_eq!(units("{ double n; n = n * n; }"), ["n = n * n"]);
        assert_eq!(
            units("x = c ? y : p[0]; x = s.i + 1; return !x;"),
            ["x = c ? y : p[0]", "x = s.i + 1", "!x"]
        );
    }

    #[test]
    fn static_initialisers_array_sizes_and_assembly_are_no_units() {
        assert_eq!(units("static double a = 2.0 * B; double v[n * k]; asm(\"\" : : \"x\"(x * y));"), NONE);
        assert_eq!(
            units("const int size = 2 * ORDER; typeof(x * y) z; enum { A = B + 2 }; typedef int t[C * 2];"),
            NONE
        );
    }

    #[test]
    fn a_statement_expression_belongs_to_its_unit_and_blocks_do_not() {
        assert_eq!(units("x = ({ double w = x * y; w + 1; });"), ["x = ({ double w = x * y; w + 1; })"]);
        assert_eq!(units("{ { x = y * y; } }"), ["x = y * y"]);
    }

    #[test]
    fn macros_of_the_file_are_known_for_what_they_stand_for() {
        assert_eq!(units("#define AREA x * y\nx = AREA;\n#define FEW 2.0\nx = FEW;"), ["x = AREA"]);
        assert_eq!(units("#define TEMPORARY(n) double n\nTEMPORARY(t); t = x * y;"), ["t = x * y"]);
    }

    #[test]
    fn branches_of_the_preprocessor_inside_a_body_are_read() {
        assert_eq!(
            units("#if A\nx = x * y;\n#else\nx = x + y;\n#endif\n#define B x * y"),
            ["x = x * y", "x = x + y"]
        );
    }

    #[test]
    fn what_the_parser_does_not_understand_is_left_out_with_its_block() {
        assert_eq!(
            units("if (x > 0) { CHECK(x) }\nEACH(i, 3) { x += y; }\nreturn x * x;"),
            ["x > 0", "x += y", "x * x"]
        );
        assert_eq!(units("x = y * y; { x = x * ; y = x * y; }"), ["x = y * y"]);
        assert_eq!(units("RESULT(g(x, &r); )"), NONE);
    }

    #[test]
    fn a_unit_says_where_it_stands_and_reads_on_one_line() {
        let file = Source::new("double f(double x) {\n\treturn x * /* why */\n\t\t(x + // what\n1);\n}");
        let unit = &file.functions()[0].statements[0];
        assert_eq!((unit.line, unit.column, unit.text.as_str()), (2, 9, "x * (x + 1)"));
    }
}
