//! Finds the full expressions of a function's body.

use std::ops::Range;

use tree_sitter::Node;

use super::judge::{Judge, declared_name};
use super::macros::Macros;
use super::statement::{CStatement, Form};
use super::syntax::{folded, of_kind, parts, text_of, visit};

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
        let Some(&expression) = parts(node).first() else { return };
        let named = expression.child_by_field_name("function").unwrap_or(expression);
        let declares = named.kind() == "identifier" && self.macros.declares(text_of(named, self.text));
        if !declares && self.judge.computes(expression) {
            self.add(expression, Form::Whole(node.byte_range()));
        }
    }

    fn condition(&mut self, node: Node<'t>) {
        let inner = node.child_by_field_name("condition").and_then(|c| parts(c).first().copied());
        let Some(expression) = inner else { return };
        let counts = match node.kind() {
            "switch_statement" => self.judge.computes(expression),
            _ => self.judge.decides(expression),
        };
        if counts {
            self.add(expression, Form::Value);
        }
    }

    fn loop_header(&mut self, node: Node<'t>) {
        match node.child_by_field_name("initializer") {
            Some(first) if first.kind() == "declaration" => self.declaration(first, false),
            Some(first) if self.judge.computes(first) => self.add(first, Form::Value),
            _ => {}
        }
        if let Some(condition) = node.child_by_field_name("condition").filter(|c| self.judge.decides(*c)) {
            self.add(condition, Form::Value);
        }
        if let Some(update) = node.child_by_field_name("update").filter(|u| self.judge.computes(*u)) {
            self.add(update, Form::Value);
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
                self.add(value, split.unwrap_or(Form::Value));
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
                _ if self.judge.computes(node) => self.add(node, Form::Value),
                _ => {}
            }
        }
    }

    fn add(&mut self, expression: Node<'t>, form: Form) {
        if expression.has_error() || expression.kind() == "gnu_asm_expression" {
            return;
        }
        let start = expression.start_position();
        self.units.statements.push(CStatement {
            line: start.row + 1,
            column: start.column + 1,
            text: folded(expression, self.text),
            expression: expression.byte_range(),
            form,
        });
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
/// read wrongly: half a loop made by a macro looks like a statement.
fn is_broken(block: Node<'_>) -> bool {
    let mut broken = false;
    visit(block, |node| {
        broken |= node.is_error() || node.is_missing();
        !broken && node.has_error() && (node == block || node.kind() != "compound_statement")
    });
    broken
}
